"""Layers of other packages, with random weights, beside ours with a copy of those weights.

Each case returns pairs of outputs and of gradients, ours and theirs, in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attn_course.layer.position_bias import ALiBi, T5Bias
from attn_course.multi_head import MultiHeadAttention
from attn_course.scaled_dot_product import causal_mask

BATCH, LENGTH, WIDTH, HEADS = 2, 7, 24, 4
Pair = tuple[Tensor, Tensor]


def tokens(length: int = LENGTH, width: int = WIDTH) -> Tensor:
    """Draw sentences."""
    return torch.randn(BATCH, length, width, dtype=torch.float64, requires_grad=True)


def key_mask() -> Tensor:
    """Make a mask for padding."""
    return torch.tensor([[True] * 4 + [False] * (LENGTH - 4), [True] * LENGTH])


def added(mask: Tensor) -> Tensor:
    """Turn a mask into numbers to add to scores, as these packages take it."""
    return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -torch.inf)


def copy(ours: nn.Linear, weight: Tensor, bias: Tensor | None = None) -> None:
    """Copy a weight, and a bias if there is one."""
    with torch.no_grad():
        ours.weight.copy_(weight)
        if bias is not None:
            ours.bias.copy_(bias)


def layer_with(parts: Sequence[nn.Linear], *sizes: int, **options: Any) -> MultiHeadAttention:
    """Make our layer with the weights of their projections: query, key, value, output."""
    ours = MultiHeadAttention(*sizes, **options).double()
    for own, their in zip(ours._projections(), parts, strict=True):
        assert (own.bias is None) == (their.bias is None)
        copy(own, their.weight, their.bias)
    return ours


def with_gradients(ours: Tensor, theirs: Tensor, *inputs: Tensor) -> list[Pair]:
    """Pair the outputs, and the gradients of the inputs by a number that depends on all outputs."""
    direction = torch.randn_like(ours)
    slopes = [torch.autograd.grad((out * direction).sum(), inputs) for out in (ours, theirs)]
    return [(ours, theirs), *zip(*slopes, strict=True)]


def bert() -> list[Pair]:
    """Self-attention of BERT with padding."""
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertSelfAttention

    config = BertConfig(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    theirs, output = BertSelfAttention(config).double(), nn.Linear(WIDTH, WIDTH).double()
    ours = layer_with([theirs.query, theirs.key, theirs.value, output], WIDTH, HEADS)
    x, mask = tokens(), key_mask()
    other = output(theirs(x, attention_mask=added(mask)[:, None, None])[0])
    return with_gradients(ours(x, key_mask=mask), other, x)


def gpt2() -> list[Pair]:
    """Causal self-attention of GPT-2, whose projections are one matrix."""
    from transformers import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Attention

    config = GPT2Config(
        n_embd=WIDTH, n_head=HEADS, attn_pdrop=0.0, resid_pdrop=0.0, attn_implementation="eager"
    )
    theirs = GPT2Attention(config, layer_idx=0).double()
    ours = MultiHeadAttention(WIDTH, HEADS).double()
    weights, biases = theirs.c_attn.weight.chunk(3, -1), theirs.c_attn.bias.chunk(3)
    parts = *zip(weights, biases, strict=True), (theirs.c_proj.weight, theirs.c_proj.bias)
    for own, (weight, bias) in zip(ours._projections(), parts, strict=True):
        copy(own, weight.T, bias)
    x = tokens()
    other = theirs(x, attention_mask=added(causal_mask(LENGTH))[None, None])[0]
    return with_gradients(ours(x, is_causal=True), other, x)


def t5(bidirectional: bool) -> list[Pair]:
    """Attention of T5 with its relative bias, without a scale, and with narrow heads."""
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(
        d_model=WIDTH,
        d_kv=5,
        num_heads=HEADS,
        dropout_rate=0.0,
        relative_attention_num_buckets=8,
        relative_attention_max_distance=6,
        is_decoder=not bidirectional,
        attn_implementation="eager",
    )
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double()
    bias = T5Bias(HEADS, 8, 6, bidirectional=bidirectional)
    with torch.no_grad():
        bias.bias.weight.copy_(theirs.relative_attention_bias.weight)
    ours = layer_with(
        [theirs.q, theirs.k, theirs.v, theirs.o],
        WIDTH,
        HEADS,
        d_head=5,
        bias=False,
        scale=1.0,
        position_bias=bias,
    )
    x, mask = tokens(), torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    mask = mask if bidirectional else causal_mask(LENGTH)
    other = theirs(x, mask=added(mask)[None, None])[0]
    return with_gradients(ours(x, is_causal=not bidirectional), other, x)


def x_transformers(**options: Any) -> list[Pair]:
    """Compare heads of another width, with padding."""
    from x_transformers.x_transformers import Attention

    theirs = Attention(dim=WIDTH, heads=HEADS, dim_head=16, **options).double()
    parts = [theirs.to_q, theirs.to_k, theirs.to_v, theirs.to_out]
    number = options.get("kv_heads", HEADS)
    ours = layer_with(parts, WIDTH, HEADS, num_kv_heads=number, d_head=16, bias=False)
    # with them, neighbouring heads of queries have different heads of keys
    order = torch.arange(HEADS * 16).view(-1, number, 16).transpose(0, 1).flatten()
    copy(ours.project_query, theirs.to_q.weight[order])
    copy(ours.project_output, theirs.to_out.weight[:, order])
    x, mask = tokens(), key_mask()
    causal = options.get("causal", False)
    output = ours(x, key_mask=mask, is_causal=causal) * mask[..., None]  # as they do at the end
    return with_gradients(output, theirs(x, mask=mask), x)


def x_transformers_of_source() -> list[Pair]:
    """Compare queries of one text with keys of another."""
    from x_transformers.x_transformers import Attention

    theirs = Attention(dim=WIDTH, dim_context=10, heads=HEADS, dim_head=16).double()
    parts = [theirs.to_q, theirs.to_k, theirs.to_v, theirs.to_out]
    ours = layer_with(parts, WIDTH, HEADS, d_key=10, d_head=16, bias=False)
    x, source, mask = tokens(5), tokens(width=10), key_mask()
    other = theirs(x, context=source, context_mask=mask)
    return with_gradients(ours(x, source, key_mask=mask), other, x, source)


def alibi(heads: int) -> list[Pair]:
    """Compare what ALiBi adds to the scores."""
    from x_transformers.x_transformers import AlibiPositionalBias

    theirs = AlibiPositionalBias(heads=heads, total_heads=heads)
    query, key = torch.arange(4, LENGTH)[:, None], torch.arange(LENGTH)
    return [(ALiBi(heads)(query, key), theirs(LENGTH - 4, LENGTH))]
