"""The few parts of HTML and SVG from which the interactive figures are made."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Scale:
    """Maps the numbers from `low` to `high` to the picture, from `start` to `stop`."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, number: float) -> float:
        """The place of a number in the picture; a number outside the range goes to its end."""
        part = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.stop - self.start)

    @property
    def numbers(self) -> list[float]:
        """The four numbers, for a script."""
        return [self.low, self.high, self.start, self.stop]

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers within the range, `about` so many."""
        step = round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(i * step, 12) for i in range(first, last + 1)]


def round_step(least: float) -> float:
    """The smallest of …, 1, 2, 5, 10, 20, 50, … that is not below `least`."""
    decade = 10.0 ** math.floor(math.log10(least))
    return round(next(m * decade for m in (1, 2, 5, 10) if m * decade >= least * (1 - 1e-9)), 12)


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One element; `class_` and `a_b` are written `class` and `a-b`, numbers to a tenth."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
    )
    closing = "" if name == "input" else f"{content}</{name}>"
    return f"<{name}{written}>{closing}"


def path(points: Iterable[tuple[float, float]]) -> str:
    """The `d` of a line through the points; empty if there are none."""
    steps = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f"M{'L'.join(steps)}" if steps else ""


def _text(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
