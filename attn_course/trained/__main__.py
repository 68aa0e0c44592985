"""`python -m attn_course.trained NAME ...` makes trained models and their records."""

import argparse
import pkgutil
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import isfunction

import torch

from attn_course.trained import __path__ as folder
from attn_course.trained.translators.make import make as make_translators
from attn_course.trained.translators.recipes import RECIPES


def makers() -> dict[str, Callable[[], None]]:
    """Return what makes each record: a translator's recipe, or the `make` of a module in a room.

    The `make` of a module is named after it, and that of a module `make` after its room.
    """
    found = {}
    for module in pkgutil.walk_packages(folder, f"{__package__}."):
        room, _, name = module.name.rpartition(".")
        made = getattr(import_module(module.name), "make", None)
        if isfunction(made) and made is not make_translators:
            found[room.rpartition(".")[2] if name == "make" else name] = made
    translators = {name: partial(make_translators, name) for name in RECIPES}
    return translators | dict(sorted(found.items()))


def _described(name: str, made: Callable[[], None]) -> str:
    about = (sys.modules[made.__module__].__doc__ or "").partition("\n")[0]
    return f"{name}: {about}\n    {made.__doc__}"


def main() -> None:
    """Make everything that the command line names."""
    known = makers()
    steps = ", ".join(f"{name} ({recipe.steps} steps)" for name, recipe in RECIPES.items())
    lines = (_described(name, made) for name, made in known.items() if name not in RECIPES)
    parser = argparse.ArgumentParser(
        prog="python -m attn_course.trained",
        description="Train models, measure them, and store weights and records.",
        epilog=f"NAME is a translator: {steps}; a hundred steps take 2 to 5 seconds on one core.\n"
        "Or it is one of these, with the time that it takes there:\n\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", choices=sorted(known), metavar="NAME")
    names = parser.parse_args().names
    torch.set_num_threads(1)  # sums, and so weights, depend on the number of threads
    for name in names:
        print(name)
        known[name]()


if __name__ == "__main__":
    main()
