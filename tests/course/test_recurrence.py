"""The probes: by hand, by their laws, and against PyTorch's networks.

Sizes are distinct, so that no swapped axis passes; references are in float64.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.recurrence import (
    NETWORKS,
    RecurrentLayer,
    count_parameters,
    decay_per_step,
    elman,
    gradient_reach,
    last_along,
    longest_chain,
)
from attn_course.self_attention import SelfAttention
from tests.tensors import CLOSELY, draw

BATCH, LENGTH, D_MODEL, D_HIDDEN = 2, 7, 3, 5
KINDS = pytest.mark.parametrize("kind", NETWORKS)


def make(kind: str, **settings: float) -> RecurrentLayer:
    """Make a layer in float64, the same each time."""
    torch.manual_seed(0)
    return RecurrentLayer(kind, D_MODEL, D_HIDDEN, **settings).double()


def test_states_of_elmans_network_by_hand() -> None:
    one = torch.ones(1, 1)
    states = elman(torch.tensor([[[1.0], [0.0], [0.0]]]), one, -2 * one, 0.5 * one[0])
    first = torch.tensor(1.5).tanh()
    second = (-2 * first + 0.5).tanh()
    assert_close(states, torch.stack([first, second, (-2 * second + 0.5).tanh()]).view(1, 3, 1))


def test_elmans_network_agrees_with_pytorchs() -> None:
    network, tokens = make("rnn").network, draw(BATCH, LENGTH, D_MODEL)
    bias = network.bias_ih_l0 + network.bias_hh_l0
    states = elman(tokens, network.weight_ih_l0, network.weight_hh_l0, bias)
    assert_close(states, network(tokens)[0], **CLOSELY)


@KINDS
def test_unrolled_network_gives_the_same_states_and_gradients(kind: str) -> None:
    layer, tokens = make(kind), draw(BATCH, LENGTH, D_MODEL).requires_grad_()
    fused, unrolled = layer(tokens), layer.unrolled(tokens)
    assert fused.shape == (BATCH, LENGTH, D_HIDDEN)
    assert_close(unrolled, fused, **CLOSELY)
    direction = draw(*fused.shape, seed=1)
    ours, theirs = (torch.autograd.grad(out, tokens, direction)[0] for out in (unrolled, fused))
    assert_close(ours, theirs, **CLOSELY)


def test_gain_makes_the_recurrent_weights_a_scaled_orthogonal_matrix() -> None:
    weight = make("rnn", gain=1.7).network.weight_hh_l0.detach()
    assert_close(weight @ weight.mT, 1.7**2 * torch.eye(D_HIDDEN).double(), rtol=0, atol=1e-6)


def test_forget_bias_is_that_of_the_forget_gate_alone() -> None:
    plain, biased = make("lstm").network, make("lstm", forget_bias=3.0).network
    forget = slice(D_HIDDEN, 2 * D_HIDDEN)
    total = biased.bias_ih_l0 + biased.bias_hh_l0
    assert_close(total[forget], torch.full_like(total[forget], 3))
    before = plain.bias_ih_l0 + plain.bias_hh_l0
    others = torch.ones(4 * D_HIDDEN, dtype=torch.bool)
    others[forget] = False
    assert_close(total[others], before[others])


def test_open_forget_gate_keeps_what_a_shut_one_loses() -> None:
    silence = torch.zeros(1, 30, D_MODEL).double()
    word = silence.clone()
    word[:, 0] = 3
    traces = {}
    for bias in (-9.0, 9.0):
        layer = make("lstm", forget_bias=bias)
        traces[bias] = (layer(word) - layer(silence))[:, -1].norm().item()
    assert traces[-9.0] < 1e-12
    assert traces[9.0] > 0.01


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("transformer", {}, "kind=.transformer. is unknown; choose from rnn, gru, lstm"),
        ("gru", {"gain": 1.0}, "a 'gru' does not have gain=1.0"),
        ("rnn", {"forget_bias": 1.0}, "forget_bias=1.0"),
    ],
)
def test_network_that_there_is_not_is_refused(kind: str, settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RecurrentLayer(kind, D_MODEL, **settings)


def geometric(factor: float) -> object:
    """Return the linear layer `h_t = factor h_{t-1} + x_t`, written without a loop."""

    def layer(tokens: Tensor) -> Tensor:
        steps = torch.arange(tokens.shape[1]).double()
        powers = torch.tril(factor ** (steps.unsqueeze(1) - steps).clamp(min=0))
        return powers @ tokens

    return layer


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.3])
def test_gradient_of_a_linear_network_is_a_power_of_its_factor(factor: float) -> None:
    direction = torch.tensor([3.0, 0.0, 4.0]).double()
    reach = gradient_reach(last_along(geometric(factor), direction), draw(BATCH, LENGTH, D_MODEL))
    assert_close(reach, 5 * factor ** torch.arange(LENGTH).double(), **CLOSELY)
    assert_close(decay_per_step(reach, 1, 6), torch.tensor(factor, dtype=torch.float64), **CLOSELY)


@KINDS
def test_reach_is_the_norm_of_the_jacobian_along_a_direction(kind: str) -> None:
    layer, tokens, direction = make(kind), draw(BATCH, LENGTH, D_MODEL), draw(D_HIDDEN, seed=1)
    objective = last_along(layer, direction)
    jacobian = torch.autograd.functional.jacobian(objective, tokens)  # (batch, *tokens.shape)
    norms = torch.stack([jacobian[i, i].norm(dim=-1) for i in range(BATCH)]).mean(0)
    assert_close(gradient_reach(objective, tokens), norms.flip(0), **CLOSELY)


@pytest.mark.parametrize("size", [1e-45, 1e-30, 1.0, 1e30])
def test_reach_is_not_lost_in_a_square(size: float) -> None:
    direction = size * torch.tensor([3.0, 0.0, -4.0])  # in float32 its square is 0, or infinite
    tokens = draw(BATCH, LENGTH, D_MODEL).float()
    reach = gradient_reach(last_along(lambda given: given, direction), tokens)
    wanted = torch.zeros(LENGTH)
    wanted[0] = 5 * size
    assert_close(reach, wanted, rtol=1e-6 if size > 1e-40 else 0.2, atol=0)


def test_reach_of_an_infinite_gradient_is_infinite() -> None:
    direction = torch.tensor([float("inf"), 0.0, 1.0])
    layer = last_along(lambda given: given.abs() + 1, direction)
    reach = gradient_reach(layer, draw(BATCH, LENGTH, D_MODEL).float())
    assert reach[0] == float("inf")


def test_reach_leaves_no_gradient_behind() -> None:
    layer, tokens = make("gru"), draw(BATCH, LENGTH, D_MODEL).requires_grad_()
    gradient_reach(last_along(layer, draw(D_HIDDEN)), tokens)
    assert tokens.grad is None
    assert all(weight.grad is None for weight in layer.parameters())


def test_objective_that_is_none_is_refused() -> None:
    tokens = draw(BATCH, LENGTH, D_MODEL)
    with pytest.raises(ValueError, match=r"gave shape \(2, 7\); expected one number for each of 2"):
        gradient_reach(lambda given: given.sum(-1), tokens)
    with pytest.raises(ValueError, match="does not depend on the tokens"):
        gradient_reach(lambda given: torch.zeros(len(given)), tokens)


@pytest.mark.parametrize(("near", "far"), [(3, 3), (4, 2), (-1, 2), (0, 7)])
def test_distances_that_are_not_there_are_refused(near: int, far: int) -> None:
    with pytest.raises(ValueError, match=f"near={near} and far={far} must be in order, and below"):
        decay_per_step(torch.ones(7), near, far)


def test_rate_of_what_has_vanished_is_refused() -> None:
    with pytest.raises(ValueError, match="1 at 0 and 0 at 2: no rate"):
        decay_per_step(torch.tensor([1.0, 1e-30, 0.0]), 0, 2)


def test_longest_chain_by_hand() -> None:
    given = torch.ones(3, requires_grad=True)
    doubled = 2 * given
    # the leaf itself counts as the operation that takes its gradient in
    assert longest_chain(doubled) == 2
    longer = (doubled + 1).relu()
    assert longest_chain(longer * doubled) == 5  # two ways meet; the longer one counts
    assert longest_chain(doubled * longer) == 5


def chain(layer: object, length: int) -> int:
    """Return the longest chain behind the last output for so many tokens."""
    return longest_chain(layer(draw(BATCH, length, D_MODEL).requires_grad_())[:, -1])


@KINDS
def test_chain_of_a_recurrent_network_grows_by_the_same_at_each_token(kind: str) -> None:
    layer = make(kind).unrolled
    four, five, ninety = (chain(layer, length) for length in (4, 5, 90))
    assert five > four
    assert ninety - four == 86 * (five - four)


def test_chain_of_self_attention_does_not_grow() -> None:
    layer = SelfAttention(D_MODEL).double()
    assert chain(layer, 4) == chain(layer, 90)


def test_very_long_chain_is_counted() -> None:
    number = torch.ones((), requires_grad=True)
    for _ in range(20_000):
        number = number + 1
    assert longest_chain(number) == 20_001


def test_tensor_that_nothing_made_has_no_chain() -> None:
    with pytest.raises(ValueError, match=r"shape \(4, 2\) was made: none of its inputs"):
        longest_chain(torch.ones(4, 2))


@KINDS
def test_parameters_do_not_grow_with_the_length(kind: str) -> None:
    layer = make(kind)
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    number = gates * (D_HIDDEN * (D_MODEL + D_HIDDEN) + 2 * D_HIDDEN)
    for length in (1, 2, 300):
        layer(draw(1, length, D_MODEL))
        assert count_parameters(layer) == number


def test_frozen_parameters_do_not_count() -> None:
    layer = nn.Linear(3, 4)
    layer.bias.requires_grad_(False)
    assert count_parameters(layer) == 12


def test_empty_sequence_and_wrong_widths_are_refused() -> None:
    square = torch.ones(2, 2)
    with pytest.raises(ValueError, match=r"shape \(1, 0, 2\) hold no step"):
        elman(torch.ones(1, 0, 2), square, square, square[0])
    with pytest.raises(ValueError, match="d_in"):
        elman(torch.ones(1, 4, 3), square, square, square[0])
    with pytest.raises(ValueError, match="d_hidden"):
        elman(torch.ones(1, 4, 2), square, torch.ones(3, 3), square[0])


@pytest.mark.cuda
@KINDS
def test_cuda_agrees_with_the_processor(kind: str) -> None:
    layer, tokens, direction = make(kind), draw(BATCH, LENGTH, D_MODEL), draw(D_HIDDEN, seed=1)
    here = gradient_reach(last_along(layer, direction), tokens)
    there = gradient_reach(last_along(layer.cuda(), direction.cuda()), tokens.cuda())
    assert_close(there.cpu(), here, **CLOSELY)
    tokens = tokens.cuda()
    assert_close(layer.unrolled(tokens), layer(tokens), **CLOSELY)
