"""The beginnings of sentences that a search has tried, one row for each step."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from attn_course.plots import INK, closed, style


def tried(steps: Sequence[Sequence[tuple[str, str]]]) -> Figure:
    """Draw the words tried at each step with what is said of them; the first, in bold, is kept."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 0.5 * len(steps) + 0.2))
        for t, row in enumerate(steps):
            for i, (word, share) in enumerate(row):
                look = {"color": "#767676"} if i else {"color": INK, "fontweight": "bold"}
                axes.text(i, t, f"{word}\n{share}", ha="center", va="center", **look)
        widest = max(map(len, steps))
        axes.set(xlim=(-0.5, widest - 0.5), ylim=(len(steps) - 0.4, -0.6))
        axes.axis("off")
    return closed(figure)
