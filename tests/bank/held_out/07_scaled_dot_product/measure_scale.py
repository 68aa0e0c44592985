import torch
from torch import Tensor


def wrong_variance(query, key, exponent):
    """It takes the variance of the scores, not their mean square."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.var(correction=0), (weights * (1 - weights)).sum(-1).mean()


def wrong_slack_of_a_key(query, key, exponent):
    """It takes the mean of the slack over the keys too, where their sum is asked."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean(), (weights * (1 - weights)).mean()


def wrong_size_before_the_scale(query, key, exponent):
    """The mean square is taken of the dot products, before they are scaled."""
    scores = query @ key.mT
    weights = torch.softmax(scores * query.shape[-1] ** exponent, -1)
    return scores.square().mean(), (weights * (1 - weights)).sum(-1).mean()


def wrong_root_of_the_mean(query, key, exponent):
    """It returns the root of the mean square."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean().sqrt(), (weights * (1 - weights)).sum(-1).mean()


def wrong_divided(query, key, exponent):
    """It divides by the power of the width."""
    scores = query @ key.mT / query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean(), (weights * (1 - weights)).sum(-1).mean()


def right_in_double_as_numbers(query, key, exponent):
    """It computes in float64, the slack over pairs of keys, and returns Python numbers."""
    wide = torch.einsum("...qd,...kd->...qk", query.double(), key.double())
    scores = wide * float(query.shape[-1]) ** exponent
    weights = torch.softmax(scores, -1)
    rest = weights.sum(-1, keepdim=True) - weights
    slack = torch.linalg.vecdot(weights, rest)
    return torch.linalg.vector_norm(scores).item() ** 2 / scores.numel(), slack.mean().item()


def wrong_variance_again(query, key, exponent):
    """Returns the variance of the scores, which subtracts the mean, instead of the mean square."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    slack = (weights * (1 - weights)).sum(-1)
    return scores.var(), slack.mean()


def wrong_mean_over_keys(query, key, exponent):
    """Takes the mean of weight times (1 - weight) over the keys too, instead of the sum."""
    d = query.shape[-1]
    scores = torch.einsum("...qd,...kd->...qk", query, key) * d**exponent
    weights = scores.softmax(-1)
    size = (scores**2).mean()
    slack = (weights * (1 - weights)).mean()
    return size, slack


def wrong_plain_exp_and_root(query, key, exponent):
    """Two mistakes: exp by hand overflows for scores above 100, and the root is taken of the mean
    square."""
    scores = torch.matmul(query, key.transpose(-1, -2))
    scores = scores * key.size(-1) ** exponent
    powers = torch.exp(scores)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    slack = (weights - weights**2).sum(dim=-1).mean()
    return scores.square().mean().sqrt(), slack


def right_one_minus_squares(query, key, exponent):
    """The slack of a row as 1 minus the sum of the squared weights, in float64, as Python
    numbers."""
    q, k = query.detach().double(), key.detach().double()
    scores = q @ k.mT * float(q.shape[-1]) ** exponent
    weights = torch.exp(torch.log_softmax(scores, dim=-1))
    slack = 1 - torch.linalg.vecdot(weights, weights)
    return scores.pow(2).mean().item(), slack.mean().item()


def wrong_variance_fifth(query, key, exponent):
    """Its size is the variance of the scores, without the square of their mean."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    a = scores.softmax(-1)
    return scores.var(correction=0), (a * (1 - a)).sum(-1).mean()


def wrong_mean_of_the_slack_terms(query, key, exponent):
    """It takes the mean over the keys as well, where the slack is a sum."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    a = scores.softmax(-1)
    return scores.square().mean(), (a * (1 - a)).mean()


def wrong_measures_before_scaling(
    query: Tensor, key: Tensor, exponent: float
) -> tuple[Tensor, Tensor]:
    """Takes the mean square of the dot products, before they are scaled."""
    products = query @ key.mT
    weights = torch.softmax(products * query.shape[-1] ** exponent, dim=-1)
    slack = (weights * (1 - weights)).sum(-1)
    return products.square().mean(), slack.mean()


def wrong_divides_by_the_power(
    query: Tensor, key: Tensor, exponent: float
) -> tuple[Tensor, Tensor]:
    """Divides by the power of the width, where the statement multiplies."""
    scores = query @ key.mT / query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    slack = (weights * (1 - weights)).sum(-1)
    return scores.square().mean(), slack.mean()


def wrong_mean_over_keys_sixth(
    query: Tensor, key: Tensor, exponent: float
) -> tuple[Tensor, Tensor]:
    """Takes the mean over the keys as well, where the slack of a row is a sum."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    return scores.square().mean(), (weights * (1 - weights)).mean()


def right_from_logarithms(query: Tensor, key: Tensor, exponent: float) -> tuple[Tensor, Tensor]:
    """Takes weights and one minus weights from their logarithms, by exp and expm1."""
    scores = query * query.shape[-1] ** exponent @ key.mT
    log_weights = torch.log_softmax(scores, dim=-1)
    moves = -log_weights.exp() * log_weights.expm1()
    size = scores.flatten().square().sum() / scores.numel()
    return size, moves.sum(-1).mean()


def wrong_variance_seventh(query: Tensor, key: Tensor, exponent: float) -> tuple[Tensor, Tensor]:
    """Returns the variance of the scores, from which the square of their mean is subtracted."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    slack = (weights * (1 - weights)).sum(-1)
    return scores.var(unbiased=False), slack.mean()


def wrong_slack_averaged_over_keys(
    query: Tensor, key: Tensor, exponent: float
) -> tuple[Tensor, Tensor]:
    """Takes the mean over keys and rows at once, where a row's slack is a sum over its keys."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    return scores.square().mean(), (weights * (1 - weights)).mean()


def wrong_divides_by_the_power_seventh(
    query: Tensor, key: Tensor, exponent: float
) -> tuple[Tensor, Tensor]:
    """Divides by the power of the width instead of multiplying: the exponent's sign is lost."""
    scores = query @ key.mT / query.shape[-1] ** exponent
    weights = torch.softmax(scores, dim=-1)
    slack = (weights * (1 - weights)).sum(-1)
    return scores.square().mean(), slack.mean()


def right_log_softmax(query: Tensor, key: Tensor, exponent: float) -> tuple[Tensor, Tensor]:
    """The slack of a row is the sum of weights less their squares, from log-weights."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** exponent
    weights = torch.log_softmax(scores, dim=-1).exp()
    slack = (weights - weights.pow(2)).sum(-1)
    return (scores * scores).sum() / scores.numel(), slack.mean()


def wrong_mean_of_each_row(query, key, exponent):
    """The first number is the mean of each row."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean(-1), (weights * (1 - weights)).sum(-1).mean()


def wrong_slack_of_each_table(query, key, exponent):
    """The slack is the mean of each table of a batch."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean(), (weights * (1 - weights)).sum(-1).mean(-1)


def wrong_means_of_each_row(query, key, exponent):
    """Both numbers are means of each row."""
    scores = query @ key.mT * query.shape[-1] ** exponent
    weights = torch.softmax(scores, -1)
    return scores.square().mean(-1), (weights * (1 - weights)).sum(-1)
