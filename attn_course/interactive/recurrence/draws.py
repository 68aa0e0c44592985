"""Random layers and tokens from a formula, so that a page draws the very same ones."""

import math
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attn_course.recurrence import Kind, RecurrentLayer
from attn_course.self_attention import SelfAttention

LENGTH, WIDTH = 201, 64  # of a sequence, and of a token and of a state
SEEDS = 8192  # the draws to choose from
Layer = TypeVar("Layer", bound=nn.Module)
_LOW = 0xFFFFFFFF  # the low 32 bits, with which scripts count
# Each tensor has a stream of its own; a normal one takes two, the next one as well.
TOKENS, DIRECTION, ORTHOGONAL = 0, 2, 4
PARAMETERS = {"rnn": 6, "gru": 10, "lstm": 14, "attention": 18}  # the first of each layer


def noise(seed: int, stream: int, count: int) -> Float[Tensor, " count"]:
    """Numbers between 0 and 1: Mulberry32, a public-domain generator with a counter for a state."""
    at = torch.arange(count) + (stream << 14) + (seed << 19) + 1
    one = at * 0x6D2B79F5 & _LOW
    two = (one ^ one >> 15) * (1 | one) & _LOW
    three = two ^ (two + (two ^ two >> 7) * (61 | two) & _LOW)
    return ((three ^ three >> 14).double() + 0.5) / 2**32


def normal(seed: int, stream: int, count: int) -> Float[Tensor, " count"]:
    """Standard normal numbers: Box and Muller 1958."""
    radius, turn = noise(seed, stream, count), noise(seed, stream + 1, count)
    return (-2 * radius.log()).sqrt() * (2 * math.pi * turn).cos()


def tokens(seed: int) -> Float[Tensor, "length width"]:
    return normal(seed, TOKENS, LENGTH * WIDTH).view(LENGTH, WIDTH)


def direction(seed: int) -> Float[Tensor, " width"]:
    """A random vector of length 1."""
    return nn.functional.normalize(normal(seed, DIRECTION, WIDTH), dim=0)


def orthogonal(seed: int) -> Float[Tensor, "width width"]:
    """A random orthogonal matrix: normal rows, each made orthogonal to those before it."""
    rows = normal(seed, ORTHOGONAL, WIDTH * WIDTH).view(WIDTH, WIDTH)
    q, r = torch.linalg.qr(rows.mT)
    return (q * r.diagonal().sign()).mT


def attention_layer(seed: int) -> SelfAttention:
    return _draw(SelfAttention(WIDTH), seed, PARAMETERS["attention"])


def recurrent_layer(
    kind: Kind, seed: int, gain: float | None = None, forget_bias: float | None = None
) -> RecurrentLayer:
    """A layer as PyTorch draws it, but for the setting of its kind."""
    layer = _draw(RecurrentLayer(kind, WIDTH), seed, PARAMETERS[kind])
    with torch.no_grad():
        if gain is not None:
            layer.network.get_parameter("weight_hh_l0").copy_(gain * orthogonal(seed))
        if forget_bias is not None:
            layer.network.get_parameter("bias_ih_l0")[WIDTH : 2 * WIDTH] = 0
            layer.network.get_parameter("bias_hh_l0")[WIDTH : 2 * WIDTH] = forget_bias
    return layer


def _draw(layer: Layer, seed: int, stream: int) -> Layer:
    """Draw every parameter evenly between plus and minus one over the root of the width."""
    layer.double()
    with torch.no_grad():
        for number, weight in enumerate(layer.parameters()):
            drawn = noise(seed, stream + number, weight.numel()).view_as(weight)
            weight.copy_((2 * drawn - 1) / math.sqrt(WIDTH))
    return layer
