"""Readers of *two readings* that come with the course, and what each can do without some heads.

They are trained as `attn_course.trained.heads` trains its own, and stored in half precision.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import combinations

import torch

from attn_course.trained.heads import (
    Recipe,
    freshly_drawn,
    measure_reader,
    right,
    rounded,
    train_reader,
    vocabulary,
)
from attn_course.trained.heads.readers import Reader, without_head
from attn_course.trained.store import (
    load_weights,
    round_to_half,
    save_weights,
    write_record,
)

TASK = "two readings"
# Each reader's number of heads and seed: these five differ most in what a head can do.
READERS = {
    f"two_readings_{heads}_{seed}": (heads, seed)
    for heads, seed in ((1, 0), (2, 0), (2, 7), (4, 5), (4, 6))
}


def recipe_of(name: str) -> tuple[Recipe, int]:
    """The trial of `attn_course.trained.heads` that makes this reader, and its seed.

    Raises:
        ValueError: There is no such reader.
    """
    if name not in READERS:
        raise ValueError(f"there is no reader {name!r}; choose from {', '.join(READERS)}")
    heads, seed = READERS[name]
    return Recipe(TASK, 64, heads, 800), seed


def load_reader(name: str) -> Reader:
    """The trained reader of one of the `READERS`, in float32.

    Raises:
        ValueError: There is no such reader.
    """
    recipe, _ = recipe_of(name)
    with torch.random.fork_rng(devices=[]):  # the first weights are thrown away
        reader = Reader(len(vocabulary(TASK)), recipe.d_model, recipe.num_heads, num_questions=2)
    reader.load_state_dict(load_weights(name)[0])
    return reader.eval().requires_grad_(False)


def silenced(num_heads: int) -> Iterator[tuple[int, ...]]:
    """All choices of heads that may be silent: none, each, and so on, up to all of them."""
    for number in range(num_heads + 1):
        yield from combinations(range(num_heads), number)


def share_right(reader: Reader, off: Iterable[int]) -> list[float]:
    """Share of the test sentences read right without some heads: both answers, V2, V1."""
    with ExitStack() as stack:
        for head in off:
            stack.enter_context(without_head(reader.attention, head))
        every = right(reader, freshly_drawn(TASK))
    return rounded(torch.stack([every.all(1), *every.T]).double().mean(1))


def make() -> None:
    """Train and store the readers, and record what each reads without heads: 15 seconds."""
    runs = []
    for name in READERS:
        recipe, seed = recipe_of(name)
        reader, _ = train_reader(recipe, seed)
        round_to_half(reader)
        save_weights(__file__, name, reader, {"words": json.dumps(vocabulary(TASK).words)})
        left = {
            ".".join(map(str, off)): share_right(reader, off) for off in silenced(recipe.num_heads)
        }
        looked = measure_reader(reader, recipe)["weights"]
        runs.append({"reader": name, "seed": seed, "weights": looked, "without": left})
    write_record(__file__, "two_readings", runs, steps=recipe.steps)
