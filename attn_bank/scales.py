"""Scores that are divided by something else than the root of the width."""

from collections.abc import Callable

from hintgrader.exercise import Altered, Answer, given
from torch import Tensor


def scaled_by(answer: Answer, factor: Callable[[int], float], name: str = "query") -> Altered:
    """The answer, its dot products multiplied by another number.

    Args:
        answer: It divides them by the root of the width of queries and keys.
        factor: What multiplies them instead, of that width.
        name: The input that makes the queries; its last axis has that width.
    """

    def multiply(made: Tensor) -> Tensor:
        width = made.shape[-1]
        return factor(width) * width**0.5 * made

    return given(answer, **{name: multiply})
