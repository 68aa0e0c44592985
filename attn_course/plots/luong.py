"""The figures of chapter 05: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
Chapter 03 has the curves of BLEU, chapter 04 the pictures of alignments.
"""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.luong import concat_scores, general_scores
from attn_course.plots import (
    FAINT,
    GREY,
    INK,
    PAPER,
    ROLE,
    VIOLET,
    closed,
    ink_of,
    style,
)
from attn_course.retrieval import dot_scores

# --- two decoders ---------------------------------------------------------------------------------


class Node(NamedTuple):
    """A piece of a diagram: position, text, role, if any, and the tick that makes it."""

    x: float
    y: float
    text: str
    role: str = ""
    tick: int = 0


# Three steps of either decoder, from left to right. A state that asks is blue, others are white.
STEPS = range(1, 4)
TICKS = 4  # after so many all contexts of the second are there
PAIRS = tuple[tuple[str, str], ...]
WORDS = {f"y{t - 1}": Node(2 * t, -0.85, f"$y_{t - 1}$") for t in STEPS}
BAHDANAU = WORDS | {"s0": Node(0, 0, "$s_0$", "query")}
BAHDANAU |= {f"s{t}": Node(2 * t, 0, f"$s_{t}$", "query", 2 * t) for t in STEPS}
BAHDANAU["s3"] = BAHDANAU["s3"]._replace(role="state")  # asks no more
BAHDANAU |= {f"c{t}": Node(2 * t - 1, 1, f"$c_{t}$", "output", 2 * t - 1) for t in STEPS}
LUONG = WORDS | {"s0": Node(0, 0, "$s_0$", "state")}
LUONG |= {f"s{t}": Node(2 * t, 0, f"$s_{t}$", "query", t) for t in STEPS}
LUONG |= {f"c{t}": Node(2 * t, 1, f"$c_{t}$", "output", TICKS) for t in STEPS}
JOINED = {f"joined{t}": Node(2 * t + 1, 1, f"s\u0303{'₀₁₂₃'[t]}", "state") for t in STEPS}
# What both have: words and states go into the next state.
BOTH: PAIRS = tuple(
    pair for t in STEPS for pair in ((f"y{t - 1}", f"s{t}"), (f"s{t - 1}", f"s{t}"))
)
WAITS: PAIRS = tuple(pair for t in STEPS for pair in ((f"s{t - 1}", f"c{t}"), (f"c{t}", f"s{t}")))
ASKS_AT_ONCE: PAIRS = tuple((f"s{t}", f"c{t}") for t in STEPS)
JOINS: PAIRS = tuple(
    pair for t in STEPS for pair in ((f"c{t}", f"joined{t}"), (f"s{t}", f"joined{t}"))
)
FEEDING: PAIRS = tuple((f"joined{t - 1}", f"s{t}") for t in STEPS[1:])
ANNOTATIONS = 2.05  # their height


def two_decoders(ticks: int = 2 * len(STEPS)) -> Figure:
    """Draw a decoder that asks first, above one that steps first, after so many ticks of a clock.

    The first makes one look or one step at a tick; the second makes its steps, and then all its
    looks. What is still to come is pale, and thick arrows lead to what is new.
    """
    with style():
        figure, panels = plt.subplots(2, 1, figsize=(5.2, 4.5), sharex=True, sharey=True)
        names = {"asks, then steps": BAHDANAU, "steps, then asks": LUONG}
        for axes, (name, nodes), others in zip(
            panels, names.items(), (WAITS, ASKS_AT_ONCE), strict=True
        ):
            _diagram(axes, nodes, BOTH + others, ticks)
            looks = sum(nodes[f"c{t}"].tick <= ticks for t in STEPS)
            axes.set_title(name, loc="left")
            axes.set_title(f"{looks} of {len(STEPS)} looks", loc="right", fontweight="bold")
            axes.set(xlim=(-0.5, 6.6), ylim=(-1.15, 2.35))
    return closed(figure)


