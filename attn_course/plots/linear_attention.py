"""The figures of chapter 14: each takes the numbers that the chapter has computed, and draws them.

Every function returns a closed figure, so that a cell which ends with the call shows it once.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from attn_course.plots import BROWN, COMPARED, INK, ROLE, VIOLET, closed, style
from attn_course.plots.curves import draw_mean_and_range

LINES = ("-", "--", "-.", ":")


def three_forms(length: int = 8, chunk_len: int = 4) -> Figure:
    """Draw which pairs of tokens share a chunk in each form, and which meet through the state.

    Args:
        length: Number of tokens.
        chunk_len: Number of tokens in a chunk.
    """
    with style():
        figure, panels = plt.subplots(1, 3, figsize=(4.7, 2.3))
        forms = {"all pairs": length, "one by one": 1, "in chunks": chunk_len}
        chunks = ("1 chunk", f"{length} chunks", f"{length // chunk_len} chunks")
        for axes, many, (name, size) in zip(panels, chunks, forms.items(), strict=True):
            for query, key in ((q, k) for q in range(length) for k in range(q + 1)):
                square = Rectangle((key, query), 0.9, 0.9, color=ROLE["weight"])
                square.set_alpha(1 if query // size == key // size else 0.25)
                axes.add_patch(square)
            for start in range(size, length, size):  # a state for each chunk but the first
                axes.text(start / 2, start + size / 2, "S", ha="center", va="center",
                          fontsize=17 if size > 1 else 10, fontweight="bold")  # fmt: skip
            axes.set(xlim=(-0.1, length), ylim=(length, -0.1), title=name)
            for ticks in (axes.set_xticks, axes.set_yticks):
                ticks([at + 0.45 for at in range(length)], range(1, length + 1), fontsize=10)
            axes.tick_params(length=0, pad=1)
            axes.set_aspect("equal")
            axes.set(xlabel=f"keys\n{many} of {size}", ylabel="queries")
            axes.spines[:].set_visible(False)
    return closed(figure)


def chunk_costs(
    lengths: Sequence[int], turns: Sequence[int], millions: Sequence[float], chosen: int = 0
) -> Figure:
    """Draw what chunks of several lengths cost, in turns and in work, both on scales of powers.

    Args:
        lengths: Tokens in a chunk; the first is the least, and the last is the whole text.
        turns: For each length the turns that wait for one another.
        millions: For each length the multiplications, in millions.
        chosen: The length that is stressed.
    """
    names = [f"chunks of {length:,}" for length in lengths]
    names[0], names[-1] = "one by one", "all pairs"
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 3.1))
        axes.plot(turns, millions, "o-", color=VIOLET)
        for name, length, x, y in zip(names, lengths, turns, millions, strict=True):
            place, side = ((4, -15), "right") if name == names[0] else ((7, 5), "left")
            weight, colour = ("bold", VIOLET) if length == chosen else ("normal", INK)
            if length == chosen:
                axes.plot(x, y, "o", color=VIOLET, markersize=12)
            axes.annotate(name, (x, y), place, textcoords="offset points", ha=side,
                          color=colour, fontweight=weight)  # fmt: skip
        axes.set(xscale="log", yscale="log", xlim=(4, 8000), ylim=(15, 5000))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlabel="turns that wait for one another", ylabel="million multiplications")
    return closed(figure)


def recall(
    pairs: Sequence[int],
    right: Mapping[str, Tensor],
    chance: Tensor,
    compared: str = "",
    others: Mapping[str, tuple[int, float]] | None = None,
) -> Figure:
    """Draw the share of right answers by the number of pairs.

    Args:
        pairs: The numbers of pairs.
        right: For each layer the shares of the seeds, (num_seeds, num_points); the first is the
            one that the others are compared with.
        chance: The share of one who names the most frequent value, (num_points,).
        compared: The name of the layer that is held against the first; the others are thin.
        others: For layers of which one point is known, the number of pairs and the share.
    """
    at, colours = torch.tensor(pairs), [VIOLET, *[BROWN] * (len(right) - 1)]
    ends = {name: runs[:, -1].mean().item() for name, runs in right.items()}
    stressed = {next(iter(right)), compared}
    ends["commonest\ndigit"] = chance[-1].item()
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 3.3))
        looks = zip(right.items(), colours, (LINES[0], *LINES), strict=False)
        for (name, runs), colour, line in looks:
            over = 3 if colour == VIOLET else 2  # others may lie along it
            look = {"linewidth": 2.6}
            if compared and name not in stressed:  # thin, it shows on a wide one
                over, look = 4, {"linewidth": 1.2, "markersize": 4}
            draw_mean_and_range(axes, at, runs, f"o{line}", color=colour, zorder=over, **look)
        axes.plot(at.numpy(), chance.numpy(), color=INK, linewidth=1, linestyle=(0, (1, 2)))
        for (name, height), colour in zip(_apart(ends, 0.16).items(), (*colours, INK), strict=True):
            weight = "bold" if name in stressed else "normal"
            axes.text(at[-1].item() * 1.06, height, name, color=colour, va="center",
                      fontweight=weight)  # fmt: skip
        for name, point in (others or {}).items():
            axes.plot(*point, "x", color=INK, markersize=8, markeredgewidth=2)
            axes.annotate(name, point, (-9, -2), textcoords="offset points", ha="right", va="top")
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


def fading(factors: Sequence[float], length: int = 12) -> Figure:
    """Draw how much is left of each token in a state that fades, a row for each factor.

    Args:
        factors: What the state is multiplied by at each step.
        length: Number of tokens.
    """
    with style():
        figure, axes = plt.subplots(figsize=(4.7, 1.6))
        for row, factor in enumerate(factors):
            for age in range(length):
                square = Rectangle((age - 0.45, row - 0.45), 0.9, 0.9, color=BROWN)
                square.set_alpha(factor**age)
                axes.add_patch(square)
        axes.set(xlim=(length - 0.5, -0.5), ylim=(len(factors) - 0.5, -0.5), aspect="equal")
        axes.set(xlabel="letters ago", ylabel="factor", xticks=range(0, length, 2))
        axes.set_yticks(range(len(factors)), [f"{factor:g}" for factor in factors])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return closed(figure)


def orders_of_layers(losses: Mapping[str, Tensor], chance: float) -> Figure:
    """Draw where each order of layers ended, a dot for each seed, beside its layers.

    Args:
        losses: For each order the last losses of the seeds, (num_seeds,). An order has a letter for
            each layer, the lowest first, "S" for softmax.
        chance: The loss of one who knows nothing.
    """
    with style():
        figure, (left, axes) = plt.subplots(
            1, 2, figsize=(4.7, 0.8 + 0.6 * len(losses)), width_ratios=(1, 1.9), sharey=True
        )
        for row, (layers, ends) in enumerate(losses.items()):
            for place, layer in enumerate(layers):
                colour = VIOLET if layer == "S" else BROWN
                left.add_patch(Rectangle((place, row - 0.04), 0.85, 0.36, color=colour))
            name, colour = _said_of(layers)
            left.text(0, row - 0.26, name, color=colour, va="center")
            axes.plot(ends.numpy(), row + torch.linspace(0.02, 0.26, len(ends)).numpy(), "o",
                      color=INK, alpha=0.85)  # fmt: skip
        left.set(xlim=(-0.2, 4), ylim=(len(losses) - 0.4, -0.95))
        left.axis("off")
        for place, name in ((0, "lowest"), (len(layers) - 1, "top")):
            at = ("left", 0) if place == 0 else ("right", place + 0.85)
            left.text(at[1], -0.78, name, ha=at[0], va="center", fontstyle="italic")
        axes.axvline(chance, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        axes.text(chance - 0.05, -0.78, "knowing nothing", ha="right", va="center")
        axes.set(xlim=(0, chance * 1.1), xlabel="loss at repeats, nats")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0, labelleft=False)
    return closed(figure)


def _said_of(layers: str) -> tuple[str, str]:
    """The name of an order of layers, and its colour."""
    many = layers.count("S")
    if many in (0, len(layers)):
        return ("all softmax", VIOLET) if many else ("all linear", BROWN)
    return ("softmax on top" if layers[-1] == "S" else "softmax below"), INK


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
