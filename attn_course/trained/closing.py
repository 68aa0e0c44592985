"""How often attention's softmax closes while it learns "first", with and without a warm-up.

It has closed on the wrong token when the last token, which should look at the first, gives itself
nearly all of its weight. A run ends when it is right in 95 of 100 unseen sequences, or after 2000
steps. Without a warm-up, and for a whole Transformer block, it is broken off after 200 of the 2000.
"""

import time
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from attn_course.self_attention import SelfAttention
from attn_course.trained.learners import D_MODEL, Learner, build_learner
from attn_course.trained.recall import (
    ENOUGH,
    EVERY,
    SEEDS,
    STEPS,
    TASKS,
    recall_loss,
    share_right,
    unseen,
)
from attn_course.trained.store import write_record
from attn_course.trained.tuning import Run
from attn_course.training import train
from attn_course.transformer import Block

SOON, WARM_UP = 200, 30
LOOKS = (20, SOON, STEPS)  # the steps after which a run that has not learned yet is looked at


@dataclass(frozen=True)
class Case:
    """A learner of "first", and how it is trained.

    Attributes:
        layer: "attention", "gru", or "block", which is a whole Transformer block with one head.
        distance: Steps back to the first token.
        rate: The peak of the learning rate.
        seed: Of the weights and of the batches.
        warm_up: Steps over which the learning rate rises to its peak.
    """

    layer: str
    distance: int
    rate: float
    seed: int
    warm_up: int

    @property
    def steps(self) -> int:
        """The number of steps after which a run ends in any case."""
        return STEPS if self.warm_up and self.layer != "block" else SOON


CASES = (
    *(
        Case("attention", distance, rate, seed, warm_up)
        for distance, rate, seeds in (
            (10, 0.01, SEEDS),
            (20, 0.01, SEEDS),
            (50, 0.01, SEEDS),
            (100, 0.01, SEEDS[:1]),
            (20, 0.003, SEEDS),
            (100, 0.003, SEEDS[:1]),
            (100, 0.001, SEEDS[:1]),
        )
        for warm_up in (WARM_UP, 0)
        for seed in seeds
    ),
    Case("gru", 100, 0.03, 0, 0),
    Case("block", 20, 0.01, 0, WARM_UP),
)


class BlockLayer(SelfAttention):
    """A whole Transformer block with one head.

    It is a `SelfAttention` so that a learner gives it positions, and inherits nothing else.
    """

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.block = Block(D_MODEL, 1, 4 * D_MODEL)

    def forward(self, tokens: Tensor) -> Tensor:
        """The block's output."""
        return self.block(tokens)

    def weights(self, tokens: Tensor) -> Tensor:
        """The weights of the block's only head, (batch, length, length)."""
        return self.block.attention.weights(self.block.norm_attention(tokens))[:, 0]


class _Over(Exception):
    """Raised to end a training."""


def make() -> None:
    """Train and record all cases; the record is rewritten after each run."""
    runs: list[Run] = []
    for case in CASES:
        runs.append(run_case(case))
        write_record("closing", runs, looks=LOOKS)


def run_case(case: Case) -> Run:
    """Train one learner; record the steps until it could do the task, and what it looked at."""
    model, test = _build(case), unseen("first", case.distance)
    steps, right, on_itself, start = 0, {}, {}, time.process_time()

    def look(model: Learner) -> float:
        nonlocal steps
        steps += EVERY
        share = share_right(model, test)
        if share < ENOUGH and steps in LOOKS:
            right[steps], on_itself[steps] = round(share, 3), last_on_itself(model, case.distance)
        if share >= ENOUGH or steps == case.steps:
            raise _Over(share)
        return 1 - share

    stream, settings = TASKS["first"](case.seed, case.distance), {"progress": False}
    settings |= {"learning_rate": case.rate, "seed": case.seed, "warm_up": case.warm_up}
    learned = False
    try:
        train(model, stream, recall_loss, STEPS, validate=look, validate_every=EVERY, **settings)
    except _Over as over:
        learned = over.args[0] >= ENOUGH
    run = asdict(case) | {"steps": steps if learned else None}
    run |= {"right": right, "on_itself": on_itself}
    return run | {"cpu_seconds": round(time.process_time() - start, 1)}


@torch.no_grad()
def last_on_itself(model: Learner, distance: int) -> float | None:
    """Mean weight of the last token on itself, in unseen sequences; None if there is none."""
    if not isinstance(model.layer, SelfAttention):
        return None
    weights = model.layer.weights(model.embed(unseen("first", distance)))
    return round(weights[:, -1, -1].mean().item(), 4)


def _build(case: Case) -> Learner:
    if case.layer != "block":
        return build_learner(case.layer, case.seed)
    model = build_learner("attention", case.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case.seed)
        model.layer, model.readout = BlockLayer(), nn.Linear(D_MODEL, model.readout.out_features)
    return model