def input_feeding() -> Figure:
    """Draw the decoder that steps first; dashed arrows feed what it has seen to the next step."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.4))
        _diagram(axes, LUONG | JOINED, BOTH + ASKS_AT_ONCE + JOINS + FEEDING, dashed=FEEDING)
        axes.set(xlim=(-0.5, 7.5), ylim=(-1.15, 2.35))
    return closed(figure)


def _diagram(
    axes: Axes,
    nodes: Mapping[str, Node],
    arrows: PAIRS,
    ticks: int = 2 * len(STEPS),
    dashed: PAIRS = (),
) -> None:
    """Draw boxes, and the arrows that lead to those that are made; above them the annotations."""
    drawn = {
        name: axes.text(*node[:3], **_look(node.role if node.tick <= ticks else "later"))
        for name, node in nodes.items()
    }
    for start, end in arrows:
        if nodes[end].tick <= ticks:
            line = {"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 2}
            line |= {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}
            line["linestyle"] = (0, (3, 2)) if (start, end) in dashed else "-"
            line["linewidth"] = 2.5 if nodes[end].tick == ticks < 2 * len(STEPS) else 1
            if not nodes[start].role:
                line["shrinkA"] = 9
            axes.annotate("", nodes[end][:2], nodes[start][:2], arrowprops=line)
    contexts = [node for name, node in nodes.items() if name[0] == "c"]
    for node in contexts:
        if node.tick <= ticks:
            ends = [node.y + 0.3, ANNOTATIONS - 0.25]
            axes.plot([node.x] * 2, ends, color=ROLE["value"], linewidth=2)
    left, right = contexts[0].x - 0.5, contexts[-1].x + 0.5
    bar = {"facecolor": ROLE["key"], "edgecolor": ROLE["value"], "linewidth": 2}
    corner = (left, ANNOTATIONS - 0.25)
    axes.add_patch(Rectangle(corner, right - left, 0.5, **bar))
    middle = {"ha": "center", "va": "center", "color": ink_of("key")}
    axes.text((left + right) / 2, ANNOTATIONS, "annotations", **middle)
    axes.axis("off")


def _look(role: str) -> dict[str, object]:
    """The style of a piece of a diagram."""
    # large enough for an index to be read on a phone
    text = {"ha": "center", "va": "center", "color": ink_of(role), "fontsize": 15}
    if not role:
        return text
    rim = {"state": INK, "later": FAINT}.get(role, ROLE.get(role))
    box: dict[str, object] = {
        "boxstyle": "round,pad=0.25",
        "facecolor": ROLE.get(role, PAPER),
        "edgecolor": rim,
    }
    if role == "state":
        text |= {"style": "italic"}
    if role == "later":
        text |= {"color": GREY}
        box |= {"linestyle": (0, (2, 2))}
    return text | {"bbox": box}


# --- scores as maps -------------------------------------------------------------------------------


BANDS, NEAR, FAR = 8, -2.0, 7.0  # of a map: its shades, and where it begins and ends
PUSHED = 3  # how many times as long as the query a key gets


def maps_of(query: Tensor, weight: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    """Return the scores of one query, (2,), by their names, each a function of keys.

    Args:
        query: The query, (2,).
        weight: The matrix of the general score, (2, 2).
    """
    ask = query[None]
    of_key = torch.tensor([[1.5, 0], [0, 1.5], [1, -1]])
    of_query = torch.tensor([[-1, 0.5], [-0.5, -0.5], [0, -0.5]])
    pays = torch.tensor([1, 1, -0.8])
    return {
        "dot": lambda h: dot_scores(ask, h)[0],
        "general": lambda h: general_scores(ask, h, weight)[0],
        "additive": lambda h: concat_scores(ask, h, torch.cat([of_query, of_key], 1), pays)[0],
    }


def maps(query: Tensor, weight: Tensor, pushed: int = PUSHED) -> Figure:
    """Draw how each score depends on where a key is, and below how it grows with the key's length.

    Args:
        query: The query, (2,), an arrow in each map; the general score bends it.
        weight: The matrix of the general score, (2, 2).
        pushed: The key points as the query does, and is up to so many times as long.
    """
    at, scores = torch.linspace(NEAR, FAR, 61), maps_of(query, weight)
    keys = torch.cartesian_prod(at, at)
    shades = [(*to_rgb(GREY), 0.8 * (step + 0.5) / BANDS) for step in range(BANDS)]
    lengths = torch.linspace(0, pushed, 60 * pushed + 1)
    marked = torch.arange(1, pushed + 1)
    with style():
        figure, rows = plt.subplots(2, len(scores), figsize=(5.2, 3.6), height_ratios=(1.6, 1))
        for above, below, (name, score) in zip(*rows, scores.items(), strict=True):
            height = score(keys).reshape(len(at), len(at)).T
            levels = torch.linspace(height.min().item(), height.max().item(), BANDS + 1).tolist()
            above.contourf(at, at, height, levels, colors=shades)
            _arrows(above, query, query @ weight if name == "general" else query)
            places = (marked[:, None] * query).T.tolist()
            look = {"color": ROLE["key"], "markeredgecolor": INK, "markersize": 7}
            above.plot(*places, "o", zorder=4, **look)
            above.set_title(name, fontsize=12.5)
            above.set(aspect="equal", xticks=[], yticks=[], xlim=(NEAR, FAR), ylim=(NEAR, FAR))
            above.spines[:].set_visible(True)
            grown = score(marked[:, None] * query)
            if pushed > 1:
                below.plot(lengths, score(lengths[:, None] * query), color=INK)
            below.plot(marked, grown, "o", **look)
            for length, number in zip(marked.tolist(), grown.tolist(), strict=True):
                place = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center"}
                below.annotate(f"{number:.2g}", (length, number), **place)
            below.set(xlim=(0, PUSHED + 0.5), ylim=(-1, 19), yticks=(0, 5, 10, 15))
            below.set_xticks(range(1, PUSHED + 1), [f"{n}×" for n in range(1, PUSHED + 1)])
            below.set_xlabel("key's length")
            below.tick_params(labelleft=below is rows[1][0])
        rows[1][0].set_ylabel("score")
    return closed(figure)


def _arrows(axes: Axes, query: Tensor, bent: Tensor) -> None:
    """Draw the arrow that a key is held to; the query that it was is dashed, if it was bent."""
    rim = {"color": PAPER, "linewidth": 6, "solid_capstyle": "round"}
    axes.plot(*zip((0, 0), (0.8 * bent).tolist(), strict=True), **rim)  # apart from the greys
    axes.plot(0, 0, "o", color=INK, markersize=4)
    if not torch.equal(query, bent):
        ends = zip((0, 0), query.tolist(), strict=True)
        axes.plot(*ends, color=ROLE["query"], linewidth=2, linestyle=(0, (2, 1)))
        beside = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate("q W", bent.tolist(), color=ink_of(""), **beside)
    look = {"arrowstyle": "-|>", "color": ROLE["query"], "linewidth": 2.5}
    axes.annotate("", bent.tolist(), (0, 0), arrowprops=look | {"shrinkA": 0, "shrinkB": 0})


def wrong_looks(rates: Mapping[str, float]) -> Figure:
    """Draw the alignment error rate of some scores, with its numbers."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.5 + 0.34 * len(rates)))
        bars = axes.barh(list(rates), list(rates.values()), height=0.62, color=VIOLET)
        axes.bar_label(bars, [f"{rate:.2f}" for rate in rates.values()], padding=4)
        axes.set(xlim=(0, 0.3), xticks=[], ylabel="score")
        axes.set_title("alignment error rate", fontsize=11, fontweight="bold", loc="left")
        axes.tick_params(axis="y", length=0)
        axes.spines["bottom"].set_visible(False)
        axes.invert_yaxis()
    return closed(figure)


