"""Grading what has been graded: not again, unless something was lost or has changed."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hintgrader import __version__
from hintgrader.nbgrader import formgrader
from hintgrader.nbgrader.course import Course, GradingError
from hintgrader.nbgrader.save_marks import ReviewState, SaveMarks
from hintgrader.nbgrader.unreadable import EnterNothing
from hintgrader.pipeline import grade as grader
from hintgrader.pipeline import run as judged
from hintgrader.pipeline.grade import grade_submission
from hintgrader.pipeline.tasks import Task
from hintgrader.pipeline.warm_process import close_graders, grader_of
from hintgrader.records.history import read_history
from hintgrader.records.records import SubmissionRecord, write_record
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from sqlalchemy.exc import OperationalError

from tests.engine.autograding import OF_SMALL as OF
from tests.engine.autograding import (
    cells_of,
    gradebook,
    notebook_of,
    path_of_record,
    record_of,
    small_course,
)
from tests.engine.odd_submissions import by_name, change_notebook
from tests.engine.test_nbgrader import FIRST


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> Iterator[Path]:
    """A course that is graded within this process, by one confined process for all tests."""
    released = small_course(tmp_path_factory.getbasetemp())
    course = Path(shutil.copytree(released, tmp_path_factory.mktemp("warm") / "course"))
    hand_in(course, FIRST, "solved", {})
    add_setting(course, "LateSubmissionPlugin.penalty_method", "zero")
    with seed_of_no_other_course():
        yield course
        close_graders()


def add_setting(course: Path, name: str, value: str) -> None:
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"c.{name} = {value!r}\n")


def grade(course: Path, student: str = "solved", **how: object) -> SubmissionRecord:
    return grade_submission(Task(str(course), FIRST, student, **how))


def written(course: Path, student: str = "solved") -> int:
    """The time at which the record of a submission was written, in nanoseconds."""
    return path_of_record(course, student).stat().st_mtime_ns


def test_settings_are_read_again_when_they_have_changed(warm):
    task = Task(str(warm), FIRST, "solved")
    before = grader_of(task)
    assert "student_id_exclude" not in before.course.config.CourseDirectory
    assert grader_of(task) is before
    add_setting(warm, "CourseDirectory.student_id_exclude", "nobody")
    assert grader_of(task).course.config.CourseDirectory.student_id_exclude == "nobody"


def test_submission_is_graded_once(warm):
    assert grade(warm).points == OF
    before = written(warm)
    assert grade(warm) == record_of(warm, "solved")
    assert written(warm) == before


def test_record_says_which_engine_gave_the_set_out_and_which_graded_it(warm):
    record = grade(warm)
    assert (record.released_by, record.engine) == (__version__, f"hintgrader {__version__}")


def test_each_grading_that_gives_other_points_is_in_the_history(warm):
    grade(warm)
    before = read_history(path_of_record(warm, "solved"))
    assert sum(before[-1].points.values()) == OF
    grade(warm, force=True)
    assert read_history(path_of_record(warm, "solved")) == before


def test_no_confined_process_is_started_when_there_is_nothing_to_grade(warm, monkeypatch):
    found = grade(warm)
    close_graders()

    def start(process: SandboxProcess) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(SandboxProcess, "start", start)
    assert grade(warm) == found


def lose_record(course: Path) -> None:
    path_of_record(course, "solved").unlink()


def break_record(course: Path) -> None:
    path = path_of_record(course, "solved")
    path.write_text(path.read_text("utf-8")[:100], encoding="utf-8")


def lose_notebook(course: Path) -> None:
    Course(course).autograded(FIRST, "solved").unlink()


def forget_marks(course: Path) -> None:
    with gradebook(course) as book:
        book.remove_submission(FIRST, "solved")


def change_answer(course: Path) -> None:
    def change(notebook: dict) -> None:
        by_name(notebook, "softmax")["source"] += "\n# better\n"

    change_notebook(change)(notebook_of(course, "solved"))


def change_picture(course: Path) -> None:
    """Another picture under the same name, as a student pastes it."""

    def change(notebook: dict) -> None:
        by_name(notebook, "words")["attachments"] = {"image.png": {"image/png": "iVBORw0KGgo="}}

    change_notebook(change)(notebook_of(course, "solved"))


def change_date(course: Path) -> None:
    date = notebook_of(course, "solved").with_name("timestamp.txt")
    date.write_text("2027-01-01 00:00:00 UTC", encoding="utf-8")


def grade_by_nbgrader(course: Path) -> None:
    """Leave a newer notebook, as nbgrader's own command does, which may read the time otherwise."""
    os.utime(Course(course).autograded(FIRST, "solved"))


def weaken_isolation(course: Path) -> None:
    write_record(
        path_of_record(course, "solved"), replace(record_of(course, "solved"), level="plain")
    )


