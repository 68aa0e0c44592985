"""`check` as it is within the confined process: what the grader has told, and no test."""

from collections.abc import Callable
from typing import Any

from attn_grade.inside.points import Points, Row


class Told(dict[str, Points]):
    """What the grader has told, by exercise."""


told = Told()


def check(name: str, answer: Callable[..., Any] | None = None, *, hidden: bool = False) -> Points:
    """What the grader has found on the inputs that a student may see, if it has looked."""
    unseen = Points((Row("checked by the grader alone", 1.0, "not looked at yet"),))
    return told.get(name, unseen)
