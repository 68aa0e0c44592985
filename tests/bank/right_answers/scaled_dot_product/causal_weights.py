"""Right answers to part B: each earns every point."""

import torch


def by_positions(scores, length):
    query_len, key_len = scores.shape[-2:]
    key = torch.arange(key_len, device=scores.device)
    query = torch.arange(key_len - query_len, key_len, device=scores.device)
    seen = (key <= query[:, None]) & (key < length[..., None, None])
    nobody = ~seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~(seen | nobody), -torch.inf), -1)
    return torch.where(seen, weights, 0)


def by_replacing_nan_at_once(scores, length):
    query_len, key_len = scores.shape[-2:]
    later = torch.ones_like(scores, dtype=torch.bool).triu(key_len - query_len + 1)
    padding = torch.arange(key_len, device=scores.device) >= length[..., None, None]
    return scores.masked_fill(later | padding, float("-inf")).softmax(-1).nan_to_num(0)


def by_a_wall_that_is_finite(scores, length):
    query_len, key_len = scores.shape[-2:]
    position = torch.arange(key_len, device=scores.device)
    seen = (position - (key_len - query_len) <= position.new_tensor(range(query_len))[:, None]) & (
        position < length[..., None, None]
    )
    wall = torch.zeros_like(scores).masked_fill(~seen, -1e9)
    return torch.softmax(scores + wall, dim=-1) * seen


def by_own_softmax(scores, length):
    query_len, key_len = scores.shape[-2:]
    nth = torch.ones_like(scores).cumsum(-1)
    turn = torch.ones_like(scores).cumsum(-2) + (key_len - query_len)
    seen = (nth <= turn) & (nth <= length.unsqueeze(-1).unsqueeze(-1))
    best = scores.detach().masked_fill(~seen, -1e30).amax(-1, keepdim=True)
    raised = torch.exp((scores - best).masked_fill(~seen, 0)) * seen
    return raised / raised.sum(-1, keepdim=True).clamp_min(1)


def by_loops(scores, length):
    if scores.ndim > 2:
        return torch.stack([by_loops(*part) for part in zip(scores, length, strict=True)])
    (query_len, key_len), rows = scores.shape, []
    for index, row in enumerate(scores):
        count = min(key_len - query_len + index + 1, int(length))
        weights = 0 * row
        if count > 0:
            weights = torch.cat([torch.softmax(row[:count], 0), weights[count:]])
        rows.append(weights)
    return torch.stack(rows)


def by_where_twice(scores, length):
    query_len, key_len = scores.shape[-2:]
    key = torch.arange(key_len, device=scores.device)
    query = key.new_tensor(range(key_len - query_len, key_len)).unsqueeze(-1)
    seen = (key <= query) & (key < length[..., None, None])
    weights = torch.nn.functional.softmax(torch.where(seen, scores, float("-inf")), dim=-1)
    return torch.where(seen, weights, torch.zeros_like(weights))


def by_the_lowest_number_there_is(scores, length):
    query_len, key_len = scores.shape[-2:]
    nth = torch.ones_like(scores).cumsum(-1)
    seen = torch.ones_like(scores).tril(key_len - query_len).bool()
    seen = seen.logical_and(nth <= length.unsqueeze(-1).unsqueeze(-1))
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~seen, lowest), -1).mul(seen)


def by_writing_into_its_own(scores, length):
    query_len, key_len = scores.shape[-2:]
    key = torch.arange(key_len, device=scores.device)
    later = key > torch.arange(key_len - query_len, key_len, device=scores.device)[:, None]
    hidden = (later | (key >= length[..., None, None])).expand(scores.shape)
    filled = scores.clone()
    filled[hidden] = -torch.inf
    weights = torch.softmax(filled, -1).clone()
    weights[hidden] = 0
    return weights
