"""Functions that wrong answers to several exercises take for the softmax over the keys."""

from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import Altered, Answer, Plain
from torch import Tensor
from torch.overrides import TorchFunctionMode

Softmax = Callable[[Tensor, int], Tensor]


class _Instead(TorchFunctionMode):
    """Calls something else wherever a softmax is called."""

    def __init__(self, other: Softmax) -> None:
        super().__init__()
        self.other = other

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ != "softmax":
            return func(*args, **kwargs)
        return self.other(args[0], kwargs["dim"] if "dim" in kwargs else args[1])


def instead_of_softmax(answer: Answer, other: Softmax) -> Altered:
    """The answer with another function in the place of the softmax."""

    def how(answer: Answer, **inputs: Any) -> Plain:
        with _Instead(other):
            return answer(**inputs)

    return Altered(answer, how)


def twice(answer: Answer) -> dict[str, Any]:
    """The arguments of a mistake: one softmax of another."""
    return {
        "computes": instead_of_softmax(answer, lambda s, axis: s.softmax(axis).softmax(axis)),
        "hint": "you take the softmax of weights, which makes them nearly alike; one softmax, of"
        " the scores, is enough",
    }


def logarithms(answer: Answer) -> dict[str, Any]:
    """Likewise: the logarithms of the weights."""
    return {
        "computes": instead_of_softmax(answer, torch.log_softmax),
        "hint": "you take the logarithms of the weights, as `log_softmax` does, for the weights;"
        " those are positive and sum to 1",
    }


def sigmoids(answer: Answer) -> dict[str, Any]:
    """Likewise: each score by itself."""

    def shares(scores: Tensor, axis: int) -> Tensor:
        return scores.sigmoid() / scores.sigmoid().sum(axis, keepdim=True)

    return {
        "computes": instead_of_softmax(answer, lambda scores, axis: scores.sigmoid()),
        "also": (instead_of_softmax(answer, shares),),
        "hint": "you take a sigmoid of each score by itself; weights are a softmax, in which all"
        " scores that compete take part",
    }


def powers(answer: Answer) -> dict[str, Any]:
    """Likewise: powers that nothing divides."""
    return {
        "computes": instead_of_softmax(answer, lambda scores, axis: scores.exp()),
        "hint": "you take the powers of the scores and do not divide them by their sum, so that"
        " the weights do not sum to 1",
    }


def shares_of_scores(answer: Answer) -> dict[str, Any]:
    """Likewise: scores divided by their sum."""
    return {
        "computes": instead_of_softmax(answer, lambda s, axis: s / s.sum(axis, keepdim=True)),
        "hint": "you divide the scores by their sum, and so weights may be negative; a softmax"
        " divides the powers of the scores by theirs",
    }


def whole_table(answer: Answer) -> dict[str, Any]:
    """Likewise: one softmax for all queries."""
    return {
        "computes": instead_of_softmax(
            answer, lambda scores, axis: scores.flatten(-2).softmax(-1).view(scores.shape)
        ),
        "hint": "your softmax runs over all scores of a table together; each query has weights of"
        " its own, which sum to 1",
    }


def first_axis(answer: Answer) -> dict[str, Any]:
    """Likewise: along the first axis."""
    return {
        "computes": instead_of_softmax(answer, lambda scores, axis: scores.softmax(0)),
        "hint": "your softmax runs over the first axis; it runs over the keys, whose axis you find"
        " by counting from the back",
    }


def lowest(answer: Answer) -> dict[str, Any]:
    """Likewise: the sign of the scores turned round."""

    def negated(scores: Tensor, axis: int) -> Tensor:
        return torch.where(scores.isinf(), scores, -scores).softmax(axis)

    return {
        "computes": instead_of_softmax(answer, negated),
        "hint": "your signs are turned round: the key that scores lowest gets the most weight",
    }


def best(answer: Answer) -> dict[str, Any]:
    """Likewise: all weight for the best."""

    def one_hot(scores: Tensor, axis: int) -> Tensor:
        at_best = scores.argmax(axis, keepdim=True)
        return (0 * scores.nan_to_num(0, 0, 0)).scatter(axis, at_best, 1)

    return {
        "computes": instead_of_softmax(answer, one_hot),
        "hint": "you give all weight to the key that scores highest; a softmax gives each key its"
        " part",
    }
