import math

import torch
from torch import Tensor


def _window(share, mask, half_width, length):
    place = (length * share).unsqueeze(-1)
    distance = torch.arange(mask.shape[-1], dtype=share.dtype) - place
    return distance, mask.unsqueeze(-2) & (distance.abs() <= half_width)


def wrong_padding_in_the_length(scores, share, mask, half_width):
    """T is the width of the table, padding included."""
    distance, seen = _window(share, mask, half_width, scores.shape[-1])
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_edge_outside(scores, share, mask, half_width):
    """A word at exactly the distance D is left out of the window."""
    distance, seen = _window(share, mask, half_width, mask.sum(-1, keepdim=True))
    seen = seen & (distance.abs() < half_width)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_sums_to_one_again(scores, share, mask, half_width):
    """It divides by the sum after the bell, so that the weights sum to 1."""
    distance, seen = _window(share, mask, half_width, mask.sum(-1, keepdim=True))
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    weights = weights * torch.exp(-2 * (distance / half_width) ** 2)
    total = weights.sum(-1, keepdim=True)
    return weights / torch.where(total == 0, 1, total)


def wrong_sigma_is_the_width(scores, share, mask, half_width):
    """The bell has sigma D, where half of it is asked."""
    distance, seen = _window(share, mask, half_width, mask.sum(-1, keepdim=True))
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-(distance**2) / (2 * half_width**2))


def wrong_place_rounded(scores, share, mask, half_width):
    """The place is rounded to a whole number."""
    place = (mask.sum(-1, keepdim=True) * share).round().unsqueeze(-1)
    distance = torch.arange(mask.shape[-1], dtype=share.dtype) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_window_cut_afterwards(scores, share, mask, half_width):
    """The softmax runs over all words, and the window is cut out of it."""
    distance, seen = _window(share, mask, half_width, mask.sum(-1, keepdim=True))
    words = mask.unsqueeze(-2).expand(scores.shape)
    weights = torch.softmax(scores.masked_fill(~words, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_bell_inside(scores, share, mask, half_width):
    """The bell's exponent is added to the scores, before the softmax."""
    distance, seen = _window(share, mask, half_width, mask.sum(-1, keepdim=True))
    scores = scores - 2 * (distance / half_width) ** 2
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)


def right_window_by_window(scores, share, mask, half_width):
    """A loop over all queries; the softmax of the window is written into a row of zeros."""
    length = mask.sum(-1, keepdim=True).expand(share.shape).reshape(-1)
    words = mask.unsqueeze(-2).expand(scores.shape).reshape(-1, scores.shape[-1])
    rows = []
    flat = scores.reshape(-1, scores.shape[-1])
    for row, part, count, real in zip(flat, share.reshape(-1), length, words, strict=True):
        distance = torch.arange(len(row)).to(row.dtype) - count * part
        inside = (real & (distance.abs() <= half_width)).nonzero().squeeze(-1)
        bell = torch.exp(-0.5 * (distance[inside] * 2 / half_width).square())
        heard = row[inside].softmax(0) * bell
        rows.append(torch.zeros_like(row).index_put((inside,), heard))
    return torch.stack(rows).reshape(scores.shape)


def _window_at(scores, place, mask, half_width, near):
    distance = torch.arange(scores.shape[-1], dtype=scores.dtype) - place.unsqueeze(-1)
    seen = near(distance.abs(), half_width) & mask.unsqueeze(-2)
    some = seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~seen & some, -torch.inf), -1)
    return torch.where(seen, weights, 0), distance


def wrong_last_place(scores, share, mask, half_width):
    """The place is a share of the last place, T - 1, not of the number of words."""
    place = share * (mask.sum(-1, keepdim=True) - 1)
    weights, distance = _window_at(scores, place, mask, half_width, torch.le)
    return weights * torch.exp(-(distance**2) / (2 * (half_width / 2) ** 2))


def wrong_edge_outside_and_wide_bell(scores, share, mask, half_width):
    """A word at the edge is outside, and the bell is as wide as the window."""
    place = share * mask.sum(-1, keepdim=True)
    weights, distance = _window_at(scores, place, mask, half_width, torch.lt)
    return weights * torch.exp(-(distance**2) / (2 * half_width**2))