@pytest.mark.parametrize(
    "happening",
    [
        *(lose_record, break_record, lose_notebook, forget_marks, change_answer, change_date),
        grade_by_nbgrader,
    ],
)
def test_what_was_lost_or_changed_is_graded_again(warm, happening):
    grade(warm)
    happening(warm)
    began = time.time_ns()
    assert grade(warm).points == OF
    assert written(warm) > began
    assert cells_of(warm, "solved")["softmax-check"] == (4, None, False)
    assert Course(warm).autograded(FIRST, "solved").is_file()


def test_changed_seed_is_a_reason_to_grade_again(warm, monkeypatch):
    first = grade(warm).digest
    monkeypatch.setenv("HINTGRADER_SECRET", "another")
    assert grade(warm).digest != first


def test_changed_check_is_a_reason_to_grade_again(warm, monkeypatch):
    first = grade(warm).digest
    monkeypatch.setattr("hintgrader.pipeline.digest.package_digest", lambda _: "another")
    assert grade(warm).digest != first


def test_what_ran_out_of_time_is_graded_again_when_there_is_more(warm):
    path = path_of_record(warm, "solved")
    found = grade(warm)
    late = (replace(found.parts[0], state="timed out"), *found.parts[1:])
    write_record(path, replace(found, parts=late))
    assert grade(warm).parts[0].state == "timed out"
    assert grade(warm, cell_seconds=200.0).parts[0].state == "graded"
    assert record_of(warm, "solved").cell_seconds == 200.0


def test_weaker_isolation_than_is_asked_for_is_a_reason_to_grade_again(warm):
    level = grade(warm).level
    weaken_isolation(warm)
    assert grade(warm).level == level


def test_what_a_person_gave_and_wrote_is_kept(warm):
    grade(warm)
    with gradebook(warm) as book:
        words = book.find_grade("words", FIRST, FIRST, "solved")
        words.manual_score, words.needs_manual_grade = 2, False
        book.find_comment("words", FIRST, FIRST, "solved").manual_comment = "Nearly."
        book.db.commit()
    before = written(warm)
    grade(warm, force=True)
    assert written(warm) > before
    with gradebook(warm) as book:
        assert book.find_grade("words", FIRST, FIRST, "solved").manual_score == 2
        assert book.find_comment("words", FIRST, FIRST, "solved").comment == "Nearly."
        assert book.find_submission(FIRST, "solved").score == OF + 2


def read_by_hand(course: Path) -> None:
    """Give points to the words, and to a check against what it has earned."""
    with gradebook(course) as book:
        for name in ("words", "softmax-check"):
            given = book.find_grade(name, FIRST, FIRST, "solved")
            given.manual_score, given.needs_manual_grade = 1, False
        book.db.commit()


def waiting(course: Path) -> list[bool]:
    cells = cells_of(course, "solved")
    return [cells[name][2] for name in ("words", "softmax-check")]


def test_what_a_person_has_read_is_read_again_only_if_it_has_changed(warm):
    grade(warm)
    read_by_hand(warm)
    grade(warm, force=True)
    assert waiting(warm) == [False, False]
    with gradebook(warm) as book:
        book.find_grade("softmax-check", FIRST, FIRST, "solved").auto_score = 3
        book.db.commit()
    grade(warm, force=True)
    assert waiting(warm) == [False, True]
    for change in (change_answer, change_picture):
        read_by_hand(warm)
        change(warm)
        grade(warm)
        assert waiting(warm) == [True, True]
    notebook = notebook_of(warm, "solved")
    good = notebook.read_bytes()
    for lose in (lambda: notebook.write_text("{", encoding="utf-8"), notebook.unlink):
        read_by_hand(warm)
        lose()
        for _ in range(2):
            grade(warm, force=True)
            assert waiting(warm) == [True, True]
        read_by_hand(warm)
        grade(warm, force=True)
        assert waiting(warm) == [False, False]
    notebook.write_bytes(good)
    grade(warm)
    assert waiting(warm) == [True, True]
    forget_marks(warm)


def test_digest_that_is_no_text_any_more_is_that_of_something_else(tmp_path):
    path = tmp_path / "solved.read"
    path.write_bytes(b"\xff")
    for is_open in (True, False):
        before, given = ReviewState(path), {"manual_score": 1, "auto_score": 2}
        mark = SimpleNamespace(needs_manual_grade=False, **given)
        before.compare(["the same"])
        before.save(mark, 2)
        assert mark.needs_manual_grade == is_open
        before.keep()


def test_notebook_is_graded_within_a_server_too_since_nothing_runs_in_its_name(warm, monkeypatch):
    monkeypatch.setattr(formgrader, "is_server", lambda: True)
    assert grade(warm, force=True).points == OF


LOCKED = OperationalError("UPDATE", {}, Exception("database is locked"))


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [(judged, "grade_notebook", KeyboardInterrupt()), (SaveMarks, "_add_score", LOCKED)],
    ids=["before the marks", "between two marks"],
)
def test_what_a_person_has_read_stays_so_when_a_grading_stops_in_the_middle(
    warm, monkeypatch, owner, name, error
):
    grade(warm)
    read_by_hand(warm)
    stop_once(monkeypatch, owner, name, error)
    with suppress(KeyboardInterrupt):
        grade(warm, force=True)
    assert (error is LOCKED) == path_of_record(warm, "solved").exists()
    grade(warm)
    assert waiting(warm) == [False, False]


