"""The numbers of the attention machine in each of its states, as the package computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.testing import assert_close

from attn_course.bahdanau import additive_scores
from attn_course.captions.exact_expectation import exact_score_gradient, reinforce_variance
from attn_course.interactive.machine.draws import (
    KEYS,
    SHOWN,
    WIDTHS,
    cells_drawn,
    scores_by_width,
)
from attn_course.interactive.machine.states import STATES, Choice, Slider
from attn_course.kernel_regression import (
    kernel_scores,
    log_boxcar,
    log_epanechnikov,
    log_gaussian,
    log_triangular,
)
from attn_course.luong import general_scores
from attn_course.retrieval import (
    attend,
    distance_scores,
    dot_scores,
    effective_number_of_keys,
    masked_softmax,
    softmax_jacobian,
)
from attn_course.scaled_dot_product import attention, attention_weights, scaled_dot_scores
from attn_course.self_attention import basic_self_attention

KERNELS = {
    "Gaussian": log_gaussian,
    "boxcar": log_boxcar,
    "triangular": log_triangular,
    "Epanechnikov": log_epanechnikov,
}
Reading = Mapping[str, Any]


class Law(NamedTuple):
    """A way to draw the numbers of a reader in a state, and what follows from them."""

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


def five_keys(draw: Random) -> dict[str, list[float]]:
    return {
        "query": [round(draw.uniform(-2, 4), 1) for _ in range(2)],
        "keys": [round(draw.uniform(-2, 4), 1) for _ in range(10)],
    }


def temperature(got: Reading) -> dict[str, Tensor]:
    query, key = wide([got["query"]]), wide(got["keys"]).reshape(5, 2)
    scores = distance_scores(query, key)
    weights = masked_softmax(scores / got["temperature"])
    return {
        "scores": scores[0],
        "weights": weights[0],
        "effective": effective_number_of_keys(weights)[0],
        "output": (weights @ wide(got["values"]))[0],
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
    weights = masked_softmax(scores, mask)[0]
    return {
        "powers": scores.exp().where(mask, 0)[0],
        "weights": weights,
        "effective": effective_number_of_keys(weights),
        "output": attend(scores, points[:, 1:], mask)[0, 0],
        "empty": ~(mask & (scores > -torch.inf)).any(),
    }


def arrows(*names: str) -> Callable[[Random], dict[str, list[float]]]:
    """A query, three keys, masks, and, where named, one or two more vectors."""

    def drawn(draw: Random) -> dict[str, list[float]]:
        sizes = {"query": 2, "keys": 6} | {name: 4 if name == "W" else 2 for name in names}
        lists = {
            name: [round(draw.uniform(-2.3, 2.3), 1) for _ in range(size)]
            for name, size in sizes.items()
        }
        return lists | {"off": some_off(draw, 3)}

    return drawn


def of_scores(scores: Tensor, got: Reading) -> dict[str, Tensor]:
    """The weights and the output of three scores in the plane."""
    mask, value = mask_of(got["off"])[None], wide([[10], [20], [90]])
    return {
        "scores": scores[0],
        "weights": masked_softmax(scores, mask)[0],
        "output": attend(scores, value, mask)[0, 0],
    }


def luong(got: Reading) -> dict[str, Tensor]:
    query, key = wide([got["query"]]), wide(got["keys"]).view(3, 2)
    return of_scores(dot_scores(query, key), got)


def general(got: Reading) -> dict[str, Tensor]:
    query, key = wide([got["query"]]), wide(got["keys"]).view(3, 2)
    return of_scores(general_scores(query, key, wide(got["W"]).view(2, 2)), got)


def bahdanau(got: Reading) -> dict[str, Tensor]:
    query, key = wide([got["query"]]), wide(got["keys"]).view(3, 2)
    found = of_scores(additive_scores(query, key, wide(got["v"])), got)
    return {name: found[name] for name in ("scores", "weights")}  # it ends at the weights


def scaled_dot_product(got: Reading) -> dict[str, Tensor]:
    """The script gets the scores of one draw, to three decimals, and the mean slopes of all."""
    place = WIDTHS.index(got["d"])
    generator = torch.Generator().manual_seed(SHOWN)
    query, key = (
        torch.randn(1, many, WIDTHS[-1], generator=generator, dtype=torch.float64)
        for many in (1, KEYS)
    )
    query, key = query[0, :, : got["d"]], key[0, :, : got["d"]]
    raw = dot_scores(query, key).mul(1000).round() / 1000
    assert_close(raw / got["d"] ** 0.5, scaled_dot_scores(query, key), rtol=0, atol=6e-4)
    found = {}
    for name, scores in (("raw", raw), ("root", raw / got["d"] ** 0.5)):
        weights = masked_softmax(scores)[0]
        slope = softmax_jacobian(weights).trace()
        mean = wide(scores_by_width()["slopes"][name][place])
        found[name] = {"scores": scores[0], "weights": weights, "slope": slope, "mean": mean}
    return found


def three_words(*matrices: str) -> Callable[[Random], dict[str, list[float]]]:
    """Three words, so many matrices, and the word that is followed."""

    def drawn(draw: Random) -> dict[str, list[float]]:
        lists = {
            name: [round(draw.uniform(-1.5, 2.5), 1) for _ in range(size)]
            for name, size in ({"x": 6} | dict.fromkeys(matrices, 4)).items()
        }
        return lists | {"row": [draw.randrange(3)]}

    return drawn


def basic_words(got: Reading) -> dict[str, Tensor]:
    x = wide(got["x"]).view(3, 2)
    return of_words(got, (x, x, x), masked_softmax(dot_scores(x, x)), basic_self_attention(x))


def self_attention(got: Reading) -> dict[str, Tensor]:
    x = wide(got["x"]).view(3, 2)
    projected = tuple(x @ wide(got[f"W_{one}"]).view(2, 2) for one in "QKV")
    query, key, value = made = projected if got["projections"] == "on" else (x, x, x)
    return of_words(got, made, attention_weights(query, key), attention(query, key, value))


def of_words(
    got: Reading, made: tuple[Tensor, ...], weights: Tensor, outputs: Tensor
) -> dict[str, Tensor]:
    """Return what follows for all words, and for the one that is followed."""
    row = int(got["row"][0])
    return dict(zip(("query", "key", "value"), made, strict=True)) | {
        "all": weights,
        "outputs": outputs,
        "weights": weights[row],
        "output": outputs[row],
    }


def two_verbs(draw: Random) -> dict[str, list[float]]:
    return {"verbs": [round(draw.uniform(-0.5, 2.5), 1) for _ in range(4)]}


def multi_head(got: Reading) -> dict[str, Tensor]:
    first, second = wide(got["verbs"]).view(2, 2)
    if got["order"] != "hang … let":
        first, second = second, first
    key, value = torch.zeros(2, 6, 2, dtype=torch.float64)
    key[0, 0], key[3, 1], value[0], value[3] = got["stretch"], 1, first, second
    found: dict[str, Any] = {}
    for name, query in (("one", [10, 0]), ("other", [0, 10]), ("both", [10, 10])):
        scores = dot_scores(wide([query]), key)
        found[name] = {
            "scores": scores[0],
            "weights": masked_softmax(scores)[0],
            "output": attend(scores, value)[0],
        }
    return found


def draws(draw: Random) -> dict[str, list[float]]:
    return {"drawn": [draw.randint(1, 2000)]}


def reinforce(got: Reading) -> dict[str, Tensor]:
    many, baseline = int(got["drawn"][0]), got.get("baseline", 0)
    weights, rewards = wide([0.5, 0.25, 0.25]), wide([-1, -2, -4])
    pushes = (rewards - baseline)[:, None] * (torch.eye(3, dtype=torch.float64) - weights)
    cells = torch.tensor(cells_drawn()["cells"][:many])
    return {
        "cell": cells[-1],
        "counts": cells.bincount(minlength=3),
        "push": pushes[cells[-1]],
        "mean": pushes[cells].mean(0),
        "exact": exact_score_gradient(weights, rewards),
        "variance": reinforce_variance(weights, rewards, baseline),
    }


LAWS = {
    "retrieval": Law(three_scores, retrieval),
    "temperature": Law(five_keys, temperature),
    "kernel_regression": Law(points_on_a_line, kernel_regression),
    "bahdanau": Law(arrows("v"), bahdanau),
    "luong": Law(arrows(), luong),
    "general": Law(arrows("W"), general),
    "reinforce": Law(draws, reinforce),
    "baseline": Law(draws, reinforce),
    "scaled_dot_product": Law(lambda _: {}, scaled_dot_product),
    "basic_self_attention": Law(three_words(), basic_words),
    "self_attention": Law(three_words("W_Q", "W_K", "W_V"), self_attention),
    "multi_head": Law(two_verbs, multi_head),
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
