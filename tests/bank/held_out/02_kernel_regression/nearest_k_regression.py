import math

import torch
from torch import Tensor


def wrong_only_the_nearest(query, key, value, k):
    """It blends only the k nearest keys, where all keys count."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    nearest, place = squared.topk(k, dim=-1, largest=False)
    spread = (2 * nearest[..., -1:]).clamp_min(torch.finfo(squared.dtype).tiny)
    weights = torch.softmax(-nearest / spread, -1)
    everyone = torch.zeros_like(squared).scatter(-1, place, weights)
    return everyone @ value


def wrong_epsilon(query, key, value, k):
    """It adds 1e-8 to the squared width, which is not small where all distances are tiny."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    spread = 2 * squared.sort(-1).values[..., k - 1 : k] + 1e-8
    return torch.softmax(-squared / spread, -1) @ value


def wrong_width_detached(query, key, value, k):
    """The width is detached, so no gradient goes through it."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    spread = 2 * squared.detach().sort(-1).values[..., k - 1 : k]
    spread = spread.clamp_min(torch.finfo(squared.dtype).tiny)
    return torch.softmax(-squared / spread, -1) @ value


def wrong_distinct_distances(query, key, value, k):
    """Keys at the same distance are counted once, by unique."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    flat = squared.reshape(-1, squared.shape[-1])
    rows = [row.unique() for row in flat]
    width = torch.stack([row[min(k, len(row)) - 1] for row in rows])
    spread = 2 * width.reshape(*squared.shape[:-1], 1)
    spread = spread.clamp_min(torch.finfo(squared.dtype).tiny)
    return torch.softmax(-squared / spread, -1) @ value


def wrong_two_missing(query, key, value, k):
    """It divides by the squared width, not by twice that."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    spread = squared.sort(-1).values[..., k - 1 : k]
    spread = spread.clamp_min(torch.finfo(squared.dtype).tiny)
    return torch.softmax(-squared / spread, -1) @ value


def wrong_next_key(query, key, value, k):
    """The place of the k-th is counted from 1, so the next key gives the width."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    place = min(k, squared.shape[-1] - 1)
    spread = 2 * squared.sort(-1).values[..., place : place + 1]
    spread = spread.clamp_min(torch.finfo(squared.dtype).tiny)
    return torch.softmax(-squared / spread, -1) @ value


def right_limit_by_where(query, key, value, k):
    """It takes kthvalue, and writes the limit for a width of 0 as scores 0 and minus infinity."""
    gap = query[..., :, None, :] - key[..., None, :, :]
    squared = torch.einsum("...d,...d->...", gap, gap)
    width = squared.kthvalue(k, -1, keepdim=True).values
    is_zero = width == 0
    scores = -0.5 * (squared / torch.where(is_zero, torch.ones_like(width), width))
    limit = torch.zeros_like(squared).masked_fill(squared > 0, -torch.inf)
    return torch.softmax(torch.where(is_zero, limit, scores), -1) @ value


def wrong_farthest(query, key, value, k):
    """topk gives the largest distances, so the k-th farthest key gives the width."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    width = squared.topk(k, -1).values[..., -1:]
    scores = torch.where(width > 0, -squared / (2 * torch.where(width > 0, width, 1)), 0)
    return torch.softmax(scores, -1) @ value


def wrong_square_of_the_square(query, key, value, k):
    """The k-th squared distance is taken for the width and squared again; a width of 0 is 0/0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    width = squared.kthvalue(k, -1, keepdim=True).values
    return torch.softmax(-squared / (2 * width**2), -1) @ value


def wrong_eps_in_width(query, key, value, k):
    """Adds 1e-6 to the squared width against a division by 0, which matters where the unit is
    large."""
    squared = ((query.unsqueeze(-2) - key.unsqueeze(-3)) ** 2).sum(-1)
    h2 = squared.sort(dim=-1).values[..., k - 1 : k]
    weights = torch.softmax(-squared / (2 * h2 + 1e-6), dim=-1)
    return weights @ value


def wrong_only_k_nearest(query, key, value, k):
    """Sums over the k nearest keys only, instead of over all keys."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).pow(2).sum(-1)
    h2 = squared.kthvalue(k, dim=-1, keepdim=True).values
    spread = (2 * h2).clamp(min=torch.finfo(squared.dtype).tiny)
    scores = (-squared / spread).masked_fill(squared > h2, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


def wrong_largest_and_zero_width(query, key, value, k):
    """Two mistakes: topk without largest=False takes the k-th farthest key, and a width of 0 is
    divided by."""
    diff = query[..., :, None, :] - key[..., None, :, :]
    squared = (diff * diff).sum(-1)
    h2 = torch.topk(squared, k, dim=-1).values[..., -1:]
    kernel = torch.exp(-squared / (2 * h2))
    weights = kernel / kernel.sum(-1, keepdim=True)
    return weights @ value


def right_rescaled_kthvalue(query, key, value, k):
    """Measures each query in a unit of its own (the farthest key), and treats rows of width 0
    apart."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    unit = difference.detach().abs().amax((-1, -2), keepdim=True)
    unit = torch.where(unit > 0, unit, torch.ones_like(unit))
    squared = (difference / unit).square().sum(-1)
    reach = torch.kthvalue(squared, k, dim=-1, keepdim=True).values
    nothing = reach == 0
    scores = squared / torch.where(nothing, torch.ones_like(reach), reach) / -2
    scores = scores.masked_fill(nothing & (squared > 0), -torch.inf)
    return scores.softmax(-1) @ value