def test_gradebook_that_refuses_is_asked_again_where_nothing_can_be_graded(warm, monkeypatch):
    hand_in(warm, FIRST, "refused", {})
    notebook_of(warm, "refused").unlink()
    stop_once(monkeypatch, EnterNothing, "preprocess", LOCKED)
    assert grade(warm, "refused", force=True).state == "missing"
    assert cells_of(warm, "refused")["softmax-check"] == (0, None, False)


def stop_once(monkeypatch, owner: object, name: str, error: BaseException) -> None:
    """Let a function do its work, and then stop with an error, once."""
    work, left = getattr(owner, name), [error]

    def stopping(*given: object) -> object:
        done = work(*given)
        if left:
            raise left.pop()
        return done

    monkeypatch.setattr(owner, name, stopping)


def test_notebook_that_cannot_be_read_any_more_takes_its_marks_with_it_until_it_can(warm):
    hand_in(warm, FIRST, "later", {})
    assert grade(warm, "later").points == OF
    notebook, given_back = notebook_of(warm, "later"), Course(warm).autograded(FIRST, "later")
    good = notebook.read_bytes()
    notebook.write_text("{", encoding="utf-8")
    assert grade(warm, "later").points == 0
    assert cells_of(warm, "later")["softmax-check"] == (0, None, False)
    assert "Nothing could be graded" in given_back.read_text("utf-8")
    before = written(warm, "later")
    grade(warm, "later")
    assert written(warm, "later") == before
    given_back.unlink()
    grade(warm, "later")
    assert given_back.is_file()
    notebook.write_bytes(good)
    assert grade(warm, "later").points == OF
    assert "Nothing could be graded" not in given_back.read_text("utf-8")
    assert "def softmax" in given_back.read_text("utf-8")


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("2027-06-01 00:00:00 UTC", None),
        ("yesterday", "cannot be read: counted as handed in on time"),
        (
            "2027-06-01 14:00:00 CEST",
            "names a zone that is not known, 'CEST': read as the earliest time that it can mean",
        ),
        (None, None),
    ],
)
def test_late_submission_is_late_no_more_when_another_comes_in_its_place(warm, then, said):
    date = hand_in_a_day_late(warm)
    date.unlink()
    if then:
        date.write_text(then, encoding="utf-8")
    notes = grade(warm, "late").notes
    assert notes == ((f"timestamp.txt {said}",) if said else ())
    assert lateness(warm) == (0, 0)


@pytest.mark.parametrize(
    ("until", "late"),
    [
        ("2027-06-01 18:00 Europe/Berlin", (28800, OF)),
        ("2027-06-02 02:00 Europe/Berlin", (0, 0)),
        ("2027-05-01 00:00", (86400, OF)),
    ],
)
def test_extension_is_one_students_due_date_without_force(warm, until, late):
    hand_in_a_day_late(warm)
    table = warm / "grading" / "extensions.csv"
    table.write_text(f"id;assignment;until\nlate;{FIRST};{until}\n", encoding="utf-8")
    grade(warm, "late")
    assert lateness(warm) == late
    table.unlink()
    grade(warm, "late")
    assert lateness(warm) == (86400, OF)


def hand_in_a_day_late(course: Path) -> Path:
    """Grade what came a day after its due date; return the file with its time."""
    with gradebook(course) as book:
        book.update_or_create_assignment(FIRST, duedate="2027-06-01 00:00:00 UTC")
    if not notebook_of(course, "late").exists():
        hand_in(course, FIRST, "late", {})
    date = notebook_of(course, "late").with_name("timestamp.txt")
    date.write_text("2027-06-02 00:00:00 UTC", encoding="utf-8")
    grade(course, "late")
    assert lateness(course) == (86400, OF)
    return date


def lateness(course: Path) -> tuple[float, float]:
    """By how many seconds a submission is late, and what that costs by the settings."""
    with gradebook(course) as book:
        late = book.find_submission(FIRST, "late")
        return late.total_seconds_late, late.late_submission_penalty


def test_folder_that_nbgrader_takes_for_anothers_is_not_graded(warm):
    hand_in(warm, FIRST, "solved ", {})
    with pytest.raises(GradingError, match=r"takes the folder 'solved ' for 'solved'\."):
        grade(warm, "solved ")
    assert not path_of_record(warm, "solved ").exists()


def test_interrupted_grading_leaves_no_record_that_speaks_for_it(warm, monkeypatch):
    grade(warm)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(grader, "enter_points", interrupted)
    with pytest.raises(KeyboardInterrupt):
        grade(warm, force=True)
    monkeypatch.undo()
    assert not path_of_record(warm, "solved").exists()
