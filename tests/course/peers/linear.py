"""Linear attention of models in use, beside ours: layers with a decay, and the delta rule."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.linear_attention import delta_rule, in_chunks
from tests.course.peers.packages import BATCH, HEADS, LENGTH, WIDTH, Pair, tokens, with_gradients


def minimax() -> list[Pair]:
    """A layer of MiniMax-01, whose state fades by a factor of each head, in chunks of 3."""
    from transformers import MiniMaxConfig
    from transformers.models.minimax.modeling_minimax import MiniMaxLightningAttention

    config = MiniMaxConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=2, block_size=3
    )
    theirs, x = MiniMaxLightningAttention(config, 0).double(), tokens()
    parts = functional.silu(theirs.qkv_proj(x)).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    decay = torch.exp(-theirs.slope_rate[:, 0]).expand(HEADS, LENGTH)
    summed = in_chunks(*parts.chunk(3, -1), decay, chunk_len=2).transpose(1, 2).flatten(2)
    ours = theirs.out_proj(torch.sigmoid(theirs.output_gate(x)) * theirs.norm(summed))
    return with_gradients(ours, theirs(x, (None, None), None)[0], x)


def mamba_2(form: Callable[..., Tensor]) -> list[Pair]:
    """The sum of Mamba-2, where each token says what is left; theirs is in chunks of 3."""
    from transformers.models.mamba2.modeling_mamba2 import mamba2_chunk_scan

    query, key, value = (_of_heads() for _ in range(3))
    step = torch.rand(BATCH, LENGTH, HEADS, dtype=torch.float64, requires_grad=True)
    fades = -torch.rand(HEADS, dtype=torch.float64)
    other = mamba2_chunk_scan(value, step, fades, key, query, chunk_size=3)
    asks, keys, values = (part.transpose(1, 2) for part in (query, key, value * step.unsqueeze(-1)))
    ours = form(asks, keys, values, torch.exp(fades * step).mT)
    return with_gradients(ours.transpose(1, 2), other, query, key, value, step)


def qwen3_next(in_their_chunks: bool) -> list[Pair]:
    """The delta rule of Qwen3-Next without a decay; they compute in single precision."""
    from transformers.models.qwen3_next import modeling_qwen3_next as theirs

    name = "chunk" if in_their_chunks else "recurrent"
    compute = getattr(theirs, f"torch_{name}_gated_delta_rule")
    query, key, value = (_of_heads() for _ in range(3))
    rate = torch.rand(BATCH, LENGTH, HEADS, dtype=torch.float64, requires_grad=True)
    key = functional.normalize(key, dim=-1).detach().requires_grad_()
    other, _ = compute(query, key, value, torch.zeros_like(rate), rate)
    asks, keys, values = (part.transpose(1, 2) for part in (query / 6**0.5, key, value))
    ours = delta_rule(asks, keys, values, rate.mT, chunk_len=3)
    return with_gradients(ours.transpose(1, 2), other, query, key, value, rate)


def _of_heads() -> Tensor:
    """Draw vectors of all heads, short ones, since single precision rounds long ones more."""
    drawn = tokens(width=HEADS * 6).detach() / 4
    return drawn.unflatten(-1, (HEADS, 6)).requires_grad_()
