"""A switch of the whole process: how it is read, how it is set, and what the course has it at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Switch:
    """A switch of the whole process.

    Args:
        read: Gives its value.
        write: Sets it.
        course: Gives the course's value, from the one that it has.
    """

    read: Callable[[], Any]
    write: Callable[[Any], object]
    course: Callable[[Any], Any]


def fixed(read: Callable[[], Any], write: Callable[[Any], object], value: object) -> Switch:
    """A switch for which the course has one value."""
    return Switch(read, write, lambda _: value)
