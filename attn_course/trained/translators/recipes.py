"""Recipes that say how the translators of the book are built and trained, by name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from attn_course.bahdanau import BahdanauTranslator
from attn_course.luong import LuongTranslator
from attn_course.seq2seq import Encoder, FixedVectorTranslator, Translator

D_EMBEDDING, D_HIDDEN, D_SCORE = 64, 128, 64
BATCH_SIZE = 16
NUM_PAIRS = 20_000
CLAUSES = (1, 3)  # in a sentence to learn from
# Half the window of local attention, in words; "local-p" begins with a wide one.
WINDOW, WIDE_WINDOW = 10.0, 80.0

Schedule = Callable[[Translator, Iterable, int], Iterator]


def keep(model: Translator, batches: Iterable, steps: int) -> Iterator:
    """Change nothing while training."""
    yield from batches


def narrow_window(model: LuongTranslator, batches: Iterable, steps: int) -> Iterator:
    """Narrow the window linearly over the first three fifths of the training.

    The predicted centre learns only from the keys inside the window: if the window were narrow from
    the start, the centre would never learn where to go.
    """
    for step, batch in zip(count(), batches, strict=False):
        left = max(0.0, 1 - step / (0.6 * steps))
        model.window = WINDOW + (WIDE_WINDOW - WINDOW) * left
        yield batch


@dataclass(frozen=True)
class Recipe:
    """The construction of a translator, from the sizes of two vocabularies, and its training.

    Attributes:
        build: Makes the model, with random weights.
        steps: Number of batches to learn from.
        seeds: One for each model: it determines the training pairs, their order and the first
            weights.
        ship: True if the weights of the first seed come with the course.
        schedule: Changes the model in the course of the training.
    """

    build: Callable[[int, int], Translator]
    steps: int
    seeds: tuple[int, ...] = (0, 1, 2)
    ship: bool = False
    schedule: Schedule = keep


def build_fixed(source_size: int, target_size: int, reverse: bool | None = None) -> Translator:
    """A translator with a fixed vector, read in both directions, or in one if `reverse` is set."""
    one_way = reverse is not None
    encoder = Encoder(
        source_size,
        D_EMBEDDING,
        D_HIDDEN * (1 + one_way),
        bidirectional=not one_way,
        reverse_source=bool(reverse),
    )
    return FixedVectorTranslator(encoder, target_size, D_EMBEDDING, D_HIDDEN)


def build_bahdanau(source_size: int, target_size: int) -> Translator:
    encoder = Encoder(source_size, D_EMBEDDING, D_HIDDEN)
    return BahdanauTranslator(encoder, target_size, D_EMBEDDING, D_HIDDEN, D_SCORE)


def build_luong(source_size: int, target_size: int, score: str, **options: object) -> Translator:
    """A Luong translator; for the dot score, its annotations are as wide as the decoder's state."""
    d_direction = D_HIDDEN // 2 if score == "dot" else D_HIDDEN
    encoder = Encoder(source_size, D_EMBEDDING, d_direction)
    return LuongTranslator(
        encoder, target_size, D_EMBEDDING, D_HIDDEN, score=score, window=WINDOW, **options
    )


luong_dot = partial(build_luong, score="dot")
luong_general = partial(build_luong, score="general")
luong_concat = partial(build_luong, score="concat")

RECIPES = {
    "bahdanau": Recipe(build_bahdanau, 1800, ship=True),
    "luong_dot": Recipe(luong_dot, 1800, ship=True),
    "luong_general": Recipe(luong_general, 1800, ship=True),
    "luong_concat": Recipe(luong_concat, 1800),
    "luong_dot_feeding": Recipe(partial(luong_dot, input_feeding=True), 1800),
    "luong_general_feeding": Recipe(partial(luong_general, input_feeding=True), 1800),
    "luong_local_m": Recipe(partial(luong_dot, attention="local-m"), 1800, ship=True),
    "luong_local_p": Recipe(
        partial(luong_dot, attention="local-p"), 1800, ship=True, schedule=narrow_window
    ),
    "fixed_short": Recipe(build_fixed, 2500),
    "forward": Recipe(partial(build_fixed, reverse=False), 2500),
    "forward_reversed": Recipe(partial(build_fixed, reverse=True), 2500),
    "fixed": Recipe(build_fixed, 12_000, ship=True),
}


def find_recipe(name: str) -> Recipe:
    """The recipe with this name.

    Raises:
        ValueError: There is no such recipe; the message lists all recipes.
    """
    if name not in RECIPES:
        raise ValueError(f"there is no recipe {name!r}; choose from {', '.join(RECIPES)}")
    return RECIPES[name]
