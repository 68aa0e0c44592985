"""`python -m attn_course.trained NAME ...` makes trained models and their records."""

import argparse
from functools import partial

import torch

from attn_course.trained import (
    attention_today,
    budget,
    closing,
    copying,
    farther,
    fewer_projections,
    heads,
    heaps,
    induction,
    kneser_ney,
    linear_recall,
    minilm_heads,
    mixed_layers,
    norms,
    parts,
    positions,
    recall,
    two_readings,
    without_recurrence,
    writers,
    written,
)
from attn_course.trained.captions.make import make as make_captions
from attn_course.trained.make import make
from attn_course.trained.translator_recipes import RECIPES


def main() -> None:
    """Make everything that the command line names."""
    makers = {name: partial(make, name) for name in RECIPES} | {"copying": copying.make}
    makers |= {"heads": heads.make, "captions": make_captions, "recall": recall.make}
    makers |= {"without_recurrence": without_recurrence.make, "heaps": heaps.make}
    makers |= {"two_readings": two_readings.make, "minilm_heads": minilm_heads.make}
    makers |= {"closing": closing.make, "writers": writers.make, "written": written.make}
    makers |= {"kneser_ney": kneser_ney.make, "parts": parts.make, "budget": budget.make}
    makers |= {"induction": induction.make, "fewer_projections": fewer_projections.make}
    makers |= {"positions": positions.make, "attention_today": attention_today.make}
    makers |= {"linear_recall": linear_recall.make, "mixed_layers": mixed_layers.make}
    makers |= {"norms": norms.make, "farther": farther.make}
    listed = ", ".join(f"{name} ({recipe.steps} steps)" for name, recipe in RECIPES.items())
    parser = argparse.ArgumentParser(
        prog="python -m attn_course.trained",
        description="Train models, measure them, and store weights and records.",
        epilog=f"NAME is one of: {listed}; a hundred steps take 2 to 5 seconds on one core. Or it "
        "is copying, which takes about 20 minutes, heads, about 4, captions, about 25, recall, "
        "about 55, without_recurrence, about 25, heaps, half a minute, two_readings, a quarter, "
        "minilm_heads, two seconds, closing, about 10 minutes, kneser_ney, half a minute, writers, "
        "about 10 minutes, written, about 2, parts, about 9, budget, about 10, induction, about 6, "
        "fewer_projections, half a minute, positions, about 11, linear_recall, about 3 minutes, "
        "mixed_layers, 6, attention_today, about 4, farther, about 4, or norms, 7.",
    )
    parser.add_argument("names", nargs="+", choices=sorted(makers), metavar="NAME")
    names = parser.parse_args().names
    torch.set_num_threads(1)  # sums, and so weights, depend on the number of threads
    for name in names:
        print(name)
        makers[name]()


if __name__ == "__main__":
    main()
