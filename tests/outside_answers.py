"""Answers of the proofs, brought into a confined process as a student's are: as cells."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from unittest import mock

from attn_course.grading import Score, find_exercise
from attn_course.grading.outside import isolation
from attn_course.grading.outside.answers import OutsideSubmission
from attn_course.grading.outside.slot import Slot
from attn_course.grading.outside.talk import Talk
from attn_course.grading.submission import LocalSubmission
from tests.problem_sets import find_solution


@dataclass(frozen=True)
class Answer:
    """A cell, and the name of the function in it that answers an exercise.

    Args:
        exercise: Its name.
        source: The cell, or several in one.
        name: Of the function.
        watched: Whether it is noticed what the function calls.
    """

    exercise: str
    source: str
    name: str
    watched: bool = True

    @property
    def watching(self) -> dict:
        """What is noticed, as a submission takes it."""
        exercise = find_exercise(self.exercise)
        return {"avoid": exercise.avoid, "may_use": exercise.may_use if self.watched else None}

    def inside(self) -> LocalSubmission:
        """The answer in this process."""
        names: dict = {"__name__": "__main__"}
        exec(compile(self.source, "<cell>", "exec"), names)
        return LocalSubmission(names[self.name], **self.watching)

    @contextmanager
    def outside(self, talk: Talk) -> Iterator[OutsideSubmission]:
        """The answer in a confined process that talks."""
        result = talk.ask({"kind": "cell", "source": self.source}, 60)
        assert result["error"] is None, result
        with closing(Talk(talk.slot)) as snapshot:
            message = {"kind": "snapshot", "function": self.name, **self.watching}
            reply = talk.ask(message, 60, then=partial(talk.send_end, snapshot))
            assert "missing" not in reply, reply
            yield OutsideSubmission(snapshot)


def solution(exercise: str) -> Answer:
    """The one of the authors."""
    found = find_solution(exercise)
    source = f"{found.before}\n{found.source}"
    return Answer(exercise, source, find_exercise(exercise).function)


def right_answers(exercise: str) -> list[Answer]:
    """Those that are right in other words."""
    module = import_module(f"tests.right_answers.{exercise[3:].replace('/', '.')}")
    public = [name for name, thing in vars(module).items() if inspect.isfunction(thing)]
    named = [name for name in public if getattr(module, name).__module__ == module.__name__]
    source = inspect.getsource(module)
    return [Answer(exercise, source, name) for name in named if not name.startswith("_")]


def mistakes(exercise: str) -> list[Answer]:
    """The bank, not watched: many a mistake calls a function of the package."""
    place = f"attn_course.grading.exercises.{exercise[3:].replace('/', '.')}"
    names = [mistake.name for mistake in find_exercise(exercise).mistakes]
    return [Answer(exercise, f"from {place} import {n}", n, watched=False) for n in names]


@contextmanager
def slot_with_mistakes(folder: Path) -> Iterator[Slot]:
    """A confined process as it is for a class, except that the bank of mistakes lies open there."""
    everything = {path.name for path in Path(isolation.__file__).parents[1].iterdir()}
    with mock.patch.object(isolation, "KEPT", everything):
        isolation.copy_package(folder)
    slot = Slot(isolation.strongest(), folder)
    try:
        yield slot
    finally:
        slot.stop()


def said(score: Score) -> dict:
    """All that a score says."""
    shown = score.inputs and {name: str(value) for name, value in score.inputs.items()}
    rows = [(row.earned, row.problem) for row in score.rows]
    return {"rows": rows, "mistake": score.mistake, "hint": score.hint, "inputs": shown}
