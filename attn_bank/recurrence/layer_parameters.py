"""Part E of problem set 10: what layers learn, to which the length was said to give rise."""

from collections.abc import Callable
from typing import Any

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Generator

GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def reference(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    return _of_gates(GATES, kind, d_model, d_hidden, length)


def _of_gates(gates: dict[str, int], kind: str, d_model: int, d_hidden: int, length: int) -> int:
    if kind in gates:
        return gates[kind] * (_linear(d_model, d_hidden) + _linear(d_hidden, d_hidden))
    if kind == "attention":
        return 4 * _linear(d_model, d_model)
    if kind == "feed-forward":
        return _linear(d_model, d_hidden) + _linear(d_hidden, d_model)
    return length * d_model


def _linear(d_input: int, d_output: int) -> int:
    return d_output * (d_input + 1)


def draw_widths(generator: Generator, kind: str, least: int = 50) -> Inputs:
    """Two different widths, of a text of this length at least; a least of 1 is meant to be 1."""
    d_model, further, some = torch.randint(2, 40, (3,), generator=generator).tolist()
    return {
        "kind": kind,
        "d_model": d_model,
        "d_hidden": d_model + further,
        "length": least if least == 1 else least + some,
    }


def kinds(*names: str, least: int = 50) -> tuple[dict[str, int | str], ...]:
    return tuple({"kind": name, "least": least} for name in names)


mistake = Mistakes()


@mistake(points=1.5)
def multiplies_by_the_length(kind, d_model, d_hidden, length):
    """you count a recurrent layer once for each token; it is one layer, used at each token, so the
    length is of no account"""
    return reference(kind, d_model, d_hidden, length) * (length if kind in GATES else 1)


@mistake(points=1.5)
def gives_every_step_its_matrix(kind, d_model, d_hidden, length):
    """you count a recurrent matrix for each step; all steps share one"""
    return reference(kind, d_model, d_hidden, length) + (kind in GATES) * (length - 1) * d_hidden**2


@mistake(points=1.5)
def gives_every_step_a_state(kind, d_model, d_hidden, length):
    """you count the states of all steps; they are worked out, not learned"""
    return reference(kind, d_model, d_hidden, length) + (kind in GATES) * (length - 1) * d_hidden


@mistake(points=1.5)
def counts_one_bias(kind, d_model, d_hidden, length):
    """you count one bias for each gate; PyTorch's recurrent layers have two, `bias_ih` and
    `bias_hh`"""
    return reference(kind, d_model, d_hidden, length) - GATES.get(kind, 0) * d_hidden


@mistake(points=3)
def gives_the_plain_one_a_single_bias(kind, d_model, d_hidden, length):
    """you count one bias in the plain layer, as part A has it; PyTorch gives each of the two
    matrices its own"""
    return reference(kind, d_model, d_hidden, length) - (kind == "rnn") * d_hidden


@mistake(points=1.5)
def counts_no_recurrent_bias(kind, d_model, d_hidden, length):
    """you count no biases in a recurrent layer; each gate has two, `bias_ih` and `bias_hh`"""
    return reference(kind, d_model, d_hidden, length) - 2 * GATES.get(kind, 0) * d_hidden


@mistake(points=1.5)
def forgets_the_state(kind, d_model, d_hidden, length):
    """the matrices from state to state are missing, `d_hidden * d_hidden` for each gate"""
    return reference(kind, d_model, d_hidden, length) - GATES.get(kind, 0) * d_hidden**2


@mistake(points=1.5)
def takes_the_state_for_a_token(kind, d_model, d_hidden, length):
    """your matrix from state to state is as wide as a token; it is `d_hidden * d_hidden`"""
    return (
        GATES[kind] * 2 * _linear(d_model, d_hidden)
        if kind in GATES
        else reference(kind, d_model, d_hidden, length)
    )


@mistake(points=2.5, computes=given(reference, kind=lambda kind: "rnn" if kind in GATES else kind))
def counts_one_gate():
    """you count all recurrent layers as if they were the plain one; a GRU has three of everything,
    an LSTM four"""


@mistake(points=2.5)
def counts_two_gates(kind, d_model, d_hidden, length):
    """you count the two gates of a GRU only; its proposal has matrices and biases as well, so there
    are three of everything"""
    return _of_gates(GATES | {"gru": 2}, kind, d_model, d_hidden, length)


@mistake(points=2.5)
def counts_gates_without_candidates(kind, d_model, d_hidden, length):
    """you count the gates only; the proposal of a GRU or an LSTM has matrices and biases as well,
    so there are three and four of everything"""
    return _of_gates({"rnn": 1, "gru": 2, "lstm": 3}, kind, d_model, d_hidden, length)


@mistake(points=2.5)
def gives_the_gru_four(kind, d_model, d_hidden, length):
    """you count four of everything in a GRU; it has two gates and one proposal, so three"""
    return _of_gates({"rnn": 1, "gru": 4, "lstm": 4}, kind, d_model, d_hidden, length)


@mistake(points=3)
def counts_three_matrices(kind, d_model, d_hidden, length):
    """you count three matrices in attention; after the matrices of queries, keys and values comes a
    fourth, `W_O`"""
    return reference(kind, d_model, d_hidden, length) - (kind == "attention") * _linear(
        d_model, d_model
    )


@mistake(points=3)
def counts_no_biases_of_attention(kind, d_model, d_hidden, length):
    """you count no biases in attention; here each of its four matrices has one"""
    return reference(kind, d_model, d_hidden, length) - (kind == "attention") * 4 * d_model


@mistake(points=3)
def widens_attention(kind, d_model, d_hidden, length):
    """your attention is `d_hidden` wide; its four matrices are `d_model * d_model`"""
    return (
        4 * _linear(d_model, d_hidden)
        if kind == "attention"
        else reference(kind, d_model, d_hidden, length)
    )


@mistake(points=3)
def counts_the_scores(kind, d_model, d_hidden, length):
    """you count the weights of attention, of every token for every other; they are worked out from
    the tokens, not learned"""
    return reference(kind, d_model, d_hidden, length) + (kind == "attention") * length**2


@mistake(points=3)
def multiplies_attention_by_the_length(kind, d_model, d_hidden, length):
    """you count attention once for each token; all tokens go through the same four matrices"""
    return reference(kind, d_model, d_hidden, length) * (length if kind == "attention" else 1)


@mistake(points=3)
def counts_half_a_feed_forward(kind, d_model, d_hidden, length):
    """you count the map that widens only; a second one leads from `d_hidden` back to `d_model`"""
    return (
        _linear(d_model, d_hidden)
        if kind == "feed-forward"
        else reference(kind, d_model, d_hidden, length)
    )


@mistake(points=3)
def gives_both_maps_the_same_bias(kind, d_model, d_hidden, length):
    """you give both maps a bias of `d_hidden`; a bias is as long as the output, and the second map
    has `d_model` outputs"""
    return (
        2 * _linear(d_model, d_hidden)
        if kind == "feed-forward"
        else reference(kind, d_model, d_hidden, length)
    )


@mistake(points=3)
def counts_no_biases_of_feed_forward(kind, d_model, d_hidden, length):
    """you count no biases in the feed-forward maps; each has one, as long as its output"""
    return (
        2 * d_model * d_hidden
        if kind == "feed-forward"
        else reference(kind, d_model, d_hidden, length)
    )


@mistake(points=3.5)
def sets_no_limit(kind, d_model, d_hidden, length):
    """you count one row of positions; a table that is learned has a row for each of `length`
    positions"""
    return d_model if kind == "positions" else reference(kind, d_model, d_hidden, length)


@mistake(points=3.5)
def works_positions_out(kind, d_model, d_hidden, length):
    """waves are worked out and cost nothing, but this table of positions is learned: one row for
    each of `length` positions"""
    return 0 if kind == "positions" else reference(kind, d_model, d_hidden, length)


@mistake(points=3.5)
def widens_positions(kind, d_model, d_hidden, length):
    """your rows of positions are `d_hidden` wide; they are added to the tokens, and so as wide as
    those, `d_model`"""
    return length * d_hidden if kind == "positions" else reference(kind, d_model, d_hidden, length)


@mistake(points=3.5)
def gives_positions_a_bias(kind, d_model, d_hidden, length):
    """you give the table of positions a bias; it is a table and no map: `length` rows of `d_model`
    numbers"""
    return (
        length * (d_model + 1)
        if kind == "positions"
        else reference(kind, d_model, d_hidden, length)
    )


def _differing(kind: str, count: Callable[[int, int, int], int]) -> Callable[..., int]:
    """The right answer but for one kind, of which something else is counted."""

    def answer(**inputs: Any) -> int:
        if inputs["kind"] != kind:
            return reference(**inputs)
        return count(inputs["d_model"], inputs["d_hidden"], inputs["length"])

    return answer


@mistake(points=2.5, computes=_differing("lstm", lambda m, h, n: 3 * h * (m + h + 2)))
def counts_three_gates_of_the_lstm():
    """you count three pairs of matrices for the LSTM; besides its three gates there is the
    proposal, so there are four"""


@mistake(
    points=3,
    computes=_differing("feed-forward", lambda m, h, n: 2 * m * h + h),
    also=(
        _differing("feed-forward", lambda m, h, n: 2 * m * h + m),
        _differing("feed-forward", lambda m, h, n: 2 * m * h + 2 * m),
    ),
)
def miscounts_the_biases_of_the_maps():
    """the biases of the feed-forward maps are too few: the first map has one for each of its
    `d_hidden` outputs, the second for each of its `d_model`"""


@mistake(points=3.5, computes=_differing("positions", lambda m, h, n: (n + 1) * m))
def adds_a_row_to_the_positions():
    """your table of positions is one row, or a bias, too long: it has a row for each place, and
    nothing else"""


@mistake(points=3.5, computes=_differing("positions", lambda m, h, n: n))
def counts_a_number_for_each_place():
    """you count one number for each place; each has a row of `d_model`"""


@mistake(points=3, computes=_differing("attention", lambda m, h, n: 4 * m * m + m))
def gives_attention_one_bias():
    """you count one bias for attention; each of its four matrices has one"""


@mistake(points=3, computes=_differing("rnn", lambda m, h, n: h * (m + h + 2) + m * (h + 1)))
def counts_outputs_of_the_plain_layer():
    """you count a matrix for the outputs of the plain layer; it is the network without them"""


@mistake(points=1.5)
def exchanges_the_two_widths(kind, d_model, d_hidden, length):
    """`d_model` and `d_hidden` have changed places in your recurrent layers: all their matrices
    have `d_hidden` rows, the width of the state"""
    widths = (d_hidden, d_model) if kind in GATES else (d_model, d_hidden)
    return reference(kind, *widths, length)


@mistake(points=1.5)
def makes_the_state_as_wide_as_a_token(kind, d_model, d_hidden, length):
    """your matrix from the state has a side of `d_model`; a state is `d_hidden` wide, before and
    after"""
    if kind not in GATES:
        return reference(kind, d_model, d_hidden, length)
    return GATES[kind] * (d_hidden * d_model + d_model**2 + 2 * d_hidden)


@mistake(points=1.5)
def gives_a_bias_for_each_input(kind, d_model, d_hidden, length):
    """one of your biases is as wide as the tokens; both have a number for each output,
    `d_hidden`"""
    if kind not in GATES:
        return reference(kind, d_model, d_hidden, length)
    return GATES[kind] * (d_hidden * (d_model + d_hidden + 1) + d_model)


@mistake(points=2.5)
def counts_the_biases_of_one_gate(kind, d_model, d_hidden, length):
    """you multiply the matrices by the number of gates, and not their biases; each pair of matrices
    has a pair of biases"""
    if kind not in GATES:
        return reference(kind, d_model, d_hidden, length)
    return GATES[kind] * d_hidden * (d_model + d_hidden) + 2 * d_hidden


@mistake(points=2.5)
def counts_the_matrix_of_the_state_once(kind, d_model, d_hidden, length):
    """you multiply only the matrix from the token by the number of gates; there is one from the
    state for each of them too, and biases"""
    if kind not in GATES:
        return reference(kind, d_model, d_hidden, length)
    return GATES[kind] * d_hidden * d_model + d_hidden * (d_hidden + 2)


EXERCISE = Exercise(
    function="layer_parameters",
    reference=reference,
    title="what length costs",
    minutes=15,
    avoid=("parameters", "named_parameters", "state_dict", "recurrence"),
    axes={},  # it is given numbers alone
    contract=Contract(points=0),
    checks=(
        Check(
            "the plain recurrent layer, for a text of any length",
            1,
            draw_widths,
            sizes=(*kinds("rnn", least=1), *kinds("rnn")),
            dtype=torch.float64,
        ),
        Check(
            "GRU and LSTM, for texts of any length",
            1.5,
            draw_widths,
            sizes=(*kinds("lstm", least=1), *kinds("gru", "lstm")),
            dtype=torch.float64,
        ),
        Check(
            "attention, and the feed-forward maps behind it, for texts of any length",
            1,
            draw_widths,
            sizes=kinds("attention", "feed-forward"),
            dtype=torch.float64,
        ),
        Check(
            "positions that are learned",
            0.5,
            draw_widths,
            sizes=(*kinds("positions"), *kinds("positions", least=5_000)),
            hidden_sizes=kinds("positions", least=50_000),
            dtype=torch.float64,
        ),
    ),
    mistakes=mistake.collected,
)
