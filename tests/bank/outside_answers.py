"""Answers of the proofs, brought into a confined process as a student's are: as cells."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

from hintgrader.supervisor import isolation
from hintgrader.supervisor.bubblewrap import PACKAGES
from hintgrader.supervisor.channel import Channel
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.supervisor.remote_submission import RemoteSubmission
from hintgrader.worker.points import Points
from hintgrader.worker.submission import LocalSubmission
from hintgrader.worker.wall import ENGINE

from attn_bank import find_exercise
from tests.confined import WALL
from tests.problem_sets import find_solution


@dataclass(frozen=True)
class Answer:
    """A cell, and the name of the function in it that answers an exercise.

    Args:
        exercise: Its name.
        source: The cell, or several in one.
        name: The name of the function.
        watched: If True, it is noticed what the function calls.
    """

    exercise: str
    source: str
    name: str
    watched: bool = True

    @property
    def watching(self) -> dict:
        """The arguments of a submission that say what is noticed."""
        exercise = find_exercise(self.exercise)
        may_use = exercise.may_use if self.watched else None
        return {"avoid": exercise.avoid, "may_use": may_use, "packages": exercise.packages}

    def inside(self) -> LocalSubmission:
        """The answer in this process."""
        names: dict = {"__name__": "__main__"}
        exec(compile(self.source, "<cell>", "exec"), names)
        return LocalSubmission(names[self.name], **self.watching)

    @contextmanager
    def outside(self, process: SandboxProcess, channel: Channel) -> Iterator[RemoteSubmission]:
        """The answer in a confined process that answers on a channel."""
        result = channel.ask({"kind": "cell", "source": self.source}, 60)
        assert result["error"] is None, result
        with closing(process.open_channel()) as snapshot:
            message = {"kind": "snapshot", "function": self.name, **self.watching}
            message |= vars(message.pop("packages"))
            message["packages"] = message.pop("names")
            reply = channel.ask(message, 60, then=partial(channel.send_end, snapshot))
            assert "missing" not in reply, reply
            yield RemoteSubmission(snapshot)


def solution(exercise: str) -> Answer:
    """The one of the authors."""
    found = find_solution(exercise)
    source = f"{found.before}\n{found.source}"
    return Answer(exercise, source, find_exercise(exercise).function)


def right_answers(exercise: str) -> list[Answer]:
    """Those that are right in other words."""
    module = import_module(f"tests.bank.right_answers.{exercise[3:].replace('/', '.')}")
    public = [name for name, thing in vars(module).items() if inspect.isfunction(thing)]
    named = [name for name in public if getattr(module, name).__module__ == module.__name__]
    source = inspect.getsource(module)
    return [Answer(exercise, source, name) for name in named if not name.startswith("_")]


def mistakes(exercise: str) -> list[Answer]:
    """The bank, not watched: many a mistake calls a function of the package."""
    place = f"attn_bank.{exercise[3:].replace('/', '.')}"
    written = [known for known in find_exercise(exercise).mistakes if known.points is not None]
    names = [mistake.name for mistake in written]
    return [Answer(exercise, f"from {place} import {n}", n, watched=False) for n in names]


@contextmanager
def process_with_mistakes(folder: Path) -> Iterator[SandboxProcess]:
    """A confined process as it is for a class, except that the bank of mistakes lies open there."""
    isolation.lay_out(folder, WALL)
    for package in (ENGINE, WALL.bank):
        source, target = isolation.folder_of(package), folder / PACKAGES / package
        shutil.copytree(source, target, dirs_exist_ok=True)
    process = SandboxProcess(isolation.strongest(), folder, WALL)
    try:
        yield process
    finally:
        process.stop()


def said(score: Points) -> dict:
    """All that a score says."""
    shown = score.inputs and {name: str(value) for name, value in score.inputs.items()}
    rows = [(row.earned, row.problem) for row in score.rows]
    return {"rows": rows, "mistake": score.mistake, "hint": score.hint, "inputs": shown}
