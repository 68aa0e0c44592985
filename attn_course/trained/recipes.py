"""How the translators of the book are built and trained: one recipe for each name."""

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
# Half of the window of local attention, in words; "local-p" begins with a wide one.
WINDOW, WIDE_WINDOW = 10.0, 80.0

Schedule = Callable[[Translator, Iterable, int], Iterator]


def keep(model: Translator, batches: Iterable, steps: int) -> Iterator:
    """Change nothing while training."""
    yield from batches


def narrow_window(model: LuongTranslator, batches: Iterable, steps: int) -> Iterator:
    """Narrow the window in proportion over the first three fifths of the training.

    The predicted centre learns from the keys inside of the window alone: with a narrow one from
    the start, it never finds where to go.
    """
    for step, batch in zip(count(), batches, strict=False):
        left = max(0.0, 1 - step / (0.6 * steps))
        model.window = WINDOW + (WIDE_WINDOW - WINDOW) * left
        yield batch


@dataclass(frozen=True)
class Recipe:
    """How a translator is built, from the sizes of two vocabularies, and trained.

    Attributes:
        build: Makes the model, with random weights.
        steps: Batches to learn from.
        seeds: Of the training pairs, their order and the first weights; one model each.
        ship: Whether the weights of the first seed come with the course.
        schedule: Changes the model while the batches pass by.
    """

    build: Callable[[int, int], Translator]
    steps: int
    seeds: tuple[int, ...] = (0, 1, 2)
    ship: bool = False
    schedule: Schedule = keep


def build_fixed(source_size: int, target_size: int, reverse: bool | None = None) -> Translator:
    """A fixed vector of both directions, or, of the same width, of one direction or its reverse."""
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
    """The dot score needs annotations as wide as the decoder's state."""
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
    """The recipe of that name.

    Raises:
        ValueError: There is none; the message lists those that there are.
    """
    if name not in RECIPES:
        raise ValueError(f"there is no recipe {name!r}; there are: {', '.join(RECIPES)}")
    return RECIPES[name]
