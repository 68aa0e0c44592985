"""Probes of layers that read a sequence: the reach of gradients, and the steps that must wait.

A layer is anything that maps (batch, length, d_in) to (batch, length, d_out): a recurrent network,
self-attention, or a stack of either. A probe asks the same question of each of them.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.graph import Node

from attn_course.shapes import checked

Kind = Literal["rnn", "gru", "lstm"]
NETWORKS: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
# From inputs, (batch, length, d_in), to one number for each sequence, (batch,).
Objective = Callable[[Tensor], Tensor]


@checked
def elman(
    tokens: Float[Tensor, "batch length d_in"],
    input_weight: Float[Tensor, "d_hidden d_in"],
    recurrent_weight: Float[Tensor, "d_hidden d_hidden"],
    bias: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "batch length d_hidden"]:
    """The states of a plain recurrent network, `h_t = tanh(W x_t + U h_{t-1} + b)`, from `h_0 = 0`.

    The state is fed back; Jordan's network feeds back the output. Elman's own units were logistic,
    between 0 and 1; the tanh is the one in PyTorch's `nn.RNN`.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: There is no token, a shape does not fit, or an argument holds NaN.

    Source: Elman 1990.
    """
    if not tokens.shape[1]:
        raise ValueError(f"tokens of shape {tuple(tokens.shape)} hold no step")
    hidden = tokens.new_zeros(len(tokens), len(bias))
    states = []
    for token in tokens.unbind(1):
        hidden = torch.tanh(token @ input_weight.mT + hidden @ recurrent_weight.mT + bias)
        states.append(hidden)
    return torch.stack(states, 1)


class RecurrentLayer(nn.Module):
    """A recurrent network of one layer that returns its states and nothing else.

    An "rnn" computes `h_t = tanh(W x_t + U h_(t-1) + b)`; the others have gates besides. Tokens
    `(batch, length, d_model)` give states `(batch, length, d_hidden)`.

    Args:
        kind: "rnn" (Elman's, with tanh), "gru" or "lstm".
        d_model: Width of a token.
        d_hidden: Width of the state; `d_model` if None.
        gain: Factor of the random orthogonal matrix with which the recurrent weights of an "rnn"
            begin; None leaves them as PyTorch draws them.
        forget_bias: Initial bias of the forget gate of an "lstm"; None leaves it as PyTorch draws
            it.

    Raises:
        ValueError: The kind is unknown, or does not have this setting.

    Source: Elman 1990; Cho et al. 2014; Hochreiter and Schmidhuber 1997 with Gers et al. 2000.
    """

    def __init__(
        self,
        kind: Kind,
        d_model: int,
        d_hidden: int | None = None,
        *,
        gain: float | None = None,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__()
        if kind not in NETWORKS:
            raise ValueError(f"{kind=} is unknown; choose from {', '.join(NETWORKS)}")
        if (gain is not None and kind != "rnn") or (forget_bias is not None and kind != "lstm"):
            raise ValueError(f"a {kind!r} does not have {gain=} and {forget_bias=}")
        d_hidden = d_model if d_hidden is None else d_hidden
        self.network = NETWORKS[kind](d_model, d_hidden, batch_first=True)
        with torch.no_grad():
            if gain is not None:
                nn.init.orthogonal_(self.network.get_parameter("weight_hh_l0"), gain)
            if forget_bias is not None:
                forget = slice(d_hidden, 2 * d_hidden)  # of input, forget, cell and output gate
                self.network.get_parameter("bias_ih_l0")[forget] = 0
                self.network.get_parameter("bias_hh_l0")[forget] = forget_bias

    @checked
    def forward(
        self, tokens: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_hidden"]:
        """The state after each token."""
        return self.network(tokens)[0]

    @checked
    def unrolled(
        self, tokens: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_hidden"]:
        """The same states, computed token by token, so that no fused operation hides the steps."""
        network = self.network
        network.check_input(tokens, None)
        step: dict[str, Callable[..., Any]]
        step = {"RNN_TANH": torch.rnn_tanh_cell, "GRU": torch.gru_cell, "LSTM": torch.lstm_cell}
        weights = [getattr(network, name) for name in network._flat_weights_names]
        zero = tokens.new_zeros(len(tokens), network.hidden_size)
        state, states = (zero, zero) if network.mode == "LSTM" else zero, []
        for token in tokens.unbind(1):
            state = step[network.mode](token, state, *weights)
            states.append(state[0] if network.mode == "LSTM" else state)
        return torch.stack(states, 1)


def last_along(layer: Callable[[Tensor], Tensor], direction: Tensor) -> Objective:
    """The objective that reads one number off the last output: its dot product with `direction`."""
    return lambda tokens: layer(tokens)[:, -1] @ direction


@checked
def gradient_reach(
    objective: Objective, tokens: Float[Tensor, "batch length d_in"]
) -> Float[Tensor, " length"]:
    """Norm of the objective's gradient with respect to each input, by distance from the last.

    Over 100 steps or more, a gradient can fall below the smallest number in float32, about 1e-45,
    and is 0 from there on; in float64 it can be followed further.

    Args:
        objective: Gives one number for each sequence, such as `last_along` or a loss at the last
            token.
        tokens: The inputs at which the gradient is taken.

    Returns:
        The mean over the batch; entry `k` belongs to the input `k` steps before the last.

    Raises:
        ValueError: The objective does not give one number for each sequence, or does not depend on
            the tokens.
    """
    tokens = tokens.detach().requires_grad_()
    numbers = objective(tokens)
    if numbers.shape != tokens.shape[:1]:
        raise ValueError(
            f"the objective gave shape {tuple(numbers.shape)}; expected one number for each of "
            f"{len(tokens)} sequences"
        )
    if not numbers.requires_grad:
        raise ValueError("the objective has no gradient: it does not depend on the tokens")
    (gradient,) = torch.autograd.grad(numbers.sum(), tokens)
    return _norms(gradient).mean(0).flip(0)


@checked
def decay_per_step(reach: Float[Tensor, " length"], near: int, far: int) -> Float[Tensor, ""]:
    """The factor by which a gradient changes at each step, as a geometric mean.

    Args:
        reach: From `gradient_reach`.
        near: The smaller distance, in steps.
        far: The larger distance, in steps.

    Raises:
        ValueError: The distances are out of order or too large, or the gradient at one of them is
            zero.
    """
    if not 0 <= near < far < len(reach):
        raise ValueError(f"{near=} and {far=} must be in order, and below {len(reach)}")
    if not (reach[near] > 0 and reach[far] > 0):
        raise ValueError(
            f"reach {reach[near]:.3g} at {near} and {reach[far]:.3g} at {far}: no rate"
        )
    return (reach[far] / reach[near]) ** (1 / (far - near))


def longest_chain(output: Tensor) -> int:
    """Number of operations that had to wait for one another: the longest path through autograd.

    These are the turns of this program, as autograd recorded it: another program for the same
    function may need fewer. Each operation counts as one, however much work it does, even if it
    only changes the shape. A fused operation hides its own chain.

    Raises:
        ValueError: Autograd has not recorded how the tensor was made.
    """
    depth: dict[Node, int] = {}
    for node in _inputs_first(_maker(output)):
        depth[node] = 1 + max((depth[before] for before in _before(node)), default=0)
    return depth[_maker(output)]


def count_parameters(module: nn.Module) -> int:
    """Number of learnable parameters of a module."""
    return sum(weight.numel() for weight in module.parameters() if weight.requires_grad)


def _norms(vectors: Tensor) -> Tensor:
    """Norms over the last axis, even where the squares would underflow or overflow."""
    greatest = vectors.abs().amax(-1, keepdim=True)
    unit = torch.where((greatest > 0) & greatest.isfinite(), greatest, 1)
    return (vectors / unit).norm(dim=-1) * unit.squeeze(-1)


def _maker(output: Tensor) -> Node:
    if output.grad_fn is None:
        raise ValueError(
            f"autograd has not recorded how this tensor of shape {tuple(output.shape)} was made: "
            "none of its inputs requires a gradient, or it was made under no_grad"
        )
    return output.grad_fn


def _before(node: Node) -> list[Node]:
    return [before for before, _ in node.next_functions if before is not None]


def _inputs_first(last: Node) -> Iterator[Node]:
    """Yield all operations up to the last, each after the operations that it waits for."""
    stack, opened, done = [last], set(), set()
    while stack:
        node = stack[-1]
        if node not in opened:
            opened.add(node)
            stack += [before for before in _before(node) if before not in opened]
        else:
            stack.pop()
            if node not in done:
                done.add(node)
                yield node
