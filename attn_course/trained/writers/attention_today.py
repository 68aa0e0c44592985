"""Writers whose attention has two of today's changes: shared keys, or normalized queries and keys.

`make` trains models of the size of `ablations`, on the same text and from the same seeds: with
four heads of queries and fewer heads of keys, and at growing rates, with the scores that all models
of this course have and with those of normalized queries and keys.
"""

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from attn_course.data.novels import pieces
from attn_course.layer.key_value_cache import KeyValueCache
from attn_course.long_context import rotate_pairs
from attn_course.multi_head import MultiHeadAttention
from attn_course.trained.store import write_record
from attn_course.trained.writers import Run
from attn_course.trained.writers.ablations import EVERY, RATE, SEEDS, SIZES, measured
from attn_course.transformer import Block, LanguageModel

NAME = "attention_today"
STEPS = {"shared": 400, "rates": 200}


@dataclass(frozen=True)
class Recipe:
    """A change to the attention of a small writer, and the rate at which it learns.

    Attributes:
        num_kv_heads: Heads of keys and values, for four of queries.
        rate: The learning rate.
        is_normed: True if queries and keys are normalized before they meet.
    """

    num_kv_heads: int = 4
    rate: float = RATE
    is_normed: bool = False


RECIPES = {
    "shared": [Recipe(number) for number in (4, 2, 1)],
    "rates": [
        Recipe(rate=by * RATE, is_normed=normed) for by in (1, 8, 32) for normed in (False, True)
    ],
}


class ChangedBlock(Block):
    """A block of the writer whose layer of attention is of a recipe."""

    def __init__(self, recipe: Recipe, *sizes: int) -> None:
        super().__init__(*sizes)
        d_model, num_heads = sizes[:2]
        self.attention = MultiHeadAttention(
            d_model,
            num_heads,
            num_kv_heads=recipe.num_kv_heads,
            qk_norm=nn.RMSNorm if recipe.is_normed else None,
            rotary=rotate_pairs,
        )

    def look(self, tokens: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Return what each token takes from itself and from those before it."""
        return self.attention(tokens, is_causal=True)


def make() -> None:
    """Train, measure and record all of them; the record is rewritten after each run: 4 minutes."""
    runs: list[Run] = []
    settings = {"steps": STEPS, "rate": RATE, "every": EVERY, "sizes": SIZES}
    for seed in SEEDS:
        for question, recipes in RECIPES.items():
            for recipe in recipes:
                runs.append(run(question, recipe, seed))
                write_record(__file__, NAME, runs, **settings)


def build(recipe: Recipe, seed: int) -> LanguageModel:
    """A model with weights drawn from a seed."""
    sizes = tuple(SIZES[name] for name in ("d_model", "num_heads", "d_hidden", "context"))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(len(pieces()), **SIZES, input_scale=SIZES["d_model"] ** 0.5)
        model.blocks = nn.ModuleList(ChangedBlock(recipe, *sizes) for _ in model.blocks)
    return model


def run(question: str, recipe: Recipe, seed: int) -> Run:
    """Train a model; record its losses, and its bits on unseen text."""
    found = measured(build(recipe, seed), seed, STEPS[question], recipe.rate)
    return {"question": question, **asdict(recipe), **found}