def wrong_length_with_padding(scores, share, mask, half_width):
    """Takes T to be the length of the padded row instead of the number of words."""
    key_len = scores.shape[-1]
    place = share * key_len
    position = torch.arange(key_len, device=scores.device)
    distance = position - place.unsqueeze(-1)
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    weights = weights.masked_fill(~seen, 0.0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_nan_replaced_after_bell(scores, share, mask, half_width):
    """Replaces the nan of an empty window only after the bell, so the gradient of share is nan."""
    words = mask.sum(-1, keepdim=True)
    p = (words * share).unsqueeze(-1)
    i = torch.arange(scores.size(-1), device=mask.device)
    distance = i - p
    allowed = (distance.abs() <= half_width) & mask[..., None, :]
    alpha = torch.softmax(torch.where(allowed, scores, float("-inf")), dim=-1)
    sigma = half_width / 2
    alpha = alpha * torch.exp(-(distance**2) / (2 * sigma**2))
    return torch.nan_to_num(alpha, nan=0.0)


def wrong_window_after_softmax_wide_bell(scores, share, mask, half_width):
    """Two mistakes: the window is cut out after a softmax over all words, and sigma is D instead of
    D / 2."""
    padding = ~mask.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), dim=-1)
    weights = weights.masked_fill(padding, 0.0)
    place = mask.sum(-1, keepdim=True) * share
    distance = torch.arange(scores.shape[-1]) - place[..., None]
    window = distance.abs() <= half_width
    bell = torch.exp(-(distance**2) / (2 * half_width**2))
    return weights * bell * window


def right_empty_rows_set_aside(scores, share, mask, half_width):
    """An empty row gets zeros for scores and never a minus infinity; words out of sight get the
    distance 0."""
    place = mask.sum(-1, keepdim=True) * share
    position = torch.arange(scores.shape[-1], device=mask.device)
    distance = position - place.unsqueeze(-1)
    seen = (distance.abs() <= half_width) & mask.unsqueeze(-2)
    empty = ~seen.any(-1, keepdim=True)
    hidden = scores.masked_fill(~seen, -torch.inf).masked_fill(empty, 0)
    near = distance.masked_fill(~seen, 0) / half_width
    return hidden.softmax(-1) * seen * torch.exp(-2 * near.square())


def _window_fifth(scores, share, mask, half_width, sigma, length, edge=torch.le):
    place = torch.arange(scores.shape[-1], dtype=scores.dtype)
    far = place - (length * share)[..., None]
    seen = edge(far.abs(), half_width) & mask.unsqueeze(-2)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    return weights.masked_fill(~seen, 0) * torch.exp(-(far**2) / (2 * sigma**2))


def wrong_sigma_is_the_half_width(scores, share, mask, half_width):
    """It takes D for sigma, not D / 2."""
    return _window_fifth(scores, share, mask, half_width, half_width, mask.sum(-1, keepdim=True))


def wrong_last_index_for_length(scores, share, mask, half_width):
    """It multiplies the share by T - 1, the place of the last word."""
    length = mask.sum(-1, keepdim=True) - 1
    return _window_fifth(scores, share, mask, half_width, half_width / 2, length)


def wrong_window_after_softmax(scores, share, mask, half_width):
    """It cuts the window out after a softmax over all words of the source."""
    place = mask.sum(-1, keepdim=True) * share
    far = torch.arange(scores.shape[-1]) - place.unsqueeze(-1)
    words = mask.unsqueeze(-2)
    seen = words & (far.abs() <= half_width)
    none = ~words.any(-1, keepdim=True)
    weights = scores.masked_fill(~words & ~none, -torch.inf).softmax(-1)
    return weights.masked_fill(~seen, 0) * (-2 * (far / half_width) ** 2).exp()


