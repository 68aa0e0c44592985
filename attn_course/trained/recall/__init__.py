"""Steps to learn to recall: recurrent layers and attention, with nearly equal numbers of weights.

`make` trains each layer on each task until it is right in 95 of 100 unseen sequences, or for 2000
steps. The first seed is trained at five learning rates; the other seeds use the rate that got
there first, or else got furthest. It also measures how far back the gradient of the loss reaches,
before and after training.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.data.recall import RecallBatch, first_batches, partner_batches, told_batches
from attn_course.recurrence import count_parameters, gradient_reach
from attn_course.trained.recall.learners import LAYERS, Learner, build_learner
from attn_course.trained.store import write_record
from attn_course.trained.tuning import Run, rates_then_seeds
from attn_course.training import train

TASKS = {"first": first_batches, "partner": partner_batches, "told": told_batches}
SIZES = {"first": (10, 20, 50, 100), "partner": (4, 8, 16), "told": (4, 16)}
RATES, SEEDS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1), (0, 1, 2)
STEPS, EVERY, ENOUGH = 2000, 10, 0.95
TEST_SEED, NUM_TESTS = 10_000, 500
REACH_AFTER = ("first", 20)  # the task after which the reach is measured, over ten times its length
DISTANCES = (0, 1, 2, 5, 10, 20, 50, 100, 150, 200)


@dataclass(frozen=True)
class Recipe:
    """A layer, and the task it learns.

    Attributes:
        layer: Its name in `LAYERS`.
        task: "first", "partner", or "told", which is "partner" with the question in front as well.
        size: The distance to bridge, or the number of pairs to keep.
    """

    layer: str
    task: str
    size: int


RECIPES = tuple(
    Recipe(layer, task, size) for task, sizes in SIZES.items() for size in sizes for layer in LAYERS
)


class _Over(Exception):
    """Raised to end a training before its last step."""


def make(recipes: Sequence[Recipe] = RECIPES) -> None:
    """Train, measure and record all trials; the record is rewritten after each run: 55 minutes."""
    runs: list[Run] = []
    for recipe in recipes:
        for run in runs_of_recipe(recipe):
            runs.append(run)
            write_record(__file__, "recall", runs, distances=DISTANCES)


def runs_of_recipe(recipe: Recipe) -> Iterator[Run]:
    """Yield runs of all rates from the first seed, and of the best rate from the other seeds."""
    return rates_then_seeds(partial(run_recipe, recipe), RATES, SEEDS, _goodness)


def _goodness(run: Run) -> tuple[float, float]:
    """A run's rank: fewer steps are better; among runs that never got there, more right answers."""
    return -(run["steps"] or STEPS + 1), run["right"]


def run_recipe(recipe: Recipe, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train one learner; record the steps until it could do the task, or None if it never did."""
    model, start = build_learner(recipe.layer, seed), time.process_time()
    measured = (recipe.task, recipe.size) == REACH_AFTER
    before = reach_of(model) if measured else None
    taken, right = learn(model, recipe, rate, seed, steps)
    run = asdict(recipe) | {"rate": rate, "seed": seed, "steps": taken, "right": round(right, 3)}
    run |= {"parameters": count_parameters(model)}
    if measured:
        run |= {"reach_before": before, "reach_after": reach_of(model)}
    return run | {"cpu_seconds": round(time.process_time() - start, 1)}


def learn(
    model: Learner, recipe: Recipe, rate: float, seed: int, steps: int = STEPS
) -> tuple[int | None, float]:
    """Train until enough answers are right; return the steps taken and the share that is right."""
    stream, test = TASKS[recipe.task](seed, recipe.size), unseen(recipe.task, recipe.size)
    return learn_from(stream, test, model, steps, learning_rate=rate, seed=seed)


def learn_from(
    stream: Iterator[RecallBatch],
    test: RecallBatch,
    model: Learner,
    steps: int = STEPS,
    *,
    last: int | None = None,
    watch: Callable[[int, float], None] | None = None,
    **settings: float,
) -> tuple[int | None, float]:
    """Train on batches of a stream as `learn` does, until enough answers of a test are right.

    Args:
        stream: The batches.
        test: The sequences whose answers count.
        model: The learner.
        steps: The length of the run for which the learning rate is planned.
        last: The step after which training is broken off; None trains to the end.
        watch: Called with the steps so far and the share that is right.
        settings: Further arguments of `train`, such as the learning rate.
    """
    looks: list[float] = []

    def validate(model: Learner) -> float:
        looks.append(share_right(model, test))
        taken = EVERY * len(looks)
        if watch:
            watch(taken, looks[-1])
        if looks[-1] >= ENOUGH or taken == last:
            raise _Over
        return 1 - looks[-1]

    settings |= {"validate_every": EVERY, "progress": False}
    with suppress(_Over):
        train(model, stream, recall_loss, steps, validate=validate, **settings)
    return EVERY * len(looks) if looks[-1] >= ENOUGH else None, looks[-1]


def recall_loss(model: Learner, batch: RecallBatch) -> Tensor:
    """Mean of `-log p` of the right values."""
    return functional.cross_entropy(model(batch), batch.answer)


@lru_cache
def unseen(task: str, size: int, number: int = NUM_TESTS) -> RecallBatch:
    """Test sequences, the same for every model."""
    return next(TASKS[task](TEST_SEED, size, number))


@torch.no_grad()
def share_right(model: Learner, batch: RecallBatch) -> float:
    """Share of the sequences whose likeliest value is the right one."""
    return (model(batch).argmax(-1) == batch.answer).double().mean().item()


def reach_of(model: Learner, number: int = 64) -> list[float]:
    """Norm of the loss's gradient by the input at each of `DISTANCES`, in double precision."""
    batch = next(first_batches(TEST_SEED, max(DISTANCES), number))
    in_double = build_learner(model.name, 0).double()
    in_double.load_state_dict(model.state_dict())

    def loss(tokens: Tensor) -> Tensor:
        logits = in_double.answer(tokens)
        return functional.cross_entropy(logits, batch.answer, reduction="none")

    reach = gradient_reach(loss, in_double.embed(batch))
    return [float(f"{reach[distance].item():.3g}") for distance in DISTANCES]
