"""The first state of the figure of gradients, in numbers of the package and of the record."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.recurrence_draws import (
    LENGTH,
    attention_layer,
    direction,
    recurrent_layer,
    tokens,
)
from attn_course.recurrence import decay_per_step, gradient_reach, last_along
from attn_course.trained.recall import STEPS

FAR = LENGTH - 1  # the greatest distance
NEAR = 20  # from here to the greatest distance the factor per step is measured, as in the chapter
LAYERS = ("rnn", "gru", "lstm", "attention")
GAINS, BIASES = (0.5, 2.0, 0.02), (0.0, 6.0, 0.25)  # least, most, step
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LATE = f"not in {STEPS}"  # of a run that was stopped
# For each distance and learner, the optimiser steps of each seed; None if it did not learn.
Race = Mapping[int, Mapping[str, Sequence[int | None]]]


@dataclass(frozen=True)
class State:
    """A state of the figure, and the numbers from which it follows.

    Args:
        race: The recorded steps.
        distance: Steps from the token to the end.
        gain: Factor of the random orthogonal matrix that is the recurrent one of the plain network.
        forget_bias: Initial bias of the forget gate of the LSTM.
        seed: The random numbers from which layers and tokens are drawn.
    """

    race: Race
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

    @property
    def raced(self) -> int:
        """The recorded distance that is nearest to the chosen one, in ratio."""
        return min(self.race, key=lambda one: abs(math.log(one / self.distance)))

    @cached_property
    def written(self) -> dict[str, str]:
        """For each layer, its gradient as shown to the reader."""
        gate = 1 / (1 + math.exp(-self.forget_bias))
        return {
            name: f"{short(reach[self.distance].item())}, "
            f"× {decay_per_step(reach, NEAR, FAR).item():.2f} a step"
            + (f", gate {gate:.3f}" if name == "lstm" else "")
            for name, reach in self.reach.items()
        }

    @property
    def steps(self) -> list[str]:
        """A line for each learner: the steps that its runs took, by the record."""
        return [
            f"{name}: {', '.join(LATE if one is None else str(one) for one in runs)}"
            for name, runs in self.race[self.raced].items()
        ]

    @property
    def sentence(self) -> str:
        """The figure in words, for print and screen readers."""
        reached = ", ".join(
            f"{name} {short(reach[self.distance].item())}" for name, reach in self.reach.items()
        )
        return (
            f"Gain {self.gain:.2f}, forget bias {self.forget_bias:.2f}. "
            f"Gradient at distance {self.distance}: {reached}. "
            f"Steps to learn, recorded at distance {self.raced}: {'; '.join(self.steps)}."
        )


def race_of(runs: Sequence[Mapping[str, object]], task: str = "first") -> Race:
    """The steps of all seeds at the rate that the trials settled on, by size and layer."""
    trials: dict[int, dict[str, list[Mapping[str, object]]]] = {}
    for run in runs:
        if run["task"] == task:
            trials.setdefault(run["size"], {}).setdefault(run["layer"], []).append(run)
    return {
        size: {
            layer: [one["steps"] for one in found if one["rate"] == found[-1]["rate"]]
            for layer, found in sorted(layers.items(), key=lambda pair: pair[0] == "attention")
        }
        for size, layers in sorted(trials.items())
    }


def power_of_ten(exponent: int) -> str:
    """Such as 10⁻²⁰."""
    return f"10{str(exponent).translate(RAISED)}"


def short(number: float) -> str:
    """One or two digits of a positive number, such as 0.0037 or 3·10⁻¹⁸."""
    if 0.001 <= number < 99:
        return f"{number:#.2g}".removesuffix(".")
    digit, exponent = f"{number:.0e}".split("e")
    return f"{digit}·{power_of_ten(int(exponent))}"
