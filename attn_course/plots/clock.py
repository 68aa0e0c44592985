"""A pair of numbers of a query or a key as the hand of a clock, which turns with the position."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from attn_course.plots import FAINT, ROLE

Hand = tuple[str, str, float, float]  # its name, its role, radians clockwise from twelve, length


def draw_clock(axes: Axes, title: str, hands: Sequence[Hand]) -> None:
    """Draw hands on a clock, each with its name beyond its tip."""
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FAINT, linewidth=1.5))
    for name, role, angle, length in hands:
        x, y = math.sin(angle), math.cos(angle)
        axes.plot([0, length * x], [0, length * y], color=ROLE[role], linewidth=3.5, label=name)
        side = "center" if abs(x) < 0.3 else "left" if x > 0 else "right"
        axes.text(1.12 * x, 1.22 * y, name, ha=side, va="center")
    axes.set_title(title)
    axes.set(xlim=(-2.4, 2.4), ylim=(-1.4, 1.4), xticks=(), yticks=(), aspect="equal")
    axes.axis("off")
