"""A row checks what a statement promises, in every exercise.

The reference of each exercise is altered in all ways that the engine knows. Wrong ones have to be
refused, unless the exercise says why it does not forbid them; right ones have to be accepted.
`make test` tries a sample of the exercises, `make proofs` all.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import torch
from hintgrader.bank.grade import grade
from hintgrader.checking.case import draw_cases
from hintgrader.checking.judge import examine_one
from hintgrader.exercise.contract import exemption, keep_contract, right_answers, wrong_answers
from hintgrader.exercise.definition import Check, Contract, Exercise
from hintgrader.exercise.mutation.reference import RIGHT, WRONG, Variant
from hintgrader.hints.cost_of_a_slip import cost_of_a_slip
from hintgrader.worker.submission import LocalSubmission, copy_of

from attn_bank import exercise_names, find_exercise
from tests.sampling import sample, sampled

SECRET = "promises"
EXERCISES = sample(exercise_names(), 12)


def refusal(exercise: Exercise, variant: Variant) -> str | None:
    """The reason why an answer is refused, by public and hidden inputs; None if it is accepted."""
    submission = LocalSubmission(variant.answer)
    for one in exercise.checks[::-1]:  # the row of promises comes last, and refuses most
        for case in [] if one.slow else draw_cases(exercise, one, SECRET):
            if found := examine_one(case, submission):
                return f"{one.label}: {found.reason}"
    return None


@sampled
@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_variants_are_refused_where_forbidden_and_right_ones_accepted(name: str) -> None:
    exercise = find_exercise(name)
    for variant in wrong_answers(exercise):
        reason, said = exemption(exercise, variant), refusal(exercise, variant)
        if reason is None:
            assert said, f"{variant.name} is accepted, and there is no reason why"
        else:
            assert said is None, f"{variant.name} is not forbidden ({reason}), but refused: {said}"
    for variant in right_answers(exercise):
        said = refusal(exercise, variant)
        assert said is None, f"{variant.name} is right, but refused: {said}"


@pytest.mark.parametrize("name", exercise_names())
def test_every_exercise_declares_its_promises_and_waives_nothing_that_cannot_be_broken(name):
    exercise = find_exercise(name)
    assert exercise.contract is not None
    variants = wrong_answers(exercise)
    known = {variant.kind for variant in variants} | {variant.name for variant in variants}
    assert exercise.contract.exempts.keys() <= known
    assert all(len(reason) > 20 for reason in exercise.contract.exempts.values())
    has_row = any(one.repeats for one in exercise.checks)
    breakable = {"casts to float32", "changes"} & known
    assert has_row == bool(breakable and exercise.contract.points)


def test_kinds_are_all_made_of_some_reference_and_no_other():
    made = {v.kind for name in exercise_names() for v in wrong_answers(find_exercise(name))}
    made |= {v.kind for name in exercise_names() for v in right_answers(find_exercise(name))}
    assert made == {*WRONG, *RIGHT}


def draw(generator: torch.Generator, batch: int) -> dict[str, object]:
    number = torch.rand(batch, 3, generator=generator, dtype=torch.float64)
    return {"number": number, "array": number.numpy().copy(), "names": ["a", "b"]}


def double_it(number, array, names):
    return 2 * number


def tiny(**kind) -> Exercise:
    contract = Contract(points=1, batch=("number",), **kind)
    checks = (Check("it doubles", 2, draw, sizes=({"batch": 2},)),)
    return keep_contract(Exercise("double_it", double_it, checks, contract))


def test_row_of_the_promises_takes_a_batch_of_one_in_float64_and_looks_at_the_arguments():
    row = tiny().checks[-1]
    assert (row.points, row.dtype, row.untouched, row.repeats) == (1, torch.float64, True, True)
    shapes = [tuple(inputs["number"].shape) for inputs in row.inputs("")]
    assert shapes == [(2, 3), (1, 3)]
    any_axes = tiny(any_axes=True).checks[-1]
    assert [inputs["number"].ndim for inputs in any_axes.inputs("")] == [2, 3]


def marks(number, array, names):
    number.requires_grad_()
    return 2 * number


def sorts(number, array, names):
    names.reverse()
    return 2 * number


def writes(number, array, names):
    array *= 2
    return 2 * number


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (marks, "it changes number, which belongs to the caller, and makes it a tensor that requ"),
        (sorts, "it changes names, which belongs to the caller"),
        (writes, "it changes array, which belongs to the caller"),
        (lambda number, array, names: (2 * number).float(), "should be torch.float64"),
        (lambda number, array, names: (2 * number).squeeze(), "should be (1, 3)"),
    ],
)
def test_broken_promise_costs_its_row_and_no_other(answer, said):
    exercise = tiny()
    found = [
        [examine_one(case, LocalSubmission(answer)) for case in draw_cases(exercise, one, None)]
        for one in exercise.checks
    ]
    assert not any(found[0])
    assert any(said in finding.reason for finding in found[1] if finding)


def test_mistakes_that_break_promises_come_with_a_hint_and_a_waived_one_with_none():
    def named(exercise):
        return {mistake.name: mistake for mistake in exercise.mistakes}

    assert "you change `names`" in named(tiny())["changes_names"].hint
    assert named(tiny())["marks_number"].evidence == "marked: number"
    waived = named(tiny(exempts={"changes names": "they are its own"}))
    assert "changes_names" not in waived
    assert "changes_array" in waived


def test_tolerance_in_float64_rests_on_the_conditioning_of_the_question():
    def steep(number, array, names):
        return torch.exp(1000 * number)

    def in_another_order(number, array, names):
        return torch.exp(number * 250 * 4 * (1 + 2**-52))

    def in_float32(number, array, names):
        return torch.exp(1000 * number.float()).double().nan_to_num(posinf=1e300)

    row = Check("steep", 1, draw, sizes=({"batch": 2},), dtype=torch.float64)
    (case,) = draw_cases(Exercise("steep", steep, (row,)), row, None)
    assert examine_one(case, LocalSubmission(in_another_order)) is None
    assert examine_one(case, LocalSubmission(in_float32))


# Each was accepted, or refused, wrongly once; what the table tries is not repeated here.


def lookup_by_the_blend(scores, value, mask, default):
    some = mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask & some, -math.inf).softmax(-1) * mask
    blend = weights @ value
    return torch.where((blend == 0).all(-1, keepdim=True), default, blend)


def additive_of_expanded(query, key, w_query, w_key, score_weight):
    pairs = [*query.shape[:-1], key.shape[-2]]
    queries = query.unsqueeze(-2).expand(*pairs, -1) @ w_query.mT
    keys = key.unsqueeze(-3).expand(*pairs, -1) @ w_key.mT
    return torch.tanh(queries + keys) @ score_weight


def blocks_in_two_passes(query, key, value, block_len):
    query = query / query.shape[-1] ** 0.5
    keys, values = key.split(block_len, -2), value.split(block_len, -2)
    top = torch.cat([(query @ k.mT).amax(-1, keepdim=True) for k in keys], -1).amax(-1, True)
    blend = total = 0
    for k, v in zip(keys, values, strict=True):
        power = torch.exp(query @ k.mT - top)
        blend, total = blend + power @ v, total + power.sum(-1, keepdim=True)
    return blend / total


def size_in_floats(d_model, num_heads, num_key_heads, bias):
    shared = num_key_heads * (d_model / num_heads)
    return num_heads + 2 * num_key_heads + 1, 2 * (d_model + shared) * (d_model + bias)


def trials_of_its_own(layer, d_model, max_len, trials):
    for trial in range(300):
        length = 2 + trial % (max_len - 1)
        tokens, order = torch.randn(length, d_model), torch.randperm(length)
        one, other = layer(tokens), layer(tokens[order])
        if one.ndim < 2 or len(one) != length:
            return False
        if not (one[order] - other).abs().max() <= 1e-4 * one.abs().max():
            return False
    return True


def clamped_kernel(query, key, width):
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1) / width**2
    kernel = (1 - squared).clamp_min(0)
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.masked_fill(total == 0, 1)


def regression_by_cdist(query, key, value, width):
    return torch.softmax(-(torch.cdist(query, key) ** 2) / (2 * width**2), -1) @ value


def softmax_within_a_thousand(scores):
    powers = (scores - scores.amax(-1, keepdim=True).clamp(-1500, 1500)).exp()
    return powers / powers.sum(-1, keepdim=True)


@pytest.mark.parametrize(
    ("name", "answer", "row", "said"),
    [
        ("01_retrieval/lookup_with_default", lookup_by_the_blend, 1, "should be"),
        ("01_retrieval/softmax", softmax_within_a_thousand, 1, "NaN"),
        ("02_kernel_regression/epanechnikov_weights", clamped_kernel, 2, "and should be 0"),
        ("02_kernel_regression/gaussian_regression", regression_by_cdist, 2, "should be"),
        ("04_bahdanau/additive_scores", additive_of_expanded, 2, ""),
        ("07_scaled_dot_product/attention_in_blocks", blocks_in_two_passes, 2, "its matrix produc"),
        ("08_self_attention/is_permutation_equivariant", trials_of_its_own, 1, "`trials` are hard"),
        ("09_multi_head/layer_size", size_in_floats, 1, "expected a whole number"),
    ],
)
def test_hole_is_closed(name: str, answer, row: int, said: str) -> None:
    exercise = find_exercise(name)
    cases = draw_cases(exercise, exercise.checks[row], None)
    found = (examine_one(case, LocalSubmission(answer)) for case in cases)
    assert said in next(finding.reason for finding in found if finding)


def test_promised_dtype_of_an_array_is_checked_as_well():
    def steps(number, array, names):
        return np.sqrt(array)

    exercise = Exercise("steps", steps, (Check("it is the root", 2, draw, ({"batch": 2},)),))
    kept = keep_contract(Exercise(**{**vars(exercise), "contract": Contract(points=1)}))
    assert kept.checks[-1].dtype == torch.float64
    for variant in wrong_answers(kept):
        assert refusal(kept, variant), variant.name
    for variant in right_answers(kept):
        assert not refusal(kept, variant), variant.name


def scales_the_table(tokens, state, num_heads, num_layers, input_scale):
    """Its numbers are right, since it takes the factor off where it reads out."""
    embedding = state["embedding.weight"]
    embedding *= input_scale
    rest = {"num_heads": num_heads, "num_layers": num_layers, "input_scale": 1.0}
    return find_exercise("11_transformer/language_model").reference(tokens, state, **rest) / (
        input_scale
    )


def divides_the_queries(query, key, value, temperature):
    query /= temperature
    return torch.softmax(query @ key.mT, -1) @ value


def clears_at_padding(exercise, tensor, mask):
    """The solution, which afterwards writes zeros into what padding holds."""
    reference = find_exercise(exercise).reference

    @functools.wraps(reference)
    def answer(**inputs):
        found = reference(**{name: copy_of(value) for name, value in inputs.items()})
        inputs[tensor].masked_fill_(~inputs[mask].unsqueeze(-1), 0)
        return found

    return answer


def clearing(exercise, tensor, mask):
    return exercise, clears_at_padding(exercise, tensor, mask), f"changes_{tensor}"


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("11_transformer/language_model", scales_the_table, "changes_state"),
        ("01_retrieval/soft_lookup", divides_the_queries, "changes_query"),
        clearing("04_bahdanau/alignment_error_rate", "weights", "target_mask"),
        clearing("05_luong/attentional_states", "annotations", "mask"),
        clearing("08_self_attention/causal_attention", "value", "real"),
    ],
)
def test_change_that_the_row_of_the_promises_does_not_show_is_refused_elsewhere(
    name, answer, mistake
):
    """In that row the factor is 1, or nothing is padding."""
    score = grade(find_exercise(name), LocalSubmission(answer), None)
    assert score.mistake == mistake
    assert score == score.of - cost_of_a_slip(find_exercise(name))
