"""Trying an exercise: all that its author should know before anybody else answers it."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nbformat

from hintgrader.authoring import proofs
from hintgrader.authoring.demands import place_of_right_answers, place_of_verdicts, unmet_demands
from hintgrader.authoring.solution import find_solution
from hintgrader.authoring.verdicts import (
    SOME,
    Verdicts,
    catching,
    deciding,
    examine_bank,
    faults_of_points,
    points_of,
    read_verdicts,
    write_verdicts,
)
from hintgrader.authoring.words import faults_of_words
from hintgrader.bank.grade import grade
from hintgrader.exercise.definition import Exercise
from hintgrader.nbgrader.course import Course
from hintgrader.worker.submission import LocalSubmission

SECRET = "tried"
DRAWS = 3  # hidden draws on which right answers are tried


@dataclass
class TriedExercise:
    """An exercise and its verdict.

    Attributes:
        verdicts: What its checks say of its mistakes.
        hints: What a student reads who made one.
        faults: What its author should mend.
    """

    exercise: Exercise
    verdicts: Verdicts = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The verdict in words: a line for each row, each mistake and each fault."""
        exercise = self.exercise
        yield f"{exercise.name}, version {exercise.version}: {exercise.points:g} points"
        for place, check in enumerate(exercise.checks):
            caught = [name for name, cells in self.verdicts.items() if place in catching(cells)]
            alone = [n for n in caught if deciding(exercise, self.verdicts[n]) == [place]]
            yield f"{place + 1}. {check.label} ({check.points:g})"
            yield f"   refuses {len(caught)} mistakes, {len(alone)} alone"
        for name, cells in self.verdicts.items():
            least, _ = points_of(exercise, cells)
            yield f"{' '.join(cells)}  {least:g}  {name}: {self.hints.get(name, '')}"
        yield from (f"TO MEND: {fault}" for fault in self.faults)


def try_exercise(course: Course, name: str) -> TriedExercise:
    """Try the reference, the solution, the right answers, the mistakes and the mutants.

    Verdicts are kept once there is nothing to mend.

    Raises:
        ValueError: There is no exercise of this name.
    """
    exercise = course.bank.find(name)
    tried = TriedExercise(
        exercise, faults=[f"it {said}" for said in unmet_demands(course, exercise)]
    )
    tried.faults += _of_words(course, name)
    wrong = [*_try_reference(exercise)]
    tried.faults += wrong
    if not wrong:  # nothing can be compared with a reference that is not right
        tried.verdicts = examine_bank(exercise)
        tried.faults += faults_of_points(exercise, tried.verdicts)
        tried.faults += _try_mistakes(tried)
        tried.faults += _try_right_answers(course, exercise)
        tried.faults += proofs.faults_of_variants(exercise, SECRET)
        tried.faults += _try_solution(course, tried)
    if not tried.faults and (path := place_of_verdicts(course, name)):
        write_verdicts(exercise, tried.verdicts, path)
    return tried


def _of_words(course: Course, name: str) -> Iterator[str]:
    """Faults of the statement and its hints; that there is none, the solution's trial says."""
    source = course.source(name.partition("/")[0])
    if source.is_file():
        yield from faults_of_words(nbformat.read(source, as_version=4), name)


def _try_reference(exercise: Exercise) -> Iterator[str]:
    reference = LocalSubmission(exercise.reference)
    try:
        yield from proofs.faults_of_right_answer(exercise, "the reference", reference, SECRET)
    except Exception as error:  # nor can anything be drawn for it
        yield f"the reference is no answer: {type(error).__name__}: {error}"


def _try_mistakes(tried: TriedExercise) -> Iterator[str]:
    exercise = tried.exercise
    hints: dict[str, str] = {}
    for mistake in exercise.mistakes:
        yield from proofs.unseen_forms(exercise, mistake)
        score = grade(exercise, LocalSubmission(mistake.answer), SECRET)
        hints[mistake.name] = score.hint or ""
        by_luck = SOME in tried.verdicts[mistake.name]
        yield from proofs.faults_of_mistake(exercise, mistake, score, by_luck)
    tried.hints = hints
    if not any(check.slow for check in exercise.checks):
        yield from proofs.unmarked_slips(exercise, SECRET)


def _try_right_answers(course: Course, exercise: Exercise) -> Iterator[str]:
    path = place_of_right_answers(course, exercise)
    for name, answer in right_answers_in(path).items() if path else ():
        if any(check.slow for check in exercise.checks):  # watching makes training slower still
            submission = LocalSubmission(answer)
            yield from proofs.faults_of_right_answer(exercise, name, submission, SECRET)
            continue
        for number in range(DRAWS):
            submission = LocalSubmission(answer) if number else proofs.watched(exercise, answer)
            secret = f"{SECRET} {number}"
            if faults := [*proofs.faults_of_right_answer(exercise, name, submission, secret)]:
                yield from faults
                break


def right_answers_in(path: Path) -> dict[str, proofs.Answer]:
    """The public functions that a module of right answers defines, by name."""
    spec = spec_from_file_location(f"right_answers.{path.parent.name}.{path.stem}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        return {}
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return {
        name: thing
        for name, thing in vars(module).items()
        if callable(thing) and name[0] != "_" and getattr(thing, "__module__", "") == spec.name
    }


def _try_solution(course: Course, tried: TriedExercise) -> Iterator[str]:
    """Try the solution and its mutants; and see what each check is there for."""
    exercise = tried.exercise
    try:
        solution = find_solution(course.source(exercise.name.partition("/")[0]), exercise)
        answer = solution.function(exercise.function)
    except Exception as error:  # its notebook may do anything
        yield f"the solution cannot be used: {type(error).__name__}: {error}"
        return
    submission = proofs.watched(exercise, answer)
    yield from proofs.faults_of_right_answer(exercise, "the solution", submission, SECRET)
    changed = proofs.defined_mutants(exercise, solution, proofs.mutants(solution))
    mutants = {how: proofs.refusing_checks(exercise, one, SECRET) for how, one in changed}
    yield from proofs.surviving_mutants(mutants)
    yield from proofs.faults_of_equivalents(exercise, solution, SECRET)
    labels = [check.label for check in exercise.checks]
    places = (deciding(exercise, cells)[:2] for cells in tried.verdicts.values())
    refused = [[labels[place] for place in found] for found in places]
    yield from proofs.idle_checks(exercise, [*mutants.values(), *refused])


def changed_since(course: Course) -> list[str]:
    """The names of exercises of which no verdicts are kept, or those of an earlier version."""
    return [
        name
        for name in course.bank.names()
        if (path := place_of_verdicts(course, name))
        and (_unusable(course, name) or read_verdicts(course.bank.find(name), path) is None)
    ]


def try_all(course: Course, names: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Try several exercises side by side; of each the verdict in words, and what is to mend."""
    if len(names) < 2:
        yield from (_said(course.root, name) for name in names)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(_said, [course.root] * len(names), names)


def _said(root: Path, name: str) -> tuple[list[str], list[str]]:
    course = Course(root)
    if error := _unusable(course, name):
        return [error], [error]
    tried = try_exercise(course, name)
    return [*tried.lines()], [f"{name}: {fault}" for fault in tried.faults]


def _unusable(course: Course, name: str) -> str | None:
    """The reason why an exercise cannot be tried; there may be none of this name."""
    try:
        course.bank.find(name)
    except Exception as error:  # the module may do anything
        return f"{name} cannot be used: {type(error).__name__}: {error}"
    return None
