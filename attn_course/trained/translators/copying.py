"""The capacity of a single vector: how much of a sequence it carries, by width and by training.

Random symbols are copied or reversed: nothing can be guessed, so every mistake is something that
was lost. `make` trains a translator for each task, width and length of training, and records its
share of correct answers at each length, even beyond the lengths of its training.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import torch
from torch import Tensor

from attn_course.data.copying import FIRST_SYMBOL, copy_pairs, reversal_pairs
from attn_course.data.tokens import Batch, IdPair, batches, make_batch
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import Encoder, FixedVectorTranslator, Translator
from attn_course.trained.store import write_record
from attn_course.trained.translators.make import translation_loss as copying_loss
from attn_course.training import train

TASKS = {"copy": copy_pairs, "reversal": reversal_pairs}
WIDTHS = (32, 64, 128, 256)
STEPS, LONG = 2000, 8000
SEEDS = (0, 1, 2)
NUM_SYMBOLS, LENGTHS = 20, (1, 20)  # learned from; the tests go on beyond
BATCH_SIZE, NUM_PAIRS = 32, 64_000
TEST_LENGTHS, TEST_SEED, NUM_TESTS = tuple(range(1, 25)), 10_000, 500
LOOKED_INTO = 12  # the length at which each position is measured separately


@dataclass(frozen=True)
class Recipe:
    """A task, numbers in the vector, and batches to learn from."""

    task: str
    width: int
    steps: int


RECIPES = (
    *(Recipe(task, width, STEPS) for task in TASKS for width in WIDTHS),
    *(Recipe("copy", width, LONG) for width in WIDTHS[:-1]),
)


def make(seeds: Sequence[int] = SEEDS) -> None:
    """Train, measure and record all trials, seed by seed: 20 minutes."""
    runs: list[dict[str, object]] = []
    for seed in seeds:
        for run in measure_copying(seed):
            runs.append(run)
            write_record(__file__, "copying", runs, lengths=TEST_LENGTHS)


def measure_copying(seed: int) -> Iterator[dict[str, object]]:
    """Train the translators of all trials from one seed; yield the measurements of each."""
    for recipe in RECIPES:
        start = time.process_time()
        model, losses = train_copier(recipe, seed)
        seconds = round(time.process_time() - start)
        parameters = sum(weight.numel() for weight in model.parameters())
        made = {"seed": seed, "cpu_seconds": seconds, "parameters": parameters, "losses": losses}
        yield asdict(recipe) | made | measure(model, recipe.task)


def build_copier(width: int) -> FixedVectorTranslator:
    """A translator of one direction whose vector, and whose decoder's state, is `width` wide."""
    vocab_size = FIRST_SYMBOL + NUM_SYMBOLS
    encoder = Encoder(vocab_size, 32, width, bidirectional=False)
    return FixedVectorTranslator(encoder, vocab_size, 32, width)


def train_copier(recipe: Recipe, seed: int) -> tuple[FixedVectorTranslator, list[float]]:
    """Train one translator; also return its losses, each a mean over 100 steps."""
    pairs = list(islice(TASKS[recipe.task](seed, NUM_SYMBOLS, LENGTHS), NUM_PAIRS))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build_copier(recipe.width)
    stream = batches(pairs, BATCH_SIZE, seed)
    history = train(model, stream, copying_loss, recipe.steps, seed=seed)
    means = torch.tensor(history.losses).split(100)
    return model.eval(), [round(part.mean().item(), 3) for part in means]


def unseen_pairs(task: str, length: int) -> list[IdPair]:
    """Sequences of one length, the same for every model; too many for a model to have memorized
    them, unless the length is 1 or 2."""
    return list(islice(TASKS[task](TEST_SEED + length, NUM_SYMBOLS, (length, length)), NUM_TESTS))


def measure(model: Translator, task: str) -> dict[str, object]:
    """Correct shares by length: of sequences, of symbols, and of symbols given all symbols before
    them; the last of these at one length for each position of the source, too."""
    exact, symbols, forced = [], [], []
    for length in TEST_LENGTHS:
        batch = make_batch(unseen_pairs(task, length))
        written, given = right_when_writing(model, batch), right_when_forced(model, batch)
        exact.append(written.all(1).float().mean().item())
        symbols.append(written[:, :length].float().mean().item())
        forced.append(given[:, :length].float().mean().item())
    by_position = right_when_forced(model, make_batch(unseen_pairs(task, LOOKED_INTO)))
    by_position = by_position[:, :LOOKED_INTO].float().mean(0)
    if task == "reversal":
        by_position = by_position.flip(0)
    shares = {"exact": exact, "symbols": symbols, "forced": forced}
    shares["by_position"] = by_position.tolist()
    return {name: [round(share, 3) for share in part] for name, part in shares.items()}


@torch.no_grad()
def right_when_writing(model: Translator, batch: Batch) -> Tensor:
    """True where greedy decoding writes the right symbol, including EOS, (batch, target_len)."""
    wanted = batch.target_output
    written = greedy_decode(model, batch.source, wanted.shape[1])
    missing = wanted.shape[1] - written.shape[1]
    return torch.nn.functional.pad(written, (0, missing)) == wanted


@torch.no_grad()
def right_when_forced(model: Translator, batch: Batch) -> Tensor:
    """True where the likeliest symbol is the right one, given all before, (batch, target_len)."""
    return model(batch.source, batch.target_input).argmax(-1) == batch.target_output
