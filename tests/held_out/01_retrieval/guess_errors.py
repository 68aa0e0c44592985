import torch


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
