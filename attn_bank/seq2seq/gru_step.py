"""Part B of problem set 03: one step of a GRU, from a formula that was printed without two biases.

Two things in it look like slips and are conventions: which of the two the update gate keeps, and
whether the reset gate comes before the matrix product or behind it.
"""

from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, mistaking
from torch import Generator, Tensor

from attn_bank.draws import draw_normal


def reference(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> Tensor:
    flat = [tensor.reshape(-1, tensor.shape[-1]) for tensor in (inputs, state)]
    return torch.gru_cell(*flat, weight_ih, weight_hh, bias_ih, bias_hh).reshape(state.shape)


def draw_cell(
    generator: Generator,
    d_input: int,
    d_hidden: int,
    batch: int | None = None,
    beams: int | None = None,
    spread: float = 1.0,
) -> Inputs:
    """Inputs that are `spread` wide, and states, with the axes `batch` and `beams` if given."""
    before = [size for size in (batch, beams) if size is not None]
    return {
        "inputs": spread * draw_normal(generator, *before, d_input),
        "state": draw_normal(generator, *before, d_hidden),
        "weight_ih": draw_normal(generator, 3 * d_hidden, d_input) / d_input**0.5,
        "weight_hh": draw_normal(generator, 3 * d_hidden, d_hidden) / d_hidden**0.5,
        "bias_ih": draw_normal(generator, 3 * d_hidden),
        "bias_hh": draw_normal(generator, 3 * d_hidden),
    }


def draw_half_open_cell(generator: Generator, **sizes: int) -> Inputs:
    """Both gates are one half, whatever comes in, so that it does not matter which is which."""
    inputs = draw_cell(generator, **sizes)
    gates = torch.arange(3 * sizes["d_hidden"]) < 2 * sizes["d_hidden"]
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        inputs[name][gates] = 0
    return inputs


def _parts(
    inputs: Tensor,
    state: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor,
    bias_hh: Tensor,
) -> tuple[Tensor, ...]:
    """The parts of the reset gate, the update gate and the proposal: three of the input, three of
    the state."""
    from_input = (inputs @ weight_ih.T + bias_ih).chunk(3, -1)
    return from_input + (state @ weight_hh.T + bias_hh).chunk(3, -1)


def _gates(parts: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    return torch.sigmoid(parts[0] + parts[3]), torch.sigmoid(parts[1] + parts[4])


def _blend(update: Tensor, state: Tensor, proposal: Tensor) -> Tensor:
    return (1 - update) * proposal + update * state


def _third(tensor: Tensor) -> Tensor:
    """The rows of the proposal in a weight or a bias."""
    return tensor.chunk(3)[2]


CELL = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _times(gate: int, factor: float) -> Callable[[Tensor], Tensor]:
    """A function that multiplies the rows of a gate, or of the proposal, by a number."""

    def multiply(tensor: Tensor) -> Tensor:
        parts = [*tensor.chunk(3)]
        parts[gate] = factor * parts[gate]
        return torch.cat(parts)

    return multiply


def _in_order(*order: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """For each weight and bias, a function that puts its thirds in another order."""

    def sort(tensor: Tensor) -> Tensor:
        parts = tensor.chunk(3)
        return torch.cat([parts[third] for third in order])

    return dict.fromkeys(CELL, sort)


def _swap_gates(tensor: Tensor) -> Tensor:
    first, second, proposal = tensor.chunk(3)
    return torch.cat([second, first, proposal])


mistake = Mistakes()


@mistake(computes=given(reference, bias_ih=_times(2, 0), bias_hh=_times(2, 0)))
def leaves_out_both_biases():
    """this is the formula as it was printed: the proposal has no bias; it has two, and one of them
    is reset"""


@mistake(computes=given(reference, bias_ih=_times(2, 0)))
def leaves_out_the_bias_of_the_input():
    """your proposal lacks the last third of `bias_ih`; it stands beside the product with the
    input"""


@mistake(computes=given(reference, bias_hh=_times(2, 0)))
def leaves_out_the_bias_of_the_state():
    """your proposal lacks the last third of `bias_hh`; it stands beside the product with the
    state, and is reset with it"""


@mistake(computes=given(reference, bias_hh=torch.zeros_like))
def leaves_out_bias_hh():
    """you use `bias_ih` alone; the products with the state have biases of their own, `bias_hh`"""


@mistake(computes=given(reference, bias_ih=torch.zeros_like, bias_hh=torch.zeros_like))
def leaves_out_all_biases():
    """you add no bias anywhere; `bias_ih` belongs to the products with the input, and `bias_hh` to
    those with the state, in both gates and in the proposal"""


@mistake(computes=mistaking(reference, bias_ih="bias_hh", bias_hh="bias_ih"))
def exchanges_the_biases():
    """your reset gate multiplies the bias from `bias_ih` and not the one from `bias_hh`; it is the
    other way round"""


@mistake
def resets_no_bias(inputs, state, **cell):
    """both biases are in your proposal, but the one from `bias_hh` escapes the reset gate; it
    belongs inside the brackets that the gate multiplies"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    bias = _third(cell["bias_hh"])
    proposal = torch.tanh(parts[2] + reset * (parts[5] - bias) + bias)
    return _blend(update, state, proposal)


@mistake
def resets_both_biases(inputs, state, **cell):
    """both biases are in your proposal, but the one from `bias_ih` is reset too; the gate
    multiplies what comes from the state, and nothing else"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    bias = _third(cell["bias_ih"])
    proposal = torch.tanh(parts[2] - bias + reset * (parts[5] + bias))
    return _blend(update, state, proposal)


def _reset_before_with_the_bias(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    remembered = (reset * state) @ _third(cell["weight_hh"]).T + reset * _third(cell["bias_hh"])
    return _blend(update, state, torch.tanh(parts[2] + remembered))


@mistake(also=(_reset_before_with_the_bias,))
def resets_before_the_product(inputs, state, **cell):
    """you reset the state before the matrix product, as the paper of Cho and others has it since
    its third version; `nn.GRU` multiplies by the gate after the product"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    remembered = (reset * state) @ _third(cell["weight_hh"]).T + _third(cell["bias_hh"])
    return _blend(update, state, torch.tanh(parts[2] + remembered))


@mistake
def resets_the_input_too(inputs, state, **cell):
    """your reset gate multiplies the input's part as well; it may only make the proposal forget
    the old state"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, state, torch.tanh(reset * (parts[2] + parts[5])))


@mistake
def never_resets(inputs, state, **cell):
    """your reset gate does nothing: multiply what comes from the state by it before you add what
    comes from the input"""
    parts = _parts(inputs, state, **cell)
    return _blend(_gates(parts)[1], state, torch.tanh(parts[2] + parts[5]))


@mistake(slip=True, points=1.5, computes=given(reference, **dict.fromkeys(CELL, _times(1, -1))))
def updates_the_other_way_round():
    """your update gate keeps the old state where it is 0, as in the paper of Bahdanau and others;
    in `nn.GRU` it keeps the old state where it is 1: that line was no slip"""


@mistake(slip=True, points=1.5, computes=given(reference, **dict.fromkeys(CELL, _swap_gates)))
def takes_the_update_gate_first():
    """you take the first third of the rows for the update gate; `nn.GRU` stores the reset gate
    first, then the update gate, then the proposal"""


_ORDERS = ((2, 1, 0), (1, 2, 0), (2, 0, 1))


@mistake(
    computes=given(reference, **_in_order(0, 2, 1)),
    also=tuple(given(reference, **_in_order(*order)) for order in _ORDERS),
)
def takes_another_third_for_the_proposal():
    """the proposal is not made of the last third of the rows in yours; `nn.GRU` stores the reset
    gate first, then the update gate, then the proposal"""


@mistake
def resets_the_input_alone(inputs, state, **cell):
    """your reset gate multiplies what comes from the input; it makes the proposal forget what
    comes from the old state"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, state, torch.tanh(reset * parts[2] + parts[5]))


@mistake(points=1.5, computes=given(reference, **dict.fromkeys(CELL, _times(0, -1))))
def resets_the_other_way_round():
    """your reset gate forgets where it is 1; it multiplies what comes from the old state as it is,
    so that 0 forgets"""


@mistake(points=1.5)
def gives_both_the_same_share(inputs, state, **cell):
    """you multiply proposal and old state by the same share; one gets `update`, the other 1 minus
    `update`"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return update * (torch.tanh(parts[2] + reset * parts[5]) + state)


@mistake
def leaves_the_tanh_out(inputs, state, **cell):
    """your proposal has no `tanh` around it"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, state, parts[2] + reset * parts[5])


@mistake
def squashes_before_the_sum(inputs, state, **cell):
    """you take a `sigmoid` of the input's part and one of the state's, and add them; add first, and
    take one `sigmoid` of the sum"""
    parts = _parts(inputs, state, **cell)
    reset, update = (torch.sigmoid(parts[g]) + torch.sigmoid(parts[g + 3]) for g in (0, 1))
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake
def resets_what_is_kept(inputs, state, **cell):
    """you reset the old state in the blend as well; the reset gate is for the proposal alone"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, reset * state, torch.tanh(parts[2] + reset * parts[5]))


@mistake(points=3)
def cuts_the_old_state_off(inputs, state, **cell):
    """part of the gradient does not reach `state`: you `detach` it on its way into the gates or
    into the blend"""
    parts = _parts(inputs, state.detach(), **cell)
    reset, update = _gates(parts)
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


def _in_shares(shares: Callable[[Tensor], tuple[Any, Any]]) -> Callable[..., Tensor]:
    """Another blend: from the update gate the shares of proposal and old state."""

    def blend(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
        parts = _parts(inputs, state, **cell)
        reset, update = _gates(parts)
        of_proposal, of_state = shares(update)
        return of_proposal * torch.tanh(parts[2] + reset * parts[5]) + of_state * state

    return blend


_SHARES = (
    *(lambda z: (1, 1), lambda z: (z, 1), lambda z: (1 - z, 1), lambda z: (1, 1 - z)),
    *(lambda z: (1 - z, 0), lambda z: (z, 0), lambda z: (0, z)),
)


@mistake(computes=_in_shares(lambda z: (1, z)), also=tuple(map(_in_shares, _SHARES)))
def adds_up_to_more_or_less_than_one():
    """the shares of proposal and old state do not add up to 1 in yours; the proposal gets 1 minus
    `update`, the old state gets `update`"""


@mistake
def squashes_the_proposal_to_0_and_1(inputs, state, **cell):
    """your proposal lies between 0 and 1; the gates do, and the proposal is a `tanh`"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, state, torch.sigmoid(parts[2] + reset * parts[5]))


@mistake
def rectifies_the_proposal(inputs, state, **cell):
    """your proposal is a `relu`; it is a `tanh`"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    return _blend(update, state, torch.relu(parts[2] + reset * parts[5]))


@mistake(points=1.5)
def forgets_the_new_state_of_the_gates(inputs, state, **cell):
    """your gates look at the input alone; each of them sees the old state as well"""
    parts = _parts(inputs, state, **cell)
    reset, update = torch.sigmoid(parts[0]), torch.sigmoid(parts[1])
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake
def returns_the_proposal(inputs, state, **cell):
    """you return the proposal; the new state is a blend of it and the old state"""
    parts = _parts(inputs, state, **cell)
    return torch.tanh(parts[2] + _gates(parts)[0] * parts[5])


@mistake
def takes_every_third_row(inputs, state, **cell):
    """you take every third row for a gate; the rows of one gate lie together, so cut the weight
    into three blocks"""
    mixed = {
        name: torch.cat([tensor[0::3], tensor[1::3], tensor[2::3]]) for name, tensor in cell.items()
    }
    return reference(inputs, state, **mixed)


def _slice_by_the_width_of_the_input(end: int | None) -> Callable[..., Tensor]:
    def step(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
        from_input = inputs @ cell["weight_ih"].T + cell["bias_ih"]
        from_state = state @ cell["weight_hh"].T + cell["bias_hh"]
        size = inputs.shape[-1]
        cuts = [slice(size), slice(size, 2 * size), slice(2 * size, end and end * size)]
        parts = tuple(part[..., cut] for part in (from_input, from_state) for cut in cuts)
        reset, update = _gates(parts)
        return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))

    return step


@mistake(points=3, also=tuple(map(_slice_by_the_width_of_the_input, (None, 3))))
def cuts_by_the_width_of_the_input(inputs, state, **cell):
    """you cut into parts as wide as the input; each of the three is as wide as the state,
    `d_hidden`"""
    size = inputs.shape[-1]
    blocks = [tensor.split(size)[:3] for tensor in cell.values()]
    same = {name: torch.cat(block) for name, block in zip(cell, blocks, strict=True)}
    return reference(inputs, state, **same)


@mistake(slip=True, points=3)
def cuts_along_the_second_axis(inputs, state, **cell):
    """you cut along axis 1, which is the last one only if there are two; cut along -1"""
    from_input = (inputs @ cell["weight_ih"].T + cell["bias_ih"]).chunk(3, 1)
    from_state = (state @ cell["weight_hh"].T + cell["bias_hh"]).chunk(3, 1)
    reset, update = _gates(from_input + from_state)
    return _blend(update, state, torch.tanh(from_input[2] + reset * from_state[2]))


@mistake
def cuts_the_batch(inputs, state, **cell):
    """you cut along the first axis, as `chunk` does where no axis is given, and thus along the
    batch; the gates lie along the last axis, -1"""
    from_input = (inputs @ cell["weight_ih"].T + cell["bias_ih"]).chunk(3)
    from_state = (state @ cell["weight_hh"].T + cell["bias_hh"]).chunk(3)
    (r_i, z_i, n_i), (r_h, z_h, n_h) = from_input, from_state
    reset, update = torch.sigmoid(r_i + r_h), torch.sigmoid(z_i + z_h)
    return _blend(update, state, torch.tanh(n_i + reset * n_h))


def _put_each_weight_on_the_left(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    thirds = [[part.chunk(3)[gate] for part in cell.values()] for gate in range(3)]
    parts = [(wi @ inputs + bi, wh @ state + bh) for wi, wh, bi, bh in thirds]
    reset, update = (torch.sigmoid(sum(part)) for part in parts[:2])
    return _blend(update, state, torch.tanh(parts[2][0] + reset * parts[2][1]))


@mistake(also=(_put_each_weight_on_the_left,))
def puts_the_weight_on_the_left(inputs, state, **cell):
    """your product has the weight on the left, as it is printed, and takes a single input only;
    where there are axes in front, it is `inputs @ weight.T`"""
    from_input = (cell["weight_ih"] @ inputs + cell["bias_ih"]).chunk(3, -1)
    from_state = (cell["weight_hh"] @ state + cell["bias_hh"]).chunk(3, -1)
    parts = from_input + from_state
    reset, update = _gates(parts)
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


def _exponentiate_upwards(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    parts = _parts(inputs, state, **cell)
    powers = [torch.exp(parts[gate] + parts[gate + 3]) for gate in (0, 1)]
    reset, update = (power / (1 + power) for power in powers)
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


def _squash_by_hand(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    total = parts[2] + reset * parts[5]
    up, down = torch.exp(total), torch.exp(-total)
    return _blend(update, state, (up - down) / (up + down))


@mistake(points=3, also=(_exponentiate_upwards, _squash_by_hand))
def exponentiates_by_hand(inputs, state, **cell):
    """where the exponential of your hand-made sigmoid or `tanh` overflows, its gradient is `nan`;
    `torch.sigmoid` and `torch.tanh` are made for that"""
    parts = _parts(inputs, state, **cell)
    reset = 1 / (1 + torch.exp(-parts[0] - parts[3]))
    update = 1 / (1 + torch.exp(-parts[1] - parts[4]))
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake(points=2.5)
def writes_over_the_state(inputs, state, **cell):
    """you write the new state into the tensor of the old one, which somebody may still need: the
    gradient does, and a beam search goes on from one state several times"""
    new = reference(inputs, state, **cell)
    state.data.copy_(new.detach())
    return new


def _with_one_bias(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    cell["bias_hh"] = 0 * cell["bias_hh"]
    return resets_before_the_product_and_updates_the_other_way_round(inputs, state, **cell)


@mistake(also=(_with_one_bias,))
def resets_before_the_product_and_updates_the_other_way_round(inputs, state, **cell):
    """two things are as in other papers: you reset the state before the matrix product, and your
    update gate keeps the old state where it is 0; `nn.GRU` resets after the product, and keeps the
    old state where the gate is 1"""
    parts = _parts(inputs, state, **cell)
    reset, update = _gates(parts)
    remembered = (reset * state) @ _third(cell["weight_hh"]).T + _third(cell["bias_hh"])
    return _blend(1 - update, state, torch.tanh(parts[2] + remembered))


def _take_the_update_gate_for_both(inputs: Tensor, state: Tensor, **cell: Tensor) -> Tensor:
    parts = _parts(inputs, state, **cell)
    _, update = _gates(parts)
    return _blend(update, state, torch.tanh(parts[2] + update * parts[5]))


@mistake(points=1.5, also=(_take_the_update_gate_for_both,))
def takes_one_gate_for_both(inputs, state, **cell):
    """you use one gate for both, where there are two: the first third of the rows is the reset
    gate, the second the update gate"""
    parts = _parts(inputs, state, **cell)
    reset, _ = _gates(parts)
    return _blend(reset, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake
def leaves_the_gates_open(inputs, state, **cell):
    """your gates are no shares from 0 to 1; each is a `sigmoid`, from 0 to 1"""
    parts = _parts(inputs, state, **cell)
    reset, update = parts[0] + parts[3], parts[1] + parts[4]
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake(slip=True, points=3)
def wants_a_batch(inputs, state, **cell):
    """your product takes exactly two axes, as `torch.mm` does; `@` takes any number"""
    from_input = torch.mm(inputs, cell["weight_ih"].T) + cell["bias_ih"]
    from_state = torch.mm(state, cell["weight_hh"].T) + cell["bias_hh"]
    parts = (*from_input.chunk(3, -1), *from_state.chunk(3, -1))
    reset, update = _gates(parts)
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


@mistake(points=1.5)
def shows_the_gates_no_input(inputs, state, **cell):
    """your gates look at the old state alone; each of them sees the new input as well, through its
    own rows of `weight_ih`"""
    parts = _parts(inputs, state, **cell)
    reset, update = torch.sigmoid(parts[3]), torch.sigmoid(parts[4])
    return _blend(update, state, torch.tanh(parts[2] + reset * parts[5]))


EXERCISE = Exercise(
    function="gru_step",
    reference=reference,
    title="find the slip: the step of a GRU, as it was first printed",
    minutes=25,
    axes={"batch": 17, "d_input": 31, "d_hidden": 31},
    avoid=("recurrence",),
    contract=Contract(batch=("inputs", "state"), any_axes=True),
    checks=(
        Check(
            "with both gates half open, the proposal and the blend are right",
            1,
            draw_half_open_cell,
            sizes=({"batch": 3, "d_input": 5, "d_hidden": 5},),
            hidden_sizes=({"batch": 2, "d_input": 7, "d_hidden": 7},),
            easier=True,
        ),
        Check(
            "it is the state that `nn.GRUCell` computes, for any two widths",
            1,
            draw_cell,
            sizes=(
                {"batch": 3, "d_input": 5, "d_hidden": 2},
                {"batch": 2, "d_input": 3, "d_hidden": 7},
            ),
            hidden_sizes=({"batch": 7, "d_input": 2, "d_hidden": 5},),
        ),
        Check(
            "there may be no axis before the last, or several",
            0.5,
            draw_cell,
            sizes=(
                {"d_input": 5, "d_hidden": 5},
                {"batch": 2, "beams": 6, "d_input": 3, "d_hidden": 3},
            ),
            hidden_sizes=({"batch": 5, "beams": 3, "d_input": 2, "d_hidden": 2},),
            sizes_matter=True,
        ),
        Check(
            "the right gradient reaches all six, even where the inputs are in the hundreds and"
            " the gates wide open or shut",
            1,
            draw_cell,
            sizes=(
                {"batch": 3, "d_input": 2, "d_hidden": 2},
                {"batch": 5, "d_input": 3, "d_hidden": 3, "spread": 300.0},
            ),
            hidden_sizes=({"batch": 7, "d_input": 5, "d_hidden": 5, "spread": 300.0},),
            gradient=("inputs", "state", "weight_ih", "weight_hh", "bias_ih", "bias_hh"),
        ),
    ),
    mistakes=mistake.collected,
)
