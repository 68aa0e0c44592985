import torch


def wrong_hides_twins(key, value, width):
    """It hides every key at the distance 0, so another key in the same place is left out too."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    hidden = squared == 0
    weights = torch.softmax((-squared / (2 * width**2)).masked_fill(hidden, -torch.inf), -1)
    return weights.masked_fill(hidden, 0) @ value


def wrong_minus_a_billion(key, value, width):
    """It fills the diagonal with -1e9, above the scores of keys that are 100,000 widths away."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = torch.eye(key.shape[-2], dtype=torch.bool)
    weights = torch.softmax((-squared / (2 * width**2)).masked_fill(myself, -1e9), -1)
    return weights.masked_fill(myself, 0) @ value


def wrong_divides_what_is_left(key, value, width):
    """It sets the diagonal to 0 after the softmax and renormalises; far keys are 0/0 then."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    weights = torch.softmax(-squared / (2 * width**2), -1)
    weights = weights * (1 - torch.eye(key.shape[-2], dtype=key.dtype))
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total > 0, total, 1) @ value


def wrong_zero_score_on_the_diagonal(key, value, width):
    """It multiplies the scores by 1 - identity, which leaves the key itself its score of 0."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    others = 1 - torch.eye(key.shape[-2], dtype=key.dtype)
    return torch.softmax(-squared / (2 * width**2) * others, -1) @ value


def wrong_nan_for_one_key(key, value, width):
    """A table with one key is 0/0: its row of minus infinity goes through the softmax."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = torch.eye(key.shape[-2], dtype=torch.bool)
    scores = (-squared / (2 * width**2)).masked_fill(myself, -torch.inf)
    return torch.softmax(scores, -1) @ value


def right_without_the_row(key, value, width):
    """A loop over the keys, each asking a table from which its own row has been cut."""
    estimates = []
    for own in range(key.shape[-2]):
        others = [row for row in range(key.shape[-2]) if row != own]
        gap = key[..., others, :] - key[..., own : own + 1, :]
        scores = -0.5 * (gap / width).square().sum(-1)
        weights = torch.softmax(scores, -1).unsqueeze(-2)
        estimates.append(weights @ value[..., others, :])
    return torch.cat(estimates, -2)


def wrong_own_weight_dropped(key, value, width):
    """The own weight is set to 0 after the softmax, and the others are not shared out again."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    weights = torch.softmax(-squared / (2 * width**2), -1)
    return (weights * (1 - torch.eye(key.shape[-2], dtype=key.dtype))) @ value


def wrong_half_missing_and_a_billion_less(key, value, width):
    """The half is missing, and the diagonal is 1e9 lower, not minus infinity."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    own = torch.eye(key.shape[-2], dtype=key.dtype)
    return torch.softmax(-squared / width**2 - 1e9 * own, -1) @ value
