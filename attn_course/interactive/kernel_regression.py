"""The figure of kernel regression: change kernel, width and query, and see which keys count.

The numbers of the first state come from the package, the numbers of every other state from
`kernel_regression.js`; the tests compare the two.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.controls import choice, hint, option, select, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.kernel_regression_picture import RADII, icon, scales, svg
from attn_course.interactive.kernel_regression_print import png
from attn_course.interactive.kernel_regression_state import (
    KERNELS,
    STEPS,
    Curve,
    State,
    decimals_of,
    rounded,
    span,
)
from attn_course.interactive.markup import tag
from attn_course.plots import ROLE
from attn_course.shapes import checked, require_positive

LEAST_SPAN = 1e-9  # steps of the sliders and of the axes are rounded to 1e-12
MOST_KEYS = 1000  # each key is weighed 321 times for every movement of a slider


@checked
def kernel_regression_explorer(
    key: Float[Tensor, "key_len 1"],
    value: Float[Tensor, "key_len 1"],
    width: float,
    query: float,
    kernel: str = "Gaussian",
    truth: Curve | None = None,
    key_name: str = "key",
    value_name: str = "value",
) -> InteractiveFigure:
    """Kernel regression in one dimension, whose kernel, width and query the reader can change.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk; in print it is the picture of its first state.

    Args:
        key: Points of the observations; rounded to 1/1000 of their range.
        value: Values observed there; rounded likewise.
        width: The kernel's unit of distance at first, in the unit of the keys.
        query: Point at which to estimate at first; rounded to a step of the slider.
        kernel: "Gaussian", "boxcar", "triangular" or "Epanechnikov".
        truth: The curve behind the values, if it is known; drawn dashed.
        key_name: Name and unit of the horizontal axis.
        value_name: Name and unit of the vertical axis.

    Raises:
        TypeError: The key or the value is not a floating-point tensor, or they differ in dtype.
        ValueError: A shape does not fit, an argument holds NaN or infinity, there are no keys, more
            than 1000, or all at one place, keys or values differ by less than 1e-9, the width is
            not positive and finite, the query lies more than a tenth of the range outside the
            keys, or the kernel is none of the four.
    """
    require_positive("width", width)
    _require_an_axis(key, value)
    if kernel not in KERNELS:
        raise ValueError(f"{kernel=} is none of {', '.join(KERNELS)}")
    state = State(rounded(key), rounded(value), float(f"{width:.6g}"), float(query), kernel, truth)
    if not state.low <= query <= state.high:
        raise ValueError(f"{query=} is outside the figure, from {state.low:g} to {state.high:g}")
    return InteractiveFigure(
        name="kernel-regression",
        label="Kernel regression, with controls to change it",
        sentence=state.sentence,
        picture=svg(state, key_name, value_name),
        controls=_controls(state),
        readings=_readings(state),
        data=_data(state),
        png=png(state, key_name, value_name),
    )


def _require_an_axis(key: Tensor, value: Tensor) -> None:
    for name, numbers in (("key", key), ("value", value)):
        if unbounded := int(torch.isinf(numbers).sum()):
            raise ValueError(f"{name} holds {unbounded} infinite numbers among {numbers.numel()}")
        if len(numbers) and 0 < span(numbers) < LEAST_SPAN:
            raise ValueError(f"{name} spans {span(numbers):g}; give it in a smaller unit")
    if not 0 < len(key) <= MOST_KEYS:
        raise ValueError(f"the figure shows 1 to {MOST_KEYS} keys, not {len(key)}")
    if span(key) == 0:
        raise ValueError(f"all {len(key)} keys are {key[0].item():g}: they span no axis")


def _controls(state: State) -> str:
    kernels = [
        option("radio", "kernel", name, name, name == state.kernel, icon(name)) for name in KERNELS
    ]
    stand_ins = [("zero", "0"), ("mean", "mean of all values")]
    place = state.widths.index(state.width)
    return (
        hint("Turn the width: when is the output too rough, when too flat? Drag the query along.")
        + choice("Kernel", *kernels)
        + slider("width", "weight", 0, len(state.widths) - 1, place)
        + slider("query", "query", state.low, state.high, state.query, state.step)
        + select("empty", "In an empty window, 0/0 becomes ", stand_ins, "zero", "empty")
    )


def _readings(state: State) -> str:
    named = [
        ("output", "output", "output"),
        ("effective", "weight", "effective number of keys"),
        ("inside", "key", "keys with weight"),
    ]
    return "".join(
        tag(
            "div",
            tag("dt", tag("span", class_="attn-swatch", style=f"--attn-colour:{ROLE[role]}") + name)
            + tag("dd", state.written[part], data_part=f"{part}-reading"),
        )
        for part, role, name in named
    )


def _data(state: State) -> dict[str, Any]:
    across, up, tall = scales(state)
    return {
        "keys": state.key.squeeze(-1).tolist(),
        "values": state.value.squeeze(-1).tolist(),
        "widths": state.widths,
        "decimals": decimals_of(state.value),
        "steps": STEPS,
        "radii": RADII,
        "across": across.numbers,
        "up": up.numbers,
        "tall": tall.numbers,
    }
