"""The figure of the two lookups in the browser, before its script takes over."""

from collections.abc import Iterator
from html import escape
from itertools import groupby

import torch
from torch import Tensor

from attn_course.interactive.markup import path, tag
from attn_course.interactive.retrieval_state import LAST, State, hex_of, named, rgb_of
from attn_course.plots import ROLE, ink_on

WIDTH, HEIGHT = 560, 428
LEFT, WALK = 10, 294  # left edge and width of the walk
HERE, ACROSS = 328, 106  # left edge and width of the column on the right: the query alone
STRIP = 30  # height of a strip
ASKED, NEAREST = 24, 82  # tops of the strips
TOP, BOTTOM = 140, 402  # of the shares
LETTER = 11  # width of a letter on a phone, where letters are largest
LINE = 22  # height of a line there
LEAST = 1e-5  # a lighter key is not drawn


def svg(state: State) -> str:
    """The picture; parts that the script moves have a `data-part`."""
    walk = tag("g", _strips(state) + _areas(state), class_="attn-walk")
    parts = [_titles(), _here(state), walk]
    return tag(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=state.sentence,
    )


def layout() -> dict[str, float]:
    """The measures that the script needs."""
    return {
        "left": LEFT, "walk": WALK, "here": HERE, "across": ACROSS, "strip": STRIP,
        "nearest": NEAREST, "top": TOP, "bottom": BOTTOM, "letter": LETTER, "line": LINE,
        "least": LEAST,
    }  # fmt: skip


def across(step: float) -> float:
    """Return how far from the left the picture shows a step of the walk."""
    return LEFT + WALK * step / LAST


def inks(state: State) -> list[str]:
    """Black or white for each word, whichever is legible on its colour."""
    return [ink_on(colour) for colour in state.typical]


def _titles() -> str:
    left = [("the walk: what you ask for", ASKED), ("word of the nearest key", NEAREST),
            ("soft answer: shares", TOP)]  # fmt: skip
    right = [("here", ASKED), ("all keys by weight", TOP)]
    return "".join(
        tag("text", says, x=x, y=top - 7, class_="attn-name")
        for x, titles in ((LEFT, left), (HERE, right))
        for says, top in titles
    )


def _strips(state: State) -> str:
    """The colours of the walk, and below them the words of the nearest keys."""
    ends = (("start", "0", state.start), ("end", "1", state.end))
    stops = "".join(
        tag("stop", offset=at, stop_color=named(colour), data_part=name)
        for name, at, colour in ends
    )
    # a name holds for the whole page: what has the same name looks the same
    name = f"attn-walk-{hex_of(state.start)}-{hex_of(state.end)}"
    gradient = tag("linearGradient", stops, id=name, data_part="gradient")
    box = {"x": LEFT, "y": ASKED, "width": WALK, "height": STRIP}
    asked = tag("rect", fill=f"url(#{name})", data_part="walk", **box)
    return tag("defs", gradient) + asked + tag("g", "".join(_runs(state)), data_part="runs")


def _runs(state: State) -> Iterator[str]:
    """A box for each stretch of the walk with one word, named if the word fits."""
    start = 0
    for word, run in groupby(state.said):
        stop = start + len(list(run))
        left, right = (across(max(0, min(at - 0.5, LAST))) for at in (start, stop))
        box = {"x": left, "y": NEAREST, "width": right - left, "height": STRIP}
        yield tag("rect", fill=rgb_of(state.typical[word]), **box)
        if right - left > LETTER * len(state.words[word]):
            yield _name(state, word, (left + right) / 2, NEAREST + STRIP / 2)
        start = stop


def _name(state: State, word: int, x: float, y: float) -> str:
    ink = inks(state)[word]
    return tag(
        "text", escape(state.words[word]), x=x, y=y + 5, text_anchor="middle", style=f"fill:{ink}"
    )


