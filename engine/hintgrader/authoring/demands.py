"""Demands on an exercise that can be seen without trying an answer."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from hintgrader.authoring.proofs import A_REASON
from hintgrader.exercise.contract import wrong_answers
from hintgrader.exercise.definition import PRIMES, Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.nbgrader.course import Course


def unmet_demands(course: Course, exercise: Exercise) -> Iterator[str]:
    """All that an exercise lacks, each as a sentence about it."""
    yield from _of_statement(exercise)
    yield from _of_long_axes(exercise)
    yield from _of_mistakes(course, exercise)
    yield from _of_right_answers(course, exercise)


def _of_statement(exercise: Exercise) -> Iterator[str]:
    if not exercise.minutes:
        yield "does not say how long it takes: set its `minutes`"
    if exercise.contract is None:
        yield "does not say what its statement asks of every answer: set its `contract`"
        return
    variants = wrong_answers(exercise)
    known = {variant.kind for variant in variants} | {variant.name for variant in variants}
    for name, reason in exercise.contract.exempts.items():
        if name not in known:
            yield f"exempts {name!r}, which cannot be broken; there are: {', '.join(sorted(known))}"
        if len(reason) <= A_REASON:
            yield f"exempts {name!r} with no reason"


def _of_long_axes(exercise: Exercise) -> Iterator[str]:
    """An answer that knows how long axes are in the bank would be right without them."""
    if exercise.axes is None:
        yield "does not say which sizes are drawn long: set its `axes`, empty if none can be"
        return
    firsts = [(check.hidden_sizes or check.sizes)[0] for check in exercise.checks]
    drawn = {name for sizes in firsts for name in sizes}
    for name, most in exercise.axes.items():
        if name not in drawn:
            yield f"has `axes` with {name!r}, which is no size of its first draws"
        if most < PRIMES[0]:
            yield f"has `axes` with {name!r} up to {most}; long axes begin at {PRIMES[0]}"


def _of_mistakes(course: Course, exercise: Exercise) -> Iterator[str]:
    module = import_module(exercise.reference.__module__)
    own = [mistake for mistake in exercise.mistakes if mistake.points is not None]
    if len(own) < (least := course.settings.min_mistakes):
        yield f"knows {_count(len(own), 'mistake')}; it needs at least {least}"
    for mistake in exercise.mistakes:
        yield from _of_hint(mistake)
    for mistake in own:
        if getattr(module, mistake.name, None) is not mistake.answer:
            yield f"knows {mistake.name}, and nothing of that name is in its module"


def _of_hint(mistake: Mistake) -> Iterator[str]:
    hint = mistake.hint
    if "\n" in hint or "  " in hint or hint.endswith((".", ";", " ")):
        yield f"has a hint that is no clause in one line, without a stop at its end: {hint!r}"


def _of_right_answers(course: Course, exercise: Exercise) -> Iterator[str]:
    if path := place_of_right_answers(course, exercise):
        found, least = _count_functions(path), course.settings.min_right_answers
        if found < least:
            said = f"has {_count(found, 'right answer')} in {path.relative_to(course.root)}"
            yield f"{said}; it needs at least {least}"


def place_of_right_answers(course: Course, exercise: Exercise) -> Path | None:
    """The module of an exercise's right answers; None if the course asks for none."""
    folder, part = exercise.name.partition("_")[2].split("/")
    kept = course.settings.right_answers
    return course.root / kept / folder / f"{part}.py" if kept else None


def place_of_verdicts(course: Course, name: str) -> Path | None:
    """The file of an exercise's verdicts; None if the course keeps none."""
    folder, part = name.partition("_")[2].split("/")
    kept = course.settings.verdicts
    return course.root / kept / folder / f"{part}.json" if kept else None


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _count_functions(path: Path) -> int:
    """The number of public functions at the top of a module."""
    if not path.is_file():
        return 0
    body = ast.parse(path.read_text(encoding="utf-8")).body
    defined = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return sum(not node.name.startswith("_") for node in defined)
