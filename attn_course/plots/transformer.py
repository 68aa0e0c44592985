"""The figures of chapter 11: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, FAINT, INK, PAPER, VIOLET, closed, style
from attn_course.plots.curves import draw_mean_and_range

ROAD, NORM, PART = 1.6, 4.1, 7.3  # of the diagram: the road, the norms and the parts beside it


def stream(num_layers: int = 2) -> Figure:
    """Draw the model: a road from the embedding to the readout, and the parts of each block."""
    top = 4.4 * num_layers + 1.2
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.52 * top + 0.9))
        axes.plot([ROAD, ROAD], [0, top], color=FAINT, linewidth=13, solid_capstyle="butt")
        axes.annotate("", (ROAD, top + 0.5), (ROAD, 0), arrowprops=_arrow(INK))
        _box(axes, ROAD, -0.45, "embedding of the tokens", PAPER)
        _box(axes, ROAD, top + 0.95, "norm, then readout", PAPER)
        for number in range(num_layers):
            low = 4.4 * number + 0.6
            axes.add_patch(
                plt.Rectangle((0.4, low), 9.4, 4.0, fill=False, edgecolor=INK, linestyle=":")
            )
            axes.text(9.6, low + 3.75, f"block {number}", ha="right", va="top")
            _part(axes, low + 0.55, "attention", VIOLET)
            _part(axes, low + 2.35, "two maps", BROWN)
        axes.set(xlim=(-0.9, 10), ylim=(-1, top + 1.5))
        axes.axis("off")
    return closed(figure)


def _part(axes: Axes, low: float, name: str, colour: str) -> None:
    """Draw what reads from the road at a height, and writes to it a little higher."""
    axes.annotate("", (NORM - 0.55, low), (ROAD, low), arrowprops=_arrow(colour))
    _box(axes, NORM, low, "norm", PAPER)
    axes.annotate("", (PART - 1.0, low), (NORM + 0.55, low), arrowprops=_arrow(colour))
    _box(axes, PART, low, name, PAPER, colour)
    axes.plot([PART, PART], [low + 0.35, low + 0.95], color=colour, linewidth=1.6)
    axes.annotate("", (ROAD + 0.3, low + 0.95), (PART, low + 0.95), arrowprops=_arrow(colour))
    axes.text(
        ROAD, low + 0.95, "+", ha="center", va="center", fontsize=17, fontweight="bold", zorder=5
    )


def _box(axes: Axes, x: float, y: float, text: str, colour: str, edge: str = INK) -> None:
    frame = {"boxstyle": "round,pad=0.3", "facecolor": colour, "edgecolor": edge, "linewidth": 1.6}
    axes.text(x, y, text, ha="center", va="center", bbox=frame, zorder=4)


def _arrow(colour: str) -> dict[str, object]:
    return {"arrowstyle": "->", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}


def learning(
    curves: Mapping[str, Tensor],
    minutes: Mapping[str, float],
    controls: Mapping[str, float],
    top: float = 2.0,
) -> Figure:
    """Draw bits a character by processor time, and what counting reaches.

    Args:
        curves: For each model, its bits at equal distances in time.
        minutes: For each model, the minutes from one number to the next.
        controls: For each control, its bits.
        top: The end of the axis.
    """
    with style():
        figure, axes = plt.subplots()
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(curves.items(), COMPARED, marks, strict=False):
            at = minutes[name] * torch.arange(1, len(bits) + 1)
            axes.plot(at, bits, mark, color=colour, label=name, markersize=4)
        end = max(minutes[name] * len(bits) for name, bits in curves.items())
        for name, bits in controls.items():
            axes.axhline(bits, color=INK, linewidth=1, linestyle=(0, (3, 2)))
            at, side = (
                (end, "right") if _is_clear_at_the_end(curves, bits) else (0.03 * end, "left")
            )
            axes.text(at, bits, name, ha=side, va="bottom")
        axes.set(xlim=(0, 1.03 * end), ylim=(None, top), xticks=range(math.ceil(end)))
        axes.set(xlabel="processor time in minutes", ylabel="bits a character, unseen text")
        axes.legend()
    return closed(figure)


def _is_clear_at_the_end(curves: Mapping[str, Tensor], height: float) -> bool:
    """True if letters above a line have more room by the ends of the curves than by the starts."""
    letters, quarter = height + 0.03, max(1, min(map(len, curves.values())) // 4)
    room = [
        min((bits[part] - letters).abs().min().item() for bits in curves.values())
        for part in (slice(None, quarter), slice(-quarter, None))
    ]
    return room[1] > room[0]


def worth(runs: Mapping[str, Tensor], every: int) -> Figure:
    """Draw the loss by step without each part, a panel for each, beside that of the whole model.

    Args:
        runs: For each part that is left out, the losses of all seeds, (num_seeds, num_points); the
            first is the whole model.
        every: The steps from one loss to the next.
    """
    (_, whole), *others = runs.items()
    at = every * torch.arange(1, whole.shape[1] + 1)
    low = min(int(losses.min()) for losses in runs.values())
    high = max(math.ceil(losses.max()) for losses in runs.values())
    with style():
        rows = -(-len(others) // 2)
        figure, panels = plt.subplots(
            rows, 2, figsize=(5.2, 1.55 * rows + 0.4), sharex=True, sharey=True
        )
        for axes, (name, losses) in zip(panels.flat, others, strict=False):
            axes.plot(at, whole.mean(0), color=INK, linewidth=1, linestyle=(0, (3, 2)))
            draw_mean_and_range(axes, at, losses, "-", color=VIOLET)
            axes.set_title(name, loc="left")
            axes.set(ylim=(low, high), yticks=range(low + 1, high))
            axes.set(xlim=(0, None), xticks=(0, int(at[-1]) // 2, int(at[-1])))
        for axes in panels.flat[len(others) :]:
            axes.axis("off")
            panels[-2, 1].tick_params(labelbottom=True)
        for axes in panels[:, 0]:
            axes.set_ylabel("nats a piece")
        for axes in panels.flat[len(others) - 2 : len(others)]:
            axes.set_xlabel("steps")
    return closed(figure)


def laws(pieces: Sequence[str], laws: Mapping[str, Tensor]) -> Figure:
    """Draw the probabilities of the next piece, a panel for each law.

    Args:
        pieces: The pieces, the most probable one first.
        laws: For each law, the probabilities of these pieces.
    """
    shown = [piece.replace(" ", "\N{OPEN BOX}") for piece in pieces]
    with style():
        figure, panels = plt.subplots(1, len(laws), figsize=(5.2, 0.6 + 0.24 * len(pieces)))
        for axes, (name, law) in zip(panels, laws.items(), strict=True):
            axes.barh(shown, 100 * law.numpy(), color=VIOLET)
            axes.set_title(name, loc="left")
            axes.set(xlim=(0, 105), xticks=(0, 50, 100), xlabel="share in %")
            axes.invert_yaxis()
        panels[0].set_ylabel("next piece")
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
    return closed(figure)


def by_position(found: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw bits a character by the number of tokens that have been read, for each model.

    Args:
        found: For each model, its bits by ranges of positions such as "3-4".
    """
    with style():
        figure, axes = plt.subplots()
        marks = ("o-", "s--", "^:")
        for (name, bits), colour, mark in zip(found.items(), COMPARED, marks, strict=False):
            ends = [int(spans.partition("-")[2]) for spans in bits]
            axes.plot(ends, list(bits.values()), mark, color=colour, label=name, markersize=5)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ends, [str(end) for end in ends])
        axes.set(xlabel="pieces read, at most", ylabel="bits a character")
        axes.legend()
    return closed(figure)
