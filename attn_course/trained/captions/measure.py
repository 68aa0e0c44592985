"""Measurements of a captioner: its captions, where it looks, and the variance of its gradient."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import torch
from torch import Tensor
from torch.nn import functional

from attn_course.captioning import Captioner
from attn_course.captions.counterfactual import Directed
from attn_course.captions.exact_expectation import (
    best_baseline,
    every_path,
    exact_score_gradient,
    reinforce_variance,
)
from attn_course.captions.hard_attention import HardCaptioner, caption_log_likelihood, one_hot
from attn_course.data.captions import (
    NO_CELL,
    VOCABULARY,
    CaptionBatch,
    caption_batch,
    captioned_images,
)
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import PAD
from attn_course.trained.captions.recipes import EMPTY, CellReader, cell_batches

NUM_TESTS, TEST_SEED = 1000, 10_000
VARIANCE_SEED, NUM_VARIED, NUM_DRAWS = 20_000, 50, 100
EIGHT = VOCABULARY.encode(["eight"])[0]


@lru_cache
def unseen(number: int = NUM_TESTS) -> CaptionBatch:
    """Test images, of digits that are in no captioner's training; the same for every captioner."""
    return caption_batch(islice(captioned_images(TEST_SEED, "test"), number))


@torch.no_grad()
def read_right(reader: CellReader, number: int = 500) -> dict[str, float]:
    """Shares of the cells that a reader reads correctly: with unseen digits, and empty ones."""
    image, shown = next(cell_batches(TEST_SEED, "test", number))
    right = (reader(image).argmax(-1) == shown).float()
    kinds = {"digits": shown < EMPTY, "empty": shown == EMPTY}
    return {name: round(right[kind].mean().item(), 4) for name, kind in kinds.items()}


@torch.no_grad()
def exactly_right(model: Captioner, batch: CaptionBatch) -> Tensor:
    """True for captions that the model writes by itself without a wrong word, (batch,)."""
    wanted = batch.target_output
    longer = wanted.shape[1] + 5
    written = greedy_decode(model, batch.image, longer)
    return (_padded(written, longer) == _padded(wanted, longer)).all(-1)


def _padded(tokens: Tensor, length: int) -> Tensor:
    return functional.pad(tokens, (0, length - tokens.shape[1]), value=PAD)


@torch.no_grad()
def measure(model: Captioner) -> dict[str, float]:
    """Correct shares, and where the model looks when it names a digit.

    `exact` is the share of captions that it writes correctly by itself. For the rest, the right
    words before are given: `words` is the share of correct words, including EOS, and `digits` the
    share among words that name a digit. At these words, `pointing` is the share with the greatest
    weight on the digit's cell, `weight` the weight of that cell, and `entropy` the entropy of the
    weights in nats.
    """
    batch = unseen()
    logits, weights, _, _ = model.trace(batch.target_input, model.start(batch.image))
    right = logits.argmax(-1) == batch.target_output
    names, words = batch.cell != NO_CELL, batch.target_output != PAD
    there = weights[names].gather(-1, batch.cell[names].unsqueeze(-1))
    shares = {
        "exact": exactly_right(model, batch),
        "words": right[words],
        "digits": right[names],
        "pointing": weights[names].argmax(-1) == batch.cell[names],
        "weight": there,
        "entropy": torch.special.entr(weights[names]).sum(-1),
    }
    return {name: round(share.double().mean().item(), 4) for name, share in shares.items()}


@torch.no_grad()
def follows(model: Captioner, batch: CaptionBatch, with_article: bool = False) -> dict[str, float]:
    """A captioner's word for the first digit when all weight is moved to the last digit's cell.

    Only images count whose first and last digit differ and neither is an eight, which the given
    article would tell from the others. The words before are given. `own` is the share in which it
    still names the first digit, `other` the share in which it names the last, and `as_before` the
    share in which it says the same as with its own weights. With `with_article` the weight of the
    word before is moved as well, since the state may remember what was seen there.
    """
    names, rows = batch.cell != NO_CELL, torch.arange(len(batch.cell))
    first = names.int().argmax(-1)
    last = names.shape[1] - 1 - names.flip(-1).int().argmax(-1)
    before = model.trace(batch.target_input, model.start(batch.image))
    moved = torch.zeros_like(before.used)
    for word in (first - 1, first) if with_article else (first,):
        moved[rows, word] = one_hot(batch.cell[rows, last], before.used)
    told = Directed(model, moved)
    after, _ = told.decode(batch.target_input, told.start(batch.image))
    said = after[rows, first].argmax(-1)
    own, other = batch.target_output[rows, first], batch.target_output[rows, last]
    wanted = {"own": own, "other": other, "as_before": before.logits[rows, first].argmax(-1)}
    counts = (own != other) & (own != EIGHT) & (other != EIGHT)
    return {
        name: round((said == word)[counts].double().mean().item(), 4)
        for name, word in wanted.items()
    }


