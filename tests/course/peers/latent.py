"""Multi-head latent attention of DeepSeek-V3 beside ours, plain and absorbed.

Theirs normalizes the short vector, and ours does not: the norm is taken out.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from attn_course.context.latent import LatentAttention
from tests.course.peers.packages import (
    HEADS,
    LENGTH,
    WIDTH,
    Pair,
    added,
    copy,
    tokens,
    with_gradients,
)

D_HEAD, D_LATENT, D_ROTARY = 5, 7, 4


def deepseek_v3(form: str) -> list[Pair]:
    """Compare with one form of ours, "plain" or "absorbed", causally."""
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3 import modeling_deepseek_v3 as module

    config = DeepseekV3Config(
        hidden_size=WIDTH,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        q_lora_rank=None,
        kv_lora_rank=D_LATENT,
        qk_nope_head_dim=D_HEAD,
        qk_rope_head_dim=D_ROTARY,
        v_head_dim=D_HEAD,
        attn_implementation="eager",
    )
    theirs: Any = module.DeepseekV3Attention(config, layer_idx=0)
    theirs.kv_a_layernorm = nn.Identity()
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.2)
    theirs = theirs.double().eval()
    x, mask = tokens(), torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    turns = module.DeepseekV3RotaryEmbedding(config)(x, torch.arange(LENGTH)[None])
    other = theirs(x, turns, added(mask)[None, None])[0]
    ours = with_their_weights(theirs)
    return with_gradients(getattr(ours, form)(x, ours.keep(x)), other, x)


def with_their_weights(theirs: Any) -> LatentAttention:
    """Make our layer with a copy of their weights."""
    ours = LatentAttention(WIDTH, HEADS, D_HEAD, D_LATENT, D_ROTARY).double()
    copy(ours.project_query, theirs.q_proj.weight)
    copy(ours.project_output, theirs.o_proj.weight)
    latent, turned = theirs.kv_a_proj_with_mqa.weight.split([D_LATENT, D_ROTARY])
    copy(ours.project_latent, latent)
    copy(ours.project_turned, turned)
    with torch.no_grad():
        makers = theirs.kv_b_proj.weight.unflatten(0, (HEADS, 2 * D_HEAD)).mT
        ours.make_key.copy_(makers[..., :D_HEAD])
        ours.make_value.copy_(makers[..., D_HEAD:])
    return ours
