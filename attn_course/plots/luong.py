"""The figures of chapter 05: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
Chapter 03 has the curves of BLEU, chapter 04 the pictures of alignments.
"""

import math
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from attn_course.plots import FAINT, INK, PAPER, ROLE, closed, ink_of, style

# --- two decoders ---------------------------------------------------------------------------------


class Node(NamedTuple):
    """A piece of a diagram: its position, its text, and its role, if any."""

    x: float
    y: float
    text: str
    role: str = ""


# Three steps of either decoder, from left to right. A state that asks is blue, others are white.
STEPS = range(1, 4)
PAIRS = tuple[tuple[str, str], ...]
WORDS = {f"y{t - 1}": Node(2 * t, -1, f"$y_{t - 1}$") for t in STEPS}
ANNOTATIONS = {"annotations": Node(3.5, 2, "annotations $h_i$", "key")}
BAHDANAU = WORDS | ANNOTATIONS
BAHDANAU |= {f"s{t}": Node(2 * t, 0, f"$s_{t}$", "query") for t in (0, *STEPS)}
BAHDANAU["s3"] = BAHDANAU["s3"]._replace(role="state")  # asks no more
BAHDANAU |= {f"c{t}": Node(2 * t - 1, 1, f"$c_{t}$", "output") for t in STEPS}
LUONG = WORDS | ANNOTATIONS | {"s0": Node(0, 0, "$s_0$", "state")}
LUONG |= {f"s{t}": Node(2 * t, 0, f"$s_{t}$", "query") for t in STEPS}
LUONG |= {f"c{t}": Node(2 * t, 1, f"$c_{t}$", "output") for t in STEPS}
LUONG |= {f"joined{t}": Node(2 * t + 1, 1, f"s\u0303{'₀₁₂₃'[t]}", "state") for t in STEPS}
# What both have: words and states go into the next state, annotations into every context.
BOTH: PAIRS = tuple(
    pair
    for t in STEPS
    for pair in ((f"y{t - 1}", f"s{t}"), (f"s{t - 1}", f"s{t}"), ("annotations", f"c{t}"))
)
WAITS: PAIRS = tuple(pair for t in STEPS for pair in ((f"s{t - 1}", f"c{t}"), (f"c{t}", f"s{t}")))
ASKS_AT_ONCE: PAIRS = tuple(
    pair
    for t in STEPS
    for pair in ((f"s{t}", f"c{t}"), (f"c{t}", f"joined{t}"), (f"s{t}", f"joined{t}"))
)
FEEDING: PAIRS = tuple((f"joined{t - 1}", f"s{t}") for t in STEPS[1:])


def two_decoders() -> Figure:
    """Draw three steps of a decoder that asks first, above those of one that steps first.

    Along the thick arrows each context waits for the one before. Dashed arrows are input feeding,
    which is optional in the second.
    """
    with style():
        figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 5.2), sharex=True, sharey=True)
        _diagram(above, BAHDANAU, BOTH + WAITS, chain=WAITS)
        _diagram(below, LUONG, BOTH + ASKS_AT_ONCE + FEEDING, dashed=FEEDING)
        above.set_title("asks, then steps", loc="left")
        below.set_title("steps, then asks", loc="left")
        above.set(xlim=(-0.5, 7.5), ylim=(-1.3, 2.4))
    return closed(figure)


