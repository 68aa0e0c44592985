"""The writer beside a GRU with as many weights: which of them learns more for the same work?

`make` tries four learning rates for each of them, in short runs with their whole schedule. At the
rate that did best, at half and at a quarter of it, the GRU is then trained for as many steps as the
writer that comes with the course, on the same windows; two more seeds of both, at the rates of
their long runs, say how far chance moves the result. Because processor time depends on what else a
machine does, the paces of both are taken in turns.
"""

import math
import time
from statistics import median

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attn_course.data.novels import pieces
from attn_course.shapes import checked
from attn_course.trained.store import write_record
from attn_course.trained.writers import (
    D_MODEL,
    EVERY,
    RATE,
    SEEDS,
    STEPS,
    Run,
    batches_of,
    bits,
    build,
    learn,
    window_loss,
)
from attn_course.transformer import INITIAL_SCALE

RATES, SHORT = (2e-3, 4e-3, 8e-3, 1.6e-2), 300
KINDS = ("Transformer", "GRU")
MORE_SEEDS = (1, 2)
D_HIDDEN = 288  # of the GRU, so that it has as many weights
PACED = 20  # steps


class RecurrentWriter(nn.Module):
    """A GRU in place of the blocks of a `LanguageModel`; embedding and readout are tied as there.

    Args:
        vocab_size: Number of different tokens.
        d_model: Width of the embedding.
        d_hidden: Width of the state.
    """

    def __init__(self, vocab_size: int, d_model: int, d_hidden: int) -> None:
        super().__init__()
        self.input_scale = math.sqrt(d_model)
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=INITIAL_SCALE)
        self.layer = nn.GRU(d_model, d_hidden, batch_first=True)
        self.narrow = nn.Linear(d_hidden, d_model)

    @checked
    def forward(
        self, tokens: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch length vocab_size"]:
        """The logits of the token that follows each token."""
        states, _ = self.layer(self.input_scale * self.embedding(tokens))
        return self.narrow(states) @ self.embedding.weight.T


def make() -> None:
    """Choose, train, measure and record; the record is rewritten after each run: 10 minutes."""
    runs: list[Run] = []
    settings: Run = {"short": SHORT, "steps": STEPS, "every": EVERY, "pace": pace()}
    for kind in KINDS:
        for rate in RATES:
            runs.append(run(kind, rate, SHORT))
            write_record(__file__, "writer_and_gru", runs, **settings)
    best = best_runs(runs, SHORT)["GRU"]["rate"]
    for rate in (best, best / 2, best / 4):
        runs.append(run("GRU", rate, STEPS, EVERY))
        write_record(__file__, "writer_and_gru", runs, **settings)
    for kind, rate in {"Transformer": RATE, "GRU": best_runs(runs, STEPS)["GRU"]["rate"]}.items():
        for seed in MORE_SEEDS:
            runs.append(run(kind, rate, STEPS, EVERY, seed))
            write_record(__file__, "writer_and_gru", runs, **settings)


def best_runs(runs: list[Run], steps: int) -> dict[str, Run]:
    """For each kind of model its best run of so many steps with the first seed."""
    ours = [run for run in runs if run["steps"] == steps and run["seed"] == SEEDS[0]]
    ours.sort(key=lambda run: run["validation"][-1], reverse=True)
    return {run["kind"]: run for run in ours}


def run(kind: str, rate: float, steps: int, every: int = SHORT, seed: int = SEEDS[0]) -> Run:
    """Train a model of a kind; a long run is measured on the test, too."""
    model = build_kind(kind, seed)
    settings = {"kind": kind, "rate": rate, "steps": steps}
    found = settings | learn(model, seed, rate, steps, every)
    return found | ({"test": round(bits(model, "test"), 4)} if steps == STEPS else {})


def build_kind(kind: str, seed: int) -> nn.Module:
    """A model of a kind with random weights drawn from a seed."""
    if kind == "Transformer":
        return build(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return RecurrentWriter(len(pieces()), D_MODEL, D_HIDDEN)


def pace() -> dict[str, float]:
    """CPU seconds for the loss of a batch and its gradient: medians of steps taken in turns."""
    models = {kind: build_kind(kind, 0) for kind in KINDS}
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    batches = batches_of(0)
    for _ in range(PACED):
        batch = next(batches)
        for kind, model in models.items():
            start = time.process_time()
            window_loss(model, batch).backward()
            seconds[kind].append(time.process_time() - start)
    return {kind: round(median(taken), 4) for kind, taken in seconds.items()}