def wrong_k_from_zero(query, key, value, k):
    """It takes the nearest key after the k-th, because it counts from 0."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    width = squared.sort(-1).values[..., min(k, key.shape[-2] - 1), None]
    return (-squared / (2 * width)).softmax(-1) @ value


def wrong_k_farthest(query, key, value, k):
    """It takes the k-th farthest key for the width."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    width = squared.topk(k).values[..., -1:]
    return (-squared / (2 * width)).softmax(-1) @ value


def wrong_only_the_nearest_k(query, key, value, k):
    """Its sums run over the k nearest keys only, not over all."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    near, place = squared.sort(-1)
    near, place = near[..., :k], place[..., :k]
    width = near[..., -1:]
    inside = torch.zeros_like(squared, dtype=torch.bool).scatter(-1, place, True)
    scores = -squared / (2 * torch.where(width > 0, width, 1))
    allowed = torch.where(width > 0, inside, squared == 0)
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ value


def wrong_width_at_least_a_millionth(query, key, value, k):
    """It keeps the width above a millionth, so the unit of the positions matters."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    width = squared.sort(-1).values[..., k - 1 : k].clamp(min=1e-12)
    return (-squared / (2 * width)).softmax(-1) @ value


def right_kth_value(query, key, value, k):
    """kthvalue finds the width, and a width of 0 is replaced before it divides."""
    squared = torch.stack([(q - key).square().sum(-1) for q in query.unsqueeze(-2).unbind(-3)], -2)
    width = squared.kthvalue(k, -1, keepdim=True).values
    flat = width == 0
    scores = torch.where(flat, 0, -squared / (2 * torch.where(flat, 1, width)))
    return scores.masked_fill(flat & (squared > 0), -torch.inf).softmax(-1) @ value


def wrong_small_number_added(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Adds 1e-8 to the divisor, which matters where the distances are small."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    spread = 2 * squared.sort(-1).values[..., k - 1 : k] + 1e-8
    return torch.softmax(-squared / spread, -1) @ value


def wrong_only_the_nearest_count(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Sums over the k nearest keys only, where the formula sums over all."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    reach = squared.sort(-1).values[..., k - 1 : k]
    spread = 2 * reach.clamp(min=torch.finfo(squared.dtype).tiny)
    scores = (-squared / spread).masked_fill(squared > reach, -math.inf)
    return torch.softmax(scores, -1) @ value


def wrong_width_without_gradient(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Measures the width without gradients, though it depends on the query and a key."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    with torch.no_grad():
        spread = 2 * squared.sort(-1).values[..., k - 1 : k]
        spread = spread.clamp(min=torch.finfo(squared.dtype).tiny)
    return torch.softmax(-squared / spread, -1) @ value


def right_width_zero_apart(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Treats a width of 0 apart: there the keys on the query share the weight."""
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    reach = squared.kthvalue(k, dim=-1, keepdim=True).values
    on_it = reach == 0
    scores = -squared / (2 * reach.masked_fill(on_it, 1))
    scores = scores.masked_fill(on_it & (squared > 0), -math.inf)
    return torch.softmax(scores, -1) @ value


def squared_distances(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)


def wrong_only_nearest_count(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Sums over the k nearest keys only, where the formula sums over all."""
    squared = squared_distances(query, key)
    reach = squared.sort(-1).values[..., k - 1 : k]
    tiny = torch.finfo(squared.dtype).tiny
    scores = -squared / (2 * reach).clamp(min=tiny)
    scores = scores.masked_fill(squared > reach, float("-inf"))
    return scores.softmax(-1) @ value


def wrong_width_has_a_floor(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Keeps the squared width above 1e-8, so that the unit of the positions matters."""
    squared = squared_distances(query, key)
    reach = squared.sort(-1).values[..., k - 1 : k]
    spread = (2 * reach).clamp(min=1e-8)
    return (-squared / spread).softmax(-1) @ value


def wrong_kth_farthest(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Takes the k-th largest distance: topk begins with the largest."""
    squared = squared_distances(query, key)
    reach = squared.topk(k).values[..., -1:]
    tiny = torch.finfo(squared.dtype).tiny
    return (-squared / (2 * reach).clamp(min=tiny)).softmax(-1) @ value


def right_limit_apart(query: Tensor, key: Tensor, value: Tensor, k: int) -> Tensor:
    """Treats a width of 0 on its own: score 0 for the keys on the query, else -inf."""
    squared = squared_distances(query, key)
    reach = squared.kthvalue(k, -1, keepdim=True).values
    closed = reach == 0
    ratio = squared / reach.masked_fill(closed, 1)
    scores = (-ratio / 2).masked_fill(closed & (squared > 0), float("-inf"))
    return scores.softmax(-1) @ value
