"""The figure of the two lookups: walk between two colours, and ask the nearest key and all keys.

Its script computes all numbers; the tests compare them with those of the package.
"""

from collections.abc import Sequence
from math import floor

import torch
from torch import Tensor

from attn_course.interactive.controls import button, hint, more, readings, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.markup import tag
from attn_course.plots import ink_on
from attn_course.shapes import require_positive

Colour = tuple[int, int, int]  # red, green and blue from 0 to 255
LAST = 200  # the number of the last step of a walk; the first is 0
MOST_HEARD = 5  # keys that the readings name
# Without the colours of their roles: beside squares that show keys those would be keys, too.
READINGS = {
    "nearest": "nearest key",
    "soft": "soft answer",
    "heard": "heard most",
}
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
    typical = typical_colours(kept, rgb[rows], words)
    start_at = float(f"{temperature:.6g}")
    powers = torch.linspace(-4, 2, 49, dtype=torch.float64).tolist()
    temperatures = sorted({start_at, *(float(f"{10**power:.2g}") for power in powers)})
    return InteractiveFigure(
        name="retrieval",
        label="Two lookups on a walk between two colours, with controls to change it",
        controls=hint("Drag along the walk: which answer jumps, which slides?")
        + tag(
            "div",
            _pick("from", start) + _pick("to", end) + button("jump", "next jump"),
            class_="attn-options",
        )
        + slider("step", "query", 0, LAST, step)
        + more(
            "temperature",
            slider("temperature", "", 0, len(temperatures) - 1, temperatures.index(start_at)),
            tag("dl", readings(effective="effective number of keys"), class_="attn-readings"),
        ),
        data={
            "names": kept,
            "colours": [hex_of(row) for row in rgb[rows].tolist()],
            "words": words,
            "typical": [css_of(colour) for colour in typical],
            "inks": [ink_on(colour) for colour in typical],
            "temperatures": temperatures,
            "last": LAST,
            "mostHeard": MOST_HEARD,
        },
        readings=readings(**READINGS),
        live=LIVE.format(len(kept)),
    )


def typical_colours(names: Sequence[str], rgb: Tensor, words: Sequence[str]) -> list[Tensor]:
    """The mean colour of the names that end in each word, from 0 to 1."""
    last = [last_word(name) for name in names]
    return [
        rgb[[i for i, one in enumerate(last) if one == word]].double().mean(0) / 255
        for word in words
    ]


def last_word(name: str) -> str:
    """The word in which a name ends, which is what it answers."""
    return name.split()[-1]


def hex_of(colour: Sequence[int]) -> str:
    """A colour as six digits."""
    return bytes(colour).hex()


def css_of(colour: Tensor) -> str:
    """A colour with parts from 0 to 1, as CSS writes it; halves are rounded up, as in scripts."""
    return "rgb({}, {}, {})".format(*(floor(255 * part + 0.5) for part in colour.tolist()))


def _require_colours(name: str, rgb: Tensor) -> None:
    whole = rgb.shape[-1] == 3 and not rgb.is_floating_point()
    if not whole or rgb.min() < 0 or rgb.max() > 255:
        given = rgb.tolist() if len(rgb) == 1 else f"from {rgb.min():g} to {rgb.max():g}"
        raise ValueError(f"{name} must be whole numbers from 0 to 255, three a colour, not {given}")


def _pick(name: str, colour: Colour) -> str:
    picker = tag("input", type="color", name=name, value=f"#{hex_of(colour)}", data_part=name)
    return tag("label", tag("span", name) + picker, class_="attn-pick")
