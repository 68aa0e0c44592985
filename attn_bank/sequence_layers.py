"""Layers for a student's probe of gradients to look into: some remember, some look, one is deaf.

Every layer takes tokens (batch, length, d_in) to outputs (batch, length, d_out), each sequence
alone. The functions below are what layers do.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Function = Callable[["SequenceLayer", Tensor], Tensor]
SEQUENCE_LAYERS: dict[str, Function] = {}


@dataclass(frozen=True, eq=False)
class SequenceLayer:
    """A layer of this module, which shows itself by its name, with weights that it could learn.

    Args:
        name: Which one.
        from_token: What a token is multiplied with from the right, (d_in, d_out).
        from_state: What a state is multiplied with from the right, (d_out, d_out).
    """

    name: str
    from_token: Tensor
    from_state: Tensor

    def __call__(self, tokens: Tensor) -> Tensor:
        """Apply the layer to the tokens."""
        return SEQUENCE_LAYERS[self.name](self, tokens)

    def __repr__(self) -> str:
        return self.name

    @property
    def weights(self) -> tuple[Tensor, Tensor]:
        """The weights that the layer would learn."""
        return self.from_token, self.from_state

    def read(self, tokens: Tensor) -> Tensor:
        """The part of each token that the layer sees."""
        return tokens @ self.from_token.to(tokens)


def _note(function: Function) -> Function:
    SEQUENCE_LAYERS[function.__name__] = function
    return function


@_note
def feeds_its_state_back(layer: SequenceLayer, tokens: Tensor) -> Tensor:
    """Elman's recurrent network."""
    seen, weight, states = layer.read(tokens), layer.from_state.to(tokens), []
    state = torch.zeros_like(seen[:, 0])
    for now in seen.unbind(1):
        state = torch.tanh(now + state @ weight)
        states.append(state)
    return torch.stack(states, 1)


@_note
def fades(layer: SequenceLayer, tokens: Tensor) -> Tensor:
    """Keeps two fifths of its state at each step, and adds what it sees."""
    seen, states = layer.read(tokens), []
    state = torch.zeros_like(seen[:, 0])
    for now in seen.unbind(1):
        state = 0.4 * state + now
        states.append(state)
    return torch.stack(states, 1)


@_note
def attends(layer: SequenceLayer, tokens: Tensor) -> Tensor:
    """Lets every token attend to all."""
    seen = layer.read(tokens)
    scores = seen @ layer.from_state.to(tokens) @ seen.mT / math.sqrt(seen.shape[-1])
    return torch.softmax(scores, -1) @ seen


@_note
def sees_the_first_only(layer: SequenceLayer, tokens: Tensor) -> Tensor:
    """Gives every token what it makes of the first."""
    first = torch.tanh(layer.read(tokens)[:, :1] @ layer.from_state.to(tokens))
    return first.expand(-1, tokens.shape[1], -1)


@_note
def is_deaf(layer: SequenceLayer, tokens: Tensor) -> Tensor:
    """Gives every token the same row, made of its weights, whatever the token is."""
    row = torch.tanh(layer.from_state.to(tokens)[0])
    return row.expand(*tokens.shape[:2], -1)
