"""Attention layers of published decoders: each is `MultiHeadAttention` with a few arguments.

Their masks and rotations are made by their own code, for a batch with padding in front.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attn_course.context.scores import difference_of_weights
from attn_course.layer.scores import CappedScores
from attn_course.long_context import rotate_halves
from attn_course.multi_head import MultiHeadAttention, merge_heads
from attn_course.scaled_dot_product import causal_mask, scaled_dot_scores, window
from tests.course.peers.packages import (
    HEADS,
    LENGTH,
    WIDTH,
    Pair,
    copy,
    layer_with,
    tokens,
    with_gradients,
)

D_HEAD, BASE, EPSILON = 8, 100.0, 1e-6
NORM = partial(nn.RMSNorm, eps=EPSILON)
SLIDING = {"sliding_window": 3, "layer_types": ["sliding_attention"]}
NEAR = {"rule": window(2, after=0)}


class Decoder(NamedTuple):
    """One published layer: its classes, what its configuration says, and what ours is given."""

    module: str
    prefix: str
    options: dict[str, Any]
    arguments: dict[str, Any]


LLAMA = Decoder("llama", "Llama", {}, {"bias": False})
STRETCHED_LLAMA = Decoder(
    "llama",
    "Llama",
    {"rope_parameters": {"rope_type": "linear", "rope_theta": BASE, "factor": 4.0}},
    {"rotary": partial(rotate_halves, base=BASE, stretch=4.0), "bias": False},
)
QWEN_2 = Decoder("qwen2", "Qwen2", {}, {"output_bias": False})
GEMMA = Decoder("gemma", "Gemma", {"num_key_value_heads": 1}, {"bias": False})
MISTRAL = Decoder("mistral", "Mistral", {"sliding_window": 3}, NEAR | {"bias": False})
GEMMA_2 = Decoder(
    "gemma2",
    "Gemma2",
    SLIDING | {"query_pre_attn_scalar": 5, "attn_logit_softcapping": 0.2},
    NEAR | {"score": CappedScores(0.2, 5**-0.5), "bias": False},
)
GEMMA_3 = Decoder(
    "gemma3",
    "Gemma3",
    SLIDING | {"query_pre_attn_scalar": 5, "rms_norm_eps": EPSILON},
    NEAR | {"qk_norm": NORM, "scale": 5**-0.5, "bias": False},
)
QWEN_3 = Decoder("qwen3", "Qwen3", {"rms_norm_eps": EPSILON}, {"qk_norm": NORM, "bias": False})
GPT_OSS = Decoder("gpt_oss", "GptOss", SLIDING, NEAR | {"sinks": True})
DIFF_LLAMA = Decoder("diffllama", "DiffLlama", {"rms_norm_eps": EPSILON}, {"bias": False})


def turn_four_features(vectors: Tensor, position: Tensor) -> Tensor:
    """Turn the first four features by their position, and leave the others."""
    turned, still = vectors.split([4, vectors.shape[-1] - 4], -1)
    return torch.cat([rotate_halves(turned, position, base=BASE), still], -1)


PHI = Decoder(
    "phi",
    "Phi",
    {
        "qk_layernorm": True,
        "head_dim": WIDTH // HEADS,  # its norms have this width, whatever it is told
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": BASE,
            "partial_rotary_factor": 4 / (WIDTH // HEADS),
        },
    },
    {"d_head": WIDTH // HEADS, "qk_norm": nn.LayerNorm, "rotary": turn_four_features},
)


class Both(NamedTuple):
    """A published layer and ours with the same weights, and what both are asked.

    Attributes:
        theirs: The published layer.
        ours: Our layer.
        x: Tokens of two sentences, one of which has padding in front.
        real: True at the tokens that are no padding.
        position: Their positions.
        other: What the published layer returns.
    """

    theirs: Any
    ours: MultiHeadAttention
    x: Tensor
    real: Tensor
    position: Tensor
    other: Tensor


def both(published: Decoder) -> Both:
    """Make both layers, and ask the published one."""
    name, prefix, options, arguments = published
    module = import_module(f"transformers.models.{name}.modeling_{name}")
    config = configuration(name, prefix, options)
    theirs = getattr(module, f"{prefix}Attention")(config, layer_idx=0)
    for weight in theirs.parameters():
        nn.init.normal_(weight, std=0.2)
    theirs = theirs.double().eval()
    output = theirs.dense if prefix == "Phi" else theirs.o_proj
    parts = [theirs.q_proj, theirs.k_proj, theirs.v_proj, output]
    sizes = {"num_kv_heads": config.num_key_value_heads, "d_head": D_HEAD}
    sizes["rotary"] = partial(rotate_halves, base=BASE)
    ours = layer_with(parts, WIDTH, HEADS, **sizes | arguments)
    copy_the_rest(theirs, ours, 1.0 if prefix == "Gemma3" else 0.0)
    real = torch.arange(LENGTH) >= torch.tensor([[3], [0]])
    position, x = (real.cumsum(-1) - 1).clamp(min=0), tokens()
    turns = getattr(module, f"{prefix}RotaryEmbedding")(config)(x, position, *kind(prefix))
    other = theirs(x, position_embeddings=turns, attention_mask=mask_of(config, x, real))[0]
    return Both(theirs, ours, x, real, position, other)


def decoder(published: Decoder) -> list[Pair]:
    """Compare one layer of a decoder with ours, which is given the same weights."""
    _, ours, x, real, position, other = both(published)
    found = ours(x, key_mask=real, position=position, is_causal=True)
    return with_gradients(found[real], other[real], x)


def difference_of_heads() -> list[Pair]:
    """Compare DiffLlama, where one half of the heads is taken from the other, with ours."""
    theirs, ours, x, real, position, other = both(DIFF_LLAMA)
    keys, values = ours.keys_and_values(x, position)
    scores = scaled_dot_scores(ours._queries(x, None, position), keys.repeat_interleave(2, 1))
    one, two = (
        torch.exp(each @ beside)
        for each, beside in (
            (theirs.lambda_q1, theirs.lambda_k1),
            (theirs.lambda_q2, theirs.lambda_k2),
        )
    )
    mask = causal_mask(LENGTH) & real[:, None, None]
    weights = difference_of_weights(*scores.chunk(2, 1), one - two + theirs.lambda_init, mask)
    heads = weights @ merge_heads(values)[:, None]  # both heads of values at once, twice as wide
    found = ours.project_output(merge_heads((1 - theirs.lambda_init) * theirs.groupnorm(heads)))
    return with_gradients(found[real], other[real], x)


def configuration(name: str, prefix: str, options: dict[str, Any]) -> Any:
    """Make the configuration of a decoder of one layer."""
    module = import_module(f"transformers.models.{name}.configuration_{name}")
    kind = getattr(module, f"{prefix}TextConfig", None) or getattr(module, f"{prefix}Config")
    turns: dict[str, Any] = {"rope_type": "default", "rope_theta": BASE}
    if prefix == "Gemma3":
        turns = dict.fromkeys(("sliding_attention", "full_attention"), turns)
    given = {
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "head_dim": D_HEAD,
        "num_hidden_layers": 1,
        "rope_parameters": turns,
        "attn_implementation": "eager",
    }
    return kind(**given | options)


def kind(prefix: str) -> tuple[str, ...]:
    """Name the layer, which Gemma 3 wants to know to turn its vectors."""
    return ("sliding_attention",) if prefix == "Gemma3" else ()


def mask_of(config: Any, x: Tensor, real: Tensor) -> Tensor:
    """Let their code make the mask: causal, without padding, and within the window if any."""
    from transformers import masking_utils

    has_window = getattr(config, "sliding_window", None) is not None
    make = "create_sliding_window_causal_mask" if has_window else "create_causal_mask"
    mask = getattr(masking_utils, make)(config, x, real.long(), None)
    # theirs gives NaN to a query without any key; what padding is told does not count
    return mask.masked_fill(~real[:, None, :, None], 0)


def copy_the_rest(theirs: nn.Module, ours: nn.Module, added: float) -> None:
    """Copy the weights of the norms, to which their code may add something, and the sinks."""
    for own, their in (("norm_query", "q"), ("norm_key", "k")):
        norm = getattr(theirs, f"{their}_norm", getattr(theirs, f"{their}_layernorm", None))
        if norm is not None:
            copy(getattr(ours, own), norm.weight + added, getattr(norm, "bias", None))
    if ours.sinks is not None:
        with torch.no_grad():
            ours.sinks.copy_(theirs.sinks)
