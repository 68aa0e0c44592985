"""Right answers to part C: each earns every point."""

import math

import torch


def by_a_very_low_maximum(query, key, value, block_len, window, num_sinks):
    query_len, key_len = query.shape[-2], key.shape[-2]
    asking = torch.arange(key_len - query_len, key_len)[:, None]
    best = torch.full_like(query[..., :1], -1e30)
    total, blend = torch.zeros_like(best), 0.0
    for start in range(0, key_len, block_len):
        place = torch.arange(start, min(start + block_len, key_len))
        distance = asking - place
        seen = (distance >= 0) & ((distance < window) | (place < num_sinks))
        if not seen.any():
            continue
        scores = query @ key[..., place, :].mT / math.sqrt(query.shape[-1])
        scores = torch.where(seen, scores, -torch.inf)
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        kept, powers = torch.exp(best - higher), torch.exp(scores - higher)
        total = kept * total + powers.sum(-1, keepdim=True)
        blend = kept * blend + powers @ value[..., place, :]
        best = higher
    return blend / total


def by_infinity_with_care(query, key, value, block_len, window, num_sinks):
    """The maximum may be minus infinity; what is subtracted is 0 then."""
    key_len = key.shape[-2]
    first = key_len - query.shape[-2]
    asking = first + torch.arange(query.shape[-2]).unsqueeze(-1)
    best, total, blend = query.new_tensor(-math.inf), 0.0, 0.0
    for number, (keys, values) in enumerate(
        zip(key.split(block_len, -2), value.split(block_len, -2), strict=True)
    ):
        place = number * block_len + torch.arange(keys.shape[-2])
        if place[0] >= num_sinks and place[-1] <= first - window:
            continue
        hidden = (place > asking) | ((place <= asking - window) & (place >= num_sinks))
        scores = (query @ keys.transpose(-2, -1)) * query.shape[-1] ** -0.5
        scores = scores.masked_fill(hidden, -math.inf)
        higher = torch.maximum(best, scores.max(-1, keepdim=True).values)
        finite = higher.masked_fill(higher == -math.inf, 0)
        kept, powers = torch.exp(best - finite), torch.exp(scores - finite)
        total = total * kept + powers.sum(-1, keepdim=True)
        blend = blend * kept + powers @ values
        best = higher
    return blend / total


def by_logarithms(query, key, value, block_len, window, num_sinks):
    """Each block attends for itself, and counts by the logarithm of the sum of its powers."""
    query_len, key_len = query.shape[-2], key.shape[-2]
    asking = torch.arange(key_len)[-query_len:, None]
    outputs, totals = [], []
    for place in torch.arange(key_len).split(block_len):
        seen = (place <= asking) & ((asking - place < window) | (place < num_sinks))
        if seen.any():
            scores = query @ key[..., place, :].mT / query.shape[-1] ** 0.5
            scores = scores.masked_fill(~seen, -torch.inf)
            totals.append(torch.logsumexp(scores, -1))
            outputs.append(scores.softmax(-1).nan_to_num() @ value[..., place, :])
    best = torch.stack(totals).amax(0)
    shares = [torch.exp(total - best).unsqueeze(-1) for total in totals]
    return sum(s * o for s, o in zip(shares, outputs, strict=True)) / sum(shares)


def sinks_first_and_then_the_window(query, key, value, block_len, window, num_sinks):
    """Ranges of keys that are in sight, each cut into blocks of its own."""
    query = query / query.shape[-1] ** 0.5
    key_len, low = key.shape[-2], torch.finfo(query.dtype).min
    first = key_len - query.shape[-2]
    asking = torch.arange(first, key_len).view(-1, 1)
    sinks = min(num_sinks, key_len)
    starts = [*range(0, sinks, block_len)]
    ends = [min(start + block_len, sinks) for start in starts]
    near = max(first - window + 1, sinks)
    starts += range(near, key_len, block_len)
    ends += [min(start + block_len, key_len) for start in range(near, key_len, block_len)]
    best, total, blend = query.new_full((*query.shape[:-1], 1), low), 0.0, 0.0
    for start, end in zip(starts, ends, strict=True):
        place = torch.arange(start, end)
        seen = (place <= asking) & ((place > asking - window) | (place < sinks))
        scores = (query @ key[..., start:end, :].mT).masked_fill(~seen, low)
        higher = torch.max(best, scores.amax(-1, keepdim=True))
        kept, powers = torch.exp(best - higher), torch.exp(scores - higher) * seen
        total = total * kept + powers.sum(-1, keepdim=True)
        blend = blend * kept + powers @ value[..., start:end, :]
        best = higher
    return blend / total


def from_the_end_to_the_front(query, key, value, block_len, window, num_sinks):
    """Blocks in reverse order, and a value of 1 for every key, whose blend is the total."""
    query_len, key_len = query.shape[-2], key.shape[-2]
    value = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    asking = torch.arange(key_len - query_len, key_len)[:, None]
    best = query.new_full((*query.shape[:-1], 1), -1e20)
    blend = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in reversed(range(0, key_len, block_len)):
        place = torch.arange(start, min(start + block_len, key_len))
        seen = (place > asking - window).logical_or(place < num_sinks).logical_and(place <= asking)
        if bool(seen.any()):
            scores = torch.einsum("...qd,...kd->...qk", query, key[..., place, :])
            scores = scores / math.sqrt(key.shape[-1]) + torch.where(seen, 0.0, -torch.inf)
            higher = torch.maximum(scores.amax(-1, keepdim=True), best)
            mixed = torch.exp(scores - higher) @ value[..., place, :]
            blend, best = blend * torch.exp(best - higher) + mixed, higher
    return blend[..., :-1] / blend[..., -1:]
