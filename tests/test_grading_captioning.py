"""What the checks of problem set 06 rest on."""

import pytest
import torch
from torch.testing import assert_close

from attn_course.exact_expectation import exact_score_gradient
from attn_course.grading.exercises.captioning import hard_loss


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
