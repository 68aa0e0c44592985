"""Four layers that learn to repeat: softmax attention, retention, or one softmax layer in four.

The task is chapter 12's: random letters of which one part comes twice. `make` trains each order of
layers at two learning rates from the first seed; the other seeds use the better one.
"""

import time
from dataclasses import asdict, dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from attn_course.data.repeats import SYMBOLS, repeat_batches
from attn_course.induction import AttentionBlock, AttentionOnly, Edit, leave
from attn_course.linear_attention import all_pairs
from attn_course.multi_head import merge_heads, split_heads
from attn_course.recurrence import count_parameters
from attn_course.self_attention import rotate_by_position
from attn_course.trained.induction import repeat_loss, unseen
from attn_course.trained.store import write_record
from attn_course.trained.tuning import Run, rates_then_seeds
from attn_course.training import train

NAME = "mixed_layers"
D_MODEL, NUM_HEADS = 64, 2
STEPS, EVERY, RATES, SEEDS = 500, 50, (3e-3, 1e-2), (0, 1, 2)
FIRST, LAST = 0.0, 4.0  # the decays of the heads begin at their sigmoids, 0.5 to 0.98


@dataclass(frozen=True)
class Recipe:
    """An order of layers.

    Attributes:
        layers: From the first to the last, "S" for softmax and "R" for retention.
        d_head: Width of a head.
    """

    layers: str
    d_head: int = 8


RECIPES = (
    *(Recipe(layers) for layers in ("SSSS", "RRRS", "SRRR", "RRRR")),
    Recipe("RRRR", d_head=32),
)


class RetentionBlock(AttentionBlock):
    """Heads that sum, without a softmax and with a decay, and whose outputs are normalized.

    Args:
        d_model: Width of the stream.
        num_heads: Number of heads.
        d_head: Width of a head.

    Source: Sun et al. 2023 (RetNet), who do not learn the decay.
    """

    def __init__(self, d_model: int, num_heads: int, d_head: int) -> None:
        super().__init__(d_model, num_heads, d_head, norm=True)
        self.decay = nn.Parameter(torch.linspace(FIRST, LAST, num_heads))

    def forward(
        self, stream: Float[Tensor, "batch length d_model"], edit: Edit = leave, number: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """The stream, with what the heads add."""
        read, layer = self.norm_attention(stream), self.attention
        query, key, value = (
            split_heads(project(read), layer.num_heads)
            for project in (layer.project_query, layer.project_key, layer.project_value)
        )
        decay = self.decay.sigmoid()[:, None].expand(-1, stream.shape[1])
        summed = all_pairs(rotate_by_position(query), rotate_by_position(key), value, decay)
        found = functional.layer_norm(summed, summed.shape[-1:])
        return stream + layer.project_output(merge_heads(found))


def build(recipe: Recipe, seed: int) -> AttentionOnly:
    """A model with random weights drawn from a seed."""
    sizes = D_MODEL, NUM_HEADS
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AttentionOnly(len(SYMBOLS), *sizes, len(recipe.layers), d_head=recipe.d_head)
        for number, layer in enumerate(recipe.layers):
            if layer == "R":
                model.blocks[number] = RetentionBlock(*sizes, recipe.d_head)
    return model


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 6 minutes."""
    runs: list[Run] = []
    for recipe in RECIPES:
        trial = partial(run_recipe, recipe)
        for run in rates_then_seeds(trial, RATES, SEEDS, lambda run: -run["losses"][-1]):
            runs.append(run)
            write_record(__file__, NAME, runs, every=EVERY)


def run_recipe(recipe: Recipe, rate: float, seed: int, steps: int = STEPS) -> Run:
    """Train one model; record its loss at repeats on the way."""
    model, test, start = build(recipe, seed), unseen(), time.process_time()
    losses = [round(repeat_loss(model, test).item(), 3)]

    def look(model: nn.Module) -> float:
        losses.append(round(repeat_loss(model, test).item(), 3))
        return losses[-1]

    batches = repeat_batches(seed)
    settings = {"learning_rate": rate, "seed": seed, "progress": False}
    settings |= {"validate": look, "validate_every": EVERY}
    train(model, batches, repeat_loss, steps, **settings)
    return asdict(recipe) | {
        "rate": rate,
        "seed": seed,
        "losses": losses,
        "parameters": count_parameters(model),
        "cpu_seconds": round(time.process_time() - start, 1),
    }
