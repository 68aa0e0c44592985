"""Attention in tiles as a kernel in Triton, which its interpreter runs without a GPU."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def attend_to_tiles(Q, K, V, out, n, causal: tl.constexpr, d: tl.constexpr, B: tl.constexpr):
    """Attend with one tile of `B` queries; `d` and `B` are powers of two."""
    rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    width = tl.arange(0, d)
    query = tl.load(Q + rows * d + width, rows < n, 0.0)
    best = tl.full((B, 1), -float("inf"), tl.float32)
    total, blend = tl.zeros((B, 1), tl.float32), tl.zeros((B, d), tl.float32)
    for start in range(0, n, B):
        columns = start + tl.arange(0, B)
        here = columns[:, None] * d + width
        key = tl.load(K + here, columns[:, None] < n, 0.0)
        value = tl.load(V + here, columns[:, None] < n, 0.0)
        scores = tl.dot(query, key.T, input_precision="ieee") * d**-0.5
        allowed = (columns < n) & ((columns <= rows) | (not causal))
        scores = tl.where(allowed, scores, -float("inf"))
        top = tl.maximum(best, tl.max(scores, 1, keep_dims=True))
        best, kept, powers = top, tl.exp(best - top), tl.exp(scores - top)
        total = total * kept + tl.sum(powers, 1, keep_dims=True)
        blend = blend * kept + tl.dot(powers, value, input_precision="ieee")
    tl.store(out + rows * d + width, blend / total, rows < n)


def attend(query: Tensor, key: Tensor, value: Tensor, *, is_causal: bool, tile_len: int) -> Tensor:
    """Attend with one head, one program of the kernel for each tile of queries."""
    output, (length, width) = torch.empty_like(query), query.shape
    programs = (triton.cdiv(length, tile_len),)
    attend_to_tiles[programs](query, key, value, output, length, is_causal, width, tile_len)
    return output
