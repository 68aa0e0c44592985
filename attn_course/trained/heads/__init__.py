"""The limits of one head, measured: tasks for one head or two, and many seeds.

`make` trains a small model for each trial and seed. It records the share of correct answers, where
each head looks, and the loss when one head is silenced.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import islice

import torch
from torch import Tensor
from torch.nn import functional

import attn_course.data.phrases as phrases_of  # its `two_readings` has the name of a module here
from attn_course.data.memory import D_CONTENT, NUM_ROLES, MemoryBatch, memory_batches
from attn_course.data.phrases import (
    VERBS,
    PhraseBatch,
    phrase_batch,
    phrase_batches,
    three_facts,
    two_distances,
)
from attn_course.data.tokens import Vocabulary
from attn_course.trained.heads.readers import Memory, Reader, without_head
from attn_course.trained.store import write_record
from attn_course.training import train

# Distances of the two answers from the word that asks.
DISTANCES = {"near and far": (1, 13), "both near": (1, 2), "both far": (12, 13)}
# Thirty verbs before "not"; after it thirty others, or the same.
THIRTY = {"own verbs": VERBS[1::2], "same verbs": VERBS[::2]}
PHRASES = {
    "two readings": (phrases_of.two_readings, 2),
    "three facts": (three_facts, 3),
    **{task: (partial(two_distances, distances=away), 2) for task, away in DISTANCES.items()},
    **{
        task: (partial(phrases_of.two_readings, first=VERBS[::2], second=verbs), 2)
        for task, verbs in THIRTY.items()
    },
}
BATCH_SIZE, TEST_SEED, NUM_TESTS = 64, 10_000, 2000
NUM_MEMORIES = 8000


@dataclass(frozen=True)
class Recipe:
    """A task, a model for it, and its number of steps."""

    task: str
    d_model: int
    num_heads: int
    steps: int


SEEDS = {
    **{Recipe("two readings", 64, num_heads, 800): 8 for num_heads in (1, 2, 4)},
    Recipe("two readings", 64, 1, 3200): 8,
    **{Recipe("difference", 16, num_heads, 600): 10 for num_heads in (1, 2, 4)},
    **{Recipe("three facts", 12, num, steps): 5 for steps in (600, 1200) for num in (1, 3)},
    **{Recipe(task, 64, num_heads, 800): 3 for task in DISTANCES for num_heads in (1, 2)},
    **{Recipe(task, 64, 1, 800): 3 for task in THIRTY},
}


def make() -> None:
    """Train, measure and record all trials; the record is rewritten after each run: 4 minutes."""
    runs: list[dict[str, object]] = []
    for recipe, num_seeds in SEEDS.items():
        for seed in range(num_seeds):
            runs.append(run(recipe, seed))
            write_record(__file__, "heads", runs)


def run(recipe: Recipe, seed: int) -> dict[str, object]:
    """Train one model and measure it."""
    start = time.process_time()
    train_one, measure = (
        (train_memory, measure_memory)
        if recipe.task == "difference"
        else (train_reader, measure_reader)
    )
    model, losses = train_one(recipe, seed)
    made = {"seed": seed, "cpu_seconds": round(time.process_time() - start, 1), "losses": losses}
    made["parameters"] = sum(weight.numel() for weight in model.parameters())
    return asdict(recipe) | made | measure(model, recipe)


@cache
def vocabulary(task: str) -> Vocabulary:
    """The words of a task, the same for every seed."""
    phrases, _ = PHRASES[task]
    return Vocabulary.of(phrase.words for phrase in islice(phrases(0), 5000))


def freshly_drawn(task: str, number: int = NUM_TESTS) -> PhraseBatch:
    """Test phrases of a task, the same for every model; some may have come up in training too."""
    phrases, _ = PHRASES[task]
    return phrase_batch(islice(phrases(TEST_SEED), number), vocabulary(task))


def train_reader(recipe: Recipe, seed: int) -> tuple[Reader, list[float]]:
    """Train a reader; return it and its losses, each a mean over 100 steps."""
    (phrases, num_questions), words = PHRASES[recipe.task], vocabulary(recipe.task)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Reader(len(words), recipe.d_model, recipe.num_heads, num_questions)
    stream = phrase_batches(phrases(seed), words, BATCH_SIZE)
    settings = {"learning_rate": 5e-3, "seed": seed, "progress": False}
    history = train(model, stream, reading_loss, recipe.steps, **settings)
    return model.eval(), _means(history.losses)


def reading_loss(model: Reader, batch: PhraseBatch) -> Tensor:
    """Mean of `-log p` of the right words."""
    return functional.cross_entropy(model(batch).flatten(0, 1), batch.answers.flatten())


@torch.no_grad()
def right(model: Reader, batch: PhraseBatch) -> Tensor:
    """True where a model answers correctly, (batch, num_questions)."""
    return model(batch).argmax(-1) == batch.answers


@torch.no_grad()
def looks(model: Reader, batch: PhraseBatch) -> Tensor:
    """Mean weight of each head at the word that answers each question, (heads, questions)."""
    weights = model.weights(batch)
    places = (batch.words[:, None] == batch.answers[..., None]).float()  # no word comes twice
    return torch.einsum("bhn, bqn -> hq", weights, places) / len(places)


def measure_reader(model: Reader, recipe: Recipe) -> dict[str, object]:
    """Correct shares, with all heads and with each one silenced, and where each head looks."""
    batch = freshly_drawn(recipe.task)
    without = []
    for head in range(recipe.num_heads):
        with without_head(model.attention, head):
            without.append(right(model, batch).float().mean(0))
    every = right(model, batch)
    return {
        "right": round(every.all(1).float().mean().item(), 4),
        "by_question": rounded(every.float().mean(0)),
        "without_head": rounded(torch.stack(without)),
        "weights": rounded(looks(model, batch)),
    }


def train_memory(recipe: Recipe, seed: int) -> tuple[Memory, list[float]]:
    """Train a memory; return it and its losses, each a mean over 100 steps."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Memory(NUM_ROLES, D_CONTENT, recipe.d_model, recipe.num_heads)
    settings = {"learning_rate": 1e-2, "seed": seed, "progress": False}
    history = train(model, memory_batches(seed), difference_loss, recipe.steps, **settings)
    return model.eval(), _means(history.losses)


def difference_loss(model: Memory, batch: MemoryBatch) -> Tensor:
    """Mean squared error."""
    return functional.mse_loss(model(batch.roles, batch.contents), batch.difference)


@torch.no_grad()
def measure_memory(model: Memory, recipe: Recipe) -> dict[str, object]:
    """Share of the explained variance, and where each head looks."""
    batch = next(memory_batches(TEST_SEED, NUM_MEMORIES))
    explained = 1 - difference_loss(model, batch) / batch.difference.square().mean()
    return {"explained": round(explained.item(), 4), "weights": rounded(model.weights())}


def rounded(numbers: Tensor) -> list[object]:
    """A tensor as nested lists with three decimals."""
    return (numbers.double() * 1000).round().div(1000).tolist()


def _means(losses: list[float]) -> list[float]:
    return rounded(torch.stack([part.mean() for part in torch.tensor(losses).split(100)]))


def runs_of(recipe: Recipe, record: dict[str, object]) -> Iterator[dict[str, object]]:
    """The runs of a trial, seed by seed, in a record from `attn_course.trained.record`."""
    wanted = asdict(recipe)
    return (made for made in record["runs"] if made | wanted == made)
