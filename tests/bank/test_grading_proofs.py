"""For every exercise: the right answers pass, and every way to be wrong is refused.

A wrong answer is one of the bank of mistakes, or a mutant of the solution. `make test` takes a
sample of the mistakes, the mutants and the draws of every exercise; `make proofs` takes all.
"""

from dataclasses import replace
from functools import cache
from itertools import product
from operator import itemgetter

import pytest
from hintgrader.authoring import proofs
from hintgrader.authoring.demands import unmet_demands
from hintgrader.authoring.trying import right_answers_in
from hintgrader.authoring.verdicts import (
    CAUGHT,
    HIDDEN,
    SOME,
    UNTRIED,
    Verdicts,
    deciding,
    read_verdicts,
)
from hintgrader.bank.grade import UNTRIED as NOT_TRIED
from hintgrader.bank.grade import grade
from hintgrader.checking.case import draw_cases
from hintgrader.checking.judge import examine_one
from hintgrader.exercise import Exercise
from hintgrader.hints.cost_of_a_slip import kept
from hintgrader.hints.recognised import Recognised
from hintgrader.nbgrader.course import Course
from hintgrader.testing.courses import seed_of_no_other_course
from hintgrader.worker.points import Points
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.conftest import ROOT
from tests.problem_sets import LONG, find_solution
from tests.sampling import left_to_proofs, parameters, sample, sampled, takes_all

EXERCISES = exercise_names()
SECRET = "the proofs"
# The numbers that `make test` takes: of twenty draws, and of the right answers that are tried on
# them; of the right answers, watched; of the mistakes; of a solution's mutants.
DRAWS, DRAWN_FOR, RIGHT_ANSWERS, MISTAKES, MUTANTS = 1, 1, 1, 1, 2
# Those of whose solution the mutants are tried that change nothing; of all, that there are such.
EQUIVALENTS = sample([name for name in EXERCISES if name not in LONG], 14)
# Those whose solutions train for long: their first rows are for `make test`.
TRAIN_LONG = ("04_bahdanau/train_and_translate", "11_transformer/train_writer")
# Right answers that take seconds.
TAKE_SECONDS = {"by_deleting_each_in_turn"}


def right_answers(exercise: str) -> dict[str, proofs.Answer]:
    return right_answers_in(ROOT / "tests" / "bank" / "right_answers" / f"{exercise[3:]}.py")


def is_slow(exercise: str) -> bool:
    """Return True if an answer trains, for seconds."""
    return any(check.slow for check in find_exercise(exercise).checks)


SLOW = {name for name in EXERCISES if is_slow(name)}


def mark_of(exercise: str) -> pytest.MarkDecorator:
    """Wrong answers that train are for the proofs, all of them."""
    return left_to_proofs if is_slow(exercise) else sampled


WRONG_ANSWERS = pytest.mark.parametrize(
    "exercise", [pytest.param(name, marks=mark_of(name)) for name in EXERCISES]
)


def verdicts_on(exercise: str) -> Verdicts:
    """The verdicts that are kept; none of an exercise that has not been tried as it is now."""
    path = ROOT / "book" / "kill_matrix" / f"{exercise[3:]}.json"
    return read_verdicts(find_exercise(exercise), path) or {}


def taken_mistakes(exercise: str) -> list[str]:
    """The mistakes that are tried, by name."""
    return sample([mistake.name for mistake in find_exercise(exercise).mistakes], MISTAKES)


def taken_mutants(exercise: str) -> dict[str, str]:
    """The mutants that are tried, by what is changed."""
    taken = sample(mutants(exercise), MUTANTS)
    return {change: mutants(exercise)[change] for change in taken}


@cache
def mutants(exercise: str) -> dict[str, str]:
    return proofs.mutants(find_solution(exercise))


@cache
def failed_checks(exercise: str) -> dict[str, list[str]]:
    """For every wrong answer that is known, by name, the first two checks that refuse it."""
    spec, solution = find_exercise(exercise), find_solution(exercise)
    failed = {name: refusing_rows(exercise, name) for name in taken_mistakes(exercise)}
    for change, mutant in proofs.defined_mutants(spec, solution, taken_mutants(exercise)):
        failed[change] = proofs.refusing_checks(spec, mutant, SECRET)
    return failed


