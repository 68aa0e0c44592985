"""The picture of the clock: a dial for each frequency, and the dot product by the distance."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor

from attn_course.interactive.figure import png_of
from attn_course.interactive.markup import Scale, path, tag
from attn_course.plots import INK, ROLE, style

WIDE, IN_A_ROW, RADIUS = 640, 8, 30
SPACE = 80  # from the middle of a dial to the next one
COLOURS = (ROLE["query"], ROLE["key"])
REACH = (RADIUS - 6, RADIUS)  # of the hands: one is short and thick, the other long and thin
PLOT = {"left": 50, "right": 620, "tall": 130}


def svg(pair: Tensor, falls: Tensor, distance: int, sentence: str) -> str:
    """The picture in SVG.

    Args:
        pair: The vectors of the two positions, (2, d_model).
        falls: The dot product at each distance, (length,).
        distance: The distance of the two positions.
        sentence: The picture in words.
    """
    hands, rows = _hands(pair)
    dials = [
        _dial(
            number, both, SPACE // 2 + SPACE * (number % IN_A_ROW), 36 + 96 * (number // IN_A_ROW)
        )
        for number, both in enumerate(hands)
    ]
    top = 96.0 * rows + 20
    view = f"0 0 {WIDE} {top + PLOT['tall'] + 46:.0f}"
    drawn = "".join(dials) + _plot(falls, distance, top)
    return tag("svg", drawn, viewBox=view, role="img", aria_label=sentence)


def _hands(pair: Tensor) -> tuple[Tensor, int]:
    """Both hands of each dial, (d_model / 2, 2, sine and cosine), and in how many rows they are."""
    hands = pair.unflatten(1, (-1, 2)).transpose(0, 1)
    return hands, -(-len(hands) // IN_A_ROW)


def _dial(number: int, both: Tensor, x: int, y: int) -> str:
    """A dial with a hand for each position; 0 is at the top, and hands go round like a clock's."""
    rim = tag("circle", cx=x, cy=y, r=RADIUS, class_="attn-axis")
    lines = "".join(
        tag(
            "line", x1=x, y1=y, x2=float(x + reach * sine), y2=float(y - reach * cosine),
            stroke=colour, stroke_width=wide, data_part=f"hand-{number}-{k}",
        )
        for k, ((sine, cosine), colour, wide, reach) in enumerate(
            zip(both.tolist(), COLOURS, (6, 3), REACH, strict=True)
        )
    )  # fmt: skip
    cosine = float(both[0] @ both[1])
    share = tag(
        "text", f"{round(cosine, 2) + 0.0:.2f}", x=x, y=y + RADIUS + 20, text_anchor="middle",
        data_part=f"cosine-{number}",
    )  # fmt: skip
    return rim + lines + share


def _plot(falls: Tensor, distance: int, top: float) -> str:
    bottom = top + PLOT["tall"]
    across = Scale(0, len(falls) - 1, PLOT["left"], PLOT["right"])
    up = Scale(min(0.0, falls.min().item()), falls.max().item(), bottom, top)
    marks = "".join(
        tag("line", x1=PLOT["left"], x2=PLOT["right"], y1=up(n), y2=up(n), class_="attn-grid")
        + tag("text", f"{n:.0f}", x=PLOT["left"] - 8, y=up(n) + 5, text_anchor="end")
        for n in (0.0, up.high)
    ) + "".join(
        tag("text", f"{n:.0f}", x=across(n), y=bottom + 20, text_anchor="middle")
        for n in across.ticks(6)
    )
    curve = path((across(k), up(fall)) for k, fall in enumerate(falls.tolist()))
    place = {"cx": across(distance), "cy": up(falls[distance].item())}
    named = {"class_": "attn-name"}
    line = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.5}
    return (
        marks
        + tag("text", "dot product", x=PLOT["left"] + 8, y=top - 6, **named)
        + tag("text", "distance", x=PLOT["right"], y=bottom + 40, text_anchor="end", **named)
        + tag("path", d=curve, **line, data_part="curve")
        + tag("circle", **place, r=7, fill=ROLE["output"], data_part="here")
    )


def png(pair: Tensor, falls: Tensor, distance: int, sentence: str) -> bytes:
    """The picture for print."""
    hands, rows = _hands(pair)
    with style():
        figure = Figure(figsize=(6.4, 1.0 * rows + 2.2))
        grid = figure.add_gridspec(rows + 1, IN_A_ROW, height_ratios=[*[1.0] * rows, 2.2])
        for number, both in enumerate(hands):
            _print_dial(figure.add_subplot(grid[divmod(number, IN_A_ROW)]), both)
        axes = figure.add_subplot(grid[rows, :])
        axes.plot(falls, color=INK, lw=1.2)
        axes.plot(distance, falls[distance], "o", color=ROLE["output"])
        axes.set(xlabel="distance", ylabel="dot product", ylim=(0, None))
        figure.suptitle(sentence, fontsize=10)
        return png_of(figure, dpi=110)


def _print_dial(axes: Axes, both: Tensor) -> None:
    axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor=INK, linewidth=0.8))
    for (sine, cosine), colour, wide in zip(both.tolist(), COLOURS, (4, 2), strict=True):
        axes.plot([0, sine], [0, cosine], color=colour, lw=wide)
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"{float(both[0] @ both[1]):.2f}", fontsize=9)
