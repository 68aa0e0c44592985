"""A state of the figure of gradients, in numbers of the package."""

from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.recurrence.draws import (
    LENGTH,
    attention_layer,
    direction,
    recurrent_layer,
    tokens,
)
from attn_course.recurrence import gradient_reach, last_along

FAR = LENGTH - 1  # the greatest distance
NEAR = 20  # from here to the greatest distance the factor per step is measured, as in the chapter
LAYERS = ("rnn", "gru", "lstm", "attention")
GAINS, BIASES = (0.5, 2.0, 0.02), (0.0, 6.0, 0.25)  # least, most, step


@dataclass(frozen=True)
class State:
    """A state of the figure, and what follows from it.

    Args:
        distance: Steps from the token to the end.
        gain: Factor of the random orthogonal matrix that is the recurrent one of the plain network.
        forget_bias: Initial bias of the forget gate of the LSTM.
        seed: The random numbers from which layers and tokens are drawn.
    """

    distance: int
    gain: float
    forget_bias: float
    seed: int

    @cached_property
    def reach(self) -> dict[str, Float[Tensor, " length"]]:
        """The norm of the gradient of each layer's last output, by distance."""
        built = {
            "rnn": recurrent_layer("rnn", self.seed, gain=self.gain),
            "gru": recurrent_layer("gru", self.seed),
            "lstm": recurrent_layer("lstm", self.seed, forget_bias=self.forget_bias),
            "attention": attention_layer(self.seed),
        }
        along, read = direction(self.seed), tokens(self.seed)[None]
        return {
            name: gradient_reach(last_along(layer, along), read) for name, layer in built.items()
        }
