"""The facts on which the checks of problem set 06 rest."""

import pytest
import torch
from hintgrader.worker.submission import LocalSubmission
from torch import Tensor
from torch.testing import assert_close

from attn_bank.captioning import hard_context, hard_loss, look_elsewhere
from attn_course.captions.exact_expectation import exact_score_gradient


@pytest.mark.parametrize("seed", range(3))
def test_mean_over_every_cell_is_the_exact_gradient_whatever_the_baseline(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    inputs = hard_loss.draw_every_cell(draw, batch=3, num_cells=7)
    scores, cells = inputs["scores"].requires_grad_(), inputs["cells"]
    weights = torch.softmax(scores.detach(), -1)
    of_cell = torch.zeros_like(weights).scatter(1, cells, inputs["reward"])
    (found,) = torch.autograd.grad(hard_loss.reference(**inputs), scores)
    exact = -exact_score_gradient(weights, of_cell) / len(weights)
    assert_close(found, exact, rtol=0, atol=1e-14)
    assert inputs["baseline"].abs().min() > 0.01


def test_right_draws_are_refused_less_than_once_in_a_hundred_thousand_times() -> None:
    """All counts and means of the public and the hidden draws are taken together."""
    counting = hard_context.EXERCISE.checks[1]
    images = [sizes["images"] for sizes in counting.sizes + counting.hidden_sizes]
    half, limit = torch.tensor([2.5, hard_context.MAX_DEVIANCE / 2]).double()
    count = torch.special.gammaincc(half, limit)  # chi-squared with 5 degrees of freedom
    mean = torch.special.erfc(torch.tensor(hard_context.MAX_DEVIATIONS).double() / 2**0.5)
    assert 6.5e7 < 1 / count < 7.5e7
    assert 2e7 < 1 / mean < 3e7
    assert sum(images) * count + 4 * len(images) * mean < 1e-6


def test_deviance_of_right_draws_is_spread_as_chi_squared() -> None:
    draw = torch.Generator().manual_seed(0)
    inputs = hard_context.draw_many_times(draw, images=1, times=500, height=2, width=3, d_feature=1)
    weights = torch.softmax(inputs["scores"].flatten(1), -1)[0]
    cells = torch.multinomial(weights.expand(2000, -1), 1000, replacement=True, generator=draw)
    counts = torch.nn.functional.one_hot(cells, 6).sum(1).double()
    found = hard_context.deviance(counts, 1000 * weights)
    assert_close(found.mean(), torch.tensor(5.0).double(), rtol=0, atol=0.3)
    assert_close(found.var(), torch.tensor(10.0).double(), rtol=0, atol=1.5)


def _shares(scores: Tensor, features: Tensor, offset: int) -> tuple[Tensor, Tensor]:
    """Right draws, but of two images that are so far apart the same number decides."""
    cumulated = torch.softmax(scores.flatten(1).double(), -1).cumsum(-1)
    chance = torch.rand(len(scores), dtype=torch.float64)
    where = torch.arange(len(scores))
    chance = torch.where(where // offset % 2 > 0, chance.roll(offset), chance)
    cells = (cumulated <= chance.unsqueeze(1) * cumulated[:, -1:]).sum(1)
    return features.flatten(1, 2)[where, cells], cells


@pytest.mark.parametrize(("offset", "refused"), [(1, True), (6, True), (2400, True), (9999, False)])
def test_draws_that_share_a_random_number_are_refused(offset: int, refused: bool) -> None:
    inputs = hard_context.EXERCISE.checks[1].inputs("test")[0]
    answer = LocalSubmission(lambda scores, features: _shares(scores, features, offset))

    def call(given: dict, seed: int = 0) -> tuple[Tensor, Tensor]:
        return answer.call(given, seed=seed).output

    found = hard_context.follows_the_weights(call, inputs)
    assert (found is not None and found[1] == ["together"]) == refused


def test_captioner_says_the_same_of_equal_weights_that_rounding_has_parted() -> None:
    digits, one = torch.tensor([[3, 7, -1]]), torch.ones(1, dtype=torch.long)
    say = look_elsewhere.Speaker(digits, look_elsewhere.LOOKS * one, 5 * one)
    equal = torch.tensor([[0.4, 0.4, 0.2]])
    for parted in (equal, torch.nextafter(equal, torch.tensor([[0.0, 1.0, 0.0]]))):
        assert say(parted).item() == 3
