"""Problem set 09: several heads, what is kept while they decode, and what one head cannot."""

from collections.abc import Callable
from typing import Any

from hintgrader.exercise import Altered, Answer, Inputs, Plain
from torch import Tensor

NUMBER = "09"


def split(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)


def rescaled(answer: Answer, factor: Callable[[Inputs], float]) -> Altered:
    """The answer with all scores times a factor, whatever else it does."""

    def how(answer: Answer, **inputs: Any) -> Plain:
        return answer(**inputs | {"w_query": inputs["w_query"] * factor(inputs)})

    return Altered(answer, how)
