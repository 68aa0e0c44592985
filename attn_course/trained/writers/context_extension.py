"""The writer of chapter 11, trained on for some steps on windows of four times its length.

Its clocks turn slower than it has learned, or, as a control, as they did.
`python -m attn_course.trained context_extension` trains it.
"""

from functools import partial

from torch import Tensor, nn

from attn_course.context.reading import read_otherwise
from attn_course.data.windows import WindowBatch, all_windows, drawn_windows
from attn_course.trained.store import write_record
from attn_course.trained.writers import load_writer, losses, numbers_of
from attn_course.training import train
from attn_course.transformer import LanguageModel, next_token_loss

FACTOR, LENGTH, BATCH_SIZE, RATE = 4, 512, 8, 2e-3
SLOWER = 1e4 * FACTOR ** (32 / 30)  # the slowest of 16 clocks at a quarter
AS_LEARNED = 1e4
STEPS, EVERY, SEEDS = 50, 10, (0, 1, 2)
STRETCH = 64  # pieces to each number of the record
Run = dict[str, object]


def learn(model: LanguageModel, base: float, seed: int) -> list[float]:
    """Train the writer on, with clocks of this base; return the loss of each step."""

    def loss(_: nn.Module, batch: WindowBatch) -> Tensor:
        tokens = batch.tokens
        return next_token_loss(read_otherwise(model, tokens, base=base), tokens)

    batches = drawn_windows(numbers_of("training"), LENGTH + 1, BATCH_SIZE, seed)
    settings = {"learning_rate": RATE, "seed": seed, "progress": False}
    found = train(model, batches, loss, STEPS, **settings).losses
    model.eval()
    return found


def run(base: float, seed: int) -> Run:
    """Train the writer on, and measure it on unseen text: its loss in each stretch of pieces."""
    steps = learn(model := load_writer(), base, seed)
    first = sum(steps[:EVERY]) / EVERY
    windows = all_windows(numbers_of("test"), LENGTH + 1, LENGTH + 1)
    found = losses(partial(read_otherwise, model, base=base), windows).mean(0)
    by_stretch = [round(some.mean().item(), 3) for some in found.split(STRETCH)]
    return {"base": base, "seed": seed, "first": round(first, 3), "by_stretch": by_stretch}


def make() -> None:
    """Train and measure it: 4 minutes."""
    settings = {"steps": STEPS, "rate": RATE, "length": LENGTH, "batch_size": BATCH_SIZE}
    runs = [run(base, seed) for base in (SLOWER, AS_LEARNED) for seed in SEEDS]
    write_record(__file__, "context_extension", runs, **settings)
