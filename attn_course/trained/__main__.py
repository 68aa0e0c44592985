"""`python -m attn_course.trained NAME ...` makes trained models and their records."""

import argparse
import pkgutil
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module

import torch

from attn_course.trained import __path__ as folder
from attn_course.trained.captions.make import make as make_captions
from attn_course.trained.make import make as make_translators
from attn_course.trained.translator_recipes import RECIPES


def makers() -> dict[str, Callable[[], None]]:
    """Return what makes each record: a translator's recipe, or the `make` of a module here."""
    found = {name: partial(make_translators, name) for name in RECIPES}
    found["captions"] = make_captions
    modules = {each.name for each in pkgutil.iter_modules(folder) if not each.ispkg}
    for name in sorted(modules - {"__main__", "make"}):
        if made := getattr(import_module(f"{__package__}.{name}"), "make", None):
            found[name] = made
    return found


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
