"""Recipes that say how the captioners of the book are built and trained."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attn_course.captioning import Captioner, GridEncoder, UniformCaptioner
from attn_course.captions.hard_attention import (
    HardCaptioner,
    caption_log_likelihood,
    entropy,
    log_weight_of,
    reinforce_loss,
)
from attn_course.captions.image_grid import doubly_stochastic_penalty
from attn_course.data.captions import VOCABULARY, CaptionBatch, caption_batches, captioned_images
from attn_course.seq2seq import PAD
from attn_course.trained.captions.variants import (
    NoBaselineCaptioner,
    PlacelessCaptioner,
    SideBySideCaptioner,
    UniformSideBySideCaptioner,
)
from attn_course.training import History, train
from attn_course.training.loop import Validate

SEEDS = (0, 1, 2)
BATCH_SIZE, VISION_STEPS = 64, 400
NUM_CELLS = 9  # of the images that `captioned_images` yields
EMPTY = 10  # the label of an empty cell, after the ten digits
# For hard attention: weights of REINFORCE and of the entropy in the objective, and the share of
# captions whose context is the mean of all cells instead.
REINFORCE, ENTROPY, SOFT_SHARE = 0.05, 0.002, 0.5


@dataclass(frozen=True)
class Recipe:
    """A kind of captioner, and its training.

    Attributes:
        kind: The class.
        penalty: Weight of the doubly stochastic penalty in the loss of a word.
        reinforce: Weight of REINFORCE in the objective, for hard attention.
        steps: Number of batches to learn from.
        ship: True if the weights of the first seed come with the course.
        moved: True if it is also measured with its weight moved elsewhere.
        twins: True if it is also measured on images that show one digit twice.
        seeds: The seeds from which it is trained.
    """

    kind: type[Captioner]
    penalty: float = 0.0
    reinforce: float = REINFORCE
    steps: int = 1200
    ship: bool = False
    moved: bool = False
    twins: bool = False
    seeds: tuple[int, ...] = SEEDS


RECIPES = {
    "soft": Recipe(Captioner, ship=True, moved=True, twins=True),
    "hard": Recipe(HardCaptioner, ship=True, moved=True),
    "uniform": Recipe(UniformCaptioner, ship=True),
    "soft_penalty": Recipe(Captioner, penalty=0.1),
    "soft_side_by_side": Recipe(SideBySideCaptioner),
    "uniform_side_by_side": Recipe(UniformSideBySideCaptioner),
    "soft_placeless": Recipe(PlacelessCaptioner, twins=True),
    "hard_no_baseline": Recipe(NoBaselineCaptioner),
    "hard_no_reinforce": Recipe(HardCaptioner, reinforce=0.0, seeds=SEEDS[:1]),
}


def find_recipe(name: str) -> Recipe:
    """The trial with this name.

    Raises:
        ValueError: There is no such trial; the message lists all trials.
    """
    if name not in RECIPES:
        raise ValueError(f"there is no captioner {name!r}; choose from {', '.join(RECIPES)}")
    return RECIPES[name]


class CellBatch(NamedTuple):
    """Images, (batch, 1, height, width), and the label of each cell, (batch, num_cells)."""

    image: Tensor
    shown: Tensor

    def to(self, device: torch.device | str) -> "CellBatch":
        """The batch on another device."""
        return CellBatch(*(part.to(device) for part in self))


class CellReader(nn.Module):
    """A grid encoder that learns by reading the label of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.vision = GridEncoder()
        self.read_out = nn.Linear(self.vision.d_feature, EMPTY + 1)

    def forward(self, image: Tensor) -> Tensor:
        """Logits of the ten digits and of an empty cell, (batch, num_cells, 11)."""
        return self.read_out(self.vision(image))


def cell_batches(seed: int, split: str = "training", size: int = BATCH_SIZE) -> Iterator[CellBatch]:
    """Images with one to nine digits, without end."""
    stream = captioned_images(seed, split, 3, (1, 9))
    while True:
        some = list(islice(stream, size))
        shown = [[EMPTY if digit is None else digit for digit in one.digits] for one in some]
        yield CellBatch(torch.stack([one.image for one in some]), torch.tensor(shown))


def reading_loss(model: CellReader, batch: CellBatch) -> Tensor:
    """Mean of `-log p` of the label of each cell."""
    return functional.cross_entropy(model(batch.image).flatten(0, 1), batch.shown.flatten())


@cache
def train_reader(seed: int, steps: int = VISION_STEPS) -> CellReader:
    """Train a reader of cells; its grid encoder is the eye of all captioners of this seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CellReader()
    train(model, cell_batches(seed), reading_loss, steps, seed=seed, progress=False)
    return model.eval().requires_grad_(False)


def build(name: str, vision: nn.Module | None = None, seed: int = 0) -> Captioner:
    """The captioner of a trial, with random weights except in its eye."""
    recipe = find_recipe(name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return recipe.kind(vision or GridEncoder(), NUM_CELLS, len(VOCABULARY))


def train_captioner(
    name: str, seed: int, steps: int | None = None, validate: Validate | None = None
) -> tuple[Captioner, History]:
    """Train the captioner of a trial; its eye is already trained, and stays as it is."""
    recipe = find_recipe(name)
    model = build(name, copy.deepcopy(train_reader(seed).vision), seed)
    stream = caption_batches(seed, BATCH_SIZE, "training")
    steps = recipe.steps if steps is None else steps
    settings = {"seed": seed, "validate": validate, "validate_every": 300, "progress": False}
    if isinstance(model, HardCaptioner):
        loss = partial(hard_loss, reinforce=recipe.reinforce)
    else:
        loss = partial(soft_loss, penalty=recipe.penalty)
    return model, train(model, stream, loss, steps, **settings)


def soft_loss(model: Captioner, batch: CaptionBatch, penalty: float = 0.0) -> Tensor:
    """`-log p` of a caption and its share of the penalty, for each of its words."""
    trace, mask = (
        model.trace(batch.target_input, model.start(batch.image)),
        batch.target_output != PAD,
    )
    loss = -caption_log_likelihood(trace.logits, batch.target_output).mean()
    loss = loss + penalty * doubly_stochastic_penalty(trace.weights, mask)
    return loss * len(mask) / mask.sum()


def hard_loss(model: HardCaptioner, batch: CaptionBatch, reinforce: float = REINFORCE) -> Tensor:
    """Minus the objective of hard attention, per word, estimated from one draw per caption.

    Source: Xu et al. 2015, the learning rule of section 4.1.
    """
    mask = batch.target_output != PAD
    drawn = model.draw(batch.target_input, model.start(batch.image), SOFT_SHARE)
    reward = caption_log_likelihood(drawn.logits, batch.target_output)
    log_policy = log_weight_of(drawn.weights, drawn.cells)
    baseline = model.baseline(reward)
    chosen = mask & drawn.hard.unsqueeze(-1)
    loss = -reward.mean() + reinforce * reinforce_loss(log_policy, reward, baseline, chosen)
    loss = loss - ENTROPY * (entropy(drawn.weights) * mask).sum(-1).mean()
    return loss * len(mask) / mask.sum()
