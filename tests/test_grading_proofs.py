"""For every exercise: the right answers pass, and every way to be wrong is refused.

A wrong answer is one of the bank of mistakes, or a mutant of the solution. `make test` takes a
sample of the mistakes, the mutants and the draws of every exercise; `make proofs` takes all.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from itertools import product
from types import ModuleType

import pytest

from attn_bank import exercise_names, find_exercise
from attn_grade.check import UNTRIED, grade
from attn_grade.exercise import Exercise
from attn_grade.inside.points import Points
from attn_grade.inside.submission import LocalSubmission
from attn_grade.judge import examine, examine_one, examine_public
from attn_grade.once import cost_of_a_slip, kept
from attn_grade.recognised import Recognised, axes_of
from attn_grade.trial import draw_trials
from tests.conftest import ROOT
from tests.mutants import mutants_of
from tests.problem_sets import find_solution
from tests.sampling import left_to_proofs, parameters, sample, sampled, takes_all

sys.path.insert(0, str(ROOT / "tools"))
import bank_of_mistakes
import build_kill_matrix

EXERCISES = exercise_names()
SECRET = "the proofs"
# The numbers that `make test` takes: of twenty draws, on which all right answers are tried; of the
# right answers, watched; of the mistakes, beside one that each check alone refuses; of a solution's
# mutants.
DRAWS, RIGHT_ANSWERS, MISTAKES, MUTANTS = 1, 1, 1, 3
# Right for two axes only, but for another reason: there is no batch to be added up, no sentence
# that is shorter than another, and the width is 4.
NO_SLIPS = {"mixes_the_batch", "takes_the_greatest_length", "divides_by_two"}
# Right answers that take seconds.
TAKE_SECONDS = {"by_deleting_each_in_turn"}


def right_answers(exercise: str) -> list:
    module = import_module(f"tests.right_answers.{exercise[3:].replace('/', '.')}")
    return _public_functions(module)


def _name(numbered: tuple) -> str:
    return numbered[1].__name__


def _public_functions(module: ModuleType) -> list:
    return [
        thing
        for name, thing in vars(module).items()
        if callable(thing)
        and not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
    ]


def is_slow(exercise: str) -> bool:
    """Return True if an answer trains, for seconds."""
    return any(check.slow for check in find_exercise(exercise).checks)


def mark_of(exercise: str) -> pytest.MarkDecorator:
    """Wrong answers that train are for the proofs, all of them."""
    return left_to_proofs if is_slow(exercise) else sampled


WRONG_ANSWERS = pytest.mark.parametrize(
    "exercise", [pytest.param(name, marks=mark_of(name)) for name in EXERCISES]
)


@cache
def kill_matrix() -> bank_of_mistakes.Banks:
    """The verdicts on the page, by exercise and mistake."""
    return build_kill_matrix.read_page(build_kill_matrix.PAGE.read_text(encoding="utf-8"))


def taken_mistakes(exercise: str) -> list[str]:
    """The mistakes that are tried, by name: one for each check, and a few more."""
    names = [mistake.name for mistake in find_exercise(exercise).mistakes]
    wanted = {*sample(names, MISTAKES)}
    by_check = {}
    for name in reversed(names):
        cells = kill_matrix()[exercise].get(name, ())
        deciding = bank_of_mistakes.deciding(find_exercise(exercise), cells)
        if len(deciding) == 1:
            by_check[deciding[0]] = name
    return [name for name in names if name in {*wanted, *by_check.values()}]


def taken_mutants(exercise: str) -> dict[str, str]:
    """The mutants that are tried, by what is changed."""
    taken = sample(mutants(exercise), MUTANTS)
    return {change: mutants(exercise)[change] for change in taken}


def watched(exercise: str, answer) -> LocalSubmission:
    spec = find_exercise(exercise)
    return LocalSubmission(answer, spec.avoid, spec.may_use, spec.packages)


@cache
def mutants(exercise: str) -> dict[str, str]:
    return mutants_of(ast.unparse(ast.parse(find_solution(exercise).source)))


@cache
def failed_checks(exercise: str) -> dict[str, list[str]]:
    """For every wrong answer that is known, by name, the first two checks that refuse it."""
    spec, solution = find_exercise(exercise), find_solution(exercise)
    failed = {name: refusing_rows(exercise, name) for name in taken_mistakes(exercise)}
    for change, source in taken_mutants(exercise).items():
        if change not in spec.equivalent_mutants:
            try:
                mutant = solution.function(spec.function, source)
            except Exception:  # a mutant that cannot even be defined is refused by all
                continue
            failed[change] = refusing_checks(exercise, mutant)
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
    labels = [row.label for row in rows if row.problem not in (None, UNTRIED)]
    repeating = {check.label for check in find_exercise(exercise).checks if check.repeats}
    return ([label for label in labels if label not in repeating] or labels)[:2]


def refusing_checks(exercise: str, answer) -> list[str]:
    """Labels of the first two checks that refuse: to tell none, one and several apart is enough."""
    spec, submission, refusing = find_exercise(exercise), LocalSubmission(answer), []
    for check in spec.checks:  # one that repeats another stands behind it
        if len(refusing) == 2 or (refusing and (check.slow or check.repeats)):
            break
        if any(examine_one(t, submission) for t in draw_trials(spec, check, SECRET)):
            refusing.append(check.label)
    return refusing


@pytest.mark.parametrize("exercise", EXERCISES)
def test_solution_earns_every_point(exercise):
    spec = find_exercise(exercise)
    answer = find_solution(exercise).function(spec.function)
    score = grade(find_exercise(exercise), watched(exercise, answer), SECRET)
    assert float(score) == spec.points, str(score)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_points_in_the_notebook_are_those_of_the_checks(exercise):
    assert find_solution(exercise).points == find_exercise(exercise).points


@pytest.mark.parametrize("exercise", EXERCISES)
def test_bank_is_large_enough(exercise):
    assert sum(known.points is not None for known in find_exercise(exercise).mistakes) >= 8
    assert len(right_answers(exercise)) >= 4


@sampled
@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_right_answer_earns_every_point(exercise):
    """Watched, but for answers that train: watching makes loops slow, so the first stands in.

    Of those, `make test` tries the solution alone.
    """
    answers = [
        (number, answer)
        for number, answer in enumerate(right_answers(exercise))
        if takes_all() or answer.__name__ not in TAKE_SECONDS
    ]
    for number, answer in sample(answers, 0 if is_slow(exercise) else RIGHT_ANSWERS, _name):
        unwatched = number and is_slow(exercise)
        submission = LocalSubmission(answer) if unwatched else watched(exercise, answer)
        score = grade(find_exercise(exercise), submission, f"seed {number}")
        assert float(score) == find_exercise(exercise).points, f"{answer.__name__}:\n{score}"


@sampled
@pytest.mark.parametrize("exercise", [name for name in EXERCISES if not is_slow(name)])
def test_every_right_answer_is_right_on_twenty_hidden_draws(exercise):
    spec = find_exercise(exercise)
    answers = [(answer.__name__, LocalSubmission(answer)) for answer in right_answers(exercise)]
    seeds = sample(range(20), DRAWS, lambda seed: f"{exercise} {seed}")
    for seed, check in product(seeds, spec.checks):
        trials = draw_trials(spec, check, f"seed {seed}")
        for (name, submission), trial in product(answers, trials):
            found = examine_one(trial, submission) if trial.hidden else None
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
    assert score.hint == mistake.whole_hint, str(score)
    if mistake.points is None:  # its promises made it
        assert float(score) < find_exercise(exercise).points
    else:
        at_least = score.of - cost_of_a_slip(find_exercise(exercise)) if mistake.is_light else 0
        assert float(score) == max(mistake.points, at_least), str(score)
    if is_slow(exercise):  # only then the public inputs are not among those graded just now
        assert grade(find_exercise(exercise), LocalSubmission(mistake.answer), None) >= score
    assert score.hint in score._repr_html_() or "`" in score.hint or "'" in score.hint


@WRONG_ANSWERS
def test_rows_that_a_student_sees_refuse_every_mistake(exercise):
    """Or the notebook says that all is well, and the marks say otherwise."""
    spec = find_exercise(exercise)
    for mistake in spec.mistakes:
        if mistake.name in taken_mistakes(exercise):
            for answer in (mistake.answer, *mistake.also):
                assert is_refused_in_public(spec, answer), answer.__name__


def is_refused_in_public(spec: Exercise, answer: Callable) -> bool:
    submission = LocalSubmission(answer)
    trials = (trial for check in spec.checks for trial in draw_trials(spec, check, None))
    return any(examine_one(trial, submission) for trial in trials)


@WRONG_ANSWERS
def test_mistakes_are_caught_by_the_checks_that_the_kill_matrix_says(exercise):
    """The page's seeds are others than ours: what it says holds for this one too."""
    taken = taken_mistakes(exercise)
    for mistake, cells in kill_matrix()[exercise].items():
        if mistake not in taken:
            continue
        rows = score_of(exercise, mistake).rows
        for number, (row, cell) in enumerate(zip(rows, cells, strict=True), start=1):
            untried, caught = row.problem == UNTRIED, row.problem not in (None, UNTRIED)
            assert untried == (cell == bank_of_mistakes.UNTRIED), f"{mistake}, check {number}"
            if cell != bank_of_mistakes.SOME:
                refused = cell in (bank_of_mistakes.CAUGHT, bank_of_mistakes.HIDDEN)
                assert caught == refused, f"{mistake}, check {number}"


