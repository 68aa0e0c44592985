"""Calls that could cost more than plain PyTorch, beside the best plain lines that we know.

They are tables of `layer.py`, which times them.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from side_by_side import Row, Work
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attn_course.bahdanau import additive_scores
from attn_course.kernel_regression import leave_one_out_error, nadaraya_watson
from attn_course.layer.fast_attention import fast_attention
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import causal, window

WIDTH = 0.5


def compared(name: str, ours: Work, theirs: Work) -> Row:
    """A row of two ways that return the same."""
    assert_close(ours(), theirs(), rtol=1e-3, atol=1e-4)
    return name, ours, theirs


def both_passes(forward: Callable[..., Tensor], *given: Tensor) -> Work:
    """The call and the gradient of its sum."""

    @torch.enable_grad()
    def run() -> tuple[Tensor, ...]:
        return torch.autograd.grad(forward(*given).sum(), given)

    return run


def draw(number: int, *shape: int) -> list[Tensor]:
    """Tensors that can have a gradient."""
    return [torch.randn(shape, requires_grad=True) for _ in range(number)]


def cut(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, block: int, width: int | None
) -> Tensor:
    """The kernel for blocks of queries, each with the keys that a band leaves it.

    Without a width the band is causal.
    """
    length, outputs = query.shape[-2], []
    for start in range(0, length, block):
        stop = min(length, start + block)
        first, last = (0, stop) if width is None else (max(0, start - width), stop + width)
        keys = slice(first, min(length, last))
        ahead = torch.arange(keys.start, keys.stop) - torch.arange(start, stop)[:, None]
        mask = ahead <= 0 if width is None else ahead.abs() <= width
        if padding is not None:
            mask = mask & padding[..., keys]
        part = query[..., start:stop, :], key[..., keys, :], value[..., keys, :]
        outputs.append(scaled_dot_product_attention(*part, mask))
    return torch.cat(outputs, -2)


def bands() -> Iterator[Row]:
    """Yield a window of 64, and a causal call with padding."""
    for length in (2048, 4096, 8192, 16384):
        roles = draw(3, 1, 4, length, 64)
        ours = partial(fast_attention, *roles, rule=window(64))
        yield compared(f"window, {length}", ours, partial(cut, *roles, None, 192, 64))
    roles, padding = draw(3, 1, 4, 4096, 64), torch.ones(1, 1, 1, 4096, dtype=torch.bool)
    padding[..., -100:] = False
    ours = both_passes(lambda *roles: fast_attention(*roles, padding, rule=causal), *roles)
    plain = both_passes(lambda *roles: cut(*roles, padding, 512, None), *roles)
    yield compared("causal, padded", ours, plain)


def cached() -> Iterator[Row]:
    """Yield 32 tokens after a prompt of 2,048, into memory that is allocated beforehand."""
    for heads in (8, 2):
        layer = MultiHeadAttention(512, 8, num_kv_heads=heads).eval()
        texts = torch.randn(1, 2048, 512), *torch.randn(32, 1, 1, 512)

        def ours(layer: MultiHeadAttention = layer, texts: tuple = texts) -> Tensor:
            cache = KeyValueCache()
            return torch.cat([layer.step(tokens, cache) for tokens in texts], 1)

        yield compared(f"{heads} key heads", ours, partial(kept, layer, texts, heads))


def kept(layer: MultiHeadAttention, texts: tuple[Tensor, ...], heads: int) -> Tensor:
    """The same in plain lines; heads that share keys are queries of one head."""
    keys, values = torch.empty(2, 1, heads, 2080, 64)
    outputs, stop = [], 0
    for tokens in texts:
        start, stop = stop, stop + tokens.shape[1]
        new = layer.project_key(tokens), layer.project_value(tokens)
        for memory, part in zip((keys, values), new, strict=True):
            memory[:, :, start:stop] = part.unflatten(-1, (heads, 64)).transpose(1, 2)
        query = layer.project_query(tokens)
        so_far = keys[:, :, :stop], values[:, :, :stop]
        if start:
            query = query.view(1, heads, 8 // heads, 64)
            found = scaled_dot_product_attention(query, *so_far).reshape(1, 1, 512)
        else:
            query = query.unflatten(-1, (8, 64)).transpose(1, 2)
            found = scaled_dot_product_attention(query, *so_far, is_causal=True, enable_gqa=True)
            found = found.transpose(1, 2).flatten(2)
        outputs.append(layer.project_output(found))
    return torch.cat(outputs, 1)


def additive() -> Iterator[Row]:
    """Yield both passes with an additive score, beside the whole table."""

    def plain(query: Tensor, key: Tensor, value: Tensor, weight: Tensor) -> Tensor:
        scores = torch.tanh(query[:, :, None] + key[:, None]) @ weight
        return torch.softmax(scores, -1) @ value

    def ours(query: Tensor, key: Tensor, value: Tensor, weight: Tensor) -> Tensor:
        score = partial(additive_scores, score_weight=weight)
        return fast_attention(query, key, value, score=score)

    for shape in ((8, 64, 64), (1, 256, 16), (4, 512, 32), (1, 1024, 16), (1, 2048, 16)):
        given = *draw(3, *shape), *draw(1, shape[-1])
        ways = (both_passes(way, *given) for way in (ours, plain))
        yield compared(" x ".join(map(str, shape)), *ways)


def regression() -> Iterator[Row]:
    """Yield the estimates of 2,000 points, by `cdist` in 2 dimensions and a product in 8."""

    def scores(query: Tensor, key: Tensor) -> Tensor:
        if key.shape[-1] == 2:
            squares = torch.cdist(query, key).square()
        else:
            squares = (
                query.square().sum(-1, keepdim=True) + key.square().sum(-1) - 2 * query @ key.mT
            )
        return -squares / (2 * WIDTH**2)

    def estimates(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return torch.softmax(scores(query, key), -1) @ value

    def error(key: Tensor, value: Tensor) -> Tensor:
        others = scores(key, key).fill_diagonal_(-math.inf)
        return (torch.softmax(others, -1) @ value - value).square().mean()

    for width in (2, 8):
        query, key, value = torch.randn(2000, width), torch.randn(2000, width), torch.randn(2000, 1)
        ours = partial(nadaraya_watson, query, key, value, WIDTH)
        yield compared(f"estimates, {width}", ours, partial(estimates, query, key, value))
        ours = partial(leave_one_out_error, key, value, WIDTH)
        yield compared(f"left out, {width}", ours, partial(error, key, value))


def five_axes() -> Iterator[Row]:
    """Yield a mask for pairs and five axes, which plain lines fold into four."""
    roles, mask = draw(3, 2, 3, 4, 128, 64), torch.rand(128, 128) > 0.3
    mask[:, 0] = True

    def folded(*roles: Tensor) -> Tensor:
        four = (part.flatten(0, 1) for part in roles)
        return scaled_dot_product_attention(*four, mask).unflatten(0, (2, 3))

    ours = partial(fast_attention, mask=mask)
    yield compared("forward", partial(ours, *roles), partial(folded, *roles))
    yield compared("both passes", both_passes(ours, *roles), both_passes(folded, *roles))


def growth() -> Iterator[Row]:
    """Yield a call beside one of half the length; the ratio says how the cost grows."""
    kinds = {"window": window(64), "causal": causal, "full": None}
    for name, rule in kinds.items():
        calls = {
            length: partial(fast_attention, *draw(3, 1, 4, length, 64), rule=rule)
            for length in (1024, 2048, 4096, 8192)
        }
        for length in (2048, 4096, 8192):
            yield f"{name}, {length}", calls[length], calls[length // 2]


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "bands": bands,
    "cached": cached,
    "additive": additive,
    "regression": regression,
    "five axes": five_axes,
    "growth": growth,
}
