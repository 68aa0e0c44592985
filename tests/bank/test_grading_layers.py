"""The layers that a student's test of equivariance judges are what they say they are."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
from hintgrader.checking.judge import examine
from hintgrader.exercise.definition import Check, Exercise
from hintgrader.worker.submission import LocalSubmission
from torch import Tensor

from attn_bank.layers import EQUIVARIANT, NOT_EQUIVARIANT, Layer

D_MODEL, MAX_LEN = 3, 5
REVERSALS, SHIFTS = "reversal", "shifts"


def layer(name: str) -> Layer:
    draw = torch.Generator().manual_seed(1)
    weights = torch.randn(3, D_MODEL, D_MODEL, generator=draw, dtype=torch.float64).unbind()
    return Layer(name, tuple(weights), MAX_LEN)


def sentences(lengths: tuple[int, ...] = (1, 2, 3, 4, 5), number: int = 4) -> list[Tensor]:
    draw = torch.Generator().manual_seed(2)
    sizes = [(length, D_MODEL) for length in lengths for _ in range(number)]
    return [torch.randn(size, generator=draw, dtype=torch.float64) for size in sizes]


def commutes(layer: Layer, tokens: Tensor, order: tuple[int, ...]) -> bool:
    """Return True if the output has rows, which change places as the tokens do."""
    output, turned = layer(tokens), layer(tokens[list(order)])
    if len(output) != len(tokens):
        return False
    error = (turned - output[list(order)]).abs().max()
    return bool(error <= 1e-10 * output.abs().max())


def orders(length: int, kind: str | None = None) -> list[tuple[int, ...]]:
    places = tuple(range(length))
    if kind == REVERSALS:
        return [places[::-1]]
    if kind == SHIFTS:
        return [places[step:] + places[:step] for step in places]
    return list(permutations(places))


def test_layers_are_of_one_kind_and_of_this_module():
    assert len(EQUIVARIANT) > 4
    assert len(NOT_EQUIVARIANT) > 8
    assert not EQUIVARIANT.keys() & NOT_EQUIVARIANT.keys()


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_equivariant_layer_commutes_with_every_order(name):
    ours = layer(name)
    assert ours.is_equivariant
    for tokens in sentences():
        assert all(commutes(ours, tokens, order) for order in orders(len(tokens)))


@pytest.mark.parametrize("name", NOT_EQUIVARIANT)
def test_other_layer_does_not_commute_with_some_order(name):
    ours = layer(name)
    assert not ours.is_equivariant
    assert not all(
        commutes(ours, tokens, order) for tokens in sentences() for order in orders(len(tokens))
    )


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("prefers_its_neighbours", {REVERSALS}),
        ("passes_on_in_a_ring", {SHIFTS}),
        ("mixes_both_sides_in_a_ring", {REVERSALS, SHIFTS}),
        ("hands_the_rows_back_in_reverse", {REVERSALS}),
        ("adds_positions", set()),
    ],
)
def test_layer_commutes_with_the_orders_it_is_there_for(name, kinds):
    def commutes_with(kind: str) -> bool:
        return all(
            commutes(layer(name), tokens, order)
            for tokens in sentences((4, 5))
            for order in orders(len(tokens), kind)
        )

    assert {kind for kind in (REVERSALS, SHIFTS) if commutes_with(kind)} == kinds


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("overlooks_the_last_place", MAX_LEN),
        ("marks_the_first_of_many", MAX_LEN),
        ("marks_the_first_of_two", 2),
    ],
)
def test_layer_errs_at_one_length_only(name, length):
    wrong = {
        len(tokens)
        for tokens in sentences()
        if not all(commutes(layer(name), tokens, order) for order in orders(len(tokens)))
    }
    assert wrong == {length}


def test_layer_errs_with_some_sentences_only():
    tried = sentences((5,), 40)
    ours = layer("marks_the_first_if_low")
    wrong = [not commutes(ours, tokens, (1, 0, 2, 3, 4)) for tokens in tried]
    assert 0.1 < sum(wrong) / len(wrong) < 0.5


@pytest.mark.parametrize("name", [*EQUIVARIANT, *NOT_EQUIVARIANT])
def test_layer_takes_a_batch_of_float32_as_its_sentences_one_by_one(name):
    batch = torch.randn(2, 3, 4, D_MODEL, generator=torch.Generator().manual_seed(3))
    rows = [layer(name)(tokens) for tokens in batch.flatten(0, 1)]
    together = layer(name)(batch).flatten(0, 1)
    torch.testing.assert_close(together, torch.stack(rows), rtol=1e-5, atol=1e-6, equal_nan=True)
    assert together.dtype == torch.float32


@pytest.mark.parametrize("name", [*EQUIVARIANT, *NOT_EQUIVARIANT])
def test_layer_shows_its_name_and_what_it_does(name):
    assert repr(layer(name)) == name
    assert len(layer(name).what) > 20
    assert not {"\n", "."} & set(layer(name).what.replace("0.", ""))


def test_layer_refuses_more_tokens_than_it_takes():
    with pytest.raises(ValueError, match="6 tokens; this layer takes 5 at most"):
        layer("attends_to_all")(torch.zeros(6, D_MODEL))


def test_answer_is_handed_a_layer_and_the_student_gets_it_to_look_into():
    def refuse(layer: Layer) -> bool:
        return bool(layer(torch.ones(2, D_MODEL)).isnan().any())

    exercise = Exercise(
        function="accepts",
        reference=lambda layer: True,
        checks=(Check("accepts", 1, lambda _: {"layer": layer("attends_to_all")}),),
    )
    [[found]] = examine(exercise, LocalSubmission(refuse, may_use=None), None)
    assert found.reason == "it is False and should be True"
    assert f"{found.inputs}" == "{'layer': attends_to_all}"
    assert found.inputs["layer"](torch.ones(2, D_MODEL)).shape == (2, D_MODEL)
