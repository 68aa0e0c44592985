"""The layers that a student's probe of gradients looks into do what is said of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attn_bank.sequence_layers import SEQUENCE_LAYERS, SequenceLayer
from attn_course.recurrence import elman, gradient_reach, last_along

D_IN, D_OUT, LENGTH = 3, 4, 5
USES = {  # the distances that the last output depends on
    "feeds_its_state_back": {0, 1, 2, 3, 4},
    "fades": {0, 1, 2, 3, 4},
    "attends": {0, 1, 2, 3, 4},
    "sees_the_first_only": {4},
    "is_deaf": set(),
}


def layer(name: str) -> SequenceLayer:
    draw = torch.Generator().manual_seed(1)
    sizes = (D_IN, D_OUT), (D_OUT, D_OUT)
    weights = [torch.randn(size, generator=draw, dtype=torch.float64) for size in sizes]
    return SequenceLayer(name, *(weight.requires_grad_() for weight in weights))


def texts(dtype: torch.dtype = torch.float64) -> Tensor:
    draw = torch.Generator().manual_seed(2)
    return torch.randn(2, LENGTH, D_IN, generator=draw, dtype=torch.float64).to(dtype)


def test_every_layer_is_looked_at_here():
    assert USES.keys() == SEQUENCE_LAYERS.keys()


@pytest.mark.parametrize("name", USES)
def test_last_output_depends_on_the_tokens_it_should(name):
    tokens = texts().requires_grad_()
    last = layer(name)(tokens)[:, -1].square().sum()
    (gradient,) = torch.autograd.grad(last, tokens, materialize_grads=True)
    used = gradient.norm(dim=-1).flip(1) > 0
    assert [set(row.nonzero().flatten().tolist()) for row in used] == [USES[name]] * 2


@pytest.mark.parametrize("name", USES)
def test_layer_treats_texts_of_float32_alone_and_can_be_trained(name):
    tokens, ours = texts(torch.float32), layer(name)
    together = ours(tokens)
    alone = torch.cat([ours(text) for text in tokens.split(1)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)
    assert (together.shape, together.dtype) == ((2, LENGTH, D_OUT), torch.float32)
    assert together.requires_grad
    assert repr(ours) == name


def test_recurrent_layer_is_elmans():
    ours = layer("feeds_its_state_back")
    from_token, from_state = (weight.detach().mT for weight in ours.weights)
    wanted = elman(texts(), from_token, from_state, torch.zeros(D_OUT, dtype=torch.float64))
    torch.testing.assert_close(ours(texts()).detach(), wanted, rtol=1e-12, atol=1e-12)


def test_fading_layer_loses_three_fifths_a_step():
    ones = torch.ones(D_OUT, dtype=torch.float64)
    reach = gradient_reach(last_along(layer("fades"), ones), texts())
    lost = 1 - reach[1:] / reach[:-1]
    torch.testing.assert_close(lost, torch.full_like(lost, 0.6), rtol=1e-12, atol=0)