# --- what a neighbour knows -----------------------------------------------------------------------


def mixture(words: Sequence[str], others: Set[int], looked_at: int, written: str) -> Figure:
    """Draw annotations, some of another reading of the sentence, and the word that comes of them.

    Args:
        words: The words at the places of the annotations.
        others: The places whose annotation comes from the other reading.
        looked_at: Place of the annotation that has the weight.
        written: The word that is written.
    """
    read = "read beside\n“whereas”" if looked_at in others else "read beside\n“but”"
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.0))
        for place, word in enumerate(words):
            fill, ink = (PAPER, INK) if place in others else (ROLE["key"], ink_of("key"))
            look = {"boxstyle": "round,pad=0.45", "facecolor": fill, "edgecolor": ROLE["key"]}
            box = look | {"linewidth": 2}
            axes.text(place, 0, word, ha="center", va="center", color=ink, fontsize=13, bbox=box)
        axes.text(looked_at, -0.5, read, ha="center", va="top")
        axes.plot([looked_at, looked_at], [0.38, 0.95], color=ROLE["weight"], linewidth=8)
        bold = {"ha": "center", "va": "center", "fontweight": "bold", "fontsize": 16}
        axes.text(looked_at, 1.3, written, **bold)
        axes.set(xlim=(-0.6, len(words) - 0.4), ylim=(-1.3, 1.5))
        axes.axis("off")
    return closed(figure)


# --- a window -------------------------------------------------------------------------------------