def _areas(state: State) -> str:
    """The shares at each step, on top of each other, each painted over the one above it."""
    tops = state.shares.cumsum(-1)
    areas = [
        tag("path", d=_area(tops[:, word]), fill=rgb_of(state.typical[word]), data_area=word)
        for word in reversed(range(len(state.words)))
    ]
    names = [
        _name(state, word, across(step), BOTTOM - (BOTTOM - TOP) * height)
        for word in range(len(state.words))
        for step, height in _spot(state, tops, word)
    ]
    return (
        tag("g", "".join(areas), class_="attn-areas")
        + _query(state)
        + tag("g", "".join(names), data_part="area-names")
    )  # fmt: skip


def _area(top: Tensor) -> str:
    """From one end of the walk to the other, and back along the bottom."""
    heights = ((BOTTOM - TOP) * top).tolist()
    points = [(across(step), BOTTOM - height) for step, height in enumerate(heights)]
    return f"{path(points)}V{BOTTOM}H{LEFT}Z"


def _spot(state: State, tops: Tensor, word: int) -> Iterator[tuple[int, float]]:
    """The step and the height at which the area has the most room for its word, if it has any."""
    reach = round(len(state.words[word]) * LETTER / 2 / WALK * LAST)
    if 2 * reach > LAST:
        return
    high = tops[:, word]
    low = tops[:, word - 1] if word else torch.zeros_like(high)
    ceiling = high.unfold(0, 2 * reach + 1, 1).amin(-1)
    floor = low.unfold(0, 2 * reach + 1, 1).amax(-1)
    best = int((ceiling - floor).argmax())
    if (ceiling[best] - floor[best]) * (BOTTOM - TOP) >= LINE:
        yield best + reach, (ceiling[best] + floor[best]).item() / 2


def _here(state: State) -> str:
    """The query, its nearest key, and all keys: a row for each word, a tile for each key."""
    box = {"x": HERE, "width": ACROSS, "height": STRIP}
    asked = tag("rect", y=ASKED, fill=rgb_of(state.walk[state.step]), data_part="asked", **box)
    best = state.key[state.nearest[state.step]]
    nearest = tag("rect", y=NEAREST, fill=rgb_of(best), data_part="best", **box)
    says = tag("text", escape(state.words[state.said[state.step]]), x=HERE + ACROSS + 6,
               y=NEAREST + STRIP / 2 + 5, class_="attn-name", data_part="word")  # fmt: skip
    tiles, labels = _tiles(state)
    return (
        asked + nearest + says
        + tag("g", tiles, class_="attn-tiles", data_part="tiles")
        + tag("g", labels, data_part="labels")
    )  # fmt: skip


def _tiles(state: State) -> tuple[str, str]:
    tall, tiles, labels, below = BOTTOM - TOP, [], [], 0.0
    for word, share in enumerate(state.shares[state.step].tolist()):
        top, height, left = BOTTOM - tall * (below + share), tall * share, float(HERE)
        keys = [key for key, one in enumerate(state.word) if one == word]
        keys = [key for key in keys if state.weights[key] > LEAST]
        for key in sorted(keys, key=lambda key: -state.weights[key].item()):
            width = ACROSS * state.weights[key].item() / share
            box = {"x": f"{left:.2f}", "y": f"{top:.2f}", "width": f"{width:.2f}"}
            tiles.append(
                tag("rect", fill=rgb_of(state.key[key]), height=f"{height:.2f}", **box)
            )  # fmt: skip
            left += width
        if height >= LINE:
            place = {"x": HERE + ACROSS + 6, "y": top + height / 2 + 5}
            labels.append(tag("text", f"{escape(state.words[word])} {share:.0%}", **place))
        below += share
    return "".join(tiles), "".join(labels)


def _query(state: State) -> str:
    line = "".join(
        f"M0,{top - 3}V{bottom}"
        for top, bottom in (
            (ASKED, ASKED + STRIP + 3),
            (NEAREST, NEAREST + STRIP + 3),
            (TOP, BOTTOM + 8),
        )
    )
    return tag(
        "g",
        tag("path", d=line, class_="attn-halo")
        + tag("path", d=line, stroke=ROLE["query"], class_="attn-query")
        + tag("circle", cx=0, cy=BOTTOM + 13, r=9, fill=ROLE["query"], class_="attn-handle"),
        transform=f"translate({across(state.step):.1f} 0)",
        data_part="query-line",
    )
