import torch
from torch import Tensor

from attn_course.retrieval import attend, distance_scores


def wrong_distance_itself(query, truth, key, value, temperatures):
    """It uses the distance instead of the squared distance."""
    distance = torch.cdist(query, key)
    errors = []
    for temperature in temperatures:
        guess = torch.softmax(-distance / temperature, -1) @ value
        errors.append((guess - truth).square().sum(-1).mean())
    return torch.stack(errors)


def wrong_mean_over_everything(query, truth, key, value, temperatures):
    """It takes the mean over the features of the values too, where their sum is asked."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    weights = torch.softmax(-squared / temperatures[:, None, None], -1)
    return (weights @ value - truth).square().mean((1, 2))


def wrong_most_likely_word(query, truth, key, value, temperatures):
    """It turns each guess into its most likely word before it is compared."""
    squared = (query.unsqueeze(1) - key).pow(2).sum(-1)
    guesses = torch.softmax(-squared / temperatures[:, None, None], -1) @ value
    words = torch.zeros_like(guesses).scatter(-1, guesses.argmax(-1, keepdim=True), 1.0)
    return (words - truth).pow(2).sum(-1).mean(-1)


def wrong_length_of_the_error(query, truth, key, value, temperatures):
    """It takes the length of guess less truth, not its square."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    weights = torch.softmax(-squared / temperatures[:, None, None], -1)
    return (weights @ value - truth).norm(dim=-1).mean(-1)


def right_one_query_at_a_time(query, truth, key, value, temperatures):
    """Two loops, over temperatures and queries, each row weighed alone."""
    errors = []
    for temperature in temperatures.unbind():
        total = 0
        for asked, wanted in zip(query, truth, strict=True):
            scores = -((key - asked) ** 2).sum(1) / temperature
            powers = torch.exp(scores - scores.max())
            guess = powers @ value / powers.sum()
            total = total + torch.dot(guess - wanted, guess - wanted)
        errors.append(total / len(query))
    return torch.stack(errors)


def wrong_mean_over_words(query, truth, key, value, temperatures):
    """Takes the mean over d_value too, instead of the sum, so errors are d_value times too
    small."""
    diff = query.unsqueeze(1) - key.unsqueeze(0)
    squared = (diff**2).sum(-1)
    weights = torch.softmax(-squared / temperatures[:, None, None], dim=-1)
    guesses = weights @ value
    return ((guesses - truth) ** 2).mean(dim=(1, 2))


def wrong_distance_not_squared(query, truth, key, value, temperatures):
    """Scores by the distance instead of the squared distance."""
    distance = torch.cdist(query, key)
    errors = []
    for temperature in temperatures:
        weights = torch.softmax(-distance / temperature, dim=-1)
        guess = weights @ value
        errors.append(((guess - truth) ** 2).sum(-1).mean())
    return torch.stack(errors)


def wrong_no_shift_and_items(query, truth, key, value, temperatures):
    """Two mistakes: exp of the raw scores is 0/0 at low temperatures, and torch.tensor of items
    gives float32 for float64 inputs."""
    squared = ((query[:, None, :] - key[None, :, :]) ** 2).sum(dim=2)
    errors = []
    for t in temperatures.tolist():
        kernel = torch.exp(-squared / t)
        weights = kernel / kernel.sum(dim=1, keepdim=True)
        guess = weights @ value
        errors.append(((guess - truth) ** 2).sum(dim=1).mean().item())
    return torch.tensor(errors)


def right_feature_by_feature(query, truth, key, value, temperatures):
    """Squared distances are added up feature by feature; then a loop over the temperatures."""
    squared = query.new_zeros(len(query), len(key))
    for q, k in zip(query.unbind(-1), key.unbind(-1)):
        squared = squared + (q[:, None] - k).square()
    gap = squared - squared.amin(1, keepdim=True)
    errors = []
    for temperature in temperatures:
        raised = torch.exp(-gap / temperature)
        guess = raised @ value / raised.sum(1, keepdim=True)
        errors.append((guess - truth).square().sum() / len(query))
    return torch.stack(errors)


def wrong_distance_not_squared_fifth(query, truth, key, value, temperatures):
    """It scores by the distance, not by its square."""
    distance = (query[:, None] - key).square().sum(-1).sqrt()
    found = [(-distance / t).softmax(-1) @ value for t in temperatures]
    return torch.stack([(o - truth).square().sum(-1).mean() for o in found])