def window(weights: Tensor, bell: Tensor, centre: float, half_width: float) -> Figure:
    """Draw the weights that a window leaves, before and after the bell.

    Args:
        weights: The softmax of the scores within the window, 0 beyond it, (key_len,).
        bell: The factor of each weight, (key_len,).
        centre: Position of the window's centre.
        half_width: The window's reach to either side, in positions.
    """
    at = range(len(weights))
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.3))
        axes.axvspan(centre - half_width, centre + half_width, color=FAINT, alpha=0.3, linewidth=0)
        full, left = weights.tolist(), (weights * bell).tolist()
        axes.bar(at, full, width=0.7, color=PAPER, edgecolor=INK, label="softmax in the window")
        axes.bar(at, left, width=0.7, color=ROLE["weight"], label="times the bell: weight")
        between = torch.linspace(0, len(weights) - 1, 200)
        curve = torch.exp(-2 * ((between - centre) / half_width).square())
        axes.plot(between, curve, "--", color=INK)
        axes.text(centre + 0.4 * half_width, 0.8, "bell")
        axes.plot(at, bell, "o", color=INK, markersize=5)
        axes.axvline(centre, color=INK, linewidth=1)
        axes.set(xlabel="position in the source", ylabel="share", ylim=(0, 1.05), xticks=at)
        figure.legend(loc="outside lower center", ncols=1)
    return closed(figure)


def walk(places: Tensor, ends: Sequence[int], pace: float = 0, half_width: float = 0) -> Figure:
    """Draw at which source word a model looks at each step.

    Args:
        places: The source word with the most weight at each step, (target_len,).
        ends: Place in the source at which each clause ends.
        pace: How far a window moves at each step; it is drawn, if there is one.
        half_width: The reach of the window to either side, in words.
    """
    starts = [0, *(end + 1 for end in ends[:-1])]
    last = ends[-1]
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.1))
        for end in ends[:-1]:
            axes.axhline(end + 0.5, color=FAINT, linewidth=0.8)
        if half_width:
            steps = torch.arange(0, len(places))
            centre = pace * steps
            low, high = (centre - half_width).clamp(min=-1), centre + half_width
            axes.fill_between(steps, low, high, color=FAINT, alpha=0.45, linewidth=0)
            half = len(places) // 2
            below = pace * half - half_width - 3
            axes.text(half, below, "window", ha="left", va="top", clip_on=True)
        axes.plot(places, color=GREY, linewidth=1, alpha=0.6)
        axes.plot(places, ".", color=ROLE["weight"], markersize=7)
        middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
        axes.set_yticks(middles, range(1, len(ends) + 1))
        axes.tick_params(axis="y", length=0)
        axes.set(ylabel="English clause looked at", ylim=(-1, last + 1))
        axes.set(xlabel="French word, in the order written")
        axes.set_xlim(-0.04 * last, 1.7 * last)  # a translator's limit is nearer
    return closed(figure)


# --- what is measured -----------------------------------------------------------------------------


def beside(shares: Mapping[str, Tensor]) -> Figure:
    """Draw how far from its word a model looks, a panel for each model.

    Args:
        shares: For each model, the share of words at the offsets from -reach to reach, and last
            the share farther away, (2 * reach + 2,).
    """
    with style():
        height = 0.9 + 1.15 * len(shares)
        figure, panels = plt.subplots(len(shares), 1, figsize=(5.2, height), sharex=True)
        for axes, (name, share) in zip(panels, shares.items(), strict=True):
            reach = len(share) // 2 - 1
            heights = (100 * share).tolist()
            bars = axes.bar(range(-reach, reach + 2), heights, color=ROLE["weight"])
            axes.bar_label(bars, [f"{height:.0f}" for height in heights])
            axes.set_title(name, loc="left")
            axes.set(ylabel="in %", ylim=(0, 118), yticks=(0, 50, 100))
        offsets = range(-reach, reach + 1)
        names = [
            f"{offset:+d}".replace("-", "\N{MINUS SIGN}") if offset else "0" for offset in offsets
        ]
        panels[-1].set_xticks(range(-reach, reach + 2), [*names, "farther"])
        panels[-1].set_xlabel("place looked at, minus place of the English word that belongs")
    return closed(figure)


MARKERS = "osD^"


def quality_and_alignment(measured: Mapping[str, tuple[Tensor, Tensor]]) -> Figure:
    """Draw the quality of translations against the error of alignments, a mark for each run.

    Args:
        measured: For each kind of model, BLEU and alignment error rate, (num_seeds,) each. The
            first four kinds have solid marks, the others hollow ones.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 4.8))
        for place, (name, (bleu, aer)) in enumerate(measured.items()):
            fill = PAPER if place >= len(MARKERS) else INK
            look = {"color": INK, "markerfacecolor": fill, "markersize": 8, "linestyle": ""}
            axes.plot(aer, bleu, marker=MARKERS[place % len(MARKERS)], label=name, **look)
        lowest = math.floor(min(bleu.min().item() for bleu, _ in measured.values()))
        axes.set(xlabel="alignment error rate", ylabel="BLEU", ylim=(lowest - 0.5, 100.5))
        axes.set_yticks(range(lowest, 101))
        axes.set_xlim(left=0)
        figure.legend(loc="outside lower center", ncols=2, handletextpad=0.2)
    return closed(figure)