def varied() -> CaptionBatch:
    """Images of validation digits, on which to measure gradients."""
    images = captioned_images(VARIANCE_SEED, "validation")
    return caption_batch(islice(images, NUM_VARIED))


def words_one_by_one(
    model: HardCaptioner, batch: CaptionBatch
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield, for each word, True for the captions in which it names a digit, the weights, and the
    log-likelihood of the word for every cell; before it the model looked at its likeliest cells."""
    state = model.start(batch.image)
    for word in range(batch.target_input.shape[1]):
        given, said = batch.target_input[:, word, None], batch.target_output[:, word, None]
        paths = every_path(model, state, given, said)
        yield batch.cell[:, word] != NO_CELL, paths.log_policy.exp(), paths.log_likelihood
        state = model.trace(given, state).state


@torch.no_grad()
def one_word_variance(model: HardCaptioner) -> dict[str, float]:
    """Variance of a draw's gradient by the scores of a word that names a digit, summed exactly.

    The reward is the log-likelihood of this word. There are four baselines: none; `one`, the same
    for all words, which a moving average approaches; `expected`, the expected reward at the word;
    and `best`, which has the least variance. `exact` is the squared length of the exact gradient.
    All are means over the words.
    """
    seen = [[part[names] for part in rest] for names, *rest in words_one_by_one(model, varied())]
    weights, reward = (torch.cat(part).double() for part in zip(*seen, strict=True))
    expected = (weights * reward).sum(-1)
    baselines = {
        "none": torch.zeros_like(expected),
        "one": expected.mean().expand_as(expected),
        "expected": expected,
        "best": best_baseline(weights, reward),
    }
    found = {name: reinforce_variance(weights, reward, b) for name, b in baselines.items()}
    found["exact"] = exact_score_gradient(weights, reward).square().sum(-1)
    return {name: _significant(values.mean()) for name, values in found.items()}


@torch.no_grad()
def caption_variance(model: HardCaptioner, draws: int = NUM_DRAWS) -> dict[str, float]:
    """Variance of a draw's gradient by all scores of a caption, estimated from many draws.

    The reward is the log-likelihood of the caption. The baseline `one` is the mean reward over all
    captions, as in a moving average, and `own` is the mean over this caption's draws.
    """
    batch = varied()
    drawn, reward = _drawn(model, batch, draws)
    baselines = {
        "none": torch.zeros(()),
        "one": reward.mean(),
        "own": reward.mean(0, keepdim=True),
    }
    return {name: _significant(_spread(reward - b, drawn)) for name, b in baselines.items()}


def _drawn(model: HardCaptioner, batch: CaptionBatch, draws: int) -> tuple[Tensor, Tensor]:
    """For many draws, (draws, captions, ...): the steps `onehot - α`, and the rewards."""
    many = CaptionBatch(*(part.repeat(draws, *[1] * (part.ndim - 1)) for part in batch))
    generator = torch.Generator().manual_seed(0)
    found = model.draw(many.target_input, model.start(many.image), generator=generator)
    step = one_hot(found.cells, found.weights) - found.weights
    step = step * (many.target_output != PAD).unsqueeze(-1)
    reward = caption_log_likelihood(found.logits, many.target_output)
    return step.flatten(1).unflatten(0, (draws, -1)), reward.unflatten(0, (draws, -1))


def _spread(advantage: Tensor, step: Tensor) -> Tensor:
    """Variance over the draws, summed over the scores, as a mean over the captions."""
    return (advantage.unsqueeze(-1) * step).var(0).sum(-1).mean()


def _significant(number: Tensor) -> float:
    """Four digits."""
    return float(f"{number.item():.4g}")
