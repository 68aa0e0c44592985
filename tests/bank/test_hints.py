"""A hint is true of the answer, or it is not shown."""

import ast
from functools import cache

import pytest
import torch
from hintgrader.authoring.source_mutants import mutants_of
from hintgrader.bank.grade import grade
from hintgrader.checking.case import axes_of
from hintgrader.checking.findings import Findings
from hintgrader.checking.judge import examine
from hintgrader.exercise.mistakes import Mistake
from hintgrader.hints import diagnosis
from hintgrader.hints.cache import Effort
from hintgrader.hints.diagnosis import by_evidence, choose
from hintgrader.hints.recognised import Recognised
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.bank.false_hints import FALSE
from tests.problem_sets import LONG, find_solution
from tests.sampling import left_to_proofs, parameters, sample, sampled

# Inputs are drawn from these: the inputs that everybody sees, alone and with hidden ones.
ROUNDS = (None, *(f"seed {number}" for number in range(20)))
# The number of exercises that `make test` takes, and of rounds and mutants of each.
TAKEN_EXERCISES, TAKEN_ROUNDS, TAKEN_MUTANTS = 3, 1, 2
QUICK = [name for name in exercise_names() if not any(c.slow for c in find_exercise(name).checks)]


@pytest.mark.parametrize("secret", [pytest.param(None, marks=left_to_proofs), "one"])
@pytest.mark.parametrize("answer", FALSE, ids=lambda answer: answer.__name__)
def test_wrong_answer_is_told_what_it_did_and_not_what_it_did_not(answer, secret):
    exercise, mistake, false = FALSE[answer]
    score = grade(find_exercise(exercise), LocalSubmission(answer), secret)
    assert score.mistake == mistake
    assert false not in str(score)


def reversed_update(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """A GRU whose update gate keeps the new, by a product that takes two axes only."""
    from_input = (torch.mm(inputs, weight_ih.T) + bias_ih).chunk(3, 1)
    from_state = (torch.mm(state, weight_hh.T) + bias_hh).chunk(3, 1)
    reset, update = (torch.sigmoid(from_input[i] + from_state[i]) for i in (0, 1))
    candidate = torch.tanh(from_input[2] + reset * from_state[2])
    return update * candidate + (1 - update) * state


# Of axes, and of the gradient.
OTHER_FAULTS = {
    "axes": (reversed_update, "Then see row 3"),
    "a gradient that is cut off": (
        lambda **cell: reversed_update(**cell).detach(),
        "Then see rows 3 and 4",
    ),
}


@pytest.mark.parametrize(("answer", "then"), OTHER_FAULTS.values(), ids=OTHER_FAULTS)
def test_mistake_is_found_beside_another_fault_and_where_else_to_look_is_said(answer, then):
    score = grade(find_exercise("03_seq2seq/gru_step"), LocalSubmission(answer), None)
    assert score.mistake == "updates_the_other_way_round"
    assert score.hint.startswith("first: your update gate")  # perhaps not the only one
    assert then in score.hint


def no_root_and_keys_ask(tokens, w_query, w_key, w_value):
    """Two mistakes that spoil every number together."""
    scores = (tokens @ w_key) @ (tokens @ w_query).mT / tokens.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ (tokens @ w_value)


def low_fill_and_default_added(scores, value, mask, default):
    """Two mistakes that show in different rows."""
    weights = torch.softmax(scores.masked_fill(~mask, -30), -1)
    return weights @ value + default * ~mask.any(-1, keepdim=True)


@pytest.mark.parametrize("secret", [pytest.param(None, marks=left_to_proofs), "one"])
def test_two_known_mistakes_are_named_together(secret):
    spec = find_exercise("08_self_attention/self_attention")
    score = grade(spec, LocalSubmission(no_root_and_keys_ask), secret)
    assert score.mistake == "takes_the_scale_from_the_tokens"
    assert "Second: queries and keys have changed places" in score.hint


def test_row_in_which_a_known_mistake_stands_alone_is_named():
    spec = find_exercise("01_retrieval/lookup_with_default")
    score = grade(spec, LocalSubmission(low_fill_and_default_added), None)
    assert score.mistake is None
    assert score.hint.startswith("in row 2 your numbers are exactly what a known mistake gives")
    assert "other rows fail in another way, perhaps for the same reason" in score.hint


def test_right_numbers_in_another_form_are_said_to_be_right():
    def positions(length, d_model):
        angle = torch.arange(length).double()[:, None] / 10_000 ** (
            torch.arange(0, d_model, 2).double() / d_model
        )
        return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)[None]

    spec = find_exercise("08_self_attention/sinusoidal_positions")
    score = grade(spec, LocalSubmission(positions), None)
    assert score.hint.startswith("your numbers are right wherever they can be compared;")
    assert "mind the axes of length 1, and return torch.float32" in score.hint
    assert "`form`" in score.report_to