@cache
def score_of(exercise: str, mistake_name: str) -> Points:
    """Return the points of a mistake, worked out once: some of them train."""
    mistakes = find_exercise(exercise).mistakes
    answer = next(mistake.answer for mistake in mistakes if mistake.name == mistake_name)
    return grade(find_exercise(exercise), LocalSubmission(answer), SECRET)


def refusing_rows(exercise: str, mistake_name: str) -> list[str]:
    """Labels of the first two checks that refuse a mistake, of those that it was tried on."""
    rows = score_of(exercise, mistake_name).rows
    labels = [row.label for row in rows if row.problem not in (None, NOT_TRIED)]
    repeating = {check.label for check in find_exercise(exercise).checks if check.repeats}
    return ([label for label in labels if label not in repeating] or labels)[:2]


def faults_of_solution(spec: Exercise) -> list[str]:
    submission = proofs.watched(spec, find_solution(spec.name).function(spec.function))
    return list(proofs.faults_of_right_answer(spec, "the solution", submission, SECRET))


@pytest.mark.parametrize(
    "exercise",
    [
        *(name for name in EXERCISES if name not in TRAIN_LONG),
        *(pytest.param(name, marks=left_to_proofs) for name in TRAIN_LONG),
    ],
)
def test_solution_earns_every_point(exercise):
    assert faults_of_solution(find_exercise(exercise)) == []


@pytest.mark.parametrize("exercise", TRAIN_LONG)
def test_solution_that_trains_long_earns_its_first_row(exercise):
    spec = find_exercise(exercise)
    assert faults_of_solution(replace(spec, checks=spec.checks[:1])) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_points_in_the_notebook_are_those_of_the_checks(exercise):
    assert find_solution(exercise).points == find_exercise(exercise).points


@pytest.fixture(scope="module")
def course():
    with seed_of_no_other_course():
        yield Course(ROOT)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_exercise_has_all_that_is_demanded_of_one(exercise, course):
    assert list(unmet_demands(course, find_exercise(exercise))) == []


@sampled
@pytest.mark.parametrize("exercise", parameters(EXERCISES, 18, never=SLOW | LONG))
def test_every_right_answer_earns_every_point(exercise):
    """Watched, but for answers that train: watching makes loops slow, so the first stands in.

    Of the others `make test` tries the solution alone.
    """
    spec = find_exercise(exercise)
    answers = [
        (number, name)
        for number, name in enumerate(right_answers(exercise))
        if takes_all() or name not in TAKE_SECONDS
    ]
    for number, name in sample(answers, RIGHT_ANSWERS, itemgetter(1)):
        answer = right_answers(exercise)[name]
        unwatched = number and is_slow(exercise)
        submission = LocalSubmission(answer) if unwatched else proofs.watched(spec, answer)
        faults = proofs.faults_of_right_answer(spec, name, submission, f"seed {number}")
        assert list(faults) == []


@sampled
@pytest.mark.parametrize("exercise", parameters([n for n in EXERCISES if not is_slow(n)], 18))
def test_every_right_answer_is_right_on_twenty_hidden_draws(exercise):
    spec = find_exercise(exercise)
    right = sample(right_answers(exercise).items(), DRAWN_FOR, lambda pair: pair[0])
    answers = [(name, LocalSubmission(answer)) for name, answer in right]
    seeds = sample(range(20), DRAWS, lambda seed: f"{exercise} {seed}")
    for seed, check in product(seeds, spec.checks):
        cases = draw_cases(spec, check, f"seed {seed}")
        for (name, submission), case in product(answers, cases):
            found = examine_one(case, submission) if case.hidden else None
            assert not found, f"{name}, seed {seed}, {check.label}: {found.reason}"


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [
        pytest.param(name, mistake, id=f"{name}-{mistake.name}", marks=mark_of(name))
        for name in EXERCISES
        for mistake in find_exercise(name).mistakes
        if mistake.name in taken_mistakes(name)
    ],
)
def test_mistake_earns_what_it_declares_and_shows_its_hint(exercise, mistake):
    score = score_of(exercise, mistake.name)
    assert list(proofs.faults_of_mistake(find_exercise(exercise), mistake, score)) == []
    if is_slow(exercise):  # only then the public inputs are not among those graded just now
        assert grade(find_exercise(exercise), LocalSubmission(mistake.answer), None) >= score
    assert score.hint in score._repr_html_() or "`" in score.hint or "'" in score.hint


