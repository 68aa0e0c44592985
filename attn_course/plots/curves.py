"""Curves of measurements over several seeds: their mean, and the range they span."""

from matplotlib.axes import Axes
from torch import Tensor


def draw_mean_and_range(axes: Axes, at: Tensor, runs: Tensor, mark: str, **line: object) -> None:
    """Draw the mean of some runs in a band from the smallest to the largest.

    Args:
        axes: The axes to draw on.
        at: Horizontal positions of the points, (num_points,).
        runs: Measurements, a row for each seed, (num_seeds, num_points).
        mark: Line and marker in matplotlib's short form, such as "o-".
        line: Options of the line, such as colour and label.
    """
    low, high = runs.amin(0), runs.amax(0)
    axes.fill_between(at.numpy(), low, high, color=line.get("color"), alpha=0.25, linewidth=0)
    axes.plot(at.numpy(), runs.mean(0), mark, **{"markersize": 5, **line})