def test_two_mistakes_that_show_in_different_draws_are_named_together():
    """Rows of numbers alone do not do: two mistakes may give the same numbers at one of them."""

    def elman(tokens, w_input, w_state, bias, w_output):
        state = torch.zeros(len(tokens), len(w_state))
        outputs = []
        for token in tokens.unbind(1):
            state = torch.tanh(token @ w_input.T + state @ w_state.T + bias)
            outputs.append(state @ w_output.T)
        return torch.stack(outputs, 1)

    score = grade(find_exercise("10_recurrence/elman_outputs"), LocalSubmission(elman), None)
    assert score.mistake == "knows_one_batch_axis_only"
    assert "Second: your zeros are float32" in score.hint
    spec = find_exercise("01_retrieval/lookup_with_default")
    score = grade(spec, LocalSubmission(low_fill_and_default_added), None)
    assert "Second" not in score.hint


def test_two_mistakes_that_share_the_draws_of_a_row_are_named_together():
    """The width is lost in the very row in which most draws raise."""

    def one_feature(query, key, value, width):
        apart = (query - key.mT) / torch.as_tensor(width).detach()
        return torch.softmax(-(apart**2) / 2, -1) @ value

    spec = find_exercise("02_kernel_regression/gaussian_regression")
    score = grade(spec, LocalSubmission(one_feature), "one")
    assert score.mistake == "knows_one_feature"
    assert "Second: you turn `width` into a number of its own" in score.hint


def sorts_the_wrong_ones_and_no_bias(weight, bias, num_heads, by_head):
    """Two mistakes; with the first of them the weights are not right."""
    if not by_head:
        weight = weight.unflatten(0, (num_heads, 3, -1)).transpose(0, 1).flatten(0, 2)
    return *weight.chunk(3), *bias.chunk(3)


def test_what_is_right_is_said_of_an_answer_with_no_other_mistake():
    spec = find_exercise("09_multi_head/separate_projections")
    mistake = next(m for m in spec.mistakes if m.name == "leaves_the_bias_packed_by_heads")
    alone = grade(spec, LocalSubmission(mistake.answer), None)
    assert alone.hint.startswith("your weights are right, but `bias` is packed")
    both = grade(spec, LocalSubmission(sorts_the_wrong_ones_and_no_bias), None)
    assert "`bias` is packed" in both.hint
    assert "are right" not in both.hint


def test_how_many_axes_an_answer_takes_at_most_is_said():
    def blend(query, key, value, temperature):
        parts = [part if part.ndim == 3 else part[None] for part in (query, key, value)]
        weights = torch.softmax(torch.bmm(parts[0], parts[1].mT) / temperature, -1)
        return torch.bmm(weights, parts[2]).reshape(*query.shape[:-1], -1)

    score = grade(find_exercise("01_retrieval/soft_lookup"), LocalSubmission(blend), "one")
    assert score.hint.startswith("where `query` has 3 axes or fewer, no row finds a fault")
    assert "`axes`" in score.report_to


def test_axes_are_not_named_where_numbers_merely_differ():
    """With two axes nothing is padded, so that an `or` for an `and` does not show there."""

    def one_mask_is_enough(query, key, value, real):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        seen = torch.ones_like(scores, dtype=torch.bool).tril() | real.unsqueeze(-2)
        return torch.softmax(scores.masked_fill(~seen, -torch.inf), -1) @ value

    spec = find_exercise("08_self_attention/causal_attention")
    assert "count from the back" not in str(
        grade(spec, LocalSubmission(one_mask_is_enough), None).hint
    )


@pytest.mark.parametrize(("small", "name"), [(1e-6, "is_off_by_a_millionth"), (0, "rounds")])
def test_float32_is_named_where_the_numbers_are_of_float32(small, name):
    def softmax(scores):
        dtype = scores.dtype if small else torch.float32
        powers = torch.exp(scores - scores.amax(-1, keepdim=True)).to(dtype)
        return (powers / (powers.sum(-1, keepdim=True) + small)).to(scores.dtype)

    score = grade(find_exercise("01_retrieval/softmax"), LocalSubmission(softmax), None)
    assert score.mistake.startswith(name)


