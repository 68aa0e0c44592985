"""Positions of six kinds: learned from 64 letters at a time, and read with 256.

Each model learns chapter 12's task, a stretch of random letters that comes twice. It is then
measured on longer sequences: with the stretch at distances that it has met, anywhere in them, and
at distances that it has never met. The control is the length of the training.
"""

import copy
import time
from collections.abc import Iterator
from functools import cache, partial

import torch
from torch import Tensor, nn

from attn_course.data.repeats import SYMBOLS, RepeatBatch, repeat_batches
from attn_course.induction import AttentionBlock, AttentionOnly, Edit, leave, loss_where
from attn_course.layer.position_bias import ALiBi, T5Bias
from attn_course.long_context import rotate_pairs
from attn_course.recurrence import count_parameters
from attn_course.scaled_dot_product import window
from attn_course.self_attention import LearnedPositions, sinusoidal_positions
from attn_course.trained.store import write_record
from attn_course.training import train

NAME = "positions"
WIDTHS = {"d_model": 64, "num_heads": 4, "d_head": 32}
LENGTH, LONG, FARTHEST = 64, 256, 56  # the greatest distance of a repeat in training
STEPS, RATE, SEEDS, TEST_SEED, NUM_TESTS = 1000, 3e-3, (0, 1, 2), 10_000, 256
BASE, MORE = 10_000.0, 50  # steps of training at the new length
EVERY = 50
KINDS = ("rotary", "linear", "buckets", "sinusoids", "learned", "none")
Run = dict[str, object]


class PlacedBlock(AttentionBlock):
    """Heads that know of places by turns, by a bias that depends on the distance, or not at all.

    Args:
        kind: One of `KINDS`.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(**WIDTHS, norm=True)
        biases = {"linear": ALiBi, "buckets": _causal_buckets}
        if kind in biases:
            self.attention.position_bias = biases[kind](WIDTHS["num_heads"])
        self.attention.rotary = rotate_pairs if kind == "rotary" else None

    def forward(self, stream: Tensor, edit: Edit = leave, number: int = 0) -> Tensor:
        """The stream, with what the heads add."""
        return stream + self.attention(self.norm_attention(stream), is_causal=True)


def _causal_buckets(num_heads: int) -> T5Bias:
    return T5Bias(num_heads, bidirectional=False)


class Places(nn.Embedding):
    """The vector of each token, with one of its place added, learned or of sines."""

    def __init__(self, kind: str) -> None:
        super().__init__(len(SYMBOLS), WIDTHS["d_model"])
        self.learned = LearnedPositions(LONG, WIDTHS["d_model"]) if kind == "learned" else None

    def forward(self, tokens: Tensor) -> Tensor:
        """The sum of both vectors."""
        length = tokens.shape[1]
        at = self.learned or partial(sinusoidal_positions, d_model=WIDTHS["d_model"])
        return super().forward(tokens) + at(length)


def make() -> None:
    """Train and measure all of them; the record is rewritten after each run: 11 minutes."""
    runs: list[Run] = []
    settings = {"steps": STEPS, "rate": RATE, "length": LENGTH, "long": LONG, "every": EVERY}
    for seed in SEEDS:
        for kind in KINDS:
            runs.append(run(kind, seed))
            write_record(__file__, NAME, runs, **settings)


def build(kind: str, seed: int) -> AttentionOnly:
    """A model with positions of a kind, and weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AttentionOnly(len(SYMBOLS), WIDTHS["d_model"])
        model.blocks = nn.ModuleList(PlacedBlock(kind) for _ in range(2))
        if kind in ("learned", "sinusoids"):
            model.embedding = Places(kind)
    return model


def repeat_loss(model: nn.Module, batch: RepeatBatch) -> Tensor:
    """Mean of `-log p` of the tokens that can be predicted."""
    return loss_where(model(batch.tokens), batch.tokens, batch.again)


@cache
def tests() -> dict[str, RepeatBatch]:
    """Sequences as in training, longer ones, and longer ones with repeats farther apart."""
    unseen = next(repeat_batches(TEST_SEED, NUM_TESTS, LENGTH))
    stream = repeat_batches(TEST_SEED, NUM_TESTS, LONG)
    many = [next(stream) for _ in range(8)]
    whole = RepeatBatch(*map(torch.cat, zip(*many, strict=True)))
    near = whole.distance <= FARTHEST
    return {
        "as in training": unseen,
        "longer": RepeatBatch(*(part[near][:NUM_TESTS] for part in whole)),
        "farther apart": RepeatBatch(*(part[~near][:NUM_TESTS] for part in whole)),
    }


def run(kind: str, seed: int) -> Run:
    """Train a model, and measure it."""
    model, start = build(kind, seed), time.process_time()
    losses = torch.tensor(learn(model, repeat_batches(seed), STEPS, seed))
    found: Run = {"kind": kind, "seed": seed, "parameters": count_parameters(model)}
    found["losses"] = [round(some.mean().item(), 3) for some in losses.split(EVERY)]
    found["cpu_seconds"] = round(time.process_time() - start, 1)
    found |= measured(model)
    return found | (stretched(model, seed) if kind == "rotary" else {})


def learn(model: nn.Module, batches: Iterator[RepeatBatch], steps: int, seed: int) -> list[float]:
    """Train a model; return the loss of each step."""
    history = train(
        model, batches, repeat_loss, steps, learning_rate=RATE, seed=seed, progress=False
    )
    model.eval()
    return history.losses


def stretched(model: AttentionOnly, seed: int) -> Run:
    """Measure a rotary model that reads in other ways than it has learned, and some steps later."""
    found: Run = {}
    factor = LONG / LENGTH
    slower = BASE * factor ** (WIDTHS["d_head"] / (WIDTHS["d_head"] - 2))
    ways: dict[str, dict[str, object]] = {
        "as it is": {},
        "stretched": {"rotary": partial(rotate_pairs, stretch=factor)},
        "slower": {"rotary": partial(rotate_pairs, base=slower)},
        "window": {"rule": window(LENGTH - 1, after=0)},
    }
    for name, settings in ways.items():
        for tuned in (False, True) if name != "window" else (False,):
            other = copy.deepcopy(model)
            for block in other.blocks:
                vars(block.attention).update(settings)
            if tuned:
                learn(other, repeat_batches(seed, 8, LONG), MORE, seed)
            found[f"{name}, tuned" if tuned else name] = measured(other)
    return {"ways": found}


@torch.no_grad()
def measured(model: nn.Module) -> Run:
    """The loss at repeats of each test, in nats, and the share of letters that are right."""
    found: Run = {}
    for name, batch in tests().items():
        logits = model(batch.tokens)
        right = logits[:, :-1].argmax(-1) == batch.tokens[:, 1:]
        found[name] = round(loss_where(logits, batch.tokens, batch.again).item(), 3)
        found[f"{name}, right"] = round(right[batch.again[:, 1:]].double().mean().item(), 3)
    return found
