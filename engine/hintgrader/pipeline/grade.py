"""Grading one submission, from what was handed in to the gradebook.

It is safe to be interrupted, repeated and done by several at once: there is a lock for each
submission, and its record is written last.
"""

import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path

from filelock import FileLock
from nbgrader.api import InvalidEntry
from sqlalchemy.exc import DBAPIError

from hintgrader.bank.secret import hidden_secret
from hintgrader.nbgrader.course import GradingError
from hintgrader.nbgrader.gradebook import with_retries
from hintgrader.pipeline.digest import digest_of
from hintgrader.pipeline.load import Unreadable, load
from hintgrader.pipeline.locate import HandIn, find_hand_in
from hintgrader.pipeline.record import record_of, record_without
from hintgrader.pipeline.recount import count_again
from hintgrader.pipeline.reuse import earlier_record
from hintgrader.pipeline.run import run_notebook
from hintgrader.pipeline.tasks import Task
from hintgrader.pipeline.warm_process import Grader, grader_of
from hintgrader.pipeline.write_gradebook import enter_nothing, enter_points
from hintgrader.records.history import note_grading
from hintgrader.records.records import SubmissionRecord, record_path, write_record
from hintgrader.records.unfinished import unfinished

FRAMES = 20  # of a traceback that are kept
MAX_DETAILS = 4000  # characters


def grade_submission(task: Task) -> SubmissionRecord:
    """Grade a submission into the gradebook, unless that has been done already.

    Args:
        task: Which one.

    Returns:
        Its record, which lies beside the others then.

    Raises:
        GradingError, OSError, DBAPIError, InvalidEntry: It cannot be graded now, for a reason that
            does not lie in it; the reason is kept beside the place of its record.
    """
    grader = grader_of(task)
    path = record_path(grader.course.results, task.assignment, task.student)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        hand_in = find_hand_in(grader.course, task.assignment, task.student)
        digest = digest_of(grader.course, task.assignment, task.student)
        if not task.force:
            limits = grader.level, task.cell_seconds
            earlier = with_retries(lambda: earlier_record(hand_in, digest, *limits))
            counted = earlier and with_retries(lambda: count_again(hand_in, earlier))
            if counted:
                if counted != earlier:
                    write_record(path, counted)
                    note_grading(path, counted)
                return counted
        with unfinished(path):
            try:
                record = replace(grade(hand_in, grader, task.cell_seconds), digest=digest)
            except (GradingError, OSError, DBAPIError, InvalidEntry):  # no fault of the submission
                raise
            except Exception as error:  # at which something gives up that was handed in
                record = without_marks(hand_in, error)
            write_record(path, record)
        note_grading(path, record)
        return record


def grade(hand_in: HandIn, grader: Grader, cell_seconds: float) -> SubmissionRecord:
    """Take a submission from step to step, whatever has been done before."""
    begun = time.monotonic()
    _ = grader.process  # it imports torch while nbgrader does its part
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nbgrader's and nbformat's own dealings
        notebook = with_retries(lambda: load(hand_in))
        if isinstance(notebook, Unreadable):
            record = record_without(hand_in, notebook)
            with_retries(lambda: enter_nothing(hand_in, notebook))
        else:
            where = grader.course.bank, grader.process
            graded = run_notebook(notebook, *where, hidden_secret(), cell_seconds)
            record = record_of(hand_in, notebook, graded)
            with_retries(lambda: enter_points(hand_in, notebook, graded))
    seconds = round(time.monotonic() - begun, 2)
    return replace(record, level=str(grader.level), seconds=seconds, cell_seconds=cell_seconds)


def without_marks(hand_in: HandIn, error: Exception) -> SubmissionRecord:
    """Enter no points for a submission at which grading stops; it has no digest: it is tried again.

    The student reads the kind of the error, which says nothing of the checks, the instructor all.
    """
    reason = f"the grader stopped at your work with {type(error).__name__}"
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = " > ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames)
    stopped = Unreadable(reason, (f"{type(error).__name__}: {error} [{places}]"[:MAX_DETAILS],))
    with_retries(lambda: enter_nothing(hand_in, stopped))
    return record_without(hand_in, stopped)