@WRONG_ANSWERS
def test_every_mutant_of_the_solution_is_refused(exercise):
    survivors = [name for name, labels in failed_checks(exercise).items() if not labels]
    assert not survivors, "\n".join(survivors)


@sampled
@pytest.mark.parametrize("exercise", EXERCISES)
def test_mutants_declared_equivalent_exist_and_change_nothing(exercise):
    spec, solution = find_exercise(exercise), find_solution(exercise)
    for change, reason in spec.equivalent_mutants.items():
        listed = "\n".join(mutants(exercise))
        assert change in mutants(exercise), f"{change} is no mutant; there are:\n{listed}"
        assert len(reason) > 20
        if is_slow(exercise) and not takes_all():
            continue
        answer = solution.function(spec.function, mutants(exercise)[change])
        score = grade(find_exercise(exercise), LocalSubmission(answer), SECRET)
        assert float(score) == spec.points, f"{change} does change something:\n{score}"


@WRONG_ANSWERS
def test_without_any_one_check_some_wrong_answer_passes(exercise):
    refused = failed_checks(exercise).values()
    for check in find_exercise(exercise).checks:
        if check.easier:
            nearly_right = any(check.label not in labels for labels in refused)
            assert nearly_right, f"{check.label!r} is easier, but nothing passes it alone"
        else:
            assert [check.label] in refused, f"{check.label!r} refuses nothing by itself"