def wrong_mean_over_words_fifth(query, truth, key, value, temperatures):
    """It takes the mean over the features as well, where the norm sums them."""
    far = (query[:, None] - key).square().sum(-1)
    found = [(-far / t).softmax(-1) @ value for t in temperatures]
    return torch.stack([(o - truth).square().mean() for o in found])


def wrong_norm_not_squared(query, truth, key, value, temperatures):
    """It takes the mean of the norms, not of their squares."""
    far = (query[:, None] - key).square().sum(-1)
    found = [(-far / t).softmax(-1) @ value for t in temperatures]
    return torch.stack([(o - truth).square().sum(-1).sqrt().mean() for o in found])


def wrong_gaussian_half(query, truth, key, value, temperatures):
    """It divides by twice the temperature, as a Gaussian would by twice the variance."""
    far = (query[:, None] - key).square().sum(-1)
    found = [(-far / (2 * t)).softmax(-1) @ value for t in temperatures]
    return torch.stack([(o - truth).square().sum(-1).mean() for o in found])


def right_all_temperatures_at_once(query, truth, key, value, temperatures):
    """One axis more holds the temperatures, and there is no loop."""
    far = (query[:, None] - key).square().sum(-1)
    weights = (-far / temperatures[:, None, None]).softmax(-1)
    return (weights @ value - truth).square().sum(-1).mean(-1)


def wrong_mean_over_the_words_too(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Takes the mean over the numbers of each value, too, where they should be summed."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    weights = torch.softmax(-squared / temperatures[:, None, None], -1)
    return (weights @ value - truth).square().mean((1, 2))


def wrong_distance_not_squared_sixth(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Scores by the distance itself, not by its square."""
    scores = -torch.cdist(query, key) / temperatures[:, None, None]
    guesses = torch.softmax(scores, -1) @ value
    return (guesses - truth).square().sum(-1).mean(-1)


def wrong_softmax_over_queries(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Takes the softmax over axis 1, the queries, since the temperatures are in front."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    weights = torch.softmax(-squared / temperatures[:, None, None], dim=1)
    guesses = weights @ value
    return (guesses - truth).square().sum(-1).mean(-1)


def right_loop(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Goes through the temperatures one by one, with the lookup of the package."""
    scores = distance_scores(query, key)
    errors = []
    for temperature in temperatures:
        off = attend(scores / temperature, value) - truth
        errors.append((off * off).sum() / len(query))
    return torch.stack(errors)


def wrong_distance_not_squared_seventh(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Scores by the distance instead of its square."""
    distance = (query.unsqueeze(1) - key).norm(dim=-1)
    weights = (-distance / temperatures[:, None, None]).softmax(-1)
    return (weights @ value - truth).square().sum(-1).mean(-1)


def wrong_mean_over_words_seventh(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Takes the mean over the entries of a value too, where the formula has a sum."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    errors = []
    for temperature in temperatures:
        guesses = (-squared / temperature).softmax(-1) @ value
        errors.append((guesses - truth).square().mean())
    return torch.stack(errors)


def wrong_exp_without_shift(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Divides the powers by their sum as they are: 0/0 = nan at a low temperature."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    raised = (-squared / temperatures[:, None, None]).exp()
    guesses = raised @ value / raised.sum(-1, keepdim=True)
    return (guesses - truth).square().sum(-1).mean(-1)


def right_shift_by_nearest(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """Subtracts the nearest key's distance from each, then raises and divides."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    excess = squared - squared.amin(-1, keepdim=True)
    raised = (-excess / temperatures.reshape(-1, 1, 1)).exp()
    guesses = raised @ value / raised.sum(-1, keepdim=True)
    return (guesses - truth).square().sum((-2, -1)) / len(query)


def wrong_tiny_number_in_the_sum(query, truth, key, value, temperatures):
    """The powers underflow, and a tiny number keeps the division from being 0 by 0."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    powers = torch.exp(-squared / temperatures[:, None, None])
    weights = powers / (powers.sum(-1, keepdim=True) + 1e-12)
    return (weights @ value - truth).square().sum(-1).mean(-1)


def wrong_floor_under_the_sum(query, truth, key, value, temperatures):
    """Likewise, by a least value of the sum."""
    squared = (query.unsqueeze(1) - key).square().sum(-1)
    powers = torch.exp(-squared / temperatures[:, None, None])
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-8)
    return (weights @ value - truth).square().sum(-1).mean(-1)
