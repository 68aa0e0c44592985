"""The figure of the clock: the vectors of two positions, hand by hand, and their dot product.

The reader moves two positions, alone or together. Python draws the first state; `clock.js` moves
the hands.
"""

import torch

from attn_course.interactive.clock_picture import REACH, png, svg
from attn_course.interactive.controls import hint, option, readings, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.markup import tag
from attn_course.self_attention import sinusoidal_positions


def clock_explorer(length: int, d_model: int, one: int = 10, other: int = 17) -> InteractiveFigure:
    """A clock of sines and cosines that shows two positions, to move alone or together.

    Shown as the last expression of a cell, it works wherever the notebook is shown.

    Args:
        length: Number of positions.
        d_model: Width of a position vector; there are half as many hands.
        one: The position that is shown first.
        other: The position that it is compared with.

    Raises:
        ValueError: `d_model` is odd or not positive, there are fewer than two positions, or one of
            the two is not among them.
    """
    if length < 2 or not {one, other} <= set(range(length)):
        raise ValueError(f"positions {one} and {other} must be from 0 to {length - 1}")
    vectors = sinusoidal_positions(length, d_model)
    pair = vectors[[one, other]]
    falls = [vectors[0] @ vector for vector in vectors]  # by the distance
    product = float(pair[0] @ pair[1])
    sentence = f"Positions {one} and {other}, {abs(other - one)} apart: dot product {product:.2f}."
    return InteractiveFigure(
        name="clock",
        label="A clock for two positions, with controls to move them",
        sentence=sentence,
        picture=svg(pair, torch.stack(falls), abs(other - one), sentence),
        controls=_controls(length, one, other),
        readings=readings(
            [
                ("distance", "distance", str(abs(other - one))),
                ("product", "dot product", f"{product:.2f}"),
                ("largest", "at distance 0", f"{d_model // 2}"),
                ("stopped", "together no further", ""),
            ]
        ),
        data={"length": length, "d_model": d_model, "reach": REACH},
        png=png(pair, torch.stack(falls), abs(other - one), sentence),
    )


def _controls(length: int, one: int, other: int) -> str:
    together = option("checkbox", "together", "on", "move both together")
    return (
        hint("Move one position: hands and dot product change. Then move both together.")
        + slider("one", "query", 0, length - 1, one, label="one, thick")
        + slider("other", "key", 0, length - 1, other, label="other, thin")
        + tag("div", together, class_="attn-options")
    )
