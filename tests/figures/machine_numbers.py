"""The numbers of the attention machine in each of its states, as the package computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attn_course.interactive.kernel_regression_state import KERNELS
from attn_course.interactive.machine.states import STATES, Choice, Slider
from attn_course.kernel_regression import kernel_scores
from attn_course.retrieval import attend, masked_softmax

Reading = Mapping[str, Any]


class Law(NamedTuple):
    """What holds in a state: how the reader's numbers are drawn, and what follows from them."""

    drawn: Callable[[Random], dict[str, list[float]]]
    numbers: Callable[[Reading], dict[str, Tensor]]


def wide(numbers: Any) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def some_off(draw: Random, size: int) -> list[float]:
    """Masks that leave all keys, some, or none."""
    return [float(draw.random() < draw.choice((0.0, 0.3, 1.0))) for _ in range(size)]


def mask_of(off: list[float]) -> Tensor:
    return wide(off) == 0


def three_scores(draw: Random) -> dict[str, list[float]]:
    return {
        "scores": [round(draw.uniform(-3, 3), 2) for _ in range(3)],
        "off": some_off(draw, 3),
    }


def retrieval(got: Reading) -> dict[str, Tensor]:
    scores, mask = wide([got["scores"]]) / got["temperature"], mask_of(got["off"])[None]
    powers = scores.exp().where(mask, 0)
    return {
        "powers": powers[0],
        "sum": powers.sum(),
        "weights": masked_softmax(scores, mask)[0],
        "output": attend(scores, wide(got["values"])[:, None], mask)[0, 0],
    }


def points_on_a_line(draw: Random) -> dict[str, list[float]]:
    size = draw.randint(1, 12)
    pairs = [(round(draw.uniform(0, 14), 1), draw.randint(0, 100)) for _ in range(size)]
    return {
        "points": [number for pair in pairs for number in pair],
        "off": some_off(draw, size),
        "query": [round(draw.uniform(0, 14), 1)],
    }


def kernel_regression(got: Reading) -> dict[str, Tensor]:
    points, mask = wide(got["points"]).view(-1, 2), mask_of(got["off"])[None]
    scores = kernel_scores(
        wide([got["query"]]), points[:, :1], got["width"], KERNELS[got["kernel"]]
    )
    return {
        "powers": scores.exp().where(mask, 0)[0],
        "weights": masked_softmax(scores, mask)[0],
        "output": attend(scores, points[:, 1:], mask)[0, 0],
        "empty": ~(mask & (scores > -torch.inf)).any(),
    }


LAWS = {
    "retrieval": Law(three_scores, retrieval),
    "kernel_regression": Law(points_on_a_line, kernel_regression),
}


def drawn_states(name: str, many: int) -> list[dict[str, object]]:
    """So many drawn states of the form of a machine, by the names of its controls."""
    draw, state = Random(name), STATES[name]

    def one() -> dict[str, object]:
        lists = LAWS[name].drawn(draw).items()
        form: dict[str, object] = {key: "_".join(f"{x:g}" for x in given) for key, given in lists}
        for key, control in state.controls.items():
            if isinstance(control, Slider):
                form[key] = draw.randrange(len(control.stops))
            elif isinstance(control, Choice):
                form[key] = draw.choice(control.options)
        return form | {"step": draw.randint(1, len(state.steps))}

    return [one() for _ in range(many)]
