"""Recall from a state of fixed size: one layer, by its width and by the number of pairs shown.

Each token shows a key with its digit; the last one shows a key alone. A batch has 4, 8, 16 or 32
pairs. Softmax attention keeps all of them; every other layer has a matrix for them, as wide as its
keys and values. `make` trains each layer at three learning rates from the first seed; the other
seeds use the rate with which it was right most often.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from itertools import cycle

import torch
from torch import Tensor, nn
from torch.nn import functional

from attn_course.data.recall import BLANK, NUM_KEYS, NUM_VALUES, RecallBatch, partner_batches
from attn_course.linear_attention import delta_values, elu_features, read, retained
from attn_course.recurrence import count_parameters
from attn_course.scaled_dot_product import attention
from attn_course.trained.recall import TEST_SEED, recall_loss, share_right, unseen
from attn_course.trained.store import write_record
from attn_course.trained.tuning import Run, rates_then_seeds
from attn_course.training import train

NAME = "linear_recall"
D_MODEL, STEPS, RATES, SEEDS = 64, 1000, (3e-3, 1e-2, 3e-2), (0, 1, 2)
PAIRS, DECAY = (4, 8, 16, 32), 0.9
NUM_OLD, AGES = 4000, 4  # sequences with which recall is measured by age, and ages counted together


@dataclass(frozen=True)
class Recipe:
    """A layer, and how wide its queries, keys and values are.

    Attributes:
        layer: "softmax"; "linear", with features and the division; "sum", without both; "decay", a
            sum that is multiplied by 0.9 for each token; or "delta", by the delta rule.
        width: Numbers of a query, a key or a value.
    """

    layer: str
    width: int


RECIPES = (
    *(Recipe("softmax", width) for width in (4, 8)),
    *(Recipe("linear", width) for width in (4, 8, 16, 32)),
    *(Recipe("sum", width) for width in (8, 16)),
    Recipe("decay", 8),
    *(Recipe("delta", width) for width in (8, 16)),
)


class Reader(nn.Module):
    """A model of one layer, whose last token reads what the tokens before have written.

    Args:
        recipe: The layer.
    """

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.layer = recipe.layer
        self.embed_key = nn.Embedding(NUM_KEYS, D_MODEL)
        self.embed_value = nn.Embedding(BLANK + 1, D_MODEL)
        self.project_query, self.project_key, self.project_value = (
            nn.Linear(D_MODEL, recipe.width, bias=False) for _ in range(3)
        )
        self.rate = nn.Linear(D_MODEL, 1) if recipe.layer == "delta" else None
        self.readout = nn.Linear(recipe.width, NUM_VALUES)

    def forward(self, batch: RecallBatch) -> Tensor:
        """Logits of the digits, (batch, num_values)."""
        tokens = self.embed_key(batch.keys) + self.embed_value(batch.values)
        shown, asks = tokens[:, :-1], tokens[:, -1]
        query = self.project_query(asks)
        key, value = self.project_key(shown), self.project_value(shown)
        if self.rate is not None:
            key = functional.normalize(key, dim=-1)
            value = delta_values(key, value, self.rate(shown)[..., 0].sigmoid())
        return self.readout(recalled(self.layer, query, key, value))


def recalled(layer: str, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The values that a query, (batch, width), reads of pairs, (batch, num_pairs, width)."""
    if layer == "softmax":
        return attention(query.unsqueeze(-2), key, value).squeeze(-2)
    if layer == "linear":
        ones = torch.ones_like(value[..., :1])
        state = elu_features(key).mT @ torch.cat([value, ones], -1)
        summed = read(state, elu_features(query.unsqueeze(-2)).squeeze(-2))
        return summed[..., :-1] / summed[..., -1:]
    if layer == "decay":
        value = value * retained(key.new_full((key.shape[-2],), DECAY))[-1].unsqueeze(-1)
    return read(key.mT @ value, query)


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 3 minutes."""
    runs: list[Run] = []
    for recipe in RECIPES:
        trial = partial(run_recipe, recipe)
        for run in rates_then_seeds(trial, RATES, SEEDS, lambda run: sum(run["right"].values())):
            runs.append(run)
            write_record(__file__, NAME, runs, steps=STEPS, d_model=D_MODEL, decay=DECAY)


def run_recipe(recipe: Recipe, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train one model; record how often it is right by the number of pairs, and by their age."""
    model, start = build(recipe, seed), time.process_time()
    batches = mixed_batches(seed)
    train(model, batches, recall_loss, steps, learning_rate=rate, seed=seed, progress=False)
    model.eval()
    return asdict(recipe) | {
        "rate": rate,
        "seed": seed,
        "right": {str(n): round(share_right(model, unseen("partner", n)), 3) for n in PAIRS},
        "by_age": right_by_age(model),
        "parameters": count_parameters(model),
        "cpu_seconds": round(time.process_time() - start, 1),
    }


def build(recipe: Recipe, seed: int) -> Reader:
    """A model with random weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Reader(recipe)


def mixed_batches(seed: int) -> Iterator[RecallBatch]:
    """Yield batches of 4, 8, 16 and 32 pairs in turn, without end."""
    streams = [partner_batches(len(PAIRS) * seed + at, pairs) for at, pairs in enumerate(PAIRS)]
    yield from (next(stream) for stream in cycle(streams))


@torch.no_grad()
def right_by_age(model: Reader) -> list[float]:
    """Share right of 32 pairs, by how many came after the one asked for: from 0 to 3, then on."""
    batch, age = _old_and_new()
    right = (model(batch).argmax(-1) == batch.answer).double()
    return [round(right[age // AGES == group].mean().item(), 3)
            for group in range(max(PAIRS) // AGES)]  # fmt: skip


def commonest() -> Tensor:
    """The share right of one who names the digit that a sequence shows most often, by `PAIRS`."""
    tests = [unseen("partner", pairs) for pairs in PAIRS]
    named = [test.values[:, :-1].mode(1).values == test.answer for test in tests]
    return torch.stack([right.double().mean() for right in named])


@lru_cache
def _old_and_new() -> tuple[RecallBatch, Tensor]:
    """Test sequences of 32 pairs, and how many other pairs came after the one asked for."""
    batch = next(partner_batches(TEST_SEED + 1, max(PAIRS), NUM_OLD))
    shown = (batch.keys[:, :-1] == batch.keys[:, -1:]).double().argmax(1)
    return batch, max(PAIRS) - 1 - shown
