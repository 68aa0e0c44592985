"""The first state of the figure of the two lookups, in numbers of the package."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_course.retrieval import (
    distance_scores,
    effective_number_of_keys,
    masked_softmax,
    soft_lookup,
)

LAST = 200  # the number of the last step of a walk; the first is 0
MOST_HEARD = 5  # keys that the readings name
Colour = tuple[int, int, int]  # red, green and blue from 0 to 255


@dataclass(frozen=True)
class State:
    """A state of the figure, and the numbers from which it follows.

    Args:
        names: Names of colours; the last word of each is one of `words`.
        rgb: Their red, green and blue, from 0 to 255.
        words: The words of which the soft answer holds shares.
        start: The colour from which the walk starts.
        end: The colour to which it leads.
        step: The step of the walk at which the query is, from 0 to 200.
        temperature: The number by which squared distances are divided.
    """

    names: Sequence[str]
    rgb: Int[Tensor, "key_len 3"]
    words: Sequence[str]
    start: Colour
    end: Colour
    step: int
    temperature: float

    @cached_property
    def temperatures(self) -> list[float]:
        """The temperatures to choose from, evenly spaced in ratio."""
        powers = torch.linspace(-4, 2, 49, dtype=torch.float64).tolist()
        return sorted({self.temperature, *(float(f"{10**power:.2g}") for power in powers)})

    @cached_property
    def key(self) -> Float[Tensor, "key_len 3"]:
        """Red, green and blue from 0 to 1."""
        return self.rgb.double() / 255

    @cached_property
    def word(self) -> list[int]:
        """The number of the word of each key."""
        return [self.words.index(last_word(name)) for name in self.names]

    @cached_property
    def value(self) -> Float[Tensor, "key_len num_words"]:
        return torch.eye(len(self.words), dtype=torch.float64)[self.word]

    @cached_property
    def typical(self) -> Float[Tensor, "num_words 3"]:
        """The mean colour of each word."""
        return self.value.mT @ self.key / self.value.sum(0)[:, None]

    @cached_property
    def walk(self) -> Float[Tensor, "num_steps 3"]:
        """The colours on the straight line from the start to the end."""
        way = torch.arange(LAST + 1, dtype=torch.float64)[:, None] / LAST
        start, end = torch.tensor([self.start, self.end], dtype=torch.float64)
        return ((1 - way) * start + way * end) / 255

    @cached_property
    def nearest(self) -> list[int]:
        """The number of the nearest key at each step."""
        return distance_scores(self.walk, self.key).argmax(-1).tolist()

    @cached_property
    def said(self) -> list[int]:
        """The number of its word at each step."""
        return [self.word[key] for key in self.nearest]

    @cached_property
    def shares(self) -> Float[Tensor, "num_steps num_words"]:
        """The soft answer at each step."""
        return soft_lookup(self.walk, self.key, self.value, self.temperature)

    @cached_property
    def weights(self) -> Float[Tensor, "key_len"]:
        """The weight of each key at the query."""
        scores = distance_scores(self.walk[[self.step]], self.key)
        return masked_softmax((scores - scores.max()) / self.temperature)[0]

    @cached_property
    def heard(self) -> list[int]:
        """The keys with the most weight, the heaviest first."""
        order = self.weights.argsort(descending=True, stable=True)[:MOST_HEARD].tolist()
        return [key for key in order if self.weights[key] >= 0.005]

    @property
    def jumps(self) -> int:
        """The number of times that the word of the nearest key changes on the walk."""
        return sum(one != other for one, other in zip(self.said, self.said[1:], strict=False))

    @cached_property
    def written(self) -> dict[str, str]:
        """The numbers at the query, as shown to the reader."""
        nearest = self.names[self.nearest[self.step]]
        number = effective_number_of_keys(self.weights).item()
        return {
            "query": rgb_of(self.walk[self.step]),
            "nearest": f"{nearest}, so {self.words[self.said[self.step]]}",
            "soft": self._shares_in_words,
            "effective": f"{number:.1f} of {len(self.names)}",
            "change": self._change,
        }

    @cached_property
    def sentence(self) -> str:
        """The figure in words, for print and screen readers."""
        return (
            f"Step {self.step} of {LAST} from {named(self.start)} to {named(self.end)}, "
            f"temperature {self.temperature:g}. The nearest key is {self.written['nearest']}. "
            f"The soft answer is {self.written['soft']}; "
            f"effective number of keys {self.written['effective']}."
        )

    @property
    def _shares_in_words(self) -> str:
        """The shares from 1% on, the greatest first."""
        shares = self.shares[self.step].tolist()
        order = sorted(range(len(shares)), key=lambda word: -shares[word])
        return ", ".join(
            f"{self.words[word]} {shares[word]:.0%}" for word in order if shares[word] >= 0.01
        )

    @property
    def _change(self) -> str:
        """The changes that the step to the query has made in the two answers."""
        if self.step == 0:
            return "none yet"
        before, after = self.said[self.step - 1], self.said[self.step]
        moved = (self.shares[self.step] - self.shares[self.step - 1]).abs().max().item()
        one = "as before" if before == after else f"{self.words[before]} → {self.words[after]}"
        return f"nearest {one}, soft at most {100 * moved:.1f} points"


def last_word(name: str) -> str:
    return name.split()[-1]


def named(colour: Colour) -> str:
    return "rgb({}, {}, {})".format(*colour)


def hex_of(colour: Colour) -> str:
    return bytes(colour).hex()


def rgb_of(colour: Tensor) -> str:
    """A colour with parts from 0 to 1, as CSS writes it; halves are rounded up, as in scripts."""
    return named(tuple(floor(255 * part + 0.5) for part in colour.tolist()))
