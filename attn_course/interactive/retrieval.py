"""The figure of the two lookups: walk between two colours, and ask the nearest key and all keys.

The numbers of the first state come from the package, the numbers of every other state from
`retrieval.js`; the tests compare the two.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import torch
from torch import Tensor

from attn_course.interactive.controls import button, hint, slider
from attn_course.interactive.figure import InteractiveFigure, png_of
from attn_course.interactive.markup import tag
from attn_course.interactive.retrieval_picture import inks, layout, svg
from attn_course.interactive.retrieval_state import (
    LAST,
    MOST_HEARD,
    Colour,
    State,
    hex_of,
    last_word,
    rgb_of,
)
from attn_course.plots import ROLE
from attn_course.plots.retrieval import walk
from attn_course.shapes import require_positive

LIVE = (
    "Live: this page looks up {} keys itself. Its weights and shares are PyTorch's to nine "
    "decimals: a test compares them in a browser."
)


def colour_explorer(
    names: Sequence[str],
    rgb: Tensor,
    words: Sequence[str],
    start: Colour,
    end: Colour,
    step: int = 0,
    temperature: float = 0.01,
) -> InteractiveFigure:
    """Two lookups in a table of colours, on a walk between two colours that the reader picks.

    The keys are the colours whose name ends in one of the words. The nearest lookup answers with
    the word of the nearest key; the soft lookup with a share of each word. Shown as the last
    expression of a cell, it works without a kernel, in JupyterLab, in the built book and from the
    disk; in print it is the picture of its first state.

    Args:
        names: Names of colours.
        rgb: Their red, green and blue from 0 to 255, integers, (len(names), 3).
        words: The words that answer.
        start: Red, green and blue of the colour from which the walk starts at first.
        end: The same of the colour to which it leads.
        step: The step of the walk at which the query is at first, from 0 to 200.
        temperature: The number by which squared distances are divided at first, for colours
            from 0 to 1; rounded to six digits.

    Raises:
        ValueError: There are not as many colours as names, a colour is not three whole numbers
            from 0 to 255, there are no words or one at which no name ends, the step is not on the
            walk, or the temperature is not positive and finite.
    """
    require_positive("temperature", temperature)
    if rgb.shape != (len(names), 3):
        raise ValueError(f"rgb has shape {tuple(rgb.shape)}; {len(names)} names need it "
                         f"to be ({len(names)}, 3)")  # fmt: skip
    for name, colour in (("start", start), ("end", end)):
        _require_colours(name, torch.tensor([colour]))
    _require_colours("rgb", rgb)
    if not words:
        raise ValueError(f"there are no words to answer with: {words=}")
    for word in words:
        if not any(last_word(name) == word for name in names):
            raise ValueError(f"none of {len(names)} names ends in {word!r}")
    if not 0 <= step <= LAST:
        raise ValueError(f"{step=} is not on the walk, from 0 to {LAST}")
    rows = [row for row, name in enumerate(names) if last_word(name) in words]
    kept = [names[row] for row in rows]
    state = State(kept, rgb[rows], words, start, end, step, float(f"{temperature:.6g}"))
    return InteractiveFigure(
        name="retrieval",
        label="Two lookups on a walk between two colours, with controls to change it",
        sentence=state.sentence,
        picture=svg(state),
        controls=_controls(state),
        readings=_readings(state),
        data=_data(state),
        png=_png(state),
        live=LIVE.format(len(kept)),
    )


def _require_colours(name: str, rgb: Tensor) -> None:
    whole = rgb.shape[-1] == 3 and not rgb.is_floating_point()
    if not whole or rgb.min() < 0 or rgb.max() > 255:
        given = rgb.tolist() if len(rgb) == 1 else f"from {rgb.min():g} to {rgb.max():g}"
        raise ValueError(f"{name} must be whole numbers from 0 to 255, three a colour, not {given}")


def _controls(state: State) -> str:
    picks = _pick("from", state.start) + _pick("to", state.end)
    place = state.temperatures.index(state.temperature)
    return (
        hint("Drag along the walk: which answer jumps, which slides? Then turn the temperature.")
        + tag("div", picks + button("jump", "next jump"), class_="attn-options")
        + slider("step", "query", 0, LAST, state.step)
        + slider("temperature", "weight", 0, len(state.temperatures) - 1, place)
    )


def _pick(name: str, colour: Colour) -> str:
    picker = tag("input", type="color", name=name, value=f"#{hex_of(colour)}", data_part=name)
    return tag("label", picker + tag("span", name), class_="attn-pick")


def _readings(state: State) -> str:
    named = [
        ("query", "query", "query"),
        ("nearest", "key", "nearest key"),
        ("soft", "output", "soft answer"),
        ("effective", "weight", "effective number of keys"),
        ("change", "output", "last step"),
    ]
    rows = [_reading(part, role, name, escape(state.written[part])) for part, role, name in named]
    heard = "".join(
        tag("span", _swatch(rgb_of(state.key[key]))
            + f"{escape(state.names[key])} {state.weights[key].item():.0%}", class_="attn-heard")
        for key in state.heard
    )  # fmt: skip
    heard = heard or "no key above 0.5%"
    return "".join([*rows, _reading("heard", "weight", "heard most", heard)])


def _reading(part: str, role: str, name: str, content: str) -> str:
    number = tag("dd", content, data_part=f"{part}-reading")
    return tag("div", tag("dt", _swatch(ROLE[role]) + name) + number)


def _swatch(colour: str) -> str:
    return tag("span", class_="attn-swatch", style=f"--attn-colour:{colour}")


def _data(state: State) -> dict[str, Any]:
    return {
        "names": list(state.names),
        "colours": [hex_of(row) for row in state.rgb.tolist()],
        "words": list(state.words),
        "typical": [rgb_of(colour) for colour in state.typical],
        "inks": inks(state),
        "temperatures": state.temperatures,
        "last": LAST,
        "mostHeard": MOST_HEARD,
        "layout": layout(),
    }


def _png(state: State) -> bytes:
    """The walk for print, with a line at the query."""
    said = torch.tensor(state.said)
    figure = walk(state.walk, said, state.shares, state.words, state.typical)
    for axes in figure.axes:
        axes.axvline(state.step / LAST, color=ROLE["query"], clip_on=False)
    return png_of(figure)
