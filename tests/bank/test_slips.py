"""Slips that fit any exercise, and what is said of them."""

import pytest
import torch
from hintgrader.bank.grade import grade
from hintgrader.hints.slips import slips_of
from hintgrader.worker.submission import LocalSubmission

from attn_bank import find_exercise


def scores_of_softmax_over_queries(query, key, weight):
    return torch.softmax(query @ weight @ key.mT, -2)


def scores_of_means(query, key, weight):
    return ((query @ weight).unsqueeze(-2) * key.unsqueeze(-3)).mean(-1)


def scores_of_transposed_weight(query, key, weight):
    square = weight.shape[0] == weight.shape[1]
    return query @ (weight.mT if square else weight) @ key.mT


def states_through_sigmoid(words, annotations, mask, state, w_input, w_state, w_combine):
    fed, noted = torch.zeros_like(state), []
    for word in words.unbind(1):
        heard = torch.cat([word, fed], -1) @ w_input.mT
        state = torch.sigmoid(heard + state @ w_state.mT)
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = torch.sigmoid(torch.cat([context, state], -1) @ w_combine.mT)
        noted.append(fed)
    return torch.stack(noted, 1)


def states_over_the_batch(words, annotations, mask, state, w_input, w_state, w_combine):
    """Its scores have two axes, where a reference may have three."""
    fed, noted = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(0)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        noted.append(fed)
    return torch.stack(noted, 1)


def test_division_that_rounds_down_is_said():
    def lookup(query, key, value, temperature):
        return torch.softmax(query @ key.mT // temperature, -1) @ value

    score = grade(find_exercise("01_retrieval/soft_lookup"), LocalSubmission(lookup), None)
    assert "with `//` in the place of `/`" in score.hint


def test_mask_that_makes_zeros_before_the_softmax_and_behind_is_said():
    def lookup(scores, value, mask, default):
        weights = torch.softmax(scores * mask, -1) * mask
        return torch.where(mask.any(-1, keepdim=True), weights @ value, default)

    exercise = find_exercise("01_retrieval/lookup_with_default")
    assert "and then 0 for their weights" in grade(exercise, LocalSubmission(lookup), None).hint


@pytest.mark.parametrize("secret", [None, "one"])
@pytest.mark.parametrize(
    ("part", "answer", "said"),
    [
        (
            "05_luong/general_scores",
            scores_of_softmax_over_queries,
            "your output is the right one after a softmax over the last axis but one: ",
        ),
        (
            "05_luong/general_scores",
            scores_of_means,
            "your output is the right one divided by the length of the last axis of `key`: ",
        ),
        (
            "05_luong/general_scores",
            scores_of_transposed_weight,
            "your numbers are what a right answer gives with `weight` transposed where it",
        ),
        (
            "05_luong/attentional_states",
            states_through_sigmoid,
            "your numbers are what a right answer gives with `sigmoid` in the place of `tanh`",
        ),
        (
            "05_luong/attentional_states",
            states_over_the_batch,
            "your numbers are what a right answer gives with a softmax along another axis",
        ),
    ],
)
def test_slip_that_the_bank_does_not_know_is_said(part, answer, said, secret):
    score = grade(find_exercise(part), LocalSubmission(answer), secret)
    assert score.hint.startswith(said)
    assert f"`{score.mistake}`" in score.report_to


@pytest.mark.parametrize("part", ["05_luong/local_weights", "03_seq2seq/beam_search"])
def test_slips_of_many_kinds_are_known_of_an_exercise(part):
    hints = {slip.hint for slip in slips_of(find_exercise(part))}
    assert len(hints) > 100
    assert not [hint for hint in hints if "{" in hint]


def test_slips_are_not_looked_for_where_nothing_but_words_was_found():
    def raises(query, key, weight):
        raise ValueError("no")

    assert (
        grade(find_exercise("05_luong/general_scores"), LocalSubmission(raises), None).hint is None
    )
    assert slips_of(find_exercise("04_bahdanau/train_and_translate")) == []


@pytest.mark.parametrize(
    ("part", "one_left"),
    [
        ("summarise", "mends_the_query_only"),
        ("summarise", "mends_the_mask_only"),
        ("attend_in_columns", "mends_the_scale_only"),
        ("attend_in_columns", "mends_the_axis_only"),
        ("distance_scores", "mends_the_sign_only"),
        ("distance_scores", "mends_the_square_only"),
    ],
)
def test_of_two_faults_to_be_found_one_is_half_of_the_work(part, one_left):
    spec = find_exercise(f"07_scaled_dot_product/{part}")
    answer = next(one.answer for one in spec.mistakes if one.name == one_left)
    score = grade(spec, LocalSubmission(answer), None)
    assert (score.mistake, float(score)) == (one_left, spec.points / 2)


@pytest.mark.parametrize(
    ("exercise", "omission"),
    [
        ("03_seq2seq/copy_accuracy", "leaves_out_empty_sentences"),
        ("04_bahdanau/alignment_error_rate", "takes_one_sure_link_of_a_word"),
        ("04_bahdanau/alignment_error_rate", "counts_words_with_a_sure_link"),
    ],
)
def test_one_omission_that_every_row_shows_costs_once(exercise, omission):
    spec = find_exercise(exercise)
    known = next(one for one in spec.mistakes if one.name == omission)
    for answer in (known.answer, *known.also):
        score = grade(spec, LocalSubmission(answer), None)
        assert (score.mistake, float(score)) == (omission, 3)


@pytest.mark.parametrize(
    ("exercise", "leak"),
    [
        ("01_retrieval/lookup_with_default", "forgets_the_mask"),
        ("02_kernel_regression/choose_width", "measures_with_the_key_itself"),
        ("07_scaled_dot_product/causal_weights", "sees_one_key_ahead"),
        ("08_self_attention/causal_attention", "looks_one_place_ahead"),
    ],
)
def test_leak_of_what_a_part_is_to_hide_costs_more_than_a_slip(exercise, leak):
    spec = find_exercise(exercise)
    answer = next(one.answer for one in spec.mistakes if one.name == leak)
    score = grade(spec, LocalSubmission(answer), None)
    assert score.mistake == leak
    assert float(score) < spec.points / 2
