"""The share of runs in which attention's softmax closes on "first", with and without a warm-up.

It has closed on the wrong token when the last token, which should look at the first, gives itself
nearly all of its weight. A run ends when it is right in 95 of 100 unseen sequences, or after 2000
steps. Without a warm-up, and for a whole Transformer block, it is broken off after 200 of the 2000.

Four controls are recorded beside the runs. "near" asks for the token just before the last, in
sequences of 11 and 101 tokens: is it the distance that is hard for attention, or the length?
"places" asks for three places of 101 tokens, at one rate. "slower" tries a rate below the ones in
`attn_course.trained.recall`, where the lowest was the best. And "reopened" trains a model whose
softmax has closed for 40 steps more, with the batches of twenty seeds, as it is and with its
softmax opened.
"""

import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from attn_course.data.recall import RecallBatch
from attn_course.self_attention import SelfAttention
from attn_course.trained.recall import (
    ENOUGH,
    NUM_TESTS,
    RATES,
    SEEDS,
    STEPS,
    TASKS,
    TEST_SEED,
    Recipe,
    learn,
    learn_from,
    unseen,
)
from attn_course.trained.recall.learners import D_MODEL, Learner, build_learner
from attn_course.trained.store import write_record
from attn_course.trained.tuning import Run
from attn_course.translation.transformer import Block

SOON, WARM_UP = 200, 30
BATCH_SEEDS, OPENING = range(20), 0.03  # opening multiplies the queries by this
LOOKS = (20, SOON, STEPS)  # the steps after which a run that has not learned yet is looked at


@dataclass(frozen=True)
class Case:
    """A learner of "first", and how it is trained.

    Attributes:
        layer: A layer of `attn_course.trained.recall.learners`, or "block", which is a whole
            Transformer block with one head.
        distance: Steps back to the token that is asked for.
        rate: The peak of the learning rate.
        seed: Seed of the weights and of the batches.
        warm_up: Steps over which the learning rate rises to its peak.
        ahead: Tokens in front of the one that is asked for; in "first" there are none.
    """

    layer: str
    distance: int
    rate: float
    seed: int
    warm_up: int
    ahead: int = 0

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
PLACES = tuple(
    Case("attention", distance, 0.003, seed, WARM_UP, 100 - distance)
    for distance in (1, 50, 100)
    for seed in SEEDS
)
SLOWER = tuple(Case("lstm, forget bias 3", 100, 0.0003, seed, WARM_UP) for seed in SEEDS)
NEAR = tuple(Case("attention", 1, rate, 0, WARM_UP, ahead) for ahead in (9, 99) for rate in RATES)


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


def make() -> None:
    """Train and record all cases and controls; the runs are rewritten after each: 10 minutes."""
    runs: list[Run] = []
    for case in CASES:
        runs.append(run_case(case))
        write_record(__file__, "warm_up", runs, looks=LOOKS)
    controls = {"near": NEAR, "places": PLACES, "slower": SLOWER}
    trained = {name: [run_case(case) for case in cases] for name, cases in controls.items()}
    write_record(__file__, "warm_up", runs, looks=LOOKS, **trained, reopened=[*reopened_runs()])


def run_case(case: Case) -> Run:
    """Train one learner; record the steps until it could do the task, and what it looked at."""
    model, test = _build(case), next(batches_of(case, TEST_SEED, NUM_TESTS))
    right, on_itself, start = {}, {}, time.process_time()

    def watch(steps: int, share: float) -> None:
        if share < ENOUGH and steps in LOOKS:
            right[steps], on_itself[steps] = round(share, 3), last_on_itself(model, test)

    settings = {"learning_rate": case.rate, "seed": case.seed, "warm_up": case.warm_up}
    stream = batches_of(case, case.seed)
    steps, _ = learn_from(stream, test, model, last=case.steps, watch=watch, **settings)
    run = asdict(case) | {"steps": steps}
    run |= {"right": right, "on_itself": on_itself}
    return run | {"cpu_seconds": round(time.process_time() - start, 1)}


def batches_of(case: Case, seed: int, batch_size: int = 64) -> Iterator[RecallBatch]:
    """Yield the batches of "first" in a case's length, asking for the token at its distance."""
    for batch in TASKS["first"](seed, case.ahead + case.distance, batch_size):
        yield batch._replace(answer=batch.values[:, case.ahead].clone())


@torch.no_grad()
def last_on_itself(model: Learner, test: RecallBatch) -> float | None:
    """Mean weight of the last token on itself, in a batch; None if there is none."""
    if not isinstance(model.layer, SelfAttention):
        return None
    weights = model.layer.weights(model.embed(test))
    return round(weights[:, -1, -1].mean().item(), 4)


def reopened_runs() -> Iterator[Run]:
    """Yield the runs of a closed model, as it is and opened, with the batches of each seed."""
    task, test = Recipe("attention", "first", 20), unseen("first", 20)
    closed = build_learner("attention", 2)
    learn(closed, task, rate=0.01, seed=2, steps=60)
    for batch_seed in BATCH_SEEDS:
        for name, factor in (("closed", 1.0), ("opened", OPENING)):
            model = deepcopy(closed)
            with torch.no_grad():
                model.layer.project_query.weight *= factor
            steps, right = learn(model, task, rate=0.01, seed=batch_seed, steps=40)
            run = {"model": name, "batch_seed": batch_seed, "steps": steps}
            yield run | {"right": round(right, 3), "on_itself": last_on_itself(model, test)}


def _build(case: Case) -> Learner:
    if case.layer != "block":
        return build_learner(case.layer, case.seed)
    model = build_learner("attention", case.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case.seed)
        model.layer, model.readout = BlockLayer(), nn.Linear(D_MODEL, model.readout.out_features)
    return model