@pytest.mark.parametrize("exercise", EXERCISES)
def test_unwritten_answer_scores_zero_in_words(exercise):
    def unwritten(**_):
        raise NotImplementedError

    score = grade(find_exercise(exercise), watched(exercise, unwritten), SECRET)
    assert float(score) == 0
    assert "not written yet" in str(score)
    assert "Traceback" not in str(score)


@sampled
@pytest.mark.parametrize("exercise", parameters([n for n in EXERCISES if not is_slow(n)], 6))
def test_every_mistake_is_refused_by_the_rows_of_the_notebook_too(exercise):
    """One that the notebook shows as right, and hidden inputs refuse, costs points unforeseen."""
    spec = find_exercise(exercise)
    unseen = [
        f"{mistake.name}, form {number}"
        for mistake in spec.mistakes
        for number, answer in enumerate((mistake.answer, *mistake.also))
        if not any(examine_public(spec, LocalSubmission(answer, may_use=None)))
    ]
    assert not unseen, unseen


@sampled
@pytest.mark.parametrize("exercise", parameters([n for n in EXERCISES if not is_slow(n)], 4))
def test_right_for_one_number_of_axes_is_a_slip_in_every_exercise(exercise):
    """It fits matrices at least, and fails where there are more or fewer axes, and nowhere else."""
    spec = find_exercise(exercise)
    axes = axes_of(spec, SECRET)
    for mistake in spec.mistakes if axes else ():
        found = examine(spec, LocalSubmission(mistake.answer, may_use=None), SECRET)
        wrong = {(row, one.draw) for row, rows in enumerate(found) for one in rows}
        fits = {number for place, number in axes.items() if place not in wrong}
        elsewhere = {place for place, number in axes.items() if number not in fits}
        if len(fits) == 1 and min(fits) > 1 and wrong == elsewhere:
            assert mistake.is_light or mistake.name in NO_SLIPS, mistake.name


@pytest.mark.parametrize("exercise", EXERCISES)
def test_slip_costs_the_same_share_in_every_exercise(exercise):
    spec = find_exercise(exercise)
    problems = ["wrong"] * len(spec.checks)
    for mistake in spec.mistakes:
        known = Recognised(mistake)
        earned = sum(kept(spec, problems, known))
        least = 0.75 * spec.points - 0.25 if mistake.is_light else 0
        assert least <= earned <= 0.75 * spec.points, mistake.name
        assert sum(kept(spec, problems, Recognised(mistake, row=0))) == 0
        assert mistake.points is not None or mistake.is_light  # a broken promise is one