def _diagram(
    axes: Axes,
    nodes: Mapping[str, Node],
    arrows: PAIRS,
    dashed: PAIRS = (),
    chain: PAIRS = (),
) -> None:
    """Draw boxes, and arrows from one to another; those of a chain are thick."""
    drawn = {name: axes.text(*node[:3], **_look(node.role)) for name, node in nodes.items()}
    for start, end in arrows:
        line = {"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 2}
        line |= {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}
        line["linestyle"] = (0, (3, 2)) if (start, end) in dashed else "-"
        if (start, end) in chain:
            line |= {"color": ROLE["output"], "linewidth": 2.5}
        if not nodes[start].role:
            line["shrinkA"] = 9
        axes.annotate("", nodes[end][:2], nodes[start][:2], arrowprops=line)
    axes.axis("off")


def _look(role: str) -> dict[str, object]:
    """The style of a piece of a diagram; an annotation is a key with the rim of a value."""
    text = {"ha": "center", "va": "center", "color": ink_of(role)}
    if not role:
        return text
    rim = {"key": ROLE["value"], "state": INK}.get(role, ROLE.get(role))
    box = {"boxstyle": "round,pad=0.35", "facecolor": ROLE.get(role, PAPER), "edgecolor": rim}
    if role == "state":
        text |= {"style": "italic"}
    return text | {"bbox": box | {"linewidth": 3 if role == "key" else 1}}


# --- what a neighbour knows -----------------------------------------------------------------------


def mixtures(
    readings: Mapping[str, Sequence[str]], looked_at: int, written: Mapping[str, Set[int]]
) -> Figure:
    """Draw annotations mixed from two readings of a sentence, and the word that each mixture gives.

    Args:
        readings: The words of both readings, by the names of the readings.
        looked_at: Place of the annotation that has the weight.
        written: For each written word, the places whose annotation comes from the second reading.
    """
    fills, lengths = (ROLE["key"], PAPER), {len(words) for words in readings.values()}
    with style():
        figure, panels = plt.subplots(len(written), 1, figsize=(3.6, 3.2), sharex=True)
        for axes, (word, second) in zip(panels, written.items(), strict=True):
            for place, both in enumerate(zip(*readings.values(), strict=True)):
                is_second = place in second
                look = {"boxstyle": "round,pad=0.35", "facecolor": fills[is_second]}
                look |= {"edgecolor": ROLE["key"], "linewidth": 2}
                ink = ink_of("" if is_second else "key")
                axes.text(place, 0, both[is_second], ha="center", va="center", color=ink, bbox=look)
            axes.plot([looked_at, looked_at], [0.3, 0.85], color=ROLE["weight"], linewidth=6)
            axes.text(looked_at, 1.1, word, ha="center", va="center", style="italic")
            axes.set(xlim=(-0.7, max(lengths) - 0.3), ylim=(-0.4, 1.3))
            axes.axis("off")
        known = [
            Patch(facecolor=fill, edgecolor=ROLE["key"], label=name)
            for fill, name in zip(fills, readings, strict=True)
        ]
        figure.legend(handles=known, loc="outside lower center", ncols=2)
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


def walks(looked: Mapping[str, Tensor], ends: Sequence[int]) -> Figure:
    """Draw at which source word a model looks at each step, a panel for each model.

    Args:
        looked: For each model the source word with the most weight at each step, (target_len,).
        ends: Place in the source at which each clause ends.
    """
    starts = [0, *(end + 1 for end in ends[:-1])]
    with style():
        size = (5.2, 0.6 + 1.9 * len(looked))
        figure, panels = plt.subplots(
            len(looked), 1, figsize=size, sharex=True, sharey=True, squeeze=False
        )
        for axes, (name, places) in zip(panels.flat, looked.items(), strict=True):
            for start, end in [*zip(starts, ends, strict=True)][::2]:
                axes.axhspan(start - 0.5, end + 0.5, color=FAINT, alpha=0.3, linewidth=0)
            axes.plot(places, color=FAINT, linewidth=1)
            axes.plot(places, ".", color=ROLE["weight"], markersize=6)
            middles = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
            axes.set_yticks(middles, range(1, len(ends) + 1))
            axes.tick_params(axis="y", length=0)
            axes.set_title(name, loc="left")
            axes.set(ylabel="clause looked at", ylim=(-1, ends[-1] + 1))
            axes.set_xlim(-0.04 * ends[-1], 1.7 * ends[-1])  # a translator's limit is nearer
        panels.flat[-1].set_xlabel("French word, in the order written")
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
