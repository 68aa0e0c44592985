"""`python -m attn_course.trained NAME ...` makes trained translators and their records."""

import argparse

import torch

from attn_course.trained.make import make
from attn_course.trained.recipes import RECIPES


def main() -> None:
    """Make what the command line names."""
    listed = ", ".join(f"{name} ({recipe.steps} steps)" for name, recipe in RECIPES.items())
    parser = argparse.ArgumentParser(
        prog="python -m attn_course.trained",
        description="Train translators, measure them, and store weights and records.",
        epilog=f"There are: {listed}. A hundred steps take 2 to 4 seconds on one core.",
    )
    parser.add_argument("names", nargs="+", choices=sorted(RECIPES), metavar="NAME")
    names = parser.parse_args().names
    torch.set_num_threads(1)  # sums, and so weights, depend on the number of threads
    for name in names:
        print(name)
        make(name)


if __name__ == "__main__":
    main()
