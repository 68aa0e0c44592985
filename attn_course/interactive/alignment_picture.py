"""The table of weights of a translation, before a script takes over, and for print."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.figure import png_of
from attn_course.interactive.markup import tag
from attn_course.plots.bahdanau import TRANSLATION, alignment

LAYOUT = {"left": 150, "top": 112, "wide": 36, "tall": 32}


def svg(
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Float[Tensor, "rows columns"],
    sentence: str,
    layout: Mapping[str, int] = LAYOUT,
    title: str = "",
    **more: object,
) -> str:
    """A row for each word that is said, a column for each word that is read."""
    left, top, wide, tall = (layout[name] for name in ("left", "top", "wide", "tall"))
    heads = [tag("text", escape(title), x=4, y=18, class_="attn-name")] if title else []
    heads += [
        tag("text", escape(word), data_column=j,
            transform=f"translate({left + wide * j + wide / 2 + 5:g} {top - 8}) rotate(-60)")
        for j, word in enumerate(columns)
    ]  # fmt: skip
    lines = [
        tag("g", _line(word, i, weights[i].tolist(), layout), data_line=i)
        for i, word in enumerate(rows)
    ]
    right, bottom = left + wide * len(columns), top + tall * len(rows)
    slanted = (left + wide * (j + 0.5) + 16 + 5 * len(word) for j, word in enumerate(columns))
    across = math.ceil(max(right + 8, *slanted))  # on a phone, where letters are large
    return tag(
        "svg",
        "".join([*heads, *lines]),
        viewBox=f"0 0 {across} {bottom + 6}",
        class_="attn-table",
        role="img",
        aria_label=sentence,
        **more,
    )


def _line(word: str, i: int, weights: Sequence[float], layout: Mapping[str, int]) -> str:
    left, top, wide, tall = (layout[name] for name in ("left", "top", "wide", "tall"))
    y = top + tall * i
    cells = [
        tag("rect", data_cell=f"{i},{j}", x=left + wide * j, y=y, width=wide, height=tall,
            fill_opacity=f"{weight:.3f}", class_="attn-weight")
        for j, weight in enumerate(weights)
    ]  # fmt: skip
    name = tag(
        "text", escape(word), data_row=i, x=left - 8, y=f"{y + tall / 2 + 5:g}", text_anchor="end"
    )
    return name + "".join(cells)


def rounded(weights: Float[Tensor, "rows columns"]) -> list[list[float]]:
    """The weights with as many digits as the picture has, for its script."""
    return [[round(one, 3) for one in row] for row in weights.tolist()]


def png(
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Float[Tensor, "rows columns"],
    axes_say: tuple[str, str] = TRANSLATION,
) -> bytes:
    """The table for print."""
    figure = alignment(weights, columns, rows, frozenset(), frozenset(), axes_say)
    return png_of(figure, dpi=160)
