"""The time and memory that attention needs, from the benchmarks."""

from typing import Any

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from attn_course.plots import BROWN, INK, VIOLET, style

MARKS = {"whole table": "s:", "in blocks": "o-", "in blocks, window": "^--"}
COLOURS = {"whole table": INK, "in blocks": VIOLET, "in blocks, window": BROWN}


def memory(rows: list[dict[str, Any]]) -> Figure:
    """Draw the memory and time of one forward and backward pass against the number of tokens.

    Args:
        rows: Rows with the keys way, length, megabytes and seconds; at most three ways.
    """
    with style():
        figure, panels = plt.subplots(2, 1, figsize=(5, 5.2), sharex=True)
        for axes, quantity in zip(panels, ("megabytes", "seconds"), strict=True):
            for way in dict.fromkeys(row["way"] for row in rows):
                points = [(row["length"], row[quantity]) for row in rows if row["way"] == way]
                axes.loglog(*zip(*points, strict=True), MARKS[way], color=COLOURS[way], label=way)
            axes.set_ylabel(quantity)
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            axes.minorticks_off()
        lengths = sorted({row["length"] for row in rows})
        panels[1].set_xticks(lengths, [f"{length:,}" for length in lengths])
        panels[0].yaxis.set_major_locator(LogLocator(subs=(1, 3)))
        panels[1].set_xlabel("tokens")
        panels[1].legend()
        plt.close(figure)
        return figure
