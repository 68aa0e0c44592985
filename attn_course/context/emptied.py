"""Is a key read, or only a place for weight? Empty its value, or take the key away."""

from collections.abc import Sequence
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from attn_course.minilm.encoder import Encoder, EncoderLayer
from attn_course.multi_head import merge_heads, split_heads


@torch.no_grad()
def hear_without(
    encoder: Encoder, ids: Tensor, key: int, *, keeps_weight: bool
) -> Float[Tensor, "length d_model"]:
    """The vectors of the last layer if no token hears of one key, in any layer.

    Args:
        encoder: The model.
        ids: Numbers of the tokens, `(length,)`.
        key: The position of the key.
        keeps_weight: If True, the key keeps its weight, and its value is 0; otherwise its weight
            goes to the other keys.
    """
    kept = torch.ones(len(ids), len(ids), dtype=torch.bool)
    kept[:, key] = False
    tokens = encoder.embed(ids)
    for block in cast("Sequence[EncoderLayer]", encoder.layers):
        layer = block.attention
        weights = layer.weights(tokens, mask=None if keeps_weight else kept) * kept
        value = split_heads(layer.project_value(tokens), layer.num_heads)
        heard = layer.project_output(merge_heads(weights @ value))
        tokens = block.norm_attention(tokens + heard)
        made = block.narrow(functional.gelu(block.widen(tokens)))
        tokens = block.norm_output(tokens + made)
    return tokens
