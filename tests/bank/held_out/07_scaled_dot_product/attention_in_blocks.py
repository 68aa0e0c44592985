import math

import torch
from torch import Tensor


def _blocks(key, value, block_len):
    return zip(key.split(block_len, -2), value.split(block_len, -2), strict=True)


def wrong_blend_not_shrunk(query, key, value, block_len):
    """Only the sum of the powers is put right when the maximum grows, not the blend."""
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    query = query / query.shape[-1] ** 0.5
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        powers = torch.exp(scores - higher)
        total = total * torch.exp(best - higher) + powers.sum(-1, keepdim=True)
        blend = blend + powers @ values
        best = higher
    return blend / total


def wrong_one_maximum_for_all(query, key, value, block_len):
    """All queries share one maximum, so a row far below it has only powers of 0."""
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    query = query / query.shape[-1] ** 0.5
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.max())
        powers, factor = torch.exp(scores - higher), torch.exp(best - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_mean_of_the_blocks(query, key, value, block_len):
    """Each block has a softmax of its own, and the outputs are averaged."""
    outputs = []
    for keys, values in _blocks(key, value, block_len):
        scores = query / query.shape[-1] ** 0.5 @ keys.mT
        outputs.append(torch.softmax(scores, -1) @ values)
    return sum(outputs) / len(outputs)


def wrong_not_scaled(query, key, value, block_len):
    """The root of the width is forgotten."""
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        powers, factor = torch.exp(scores - higher), torch.exp(best - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_maximum_starts_at_zero(query, key, value, block_len):
    """The maximum starts at 0, so scores hundreds below it have only powers of 0."""
    best = query.new_zeros(*query.shape[:-1], 1)
    total = blend = 0
    query = query / query.shape[-1] ** 0.5
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        powers, factor = torch.exp(scores - higher), torch.exp(best - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_last_block_dropped(query, key, value, block_len):
    """The keys that do not fill a block are left out."""
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    query = query / query.shape[-1] ** 0.5
    for block in range(max(1, key.shape[-2] // block_len)):
        at = slice(block * block_len, (block + 1) * block_len)
        scores = query @ key[..., at, :].mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        powers, factor = torch.exp(scores - higher), torch.exp(best - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ value[..., at, :]
        best = higher
    return blend / total


def wrong_maximum_not_kept(query, key, value, block_len):
    """The new maximum is not kept, so each block makes all earlier ones forgotten."""
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    query = query / query.shape[-1] ** 0.5
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        powers, factor = torch.exp(scores - higher), torch.exp(best - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
    return blend / total


def wrong_factor_upside_down(query, key, value, block_len):
    """The factor is exp(new - old)."""
    best, total, blend = None, 0, 0
    query = query / query.shape[-1] ** 0.5
    for keys, values in _blocks(key, value, block_len):
        scores = query @ keys.mT
        top = scores.amax(-1, keepdim=True)
        higher = top if best is None else torch.maximum(best, top)
        factor = 1 if best is None else torch.exp(higher - best)
        powers = torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def right_means_and_logarithms(query, key, value, block_len):
    """It keeps the output so far and the logarithm of its sum, and mixes in each block's mean."""
    scaled = query / query.shape[-1] ** 0.5
    output, size = None, None
    for start in range(0, key.shape[-2], block_len):
        scores = scaled @ key[..., start : start + block_len, :].mT
        top = scores.amax(-1, keepdim=True)
        powers = (scores - top).exp()
        part = powers.sum(-1, keepdim=True)
        mean = powers @ value[..., start : start + block_len, :] / part
        logarithm = part.log() + top
        if output is None:
            output, size = mean, logarithm
        else:
            share = torch.sigmoid(logarithm - size)
            output = torch.lerp(output, mean, share.expand_as(mean))
            size = torch.logaddexp(size, logarithm)
    return output


def wrong_maximum_starts_at_zero_again(query, key, value, block_len):
    """Starts the maximum at 0, so a row of scores hundreds below 0 becomes 0/0."""
    scaled = query / math.sqrt(query.shape[-1])
    best = query.new_zeros(*query.shape[:-1], 1)
    total, blend = 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = scaled @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor = torch.exp(best - higher)
        powers = torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_blend_not_corrected(query, key, value, block_len):
    """Corrects the sum by the factor but not the blend."""
    query = query * query.size(-1) ** -0.5
    m = torch.full_like(query[..., :1], float("-inf"))
    l = torch.zeros_like(query[..., :1])
    b = torch.zeros(
        *query.shape[:-1],
        value.size(-1),
        dtype=query.dtype,
        device=query.device,
    )
    for start in range(0, key.size(-2), block_len):
        k = key[..., start : start + block_len, :]
        v = value[..., start : start + block_len, :]
        e = query @ k.transpose(-2, -1)
        m_new = torch.max(m, e.max(dim=-1, keepdim=True).values)
        p = torch.exp(e - m_new)
        l = l * torch.exp(m - m_new) + p.sum(dim=-1, keepdim=True)
        b = b + p @ v
        m = m_new
    return b / l


def wrong_one_maximum_and_factor_too_late(query, key, value, block_len):
    """Two mistakes: one maximum for all queries, and the factor is computed after the old maximum
    is overwritten, so it is always 1."""
    scaled = query / query.shape[-1] ** 0.5
    best = query.new_tensor(-torch.inf)
    total = blend = 0
    for k, v in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = scaled @ k.mT
        higher = torch.maximum(best, scores.max())
        best = higher
        factor = (best - higher).exp()
        powers = (scores - higher).exp()
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ v
    return blend / total


def right_mix_of_finished_blocks(query, key, value, block_len):
    """Finishes the attention of each block by itself, and mixes it with the earlier ones by their
    logsumexp."""
    scaled = query / math.sqrt(query.shape[-1])
    output = log_total = None
    for start in range(0, key.shape[-2], block_len):
        size = min(block_len, key.shape[-2] - start)
        scores = scaled @ key.narrow(-2, start, size).mT
        log_sum = scores.logsumexp(-1, keepdim=True)
        here = torch.softmax(scores, -1) @ value.narrow(-2, start, size)
        if output is None:
            output, log_total = here, log_sum
            continue
        both = torch.logaddexp(log_total, log_sum)
        output = output * (log_total - both).exp()
        output = output + here * (log_sum - both).exp()
        log_total = both
    return output


def wrong_each_block_alone(query, key, value, block_len):
    """It takes a softmax in every block and the mean of the blocks' outputs."""
    root, outputs = query.shape[-1] ** 0.5, []
    total = 0
    for start in range(0, key.shape[-2], block_len):
        block = slice(start, start + block_len)
        weights = (query / root @ key[..., block, :].mT).softmax(-1)
        total = total + weights @ value[..., block, :]
        outputs.append(1)
    return total / len(outputs)


def wrong_total_not_rescaled(query, key, value, block_len):
    """When the largest score rises it rescales the blend, but not the total."""
    q = query / query.shape[-1] ** 0.5
    largest = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=q.dtype)
    total, blend = 0, 0
    for start in range(0, key.shape[-2], block_len):
        scores = q @ key[..., start : start + block_len, :].mT
        new = torch.maximum(largest, scores.amax(-1, keepdim=True)).detach()
        power = (scores - new).exp()
        total = total + power.sum(-1, keepdim=True)
        blend = blend * (largest - new).exp() + power @ value[..., start : start + block_len, :]
        largest = new
    return blend / total


def wrong_starts_at_zero(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    """Starts with 0 as the largest score, so rows of very low scores become 0 / 0."""
    query = query / query.shape[-1] ** 0.5
    best, total, blend = query.new_tensor(0.0), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor, powers = torch.exp(best - higher), torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_drops_the_short_block(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    """Counts the blocks by //, and so never sees the keys of a shorter last block."""
    query = query / query.shape[-1] ** 0.5
    best = query.new_full((*query.shape[:-1], 1), -torch.inf)
    total = torch.zeros_like(best)
    blend = query.new_zeros(*query.shape[:-1], value.shape[-1])
    for number in range(key.shape[-2] // block_len):
        block = slice(number * block_len, (number + 1) * block_len)
        scores = query @ key[..., block, :].mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor, powers = torch.exp(best - higher), torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ value[..., block, :]
        best = higher
    return blend / total


def wrong_one_maximum_for_all_sixth(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    """Keeps one largest score for all queries, so the powers of low rows become 0."""
    query = query / query.shape[-1] ** 0.5
    best, total, blend = query.new_tensor(-torch.inf), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = query @ keys.mT
        higher = torch.maximum(best, scores.max())
        factor, powers = torch.exp(best - higher), torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def right_running_logarithm(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    """Keeps the output so far, and the logarithm of the sum that it was divided by."""
    query = query / query.shape[-1] ** 0.5
    log_total, output = None, None
    for start in range(0, key.shape[-2], block_len):
        stop = start + block_len
        scores = query @ key[..., start:stop, :].mT
        log_block = scores.logsumexp(-1, keepdim=True)
        if log_total is None:
            output = torch.exp(scores - log_block) @ value[..., start:stop, :]
            log_total = log_block
            continue
        log_new = torch.logaddexp(log_total, log_block)
        new = torch.exp(scores - log_new) @ value[..., start:stop, :]
        output = output * torch.exp(log_total - log_new) + new
        log_total = log_new
    return output


def wrong_blend_not_corrected_seventh(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    """The factor corrects the sum of the powers, but not the blend of the values so far."""
    scaled = query / query.shape[-1] ** 0.5
    best, total, blend = query.new_tensor(-torch.inf), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = scaled @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor = torch.exp(best - higher)
        powers = torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend + powers @ values
        best = higher
    return blend / total


def wrong_maximum_starts_at_zero_seventh(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    """The maximum starts at 0, so the powers of a row far below 0 vanish, and 0 / 0 is left."""
    scaled = query / query.shape[-1] ** 0.5
    best, total, blend = query.new_tensor(0.0), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2)):
        scores = scaled @ keys.mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor = torch.exp(best - higher)
        powers = torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ values
        best = higher
    return blend / total


def wrong_short_block_dropped(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    """Counts full blocks only, so the keys of a last, shorter block are never seen."""
    scaled = query / query.shape[-1] ** 0.5
    best = torch.full_like(query[..., :1], -torch.inf)
    total, blend = torch.zeros_like(best), torch.zeros_like(best)
    for n in range(key.shape[-2] // block_len):
        block = slice(n * block_len, (n + 1) * block_len)
        scores = scaled @ key[..., block, :].mT
        higher = torch.maximum(best, scores.amax(-1, keepdim=True))
        factor = torch.exp(best - higher)
        powers = torch.exp(scores - higher)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = blend * factor + powers @ value[..., block, :]
        best = higher
    return blend / total


def right_joins_finished_outputs(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    """Keeps a finished output and its log-sum; each block's own output joins it by its share."""
    scaled = query / query.shape[-1] ** 0.5
    output = log_total = None
    for start in range(0, key.shape[-2], block_len):
        end = start + block_len
        scores = scaled @ key[..., start:end, :].mT
        log_block = scores.logsumexp(-1, keepdim=True)
        of_block = (scores - log_block).exp() @ value[..., start:end, :]
        if output is None:
            output, log_total = of_block, log_block
        else:
            share = torch.sigmoid(log_block - log_total)
            output = output * torch.sigmoid(log_total - log_block) + of_block * share
            log_total = torch.logaddexp(log_total, log_block)
    return output
