"""The states of the attention machine: what each shows, and what a reader can change."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attn_course.interactive.controls import choice, kept, option, slider
from attn_course.interactive.kernel_regression_state import KERNELS
from attn_course.interactive.markup import tag

THREE = ("scores", "weights", "blend")
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True)
class Slider:
    """A choice among numbers in their order, in the colour of a role."""

    label: str
    role: str
    stops: Sequence[float]
    start: float

    def html(self, name: str) -> str:
        return slider(
            name, self.role, 0, len(self.stops) - 1, self.stops.index(self.start), label=self.label
        )


@dataclass(frozen=True)
class Choice:
    """A choice of one name among several."""

    label: str
    options: Sequence[str]

    def html(self, name: str) -> str:
        return choice(
            self.label,
            *(option("radio", name, one, one, one == self.options[0]) for one in self.options),
        )


@dataclass(frozen=True)
class State:
    """A state of the machine before anyone has touched it.

    Args:
        chapter: The slug of the chapter that opens it.
        label: Its name, of a few words.
        hint: What to do first.
        steps: The names of its steps.
        numbers: Lists of numbers that the reader changes in the picture, by name.
        controls: Sliders and choices, by name.
        acts: Buttons: what each says, by its name.
    """

    chapter: str
    label: str
    hint: str
    steps: Sequence[str] = THREE
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    controls: Mapping[str, Slider | Choice] = field(default_factory=dict)
    acts: Mapping[str, str] = field(default_factory=dict)

    @property
    def notebook(self) -> str:
        """The pattern of the name of the notebook of its chapter."""
        return f"[0-9][0-9]_{self.chapter}.ipynb"

    @property
    def html(self) -> str:
        """Its controls; the lists of numbers are hidden, so that a link can carry them."""
        lists = {name: "_".join(f"{x:.12g}" for x in given) for name, given in self.numbers.items()}
        parts = [kept(**lists), *(one.html(name) for name, one in self.controls.items())]
        for act, text in self.acts.items():
            parts.append(tag("button", text, type="button", data_act=act))
        return "".join(parts)

    @property
    def stops(self) -> dict[str, list[float]]:
        """The numbers of its sliders, by name."""
        sliders = {n: one for n, one in self.controls.items() if isinstance(one, Slider)}
        return {name: list(one.stops) for name, one in sliders.items()}


STATES = {
    "retrieval": State(
        chapter="retrieval",
        label="The attention machine: three scores",
        hint="Drag the grey bars. Click a key to mask it.",
        numbers={
            "scores": (math.log(6), math.log(3), 0),
            "values": (10, 20, 90),
            "off": (0, 0, 0),
        },
        controls={"temperature": Slider("temperature", "weight", TEMPERATURES, 1.0)},
    ),
    "kernel_regression": State(
        chapter="kernel_regression",
        label="The attention machine: keys on a line",
        hint="Drag the query, far out too, or a point. Click a point to leave it out.",
        numbers={
            "points": (1, 20, 2.4, 44, 4, 52, 5.6, 78, 7.6, 50, 9, 22),
            "off": (0, 0, 0, 0, 0, 0),
            "query": (3.2,),
        },
        controls={
            "kernel": Choice("kernel", tuple(KERNELS)),
            "width": Slider("width", "key", (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0), 1.0),
        },
        acts={"add": "add a point"},
    ),
}
