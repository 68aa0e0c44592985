"""For every exercise: the right answers pass, and every way to be wrong is refused.

A wrong answer is one of the bank of mistakes, or a mutant of the solution.
"""

import ast
from functools import cache
from importlib import import_module
from types import ModuleType

import pytest

from attn_course.grading import exercise_names, find_exercise
from attn_course.grading.checking import grade
from attn_course.grading.judge import examine
from attn_course.grading.submission import LocalSubmission
from tests.mutants import mutants_of
from tests.problem_sets import find_solution

EXERCISES = exercise_names()
SECRET = "the proofs"


def right_answers(exercise: str) -> list:
    module = import_module(f"tests.right_answers.{exercise[3:].replace('/', '.')}")
    return _public_functions(module)


def _public_functions(module: ModuleType) -> list:
    return [
        thing
        for name, thing in vars(module).items()
        if callable(thing)
        and not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
    ]


def watched(exercise: str, answer) -> LocalSubmission:
    spec = find_exercise(exercise)
    return LocalSubmission(answer, spec.avoid, spec.may_use)


@cache
def failed_checks(exercise: str) -> dict[str, frozenset[str]]:
    """For every wrong answer that is known, by name, the labels of the checks that refuse it."""
    spec, solution = find_exercise(exercise), find_solution(exercise)
    wrong = {mistake.name: mistake.answer for mistake in spec.mistakes}
    refused = {}
    for change, source in mutants_of(ast.unparse(ast.parse(solution.source))):
        if change not in spec.equivalent_mutants:
            try:
                wrong[change] = solution.function(spec.function, source)
            except Exception:  # a mutant that cannot even be defined is refused by all
                continue
    for name, answer in wrong.items():
        findings = examine(spec, exercise, LocalSubmission(answer), SECRET)
        refused[name] = frozenset(
            check.label for check, found in zip(spec.checks, findings, strict=True) if found
        )
    return refused


@pytest.mark.parametrize("exercise", EXERCISES)
def test_solution_earns_every_point(exercise):
    spec = find_exercise(exercise)
    answer = find_solution(exercise).function(spec.function)
    score = grade(exercise, watched(exercise, answer), SECRET)
    assert float(score) == spec.points, str(score)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_points_in_the_notebook_are_those_of_the_checks(exercise):
    assert find_solution(exercise).points == find_exercise(exercise).points


@pytest.mark.parametrize("exercise", EXERCISES)
def test_bank_is_large_enough(exercise):
    assert len(find_exercise(exercise).mistakes) >= 8
    assert len(right_answers(exercise)) >= 4


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_right_answer_earns_every_point_on_twenty_seeds(exercise):
    """Answers that train, for seconds each, share the seeds: one each."""
    spec = find_exercise(exercise)
    points, slow = spec.points, any(check.slow for check in spec.checks)
    for number, answer in enumerate(right_answers(exercise)):
        for seed in [number] if slow else range(20):
            # watching makes loops slow, and sees the same calls whatever the seed
            submission = LocalSubmission(answer) if seed else watched(exercise, answer)
            score = grade(exercise, submission, f"seed {seed}")
            assert float(score) == points, f"{answer.__name__}, seed {seed}:\n{score}"


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [
        pytest.param(name, mistake, id=f"{name}-{mistake.name}")
        for name in EXERCISES
        for mistake in find_exercise(name).mistakes
    ],
)
def test_mistake_scores_what_it_declares_and_shows_its_hint(exercise, mistake):
    score = grade(exercise, LocalSubmission(mistake.answer), SECRET)
    assert (float(score), score.hint) == (mistake.score, mistake.hint), str(score)
    public = grade(exercise, LocalSubmission(mistake.answer), None)
    assert public >= score
    assert score.hint in score._repr_html_() or "`" in score.hint or "'" in score.hint


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_mutant_of_the_solution_is_refused(exercise):
    survivors = [name for name, labels in failed_checks(exercise).items() if not labels]
    assert not survivors, "\n".join(survivors)


@pytest.mark.parametrize("exercise", EXERCISES)
def test_mutants_declared_equivalent_exist_and_change_nothing(exercise):
    spec, solution = find_exercise(exercise), find_solution(exercise)
    mutants = dict(mutants_of(ast.unparse(ast.parse(solution.source))))
    for change, reason in spec.equivalent_mutants.items():
        assert change in mutants, f"{change} is no mutant; there are:\n" + "\n".join(mutants)
        assert len(reason) > 20
        answer = solution.function(spec.function, mutants[change])
        score = grade(exercise, LocalSubmission(answer), SECRET)
        assert float(score) == spec.points, f"{change} does change something:\n{score}"


@pytest.mark.parametrize("exercise", EXERCISES)
def test_without_any_one_check_some_wrong_answer_passes(exercise):
    refused = failed_checks(exercise).values()
    for check in find_exercise(exercise).checks:
        assert frozenset([check.label]) in refused, f"{check.label!r} refuses nothing by itself"


@pytest.mark.parametrize("exercise", EXERCISES)
def test_unwritten_answer_scores_zero_in_words(exercise):
    def unwritten(**_):
        raise NotImplementedError

    score = grade(exercise, watched(exercise, unwritten), SECRET)
    assert float(score) == 0
    assert "not written yet" in str(score)
    assert "Traceback" not in str(score)
