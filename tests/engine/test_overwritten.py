"""Arguments that an answer's own loops overwrite: seen in its source, said if nothing else is."""

import inspect
from importlib import import_module

import pytest
import torch
from hintgrader.bank.grade import grade
from hintgrader.hints import diagnosis
from hintgrader.worker.overwritten import AGAIN, FOR, overwritten
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from attn_course.transformer import next_token_law


def meets_a_key_for_a_query(query, key):
    scores = []
    for query in key:
        scores.append(query @ key.mT)
    return torch.stack(scores)


def takes_the_last(mask, scores):
    for mask in mask:  # noqa: B020
        scores = scores[mask]
    return scores, mask


def takes_pairs(rows, sure):
    for rows, (sure, count) in enumerate(zip(rows, sure, strict=True)):  # noqa: B007, B020
        print(rows, count)
    return sure


def multiplies_again(query, key, w_query):
    for weight in w_query:
        query, key = query @ weight, torch.relu(key)
        while True:
            w_query = w_query + 1


def overwrites_nothing(query, key, mask):
    for mask in mask:  # noqa: B020
        print(mask)
    query = query + 1
    for i in range(3):
        key[i] = key[i] + 1
        print([query for query in key])

        def inner(key, query=query):
            for key in query:
                print(key)

    return key


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (meets_a_key_for_a_query, [(FOR, "query")]),
        (takes_the_last, [(FOR, "mask")]),
        (takes_pairs, [(FOR, "sure")]),
        (multiplies_again, [(AGAIN, "query"), (AGAIN, "key"), (AGAIN, "w_query")]),
        (overwrites_nothing, []),
        (torch.softmax, []),
    ],
)
def test_arguments_that_a_loop_overwrites_are_found_in_the_source(function, found):
    assert [pair for pair in overwritten(function) if pair[1] != "scores"] == found


def blends_by_the_last_key(query, key, value, temperature):
    weights = []
    for query in key:
        weights.append((query * key).sum(-1))
    return torch.softmax(torch.stack(weights) / temperature, -1) @ value


def gives_the_last_query_to_all(scores, value, mask, default):
    blend = torch.softmax(scores.masked_fill(~mask, -1e9), -1) @ value
    for mask in mask.any(-1).flatten():  # noqa: B007, B020
        pass
    return torch.where(mask, blend, default)


def goes_on_with_what_the_last_head_made(query, key, value, w_query, w_key, w_value, w_output):
    output = 0
    for head in range(len(w_query)):
        query, key, value = query @ w_query[head], key @ w_key[head], value @ w_value[head]
        weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
        output = output + weights @ value @ w_output[head]
    return output


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (
            "01_retrieval/soft_lookup",
            blends_by_the_last_key,
            "numbers count? `for query in ...` gives the name of the argument `query`",
        ),
        (
            "01_retrieval/lookup_with_default",
            gives_the_last_query_to_all,
            "`for mask in ...` gives the name of the argument `mask` to something else",
        ),
        (
            "09_multi_head/sum_of_heads",
            goes_on_with_what_the_last_head_made,
            "in a loop, `query = ...` is made of `query` itself",
        ),
    ],
)
def test_overwritten_argument_is_said_where_nothing_better_is_known(
    exercise, answer, said, monkeypatch
):
    monkeypatch.setattr(diagnosis, "MOST_WORK", 50_000)  # slips, which these are not, take seconds
    score = grade(find_exercise(exercise), LocalSubmission(answer), None)
    assert said in score.hint
    assert "with the right one transposed they fit" not in str(score)


def test_text_that_a_right_answer_makes_longer_too_is_no_cause(monkeypatch):
    monkeypatch.setattr(diagnosis, "MOST_WORK", 50_000)

    def generate(model, tokens, number, temperature, top_p, seed):
        """All texts are drawn by the law of the first."""
        generator = torch.Generator().manual_seed(seed)
        for _ in range(number):
            law = next_token_law(model(tokens)[:1, -1], temperature, top_p=top_p)
            new = torch.multinomial(law.expand(len(tokens), -1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
        return tokens

    assert overwritten(generate) == [(AGAIN, "tokens")]
    score = grade(find_exercise("11_transformer/generate"), LocalSubmission(generate), None)
    assert float(score) < score.of
    assert score.hint is None


def test_known_mistake_is_said_whatever_the_source_shows():
    spec = find_exercise("01_retrieval/softmax")
    mistake = next(one for one in spec.mistakes if one.name == "overflows")

    def overflows(scores):
        for scores in [scores]:  # noqa: B007, B020
            pass
        return mistake.answer(scores)

    assert overwritten(overflows)

    assert grade(spec, LocalSubmission(overflows), None).mistake == "overflows"


def test_argument_that_the_right_answer_overwrites_too_is_no_cause(monkeypatch):
    monkeypatch.setattr(diagnosis, "MOST_WORK", 50_000)

    def delta_rule(query, key, value, rate, state):
        outputs = []
        for t in range(query.shape[-2]):
            k, v = key[..., t : t + 1, :], value[..., t : t + 1, :]
            state = torch.tanh(state + k.mT @ (rate[..., t, None, None] * (v - k @ state)))
            outputs.append(query[..., t : t + 1, :] @ state)
        return torch.cat(outputs, -2), state

    assert overwritten(delta_rule) == [(AGAIN, "state")]
    score = grade(
        find_exercise("14_linear_attention/delta_rule"), LocalSubmission(delta_rule), None
    )
    assert "is made of `state` itself" not in str(score)


def test_state_that_a_right_answer_makes_anew_is_no_cause():
    """Its reference leaves the loop to a function of another name."""

    def attentional_states(words, annotations, mask, state, w_input, w_state, w_combine):
        fed = torch.zeros_like(state)
        for word in words.unbind(1):
            state = torch.tanh(w_input @ torch.cat([word, fed], -1) + state @ w_state.mT)
        return state

    assert overwritten(attentional_states) == [(AGAIN, "state")]
    spec = find_exercise("05_luong/attentional_states")
    score = grade(spec, LocalSubmission(attentional_states), None)
    assert "is made of `state` itself" not in str(score)
    assert "`mask.mT`" not in str(score)
    assert score.hint.startswith("`@` wants the last axis of the left, here 7")


@pytest.mark.parametrize("name", exercise_names())
def test_loops_of_right_answers_overwrite_nothing_that_a_wrong_one_is_told_of(name):
    exercise = find_exercise(name)
    module = exercise.reference.__module__.replace("attn_bank", "tests.bank.right_answers", 1)
    answers = [*vars(import_module(module)).values()]
    known = {*overwritten(exercise.reference), *((AGAIN, one) for one in exercise.goes_on)}
    for answer in filter(inspect.isfunction, answers):
        assert {pair for pair in overwritten(answer) if pair[0] == AGAIN} <= known
