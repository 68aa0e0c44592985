"""Layers for a student's test of equivariance to judge: right ones, and wrong ones of many kinds.

Every layer takes tokens (*batch, length, d_model). The functions below are what layers do; their
docstrings go on after "a layer that".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

Function = Callable[["Layer", Tensor], Tensor]
EQUIVARIANT: dict[str, Function] = {}
NOT_EQUIVARIANT: dict[str, Function] = {}


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer of this module, which shows itself by its name.

    Args:
        name: Which one.
        weights: Projections of query, key and value, each (d_model, d_model).
        max_len: How many tokens it takes at most.
        calls: The shapes of the tokens that it has been called with.
        exact: Whether it computes in float64, whatever its tokens are.
    """

    name: str
    weights: tuple[Tensor, Tensor, Tensor]
    max_len: int
    calls: list[tuple[int, ...]] = field(default_factory=list)
    exact: bool = False

    def __call__(self, tokens: Tensor) -> Tensor:
        """Apply the layer to the tokens.

        Raises:
            ValueError: There are more than it takes.
        """
        self.calls.append(tuple(tokens.shape))
        if tokens.shape[-2] > self.max_len:
            raise ValueError(f"{tokens.shape[-2]} tokens; this layer takes {self.max_len} at most")
        return self._function(self, tokens.double() if self.exact else tokens)

    def __repr__(self) -> str:
        return self.name

    @property
    def numbers(self) -> int:
        """The count of all numbers that it has been given."""
        return sum(map(math.prod, self.calls))

    @property
    def is_equivariant(self) -> bool:
        return self.name in EQUIVARIANT

    @property
    def keeps_rows(self) -> bool:
        """True if it returns a row for each token."""
        return self.name != "returns_one_mean"

    @property
    def what(self) -> str:
        """The behaviour of the layer, in words that go on after "a layer that"."""
        return self._function.__doc__.rstrip(".")

    @property
    def _function(self) -> Function:
        return (EQUIVARIANT | NOT_EQUIVARIANT)[self.name]

    def attend(self, tokens: Tensor, bias: Tensor | float = 0.0) -> Tensor:
        query, key, value = (self.project(tokens, number) for number in range(3))
        return torch.softmax(query @ key.mT / math.sqrt(key.shape[-1]) + bias, -1) @ value

    def project(self, tokens: Tensor, number: int = 2) -> Tensor:
        return tokens @ self.weights[number].to(tokens)


def _among(layers: dict[str, Function]) -> Callable[[Function], Function]:
    def note(function: Function) -> Function:
        layers[function.__name__] = function
        return function

    return note


def _place(tokens: Tensor) -> Tensor:
    """0, 1, 2 ... down the tokens, (length, 1)."""
    return torch.arange(tokens.shape[-2], dtype=tokens.dtype).unsqueeze(-1)


def _shut(there: Tensor) -> Tensor:
    """The numbers to add to the scores, so that nobody looks there."""
    return torch.zeros(there.shape).masked_fill(there, -torch.inf)


@_among(EQUIVARIANT)
def attends_to_all(layer: Layer, tokens: Tensor) -> Tensor:
    """lets every token attend to all, without positions."""
    return layer.attend(tokens)


@_among(EQUIVARIANT)
def treats_each_token_alone(layer: Layer, tokens: Tensor) -> Tensor:
    """sends every token through the same small network by itself."""
    return layer.project(torch.tanh(layer.project(tokens, 0)))


@_among(EQUIVARIANT)
def gives_all_the_same_mean(layer: Layer, tokens: Tensor) -> Tensor:
    """gives every token the mean of all tokens."""
    return layer.project(tokens.mean(-2, keepdim=True).expand_as(tokens))


@_among(EQUIVARIANT)
def returns_fewer_features(layer: Layer, tokens: Tensor) -> Tensor:
    """lets every token attend to all, and returns two features of each."""
    return layer.attend(tokens)[..., :2]


@_among(EQUIVARIANT)
def returns_zeros(layer: Layer, tokens: Tensor) -> Tensor:
    """returns a row of zeros for every token."""
    return torch.zeros_like(tokens)


@_among(EQUIVARIANT)
def has_large_outputs(layer: Layer, tokens: Tensor) -> Tensor:
    """lets every token attend to all, and returns numbers far below zero."""
    return -1e6 * torch.exp(layer.attend(tokens))


@_among(NOT_EQUIVARIANT)
def adds_positions(layer: Layer, tokens: Tensor) -> Tensor:
    """adds a vector for each position before its tokens attend to all."""
    return layer.attend(tokens + torch.sin(_place(tokens)))


@_among(NOT_EQUIVARIANT)
def looks_back_only(layer: Layer, tokens: Tensor) -> Tensor:
    """lets every token attend to itself and to those before it."""
    return layer.attend(tokens, _shut(_place(tokens).mT > _place(tokens)))


