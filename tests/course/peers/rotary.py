"""Rotary positions of other packages beside ours, which turn neighbouring features as a pair.

So do GPT-J and x-transformers. Llama pairs each feature of the first half with the one in the same
place of the second half: the same vectors in another order, which no dot product notices.
"""

from __future__ import annotations

import torch

from attn_course.multi_head import split_heads
from attn_course.self_attention import rotate_by_position
from tests.course.peers.packages import (
    BATCH,
    HEADS,
    LENGTH,
    WIDTH,
    Pair,
    tokens,
    with_gradients,
)

D_HEAD, START = WIDTH // HEADS, 3


def gptj() -> list[Pair]:
    """Turn vectors as GPT-J does, from a later position on."""
    from transformers.models.gptj.modeling_gptj import (
        apply_rotary_pos_emb,
        create_sinusoidal_positions,
    )

    x = tokens()
    vectors = split_heads(x, HEADS)
    turns = create_sinusoidal_positions(START + LENGTH, D_HEAD)[START:].expand(BATCH, -1, -1)
    other = apply_rotary_pos_emb(vectors.transpose(1, 2), *turns.chunk(2, -1)).transpose(1, 2)
    return with_gradients(rotate_by_position(vectors, START), other, x)


def x_transformers() -> list[Pair]:
    """Turn vectors as x-transformers does, from a later position on."""
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    x = tokens()
    vectors = split_heads(x, HEADS)
    turns, _ = RotaryEmbedding(D_HEAD)(torch.arange(START, START + LENGTH))
    other = apply_rotary_pos_emb(vectors, turns)
    return with_gradients(rotate_by_position(vectors, START), other, x)
