"""Sequences to recall from, the learners, and what the record says of them."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
import torch
from torch.testing import assert_close

from attn_course.data.recall import (
    ASKED,
    BLANK,
    NUM_KEYS,
    NUM_VALUES,
    SHOWN,
    RecallBatch,
    first_batches,
    partner_batches,
    told_batches,
)
from attn_course.recurrence import count_parameters
from attn_course.trained import record
from attn_course.trained.recall import (
    DISTANCES,
    ENOUGH,
    EVERY,
    RATES,
    REACH_AFTER,
    RECIPES,
    SEEDS,
    SIZES,
    STEPS,
    TASKS,
    Recipe,
    learn,
    reach_of,
    run_recipe,
    share_right,
    unseen,
)
from attn_course.trained.recall.learners import LAYERS, build_learner
from attn_course.trained.recall.warm_up import (
    BATCH_SEEDS,
    CASES,
    LOOKS,
    NEAR,
    PLACES,
    SLOWER,
    Case,
    batches_of,
    reopened_runs,
    run_case,
)
from attn_course.trained.tuning import rates_then_seeds
from tests.sampling import left_to_proofs

RUNS = record("recall")["runs"]


def runs_of(recipe: Recipe) -> list[dict]:
    """Return what is recorded of a trial."""
    wanted = vars(recipe)
    return [run for run in RUNS if run | wanted == run]


def test_first_value_is_the_answer_so_many_steps_before_the_last() -> None:
    batch = next(first_batches(3, 7, 50))
    assert batch.values.shape == (50, 8)
    assert_close(batch.answer, batch.values[:, 0])
    assert (batch.keys[:, -1] == ASKED).all()
    assert (batch.keys[:, :-1] == SHOWN).all()
    assert (batch.values[:, -1] == BLANK).all()
    assert set(batch.values[:, :-1].flatten().tolist()) == set(range(NUM_VALUES))


def test_partner_of_the_key_that_is_asked_for_is_the_answer() -> None:
    batch = next(partner_batches(3, 7, 200))
    assert batch.keys.shape == (200, 8)
    for keys, values, answer in zip(*(part.tolist() for part in batch), strict=True):
        pairs = dict(zip(keys[:-1], values[:-1], strict=True))
        assert len(pairs) == 7
        assert pairs[keys[-1]] == answer
        assert values[-1] == BLANK


def test_question_told_first_is_the_one_asked_at_the_end_of_the_same_batch() -> None:
    told, asked = (next(batches(3, 7, 50)) for batches in (told_batches, partner_batches))
    assert told.keys.shape == (50, 9)
    assert torch.equal(told.keys[:, 0], told.keys[:, -1])
    assert (told.values[:, 0] == BLANK).all()
    for part, same in zip(told[:2], asked[:2], strict=True):
        assert torch.equal(part[:, 1:], same)
    assert torch.equal(told.answer, asked.answer)


def test_every_key_place_and_value_is_asked_for_alike() -> None:
    batch = next(partner_batches(0, 4, 8000))
    places = (batch.keys[:, :-1] == batch.keys[:, -1:]).int().argmax(1)
    for asked, number in ((places, 4), (batch.keys[:, -1], NUM_KEYS), (batch.answer, NUM_VALUES)):
        counts = Counter(asked.tolist())
        assert len(counts) == number
        expected = 8000 / number
        assert max(abs(count - expected) for count in counts.values()) < 5 * expected**0.5


@pytest.mark.parametrize("task", TASKS)
def test_seed_decides_the_batches_and_no_two_are_alike(task: str) -> None:
    one, other, third = (list(islice(TASKS[task](seed, 5, 6), 2)) for seed in (0, 0, 1))
    for batch, again in zip(one, other, strict=True):
        for part, same in zip(batch, again, strict=True):
            assert_close(part, same, rtol=0, atol=0)
    assert not torch.equal(one[0].values, one[1].values)
    assert not torch.equal(one[0].values, third[0].values)


@pytest.mark.parametrize("task", TASKS)
def test_nobody_elses_random_numbers_are_used_up(task: str) -> None:
    before = torch.get_rng_state()
    batch = next(TASKS[task](0, 5))
    assert torch.equal(torch.get_rng_state(), before)
    assert len(batch.answer) == 64


def test_batch_moves_to_a_device_as_a_whole() -> None:
    moved = next(first_batches(0, 3)).to("meta")
    assert isinstance(moved, RecallBatch)
    assert {part.device.type for part in moved} == {"meta"}


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (lambda: first_batches(0, 0), "distance=0 must be positive"),
        (lambda: first_batches(0, 3, 0), "batch_size=0 must be positive"),
        (lambda: partner_batches(0, 0), "num_pairs=0 must be positive"),
        (lambda: partner_batches(0, 33), "num_pairs=33 in a sequence, but there are 32 keys"),
    ],
)
def test_task_that_makes_no_sense_is_refused(stream: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        next(stream())


def test_learners_have_nearly_as_many_parameters() -> None:
    numbers = [count_parameters(build_learner(name, 0)) for name in LAYERS]
    assert max(numbers) < 1.05 * min(numbers)
    assert numbers == [runs_of(Recipe(name, "first", 10))[0]["parameters"] for name in LAYERS]


def test_learner_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no layer 'abacus'; choose from rnn, gru"):
        build_learner("abacus", 0)


@pytest.mark.parametrize("name", LAYERS)
def test_answer_depends_on_the_first_step_and_on_nothing_of_other_sequences(name: str) -> None:
    model, batch = build_learner(name, 0), next(first_batches(0, 4, 3))
    logits = model(batch)
    assert logits.shape == (3, NUM_VALUES)
    values = batch.values.clone()
    values[0, 0] = (values[0, 0] + 1) % NUM_VALUES
    changed = model(batch._replace(values=values))
    assert (changed[0] - logits[0]).abs().max() > 1e-6
    assert_close(changed[1:], logits[1:], rtol=0, atol=1e-6)


def test_only_attention_is_told_the_positions() -> None:
    batch = next(first_batches(0, 4, 3))
    same = RecallBatch(batch.keys * 0, batch.values * 0, batch.answer)
    for name in LAYERS:
        tokens = build_learner(name, 0).embed(same)
        alike = (tokens == tokens[:, :1]).all().item()
        assert alike == (name != "attention"), name


def test_every_trial_is_recorded_from_all_seeds_at_the_best_rate() -> None:
    assert len(RUNS) == len(RECIPES) * (len(RATES) + len(SEEDS) - 1)
    for recipe in RECIPES:
        first = [run for run in runs_of(recipe) if run["seed"] == SEEDS[0]]
        later = [run for run in runs_of(recipe) if run["seed"] != SEEDS[0]]
        assert [run["rate"] for run in first] == list(RATES)
        best = min(first, key=lambda run: (run["steps"] or STEPS + 1, -run["right"]))
        assert [(run["seed"], run["rate"]) for run in later] == [
            (seed, best["rate"]) for seed in SEEDS[1:]
        ]


def test_best_rate_of_the_first_seed_is_taken_for_the_others() -> None:
    def train(rate: float, seed: int) -> dict[str, object]:
        return {"rate": rate, "seed": seed, "worth": {1: 5, 2: 7, 3: 7}[rate]}

    tried = rates_then_seeds(train, (1, 2, 3), (4, 5, 6), lambda run: run["worth"])
    assert [(run["rate"], run["seed"]) for run in tried] == [(1, 4), (2, 4), (3, 4), (2, 5), (2, 6)]


def test_recorded_steps_are_those_of_a_model_that_can_do_it() -> None:
    for run in RUNS:
        if run["steps"] is None:
            assert run["right"] < ENOUGH, run
        else:
            assert run["right"] >= ENOUGH, run
            assert run["steps"] % EVERY == 0
            assert run["steps"] <= STEPS


def test_reach_is_recorded_where_it_was_to_be_measured() -> None:
    for run in RUNS:
        measured = (run["task"], run["size"]) == REACH_AFTER
        assert ("reach_after" in run) == ("reach_before" in run) == measured
        if measured:
            assert len(run["reach_before"]) == len(run["reach_after"]) == len(DISTANCES)
    assert record("recall")["distances"] == list(DISTANCES)


def test_small_part_comes_out_as_recorded() -> None:
    (recorded,) = (
        run
        for run in runs_of(Recipe("attention", "first", 10))
        if (run["rate"], run["seed"]) == (0.003, 0)
    )
    again = run_recipe(Recipe("attention", "first", 10), 0.003, 0)
    assert again["steps"] == pytest.approx(recorded["steps"], abs=2 * EVERY)  # other sums elsewhere
    assert again["right"] >= ENOUGH


def test_training_that_does_not_get_there_says_so() -> None:
    recipe = Recipe("rnn", "partner", SIZES["partner"][0])
    model = build_learner("rnn", 0)
    steps, right = learn(model, recipe, 1e-3, 0, 20)
    assert steps is None
    assert right == share_right(model, unseen("partner", 4))
    assert right < ENOUGH


def test_reach_before_training_is_that_of_the_layer() -> None:
    recorded = runs_of(Recipe("gru", *REACH_AFTER))[0]["reach_before"]
    ours = torch.tensor(reach_of(build_learner("gru", 0)))
    assert_close(ours.log(), torch.tensor(recorded).log(), rtol=0, atol=0.1)


def test_every_case_of_a_softmax_that_may_close_is_recorded_as_it_was_looked_at() -> None:
    stored = record("warm_up")
    controls = {"near": NEAR, "places": PLACES, "slower": SLOWER}
    runs = [*stored["runs"], *(run for name in controls for run in stored[name])]
    cases = [*CASES, *(case for cases in controls.values() for case in cases)]
    assert [Case(**{name: run[name] for name in vars(CASES[0])}) for run in runs] == cases
    for case, run in zip(cases, runs, strict=True):
        ended = run["steps"] or case.steps
        seen = [str(look) for look in LOOKS if look <= ended and look != run["steps"]]
        assert list(run["right"]) == list(run["on_itself"]) == seen, run
        assert all(share < ENOUGH for share in run["right"].values()), run


@left_to_proofs
def test_softmax_closes_again_without_a_warm_up_and_learns_with_one() -> None:
    closed = run_case(Case("attention", 10, 0.01, 2, 0))
    assert closed["steps"] is None
    assert closed["on_itself"][200] > 0.99
    learned = run_case(Case("attention", 10, 0.01, 2, 30))
    assert learned["steps"] == pytest.approx(30, abs=2 * EVERY)


def test_token_that_is_asked_for_is_as_far_back_as_the_case_says() -> None:
    for case in NEAR:
        batch = next(batches_of(case, seed=0, batch_size=7))
        assert batch.values.shape == (7, case.ahead + 2)
        assert_close(batch.answer, batch.values[:, -2])
    for case in PLACES:
        batch = next(batches_of(case, seed=0, batch_size=7))
        assert batch.values.shape == (7, 101)
        assert_close(batch.answer, batch.values[:, -1 - case.distance])
    learned = run_case(NEAR[2])
    assert learned["steps"] == pytest.approx(20, abs=EVERY)


def test_closed_model_and_its_opened_copy_are_trained_with_the_same_batches() -> None:
    stored = record("warm_up")["reopened"]
    kinds = [(seed, name) for seed in BATCH_SEEDS for name in ("closed", "opened")]
    assert [(run["batch_seed"], run["model"]) for run in stored] == kinds
    for made, kept in zip(reopened_runs(), stored[:2], strict=False):
        assert (made["steps"] is None) == (kept["steps"] is None)
