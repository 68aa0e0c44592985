import torch


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
    """The mean square is that of the dot products, before they are scaled."""
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
