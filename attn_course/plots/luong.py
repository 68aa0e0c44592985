"""The figures of chapter 05: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
Chapter 03 has the curves of BLEU, chapter 04 the pictures of alignments.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import FAINT, INK, PAPER, ROLE, closed, ink_of, style

# --- two decoders ---------------------------------------------------------------------------------


class Node(NamedTuple):
    """A piece of a diagram: its position, its text, and its role, if any."""

    x: float
    y: float
    text: str
    role: str = ""


# The state that asks is blue; other states are white.
BAHDANAU = {
    "word before": Node(0.35, 3.0, "$y_{t-1}$"),
    "state before": Node(1.4, 0.0, "$s_{t-1}$", "query"),
    "annotations": Node(3.0, 0.0, "$h_i$", "key"),
    "attention": Node(2.2, 1.0, "attention", "weight"),
    "context": Node(2.2, 2.0, "$c_t$", "output"),
    "state": Node(1.4, 3.0, "$s_t$", "state"),
    "word": Node(1.4, 5.0, "$y_t$"),
}
ASKS_FIRST = (
    ("state before", "attention"),
    ("annotations", "attention"),
    ("attention", "context"),
    ("context", "state"),
    ("state before", "state"),
    ("word before", "state"),
    ("state", "word"),
    ("context", "word"),
    ("word before", "word"),
)
LUONG = {
    "word before": Node(0.35, 1.0, "$y_{t-1}$"),
    "state before": Node(1.4, 0.0, "$s_{t-1}$", "state"),
    "fed": Node(0.35, 0.0, "$\\tilde{s}_{t-1}$", "state"),
    "state": Node(1.4, 1.0, "$s_t$", "query"),
    "annotations": Node(3.0, 1.0, "$h_i$", "key"),
    "attention": Node(2.2, 2.0, "attention", "weight"),
    "context": Node(2.2, 3.0, "$c_t$", "output"),
    "joined": Node(1.4, 4.0, "$\\tilde{s}_t$", "state"),
    "word": Node(1.4, 5.0, "$y_t$"),
}
STEPS_FIRST = (
    ("state before", "state"),
    ("word before", "state"),
    ("state", "attention"),
    ("annotations", "attention"),
    ("attention", "context"),
    ("context", "joined"),
    ("state", "joined"),
    ("joined", "word"),
)
FEEDING = (("fed", "state"),)


def two_decoders() -> Figure:
    """Draw one step of a decoder that asks first, beside one that steps first.

    Dashed arrows are input feeding, which is optional in the second.
    """
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(5.2, 4.3), sharex=True, sharey=True)
        _diagram(left, BAHDANAU, ASKS_FIRST)
        _diagram(right, LUONG, STEPS_FIRST, FEEDING)
        left.set_title("asks, then steps")
        right.set_title("steps, then asks")
        left.set(xlim=(0, 3.4), ylim=(-0.35, 5.25))
    return closed(figure)


def _diagram(
    axes: Axes,
    nodes: Mapping[str, Node],
    arrows: Sequence[tuple[str, str]],
    dashed: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw boxes, and arrows from one to another."""
    drawn = {name: axes.text(*node[:3], **_look(node.role)) for name, node in nodes.items()}
    for start, end in (*arrows, *dashed):
        line = {"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 2}
        line |= {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[end].get_bbox_patch()}
        line["linestyle"] = (0, (3, 2)) if (start, end) in dashed else "-"
        if not nodes[start].role:
            line["shrinkA"] = 14
        if not nodes[end].role:
            line["shrinkB"] = 9
        axes.annotate("", nodes[end][:2], nodes[start][:2], arrowprops=line)
    axes.axis("off")


def _look(role: str) -> dict[str, object]:
    """The style of a piece of a diagram; an annotation is a key with the rim of a value."""
    text = {"ha": "center", "va": "center", "color": ink_of(role)}
    if not role:
        return text
    rim = {"key": ROLE["value"], "state": INK}.get(role, ROLE.get(role))
    box = {"boxstyle": "round,pad=0.35", "facecolor": ROLE.get(role, PAPER), "edgecolor": rim}
    return text | {"bbox": box | {"linewidth": 3 if role == "key" else 1}}


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
        axes.plot(between, curve, "--", color=INK, label="bell")
        axes.plot(at, bell, "o", color=INK, markersize=5)
        axes.axvline(centre, color=INK, linewidth=1)
        axes.set(xlabel="position in the source", ylabel="share", ylim=(0, 1.05), xticks=at)
        figure.legend(loc="outside lower center", ncols=1)
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
