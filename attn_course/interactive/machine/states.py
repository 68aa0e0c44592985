"""The states of the attention machine: what each shows, and what a reader can change."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attn_course.interactive.controls import choice, kept, option, slider
from attn_course.interactive.machine.draws import WIDTHS, cells_drawn, scores_by_width
from attn_course.interactive.markup import tag

KERNELS = ("triangular", "Gaussian", "boxcar", "Epanechnikov")
THREE = ("scores", "weights", "blend")
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
FROM_COLD_TO_HOT = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
BASELINES = tuple(round(fifth / 5, 1) for fifth in range(-25, 3))
# Of chapter 05: a query, three keys, and which of them are masked.
ARROWS: dict[str, Sequence[float]] = {
    "query": (1, 2),
    "keys": (2, 0, -1, 1, 1, 1),
    "off": (0, 0, 0),
}
LENGTHS = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3)


@dataclass(frozen=True)
class Slider:
    """A choice among numbers in their order, in the colour of a role or, without one, in ink."""

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
class MachineState:
    """A state of the machine before anyone has touched it.

    Args:
        chapter: The slug of the chapter that opens it.
        label: Its name, of a few words.
        hint: What to do first.
        steps: The names of its steps.
        opens: The step that it opens at; 0 is the last.
        numbers: Lists of numbers that the reader changes in the picture, by name.
        controls: Sliders and choices, by name.
        acts: Buttons: what each says, by its name.
        data: Returns numbers that nobody changes.
    """

    chapter: str
    label: str
    hint: str
    steps: Sequence[str] = THREE
    opens: int = 0
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    controls: Mapping[str, Slider | Choice] = field(default_factory=dict)
    acts: Mapping[str, str] = field(default_factory=dict)
    data: Callable[[], dict[str, Any]] = dict

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
    "retrieval": MachineState(
        chapter="retrieval",
        label="The attention machine: three scores",
        hint="Drag the grey bars. Click a key to mask it.",
        numbers={
            "scores": (math.log(6), math.log(3), 0),
            "values": (10, 20, 90),
            "off": (0, 0, 0),
        },
        controls={"temperature": Slider("temperature", "", TEMPERATURES, 1.0)},
    ),
    "temperature": MachineState(
        chapter="retrieval",
        label="The attention machine: five keys and a temperature",
        hint="Turn the temperature. Drag the query.",
        numbers={
            "query": (2, 2),
            "keys": (2, 1, -1, 2, 5, 3, 1, 1, 4, -1),
            "values": (10, 20, 30, 40, 50),
        },
        controls={"temperature": Slider("temperature", "", FROM_COLD_TO_HOT, 1.0)},
    ),
    "kernel_regression": MachineState(
        chapter="kernel_regression",
        label="The attention machine: soundings along a river",
        hint="Drag the query, far out too, or a point. Click a point to leave it out.",
        steps=("kernel", "weights", "blend"),
        numbers={
            "points": (1, 20, 2.4, 44, 4, 52, 5.6, 78, 7.6, 50, 9, 22),
            "off": (0, 0, 0, 0, 0, 0),
            "query": (3.2,),
        },
        controls={
            "kernel": Choice("kernel", KERNELS),
            "width": Slider("width", "", (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0), 2.0),
        },
        acts={"add": "add a point"},
    ),
    "bahdanau": MachineState(
        chapter="bahdanau",
        label="The attention machine: the additive score",
        hint="Drag the arrows, and the square, which is v.",
        steps=("scores", "weights"),
        numbers={
            "query": (0.8, 0.3),
            "keys": (1.2, -0.9, 0.4, 1.3, -1.7, 0.6),
            "off": (0, 0, 0),
            "v": (1.6, 1.2),
        },
    ),
    "luong": MachineState(
        chapter="luong",
        label="The attention machine: arrows in the plane",
        hint="Drag the arrows.",
        numbers=ARROWS,
    ),
    "general": MachineState(
        chapter="luong",
        label="The attention machine: a query bent by a matrix",
        hint="Drag the squares, which are the rows of W.",
        numbers=ARROWS | {"W": (0, 0, 1, 0)},  # of the chapter, row by row
    ),
    "reinforce": MachineState(
        chapter="captioning",
        label="The attention machine: REINFORCE, draw by draw",
        hint="Draw again: where do the pushes lead?",
        steps=("draw", "push", "mean"),
        numbers={"drawn": (1,)},
        acts={"draw": "draw again", "more": "draw 500 times"},
        data=cells_drawn,
    ),
    "baseline": MachineState(
        chapter="captioning",
        label="The attention machine: REINFORCE with a baseline",
        hint="Drag the baseline: what stays?",
        steps=("draw", "push", "mean"),
        numbers={"drawn": (500,)},
        controls={"baseline": Slider("baseline", "", BASELINES, 0.0)},
        acts={"draw": "draw again"},
        data=cells_drawn,
    ),
    "scaled_dot_product": MachineState(
        chapter="scaled_dot_product",
        label="The attention machine: the width and its root",
        hint="Drag the width. Each width is a new draw.",
        steps=("scores", "weights", "slope"),
        opens=1,
        controls={"d": Slider("width d", "", WIDTHS, 256)},
        data=scores_by_width,
    ),
    "basic_self_attention": MachineState(
        chapter="self_attention",
        label="The attention machine: three words",
        hint="Drag a word. Click a row of weights to follow its word.",
        steps=("weights", "output"),
        opens=1,
        numbers={"x": (0, 2, 1, 1, 2, 0), "row": (1,)},
    ),
    "self_attention": MachineState(
        chapter="self_attention",
        label="The attention machine: three projections",
        hint="Drag a word, or a square of a matrix. Click a row of weights to follow its word.",
        steps=("queries", "keys", "values", "weights", "output"),
        opens=1,
        numbers={
            "x": (0, 2, 1, 1, 2, 0),
            "W_Q": (0, 0, 2, 0),
            "W_K": (1, 0, 0, 1),
            "W_V": (1, 0, 0, 0),
            "row": (0,),
        },
        controls={"projections": Choice("projections", ("on", "off"))},
    ),
    "multi_head": MachineState(
        chapter="multi_head",
        label="The attention machine: two heads and one",
        hint="Let the verbs change places, lengthen a key, drag a value.",
        numbers={"verbs": (0, 2, 2, 0.4)},
        controls={
            "order": Choice("order", ("hang … let", "let … hang")),
            "stretch": Slider("first verb's key", "key", LENGTHS, 1.0),
        },
    ),
}