def wrong_length_with_padding_fifth(scores, share, mask, half_width):
    """It takes the padded length for the number of words."""
    far = torch.arange(scores.shape[-1]) - (scores.shape[-1] * share).unsqueeze(-1)
    seen = mask.unsqueeze(-2) & (far.abs() <= half_width)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen & ~none, -torch.inf).softmax(-1)
    return weights.masked_fill(~seen, 0) * (-2 * (far / half_width) ** 2).exp()


def wrong_edge_left_out(scores, share, mask, half_width):
    """It leaves out words at exactly the half width."""
    far = torch.arange(scores.shape[-1]) - (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    seen = mask.unsqueeze(-2) & (far.abs() < half_width)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen & ~none, -torch.inf).softmax(-1)
    return weights.masked_fill(~seen, 0) * (-2 * (far / half_width) ** 2).exp()


def right_powers_by_hand(scores, share, mask, half_width):
    """The softmax is written out, and a sum of 0 is replaced by 1."""
    far = torch.arange(scores.shape[-1]) - (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    seen = (mask.unsqueeze(-2) & (far.abs() <= half_width)).expand(scores.shape)
    low = scores.masked_fill(~seen, -torch.inf).amax(-1, keepdim=True).detach()
    low = torch.where(low == -torch.inf, 0, low)
    raised = torch.where(seen, (torch.where(seen, scores, low) - low).exp(), 0)
    total = raised.sum(-1, keepdim=True)
    sigma = half_width / 2
    return raised / torch.where(total == 0, 1, total) * (-(far**2) / (2 * sigma**2)).exp()


def wrong_length_with_padding_sixth(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Takes the padded length for T, so a short sentence gets its window too far right."""
    key_len = scores.shape[-1]
    place = (key_len * share).unsqueeze(-1)
    distance = torch.arange(key_len, device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = torch.softmax(scores.masked_fill(~seen, -math.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width).square())


def wrong_bell_before_softmax(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Adds the logarithm of the bell to the scores, so the weights sum to 1 again."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(scores.shape[-1], device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    scores = scores - 2 * (distance / half_width).square()
    return torch.softmax(scores.masked_fill(~seen, -math.inf), -1).masked_fill(~seen, 0)


def wrong_nan_removed_after_the_bell(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Overwrites the weights of an empty window after the bell: the gradient is nan."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(scores.shape[-1], device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)
    weights = weights * torch.exp(-2 * (distance / half_width).square())
    return weights.masked_fill(~seen, 0)


def right_empty_windows_apart(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Gives an empty window scores of 0, and cuts the window out of the bell as well."""
    place = mask.sum(-1, keepdim=True) * share
    word = torch.arange(scores.shape[-1], device=mask.device)
    distance = word - place[..., None]
    seen = mask[..., None, :] & (distance.abs() <= half_width)
    empty = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -math.inf).masked_fill(empty, 0).softmax(-1)
    sigma = half_width / 2
    bell = torch.exp(-distance.square() / (2 * sigma**2))
    return weights * bell.masked_fill(~seen, 0)


def wrong_padding_counts_in_length(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Takes the padded width for T, so the place moves towards the padding."""
    key_len = scores.shape[-1]
    place = (key_len * share).unsqueeze(-1)
    distance = torch.arange(key_len, device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    weights = weights.masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def wrong_bell_in_the_softmax(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Adds the bell to the scores, so that the weights sum to 1 again."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(scores.shape[-1], device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    scores = scores - 2 * (distance / half_width) ** 2
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return weights.masked_fill(~seen, 0)


def wrong_edge_left_out_seventh(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Leaves out a word at exactly the distance D."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(scores.shape[-1], device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() < half_width)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    weights = weights.masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width) ** 2)


def right_empty_rows_filled(
    scores: Tensor, share: Tensor, mask: Tensor, half_width: float
) -> Tensor:
    """Fills an empty row with zeros, and cuts the window out of the bell as well."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(scores.shape[-1], device=mask.device) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    empty = ~seen.any(-1, keepdim=True)
    filled = scores.masked_fill(~seen, float("-inf")).masked_fill(empty, 0)
    sigma = half_width / 2
    bell = torch.exp(-distance.square() / (2 * sigma**2))
    return filled.softmax(-1) * bell.masked_fill(~seen, 0)
