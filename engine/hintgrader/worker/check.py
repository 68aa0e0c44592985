"""`check` and `progress` within the confined process: what the grader has told, and no test."""

from collections.abc import Callable
from typing import Any

from hintgrader.worker.points import Points, Row


class PublishedPoints(dict[str, Points]):
    """The points that the grader has published, by exercise."""


published = PublishedPoints()


def check(name: str, answer: Callable[..., Any] | None = None, *, hidden: bool = False) -> Points:
    """Return the points on the inputs that a student may see, if they are published."""
    unseen = Points((Row("checked by the grader alone", 1.0, "not looked at yet"),))
    return published.get(name, unseen)


def progress() -> None:
    """Do nothing: how far somebody is stands in their own folder, and no grade depends on it."""