@cache
def made(exercise: str, secret: str | None) -> list[tuple[Mistake, Findings]]:
    """The mistakes of an exercise in all their forms, and what is found of each."""
    spec = find_exercise(exercise)
    return [
        (mistake, examine(spec, LocalSubmission(answer), secret))
        for mistake in spec.mistakes
        for answer in (mistake.answer, *mistake.also)
    ]


@cache
def mutants(exercise: str) -> dict:
    """Functions that are the solution but for one change, by the change."""
    solution, found = find_solution(exercise), {}
    changed = mutants_of(ast.unparse(ast.parse(solution.source)))
    for change in sample(changed, TAKEN_MUTANTS, lambda change: f"{exercise} {change}"):
        try:
            found[change] = solution.function(find_exercise(exercise).function, changed[change])
        except Exception:  # it cannot even be defined
            continue
    return found


def said_of(exercise: str, findings: Findings, secret: str | None) -> Recognised | None:
    """Recognise as `recognise` does, but from mistakes that are made once."""
    spec = find_exercise(exercise)
    others = [
        (m, theirs) for m, theirs in made(exercise, secret) if not m.evidence or m.points is None
    ]
    repeats = {row for row, check in enumerate(spec.checks) if check.repeats}
    return by_evidence(spec, findings) or choose(findings, others, repeats, axes_of(spec, secret))


@sampled
@pytest.mark.parametrize("exercise", parameters(QUICK, TAKEN_EXERCISES, never=LONG))
def test_no_hint_of_one_mistake_is_shown_for_another(exercise):
    for secret in sample(ROUNDS, TAKEN_ROUNDS, lambda secret: f"{exercise} {secret}"):
        for mistake, findings in made(exercise, secret):
            if any(findings):  # some are found on hidden inputs alone
                said = said_of(exercise, findings, secret)
                assert said, f"{mistake.name}, {secret}: not recognised"
                assert (said.mistake.hint, said.row) == (mistake.hint, None), (
                    f"{mistake.name}, {secret}: taken for {said.mistake.name}"
                )


@sampled
@pytest.mark.parametrize("exercise", parameters(QUICK, TAKEN_EXERCISES, never=LONG))
def test_mutant_that_is_said_to_be_a_mistake_is_that_on_other_inputs_too(exercise):
    rounds = sample(ROUNDS, TAKEN_ROUNDS, lambda secret: f"{exercise} {secret}")
    for change, answer in mutants(exercise).items():
        found = {
            secret: examine(find_exercise(exercise), LocalSubmission(answer), secret)
            for secret in {*rounds, None}
        }
        for secret, findings in found.items():
            said = said_of(exercise, findings, secret)
            if said is None or said.row is not None or not said.mistake or said.mistake.evidence:
                continue
            for other, there in found.items():
                forms = [f for m, f in made(exercise, other) if m == said.mistake]
                rows = [row for row in range(len(there)) if row not in said.others]
                fits = any(all(there[row] or not f[row] for row in rows) for f in forms)
                assert fits, f"{change}: {said.mistake.name} by {secret}, not by {other}"


def dropout_left_on(tokens, w_query, w_key, w_value):
    scores = (tokens @ w_query) @ (tokens @ w_key).mT / w_query.shape[-1] ** 0.5
    return torch.nn.functional.dropout(torch.softmax(scores, -1), 0.3) @ (tokens @ w_value)


def weights_transposed(tokens, w_query, w_key, w_value):
    scores = (tokens @ w_query) @ (tokens @ w_key).mT / w_query.shape[-1] ** 0.5
    return torch.softmax(scores, -1).mT @ (tokens @ w_value)


def adds_what_the_batch_has_in_common(query, key, w_query, w_key, score_weight):
    hidden = (query @ w_query.mT).unsqueeze(2) + (key @ w_key.mT).unsqueeze(1)
    scores = torch.tanh(hidden) @ score_weight
    return scores + 0.1 * scores.square().sum(0)


def returns_within_the_loop(query, truth, key, value, temperatures):
    for t in temperatures:
        weights = torch.softmax(-(query[:, None] - key).square().sum(-1) / t, -1)
        return (weights @ value - truth).square().sum(-1).mean()