@_among(NOT_EQUIVARIANT)
def returns_one_mean(layer: Layer, tokens: Tensor) -> Tensor:
    """returns a single row, the mean of all tokens (so it is invariant)."""
    return layer.project(tokens.mean(-2, keepdim=True))


@_among(NOT_EQUIVARIANT)
def prefers_its_neighbours(layer: Layer, tokens: Tensor) -> Tensor:
    """lowers scores by the distance, which stays the same when the order is reversed."""
    return layer.attend(tokens, -(_place(tokens) - _place(tokens).mT).abs())


@_among(NOT_EQUIVARIANT)
def passes_on_in_a_ring(layer: Layer, tokens: Tensor) -> Tensor:
    """adds to each token the one before it, in a ring, which cyclic shifts do not disturb."""
    return tokens + tokens.roll(1, -2)


@_among(NOT_EQUIVARIANT)
def mixes_both_sides_in_a_ring(layer: Layer, tokens: Tensor) -> Tensor:
    """adds to each token its two neighbours in a ring, which shifts and reversal respect."""
    return tokens + tokens.roll(1, -2) + tokens.roll(-1, -2)


@_among(NOT_EQUIVARIANT)
def hands_the_rows_back_in_reverse(layer: Layer, tokens: Tensor) -> Tensor:
    """treats every token alone, and returns all rows, but in reverse."""
    return layer.project(tokens).flip(-2)


@_among(NOT_EQUIVARIANT)
def marks_the_third(layer: Layer, tokens: Tensor) -> Tensor:
    """adds 1 to the third token, whichever that is."""
    return layer.project(tokens) + (_place(tokens) == 2)


@_among(NOT_EQUIVARIANT)
def marks_the_first_if_low(layer: Layer, tokens: Tensor) -> Tensor:
    """adds 1 to the first token, but only where the mean of all first features is below -0.3."""
    is_low = tokens[..., :1].mean(-2, keepdim=True) < -0.3
    return layer.project(tokens) + (_place(tokens) == 0) * is_low


@_among(NOT_EQUIVARIANT)
def marks_the_first_if_high(layer: Layer, tokens: Tensor) -> Tensor:
    """adds 1 to the first token, but only where the mean of all first features is above 0.3."""
    is_high = tokens[..., :1].mean(-2, keepdim=True) > 0.3
    return layer.project(tokens) + (_place(tokens) == 0) * is_high


@_among(NOT_EQUIVARIANT)
def overlooks_the_last_place(layer: Layer, tokens: Tensor) -> Tensor:
    """attends to the first `max_len - 1` tokens, and so errs where there are `max_len`."""
    return layer.attend(tokens, _shut(_place(tokens).mT >= layer.max_len - 1))


@_among(NOT_EQUIVARIANT)
def marks_the_first_of_many(layer: Layer, tokens: Tensor) -> Tensor:
    """adds 1 to the first token, but only where there are `max_len` of them."""
    return layer.project(tokens) + (_place(tokens) == 0) * (len(_place(tokens)) == layer.max_len)


@_among(NOT_EQUIVARIANT)
def marks_the_first_of_two(layer: Layer, tokens: Tensor) -> Tensor:
    """adds 1 to the first token, but only where there are two of them."""
    return layer.project(tokens) + (_place(tokens) == 0) * (len(_place(tokens)) == 2)


@_among(NOT_EQUIVARIANT)
def whispers_positions(layer: Layer, tokens: Tensor) -> Tensor:
    """adds positions, and returns numbers close to zero, so that its errors are small, too."""
    return 1e-9 * adds_positions(layer, tokens)


@_among(NOT_EQUIVARIANT)
def hints_at_positions(layer: Layer, tokens: Tensor) -> Tensor:
    """adds at most 0.005 to each token, another number at each place."""
    return tokens + 0.005 * torch.sin(_place(tokens) + 1)


@_among(NOT_EQUIVARIANT)
def errs_in_one_number(layer: Layer, tokens: Tensor) -> Tensor:
    """returns many features, and errs in the last of the first token, by 0.0002 of the largest."""
    features = torch.cat([layer.project(tokens)] * 8, -1)
    is_last = torch.arange(features.shape[-1]) == features.shape[-1] - 1
    largest = features.abs().amax((-2, -1), keepdim=True)
    return features + 0.0002 * largest * (_place(tokens) == 0) * is_last


@_among(NOT_EQUIVARIANT)
def loses_the_first(layer: Layer, tokens: Tensor) -> Tensor:
    """returns `nan` for the first token, and treats all others alone."""
    return layer.project(tokens).masked_fill(_place(tokens) == 0, torch.nan)
