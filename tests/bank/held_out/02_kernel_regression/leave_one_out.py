import math

import torch
from torch import Tensor


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


def wrong_renormalised_after(key, value, width):
    """Sets the diagonal to 0 after the softmax and divides again, which is 0/0 where the others are
    far."""
    squared = ((key.unsqueeze(-2) - key.unsqueeze(-3)) ** 2).sum(-1)
    weights = torch.softmax(-squared / (2 * width**2), dim=-1)
    n = key.shape[-2]
    eye = torch.eye(n, dtype=torch.bool, device=key.device)
    weights = weights.masked_fill(eye, 0.0)
    if n > 1:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value


def wrong_minus_1e9(key, value, width):
    """Hides with -1e9 instead of minus infinity, which is above the scores of very far keys."""
    diff = key[..., :, None, :] - key[..., None, :, :]
    scores = -diff.pow(2).sum(-1) / (2 * width**2)
    myself = torch.eye(key.size(-2), dtype=torch.bool, device=key.device)
    weights = torch.softmax(scores.masked_fill(myself, -1e9), dim=-1)
    weights = weights.masked_fill(myself, 0)
    return weights @ value


def wrong_same_place_hidden_no_half(key, value, width):
    """Two mistakes: hides every key at distance 0, not only the key itself, and forgets the factor
    2 under the square."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    hide = squared == 0
    scores = (-squared / width**2).masked_fill(hide, float("-inf"))
    weights = torch.softmax(scores, dim=-1).masked_fill(hide, 0.0)
    return weights @ value


def right_table_of_the_others(key, value, width):
    """No mask: an index picks the n - 1 others of each key, and each key gets a lookup in its own
    table."""
    n = key.shape[-2]
    place = torch.arange(n, device=key.device)
    other = place[: n - 1].expand(n, n - 1)
    other = other + (other >= place[:, None])
    squared = (key.unsqueeze(-2) - key[..., other, :]).square().sum(-1)
    scores = -squared / (2 * width**2)
    weights = torch.softmax(scores, -1)
    return (weights.unsqueeze(-1) * value[..., other, :]).sum(-2)


def wrong_leaves_out_all_at_the_place(key, value, width):
    """It leaves out every key at the same place, not only itself."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    scores = (-squared / (2 * width**2)).masked_fill(squared == 0, -torch.inf)
    none = (scores == -torch.inf).all(-1, keepdim=True)
    return scores.masked_fill(none, 0).softmax(-1).masked_fill(none, 0) @ value


def wrong_own_score_set_to_zero(key, value, width):
    """It sets the score of a key with itself to 0, which is the best score of all."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    scores = -squared / (2 * width**2)
    own = torch.eye(len(key), dtype=torch.bool)
    return scores.masked_fill(own, 0).softmax(-1) @ value


def wrong_fill_not_low_enough(key, value, width):
    """It fills the diagonal with -1e9, which is above the scores of keys 100,000 widths away."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    own = torch.eye(key.shape[-2], dtype=torch.bool)
    weights = (-squared / (2 * width**2)).masked_fill(own, -1e9).softmax(-1)
    return weights @ value * (key.shape[-2] > 1)


def wrong_lone_key_is_nan(key, value, width):
    """It forgets the table with one key, whose estimate becomes nan."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    own = torch.eye(key.shape[-2], dtype=torch.bool)
    return (-squared / (2 * width**2)).masked_fill(own, -torch.inf).softmax(-1) @ value


def wrong_minus_a_billion_sixth(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Hides a key with a score of -1e9, above the scores of keys 100,000 widths away."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)
    scores = (-squared / (2 * width**2)).masked_fill(myself, -1e9)
    weights = torch.softmax(scores, -1)
    if key.shape[-2] == 1:
        weights = weights * 0
    return weights @ value


def wrong_same_place_hidden_too(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Hides every key at the distance 0, also another key in the same place."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = squared == 0
    scores = (-squared / (2 * width**2)).masked_fill(myself, -math.inf)
    weights = torch.softmax(scores, -1).masked_fill(myself, 0)
    return weights @ value


def wrong_one_key_is_nan(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Does not think of a table with one key, whose estimate comes out as nan."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    myself = torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)
    scores = (-squared / (2 * width**2)).masked_fill(myself, -math.inf)
    return torch.softmax(scores, -1) @ value


def right_table_of_others(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Picks the others of each key by index, so there is nothing to hide."""
    number = key.shape[-2]
    places = torch.arange(number, device=key.device).expand(number, number)
    apart = ~torch.eye(number, dtype=torch.bool, device=key.device)
    others = places[apart].view(number, number - 1)
    units = (key.unsqueeze(-2) - key[..., others, :]) / width
    weights = torch.softmax(-0.5 * units.square().sum(-1), -1)
    return (weights.unsqueeze(-1) * value[..., others, :]).sum(-2)


def gaussian_scores(key: Tensor, width: float | Tensor) -> Tensor:
    difference = key.unsqueeze(-2) - key.unsqueeze(-3)
    return -difference.square().sum(-1) / (2 * width**2)


def wrong_hides_every_key_in_its_place(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Hides all keys at the distance 0, another one in the same place too."""
    scores = gaussian_scores(key, width)
    hidden = scores == 0
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return weights.masked_fill(hidden, 0) @ value


def wrong_fill_not_low_enough_seventh(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Hides with -1e9: where the others are 100,000 widths away, the key itself wins."""
    scores = gaussian_scores(key, width)
    myself = torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)
    weights = scores.masked_fill(myself, -1e9).softmax(-1)
    return weights.masked_fill(myself, 0) @ value


def wrong_nan_for_one_key_seventh(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Forgets the table with one key, whose estimate comes out as nan."""
    scores = gaussian_scores(key, width)
    myself = torch.eye(key.shape[-2], dtype=torch.bool, device=key.device)
    return scores.masked_fill(myself, float("-inf")).softmax(-1) @ value


def right_by_index(key: Tensor, value: Tensor, width: float | Tensor) -> Tensor:
    """Picks the other keys of each key by an index, so that nothing has to be hidden."""
    place = torch.arange(key.shape[-2], device=key.device)
    first = place[:-1].expand(len(place), -1)
    others = first + (first >= place.unsqueeze(1))
    difference = key.unsqueeze(-2) - key[..., others, :]
    scores = -difference.square().sum(-1) / (2 * width**2)
    weights = scores.softmax(-1).unsqueeze(-1)
    return (weights * value[..., others, :]).sum(-2)