def product_without_transpose(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    return inputs @ weight_ih


def shadows_an_argument(inputs, state, weight_ih, weight_hh, bias_ih, bias_hh):
    gates = [gate for gate in gates.chunk(3)]  # noqa: F841
    return state


# What an answer shows, whatever the cause is: the exercise, and what is said.
EFFECTS = {
    dropout_left_on: ("08_self_attention/self_attention", "every call returns other numbers"),
    weights_transposed: (
        "08_self_attention/self_attention",
        "your weights are transposed where they meet the values",
    ),
    adds_what_the_batch_has_in_common: (
        "04_bahdanau/additive_scores",
        "the first of a batch changes if it comes alone: something runs over the axis in front",
    ),
    returns_within_the_loop: (
        "01_retrieval/guess_errors",
        "does your `return` stand inside the loop?",
    ),
    product_without_transpose: ("03_seq2seq/gru_step", "is it to be transposed, `@ weight_ih.mT`?"),
    shadows_an_argument: ("03_seq2seq/gru_step", "`gates` is read before it has a value"),
}


@pytest.mark.parametrize("answer", EFFECTS, ids=lambda answer: answer.__name__)
def test_where_no_cause_is_known_the_effect_is_said(answer):
    exercise, said = EFFECTS[answer]
    score = grade(find_exercise(exercise), LocalSubmission(answer), "one")
    assert said in score.hint
    assert str(score).count(score.hint) == 1


def _judges_by(draw, allowed):
    """A student's test: sentences that `draw` makes, and no look at the number of rows."""

    def answer(layer, d_model, max_len, trials):
        for _ in range(trials):
            tokens, order = draw(max_len, d_model)
            output, turned = layer(tokens), layer(tokens[order])
            if not torch.isclose(turned, output[order], **allowed).all():
                return False
        return True

    return answer


def of_any_length(max_len, d_model):
    length = int(torch.randint(2, max_len + 1, ()))
    return torch.randn(length, d_model), torch.randperm(length)


def of_the_greatest_length(max_len, d_model):
    return torch.randn(max_len, d_model), torch.randperm(max_len)


def turned_round(max_len, d_model):
    return torch.randn(max_len, d_model), torch.arange(max_len).flip(0)


@pytest.mark.parametrize(
    ("draw", "allowed", "said"),
    [
        (of_any_length, {"atol": 1e-4}, ("look at the number of rows", "below some fixed number")),
        (
            of_the_greatest_length,
            {"rtol": 1e-4},
            ("your sentences never have two tokens", "look at the number of rows"),
        ),
        (
            turned_round,
            {"atol": 1e-4},
            ("you try one order of one length", "look at the number of rows", "Then see row 4"),
        ),
    ],
)
def test_mistakes_of_a_test_add_up_and_are_told_one_by_one(draw, allowed, said):
    exercise = find_exercise("08_self_attention/is_permutation_equivariant")
    score = grade(exercise, LocalSubmission(_judges_by(draw, allowed)), None)
    assert [words for words in said if words not in score.hint] == []
    assert "with `returns_one_mean`, a layer that returns a single row" in str(score)


def test_mistakes_of_a_test_are_tried_at_the_cost_of_all_others(monkeypatch):
    """One budget for all that diagnosis does: where it is used up, nothing more is tried."""

    def is_content_with_one(layer, d_model, max_len, trials):
        judge = _judges_by(of_any_length, {"atol": 1e-4})
        return any(judge(layer, d_model, max_len, 1) for _ in range(trials))

    spent, spend = [], Effort.spend
    monkeypatch.setattr(diagnosis, "MOST_WORK", 10_000)
    monkeypatch.setattr(Effort, "spend", lambda self, work: (spent.append(work), spend(self, work)))
    exercise = find_exercise("08_self_attention/is_permutation_equivariant")
    assert grade(exercise, LocalSubmission(is_content_with_one), None).mistake is None
    assert 10_000 <= sum(spent) <= 10_000 + 2 * max(spent)  # the last is asked for, and refused


def test_first_of_a_text_without_a_batch_is_not_called_the_first_of_a_batch():
    """Elman's first output depends on the first token alone, as what comes from a batch does."""

    def stacked(tokens, w_input, w_state, bias, w_output):
        state, outputs = tokens.new_zeros(*tokens.shape[:-2], len(bias)), []
        for token in tokens.unbind(-2):
            state = torch.tanh(token @ w_input.mT + state @ w_state.mT + bias)
            outputs.append(state @ w_output.mT)
        return torch.stack(outputs, -1 - (token.ndim > 1))

    score = grade(find_exercise("10_recurrence/elman_outputs"), LocalSubmission(stacked), None)
    assert "first of a batch" not in (score.hint or "")
