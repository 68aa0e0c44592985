"""Self-attention as a diagram: one sentence goes in, is projected three times, and comes out."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attn_course.plots import FAINT, INK, PAPER, ROLE, closed, ink_of, style

# The columns of the diagram: the contents of each from the top, its role, and its shape.
COLUMNS = (
    (("$X$", "", "{n} × {d}"),),
    (("$W_Q$", "", "{d} × {k}"), ("$W_K$", "", "{d} × {k}"), ("$W_V$", "", "{d} × {v}")),
    (("$Q$", "query", "{n} × {k}"), ("$K$", "key", "{n} × {k}"), ("$V$", "value", "{n} × {v}")),
    (("$A$", "weight", "{n} × {n}"),),
    (("$O$", "output", "{n} × {v}"),),
)


def three_roles(length: int, d_model: int, d_key: int, d_value: int) -> Figure:
    """Draw which matrix is multiplied by which in self-attention, with the shape of each."""
    sizes = {"n": length, "d": d_model, "k": d_key, "v": d_value}
    places = {}
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.3))
        for column, boxes in enumerate(COLUMNS):
            for number, (name, role, shape) in enumerate(boxes):
                y = (len(boxes) - 1) / 2 - number
                # the weights are made above the middle, of Q and K, and meet V below
                y += {"$A$": 0.5}.get(name, 0)
                places[name] = (column, y)
                _matrix_box(axes, column, y, name, role, shape.format(**sizes))
        for start, end in _arrows():
            _arrow(axes, places[start], places[end])
        axes.set(xlim=(-0.45, len(COLUMNS) - 0.5), ylim=(-1.55, 1.3))
        axes.axis("off")
    return closed(figure)


def _arrows() -> list[tuple[str, str]]:
    made = [("$X$", f"$W_{role}$") for role in "QKV"]
    made += [(f"$W_{role}$", f"${role}$") for role in "QKV"]
    return [*made, ("$Q$", "$A$"), ("$K$", "$A$"), ("$A$", "$O$"), ("$V$", "$O$")]


def _matrix_box(axes: Axes, x: float, y: float, name: str, role: str, shape: str) -> None:
    ink = ink_of(role)
    fill = {"facecolor": ROLE.get(role, PAPER), "edgecolor": ROLE.get(role, INK)}
    axes.add_patch(Rectangle((x - 0.24, y - 0.2), 0.48, 0.4, **fill))
    axes.text(x, y, name, ha="center", va="center", color=ink, fontsize=13)
    axes.text(x, y - 0.25, shape, ha="center", va="top")


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    line = {"arrowstyle": "->", "color": FAINT, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end[0] - 0.25, end[1]), (start[0] + 0.25, start[1]), arrowprops=line)