@WRONG_ANSWERS
def test_rows_that_a_student_sees_refuse_every_mistake(exercise):
    """Or the notebook says that all is well, and the marks say otherwise."""
    spec = find_exercise(exercise)
    for mistake in spec.mistakes:
        if mistake.name in taken_mistakes(exercise):
            assert list(proofs.unseen_forms(spec, mistake)) == []


@WRONG_ANSWERS
def test_mistakes_are_caught_by_the_checks_that_the_kill_matrix_says(exercise):
    """The page's seeds are others than ours: what it says holds for this one too."""
    taken = taken_mistakes(exercise)
    for mistake, cells in verdicts_on(exercise).items():
        if mistake not in taken:
            continue
        rows = score_of(exercise, mistake).rows
        for number, (row, cell) in enumerate(zip(rows, cells, strict=True), start=1):
            untried, caught = row.problem == NOT_TRIED, row.problem not in (None, NOT_TRIED)
            assert untried == (cell == UNTRIED), f"{mistake}, check {number}"
            if cell != SOME:
                assert caught == (cell in (CAUGHT, HIDDEN)), f"{mistake}, check {number}"


@WRONG_ANSWERS
def test_every_mutant_of_the_solution_is_refused(exercise):
    assert list(proofs.surviving_mutants(failed_checks(exercise))) == []


@sampled
@pytest.mark.parametrize("exercise", EXERCISES)
def test_mutants_declared_equivalent_exist_and_change_nothing(exercise):
    spec, solution = find_exercise(exercise), find_solution(exercise)
    tried = takes_all() or (exercise in EQUIVALENTS and not is_slow(exercise))
    assert list(proofs.faults_of_equivalents(spec, solution, SECRET, tried)) == []


@WRONG_ANSWERS
def test_without_any_one_check_some_wrong_answer_passes(exercise):
    """A sample holds no mistake for each check: the verdicts that are kept have one."""
    refused = failed_checks(exercise).values() if takes_all() else kept_refusals(exercise)
    if verdicts_on(exercise):
        assert list(proofs.idle_checks(find_exercise(exercise), refused)) == []


def kept_refusals(exercise: str) -> list[list[str]]:
    """For every mistake the labels of the first two checks that refuse it, by the verdicts."""
    spec = find_exercise(exercise)
    all_places = [deciding(spec, cells) for cells in verdicts_on(exercise).values()]
    return [[spec.checks[place].label for place in places[:2]] for places in all_places]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_unwritten_answer_scores_zero_in_words(exercise):
    def unwritten(**_):
        raise NotImplementedError

    spec = find_exercise(exercise)
    score = grade(spec, proofs.watched(spec, unwritten), SECRET)
    assert float(score) == 0
    assert "not written yet" in str(score)
    assert "Traceback" not in str(score)


@sampled
@pytest.mark.parametrize("exercise", parameters(EXERCISES, 6, never=SLOW | LONG))
def test_every_mistake_is_refused_by_the_rows_of_the_notebook_too(exercise):
    """One that the notebook shows as right, and hidden inputs refuse, costs points unforeseen."""
    spec = find_exercise(exercise)
    for mistake in spec.mistakes:
        assert list(proofs.unseen_forms(spec, mistake)) == []


@sampled
@pytest.mark.parametrize("exercise", parameters(EXERCISES, 4, never=SLOW | LONG))
def test_right_for_one_number_of_axes_is_a_slip_in_every_exercise(exercise):
    assert list(proofs.unmarked_slips(find_exercise(exercise), SECRET)) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_slip_costs_the_same_share_in_every_exercise(exercise):
    spec = find_exercise(exercise)
    problems = ["wrong"] * len(spec.checks)
    for mistake in spec.mistakes:
        known = Recognised(mistake)
        earned = sum(kept(spec, problems, known))
        share = 0.25 if mistake.slip in (True, False, None) else mistake.slip
        least = (1 - share) * spec.points - 0.25 if mistake.slip else 0
        assert least <= earned <= (1 - share) * spec.points, mistake.name
        assert sum(kept(spec, problems, Recognised(mistake, row=0))) == 0
        assert mistake.points is not None or mistake.slip  # a broken promise is one
