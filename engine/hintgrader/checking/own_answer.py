"""Calling a bank's own answers, of which hundreds are tried on one of a student's."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from hintgrader.exercise.wrong_answers import Answer
from hintgrader.values.relations import unrelated
from hintgrader.worker.call_context import seed_all
from hintgrader.worker.submission import LocalSubmission, guarded


@contextmanager
def many_own_answers() -> Iterator[None]:
    """Do once for all calls inside the `with` block what is done for each of a student's.

    How wrong numbers are related to the right ones is for a student to read, and not looked for.
    """
    with guarded(), unrelated():
        yield


class OwnAnswer(LocalSubmission):
    """An answer of the bank's, to be called inside `many_own_answers`.

    It leaves the switches of the process as they are, so a call takes a fraction of the time.
    """

    def __init__(self, function: Answer) -> None:
        super().__init__(function, may_use=None)

    def _guarded(self, seed: int) -> AbstractContextManager[Any]:
        seed_all(seed)
        return nullcontext()
