"""The figure of sinusoids: the vectors of two positions, hand by hand, and their dot product.

The reader moves two positions, alone or together. Their features are the hands of a clock.
"""

from attn_course.interactive.controls import hint, option, readings, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.markup import tag
from attn_course.self_attention import sinusoidal_positions


def sinusoid_explorer(
    length: int, d_model: int, one: int = 10, other: int = 17
) -> InteractiveFigure:
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
    sinusoidal_positions(length, d_model)  # which refuses an odd width
    return InteractiveFigure(
        name="sinusoids",
        label="A clock for two positions, with controls to move them",
        controls=_controls(length, one, other),
        readings=readings(
            distance="distance",
            product="dot product",
            largest="at distance 0",
            stopped="together no further",
        ),
        data={"length": length, "d_model": d_model},
    )


def _controls(length: int, one: int, other: int) -> str:
    together = option("checkbox", "together", "on", "move both together")
    return (
        hint("Move one position, or both together.")
        + slider("one", "query", 0, length - 1, one, label="one, thick")
        + slider("other", "key", 0, length - 1, other, label="other, thin")
        + tag("div", together, class_="attn-options")
    )
