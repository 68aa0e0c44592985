"""The figures of chapter 14: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, GREY, INK, ROLE, VIOLET, closed, style
from attn_course.plots.curves import draw_mean_and_range

LINES = ("-", "--", "-.", ":")


def three_forms(length: int = 8, chunk_len: int = 4) -> Figure:
    """Draw which pairs of tokens each form compares, and which meet through the state alone.

    Args:
        length: Number of tokens.
        chunk_len: Number of tokens in a chunk.
    """
    with style():
        figure, panels = plt.subplots(1, 3, figsize=(5.2, 2.3))
        forms = {"all pairs": length, "in chunks": chunk_len, "one by one": 1}
        for axes, (name, size) in zip(panels, forms.items(), strict=True):
            for query, key in ((q, k) for q in range(length) for k in range(q + 1)):
                compared = query // size == key // size
                square = Rectangle((key, query), 0.9, 0.9, color=ROLE["weight"])
                square.set_alpha(1 if compared else 0.25)
                axes.add_patch(square)
            axes.set(xlim=(-0.1, length), ylim=(length, -0.1), xticks=[], yticks=[], title=name)
            axes.set_aspect("equal")
            axes.set_xlabel("keys")
            axes.spines[:].set_visible(False)
        panels[0].set_ylabel("queries")
    return closed(figure)


def memory(tokens: Tensor, numbers: Mapping[str, Tensor]) -> Figure:
    """Draw how many numbers are kept while a text grows.

    Args:
        tokens: The tokens so far, (num_points,).
        numbers: For each kind of memory the numbers in it, (num_points,).
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 2.9))
        for (name, kept), colour, line in zip(numbers.items(), COMPARED, LINES, strict=False):
            axes.plot(tokens.numpy(), kept.numpy(), line, color=colour)
            axes.text(tokens[-1].item(), kept[-1].item(), f"  {name}", color=colour, va="center")
        axes.set(xlim=(0, None), ylim=(0, None))
        axes.set(xlabel="tokens so far", ylabel="numbers kept per head")
    return closed(figure)


def recall(pairs: Sequence[int], right: Mapping[str, Tensor], chance: Tensor) -> Figure:
    """Draw the share of right answers by the number of pairs.

    Args:
        pairs: The numbers of pairs.
        right: For each layer the shares of the seeds, (num_seeds, num_points); the first is the
            one that the others are compared with.
        chance: The share of one who names the most frequent value, (num_points,).
    """
    at, colours = torch.tensor(pairs), [VIOLET, *[BROWN] * (len(right) - 1)]
    ends = {name: runs[:, -1].mean().item() for name, runs in right.items()}
    ends["commonest"] = chance[-1].item()
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        for runs, colour, line in zip(right.values(), colours, (LINES[0], *LINES), strict=False):
            draw_mean_and_range(axes, at, runs, f"o{line}", color=colour)
        axes.plot(at.numpy(), chance.numpy(), color=INK, linewidth=1, linestyle=(0, (1, 2)))
        for (name, height), colour in zip(_apart(ends, 0.07).items(), (*colours, INK), strict=True):
            axes.text(at[-1].item() * 1.06, height, name, color=colour, va="center")
        axes.set_xscale("log", base=2)
        axes.set_xticks(pairs, [str(number) for number in pairs])
        axes.set(ylim=(0, 1.1), xlabel="pairs shown", ylabel="share right")
    return closed(figure)


def _apart(heights: Mapping[str, float], least: float) -> dict[str, float]:
    """Heights of labels, from the top, each moved down until it is clear of the one above."""
    found, above = {}, max(heights.values()) + least + 0.03
    for name, height in sorted(heights.items(), key=lambda item: -item[1]):
        found[name] = above = min(height + 0.03, above - least)
    return {name: found[name] for name in heights}


def losses_by_step(losses: Mapping[str, Tensor], every: int, chance: float) -> Figure:
    """Draw the loss of each seed on the way, for several orders of layers.

    Args:
        losses: For each order the losses of the seeds, (num_seeds, num_points).
        every: Steps from one loss to the next.
        chance: The loss of one who knows nothing.
    """
    middles = {name: runs[:, -1].median().item() for name, runs in losses.items()}
    labels = _apart(middles, 0.25)
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.6))
        for (name, runs), colour, line in zip(
            losses.items(), (*COMPARED, GREY), (*LINES, "-"), strict=False
        ):
            steps = every * torch.arange(runs.shape[1])
            axes.plot(steps.numpy(), runs.mT.numpy(), line, color=colour, linewidth=1.2)
            axes.text(1.03 * steps[-1].item(), labels[name], name, color=colour, va="center")
        axes.axhline(chance, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        axes.set(xlim=(0, None), ylim=(0, None), xlabel="step")
        axes.set(ylabel="loss at repeats, nats")
    return closed(figure)


def by_age(right: Mapping[str, Tensor], ages: int) -> Figure:
    """Draw the share of right answers by the age of the pair that is asked for.

    Args:
        right: For each layer the shares of the seeds, (num_seeds, num_groups); the newest first.
        ages: How many ages each group has.
    """
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3.2))
        for (name, runs), colour, line in zip(right.items(), COMPARED, LINES, strict=False):
            middles = ages * torch.arange(runs.shape[1]) + (ages - 1) / 2
            draw_mean_and_range(axes, middles, runs, f"o{line}", color=colour, label=name)
        axes.set(xlim=(0, None), ylim=(0, 1.05), xlabel="pairs that came after it")
        axes.set(ylabel="share right")
        axes.legend(loc="lower left")
    return closed(figure)
