"""Right answers to part D: each earns every point."""

import math

import torch


def by_slices(query, key, value, block_len):
    query, key_len = query / math.sqrt(query.shape[-1]), key.shape[-2]
    best = query.new_full((*query.shape[:-1], 1), -math.inf)
    total = torch.zeros_like(best)
    blend = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key_len, block_len):
        part = slice(start, start + block_len)
        scores = query @ key[..., part, :].transpose(-2, -1)
        higher = torch.maximum(best, scores.amax(-1, keepdim=True)).detach()
        kept, weights = torch.exp(best - higher), torch.exp(scores - higher)
        total = kept * total + weights.sum(-1, keepdim=True)
        blend = kept * blend + weights @ value[..., part, :]
        best = higher
    return blend / total


def by_running_mean(query, key, value, block_len):
    """The output is right after each block: what is new is mixed in by its share."""
    best = total = output = None
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = query @ keys.mT / query.shape[-1] ** 0.5
        higher = scores.amax(-1, keepdim=True)
        higher = higher if best is None else torch.maximum(best, higher)
        weights = torch.exp(scores - higher)
        kept = 0 if best is None else total * torch.exp(best - higher)
        total = kept + weights.sum(-1, keepdim=True)
        output = weights @ values / total + (0 if output is None else output * (kept / total))
        best = higher
    return output


def by_logarithms(query, key, value, block_len):
    """Each block attends for itself, and counts by the sum of its powers, kept as a logarithm."""
    output, log_total = 0, query.new_full((*query.shape[:-1], 1), -math.inf)
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = query @ keys.mT * query.shape[-1] ** -0.5
        log_block = torch.logsumexp(scores, -1, keepdim=True)
        log_both = torch.logaddexp(log_total, log_block)
        mixed = torch.exp(log_block - log_both) * (torch.softmax(scores, -1) @ values)
        output = torch.exp(log_total - log_both) * output + mixed
        log_total = log_both
    return output


def by_a_last_column(query, key, value, block_len):
    """A value of 1 for every key: its blend is the sum of the weights."""
    value = torch.cat([value, torch.ones_like(value[..., :1])], -1)
    root, best, blend = query.shape[-1] ** 0.5, None, 0.0
    for start in range(0, key.shape[-2], block_len):
        block = slice(start, min(start + block_len, key.shape[-2]))
        scores = torch.einsum("...qd,...kd->...qk", query / root, key[..., block, :])
        top = scores.detach().max(-1, keepdim=True).values
        new = top if best is None else torch.max(top, best)
        kept = 0.0 if best is None else torch.exp(best - new)
        blend, best = blend * kept + torch.exp(scores - new) @ value[..., block, :], new
    return blend[..., :-1] / blend[..., -1:]


def by_halves(query, key, value, block_len):
    """The first block and the rest, each by itself, are put together."""

    def measured(keys, values):
        if keys.shape[-2] <= block_len:
            scores = query @ keys.mT / math.sqrt(query.shape[-1])
            best = scores.amax(-1, keepdim=True)
            powers = torch.exp(scores - best)
            return best, powers.sum(-1, keepdim=True), powers @ values
        first = measured(keys[..., :block_len, :], values[..., :block_len, :])
        rest = measured(keys[..., block_len:, :], values[..., block_len:, :])
        best = torch.maximum(first[0], rest[0])
        one, other = torch.exp(first[0] - best), torch.exp(rest[0] - best)
        return best, *(one * a + other * b for a, b in zip(first[1:], rest[1:], strict=True))

    _, total, blend = measured(key, value)
    return blend / total


def by_queries_and_blocks(query, key, value, block_len):
    if query.ndim > 2:
        parts = zip(query, key, value, strict=True)
        return torch.stack([by_queries_and_blocks(*part, block_len) for part in parts])
    rows = []
    for one in query / query.shape[-1] ** 0.5:
        best, total, blend = one.new_tensor(-math.inf), 0.0, 0.0
        for keys, values in zip(key.split(block_len), value.split(block_len), strict=True):
            scores = keys @ one
            higher = torch.maximum(best, scores.max())
            kept, powers = math.e ** (best - higher), math.e ** (scores - higher)
            total, blend = total * kept + powers.sum(), blend * kept + powers @ values
            best = higher
        rows.append(blend / total)
    return torch.stack(rows)


def by_writing_into_its_own(query, key, value, block_len):
    best = torch.full_like(query[..., :1], -1e30)
    total = torch.zeros_like(best)
    blend = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = query @ keys.mT / math.sqrt(query.shape[-1])
        higher = torch.maximum(best, scores.detach().amax(-1, keepdim=True))
        kept, powers = torch.exp(best - higher), torch.exp(scores - higher)
        total.mul_(kept).add_(powers.sum(-1, keepdim=True))
        blend.mul_(kept).add_(powers @ values)
        best = higher
    return blend / total


def by_all_blocks_at_the_end(query, key, value, block_len):
    """Keeps the small results of all blocks: each one's blend, and the logarithm of its sum."""
    outputs, totals = [], []
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = query @ keys.mT / math.sqrt(query.shape[-1])
        totals.append(torch.logsumexp(scores, -1))
        outputs.append(torch.softmax(scores, -1) @ values)
    shares = torch.softmax(torch.stack(totals, -1), -1).unbind(-1)
    parts = zip(shares, outputs, strict=True)
    return sum(share.unsqueeze(-1) * output for share, output in parts)
