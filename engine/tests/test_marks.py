"""Exports and reports agree with the grading, and a weak level is chosen by nobody but us."""

from __future__ import annotations

import csv
import json
import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.apps import ExportApp
from typer.testing import CliRunner

from hintgrader.__main__ import app
from hintgrader.autograde.command import _changed
from hintgrader.autograde.pool import grade_locally
from hintgrader.nbgrader.course import Course, GradingError
from hintgrader.nbgrader.exports.checked import CheckedExporter
from hintgrader.nbgrader.exports.learning_systems import (
    BlackboardExporter,
    BrightspaceExporter,
    CanvasExporter,
    MoodleExporter,
)
from hintgrader.nbgrader.exports.mark_checks import unsandboxed
from hintgrader.pipeline import choose_level as levels
from hintgrader.pipeline.tasks import Task
from hintgrader.records import seal
from hintgrader.records.records import (
    NOT_GRADED,
    SubmissionRecord,
    read_record,
    write_record,
)
from hintgrader.records.seal import KeyHeldError, key_held, seal_of
from hintgrader.records.unfinished import unfinished
from hintgrader.worker.level import Level
from tests.gradebooks import GRADED, SET, book, lay_out_graded, path_of, record

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out_graded(tmp_path_factory.mktemp("graded") / "course")


@pytest.fixture
def course(graded: Path, tmp_path: Path) -> Path:
    shutil.copytree(graded, tmp_path / "course")
    return tmp_path / "course"


def export(course: Path, caplog: pytest.LogCaptureFixture, kind: type = MoodleExporter) -> str:
    """The table that is exported; or, if there is none, what is said."""
    target = course / "grading" / "table.csv"
    with caplog.at_level("WARNING"):
        try:
            export_to(target, course, kind)
        except SystemExit:
            return caplog.text
    return target.read_text(encoding="utf-8")


def export_to(target: Path, course: Path, kind: type = MoodleExporter) -> None:
    app = ExportApp(coursedir=Course(course).directory)
    exporter = kind(to=str(target), log=logging.getLogger("exporter"), parent=app)
    with book(course) as gradebook:
        exporter.export(gradebook)


def report(course: Path) -> str:
    return CliRunner().invoke(app, ["report", SET, "--course", str(course)]).output


def rewrite_gradebook(course: Path) -> None:
    with book(course) as gradebook:
        for student in GRADED:
            gradebook.find_grade("fit-check", SET, SET, student).auto_score = 198
        gradebook.db.commit()


def rewrite_another_cell(course: Path) -> None:
    with book(course) as gradebook:
        gradebook.find_grade("words", SET, SET, "eve").auto_score = 198
        gradebook.db.commit()


def promise_more_points(course: Path) -> None:
    with book(course) as gradebook:
        gradebook.find_grade_cell("fit-check", SET, SET).max_score = 1
        gradebook.db.commit()


def give_a_bonus_for_lateness(course: Path) -> None:
    with book(course) as gradebook:
        notebook = gradebook.find_submission_notebook(SET, SET, "eve")
        notebook.late_submission_penalty = -198
        gradebook.db.commit()


def rewrite_record_as_well(course: Path) -> None:
    rewrite_gradebook(course)
    for student in GRADED:
        about = json.loads(path_of(course, student).read_text())
        about["parts"][0]["points"] = 198.0
        path_of(course, student).write_text(json.dumps(about))


def seal_with_another_key(course: Path) -> None:
    rewrite_gradebook(course)
    (course / "grading" / "results" / ".key").write_bytes(b"of a student")
    for student in GRADED:
        write_record(path_of(course, student), record(student, 198.0))
    (course / "grading" / "results" / ".key").write_bytes(b"put back by the grader")


def take_the_record_of_another(course: Path) -> None:
    shutil.copy(path_of(course, "eve"), path_of(course, "ada"))


def remove_the_record(course: Path) -> None:
    rewrite_gradebook(course)
    path_of(course, "eve").unlink()


FORGED = [
    rewrite_gradebook,
    rewrite_another_cell,
    promise_more_points,
    give_a_bonus_for_lateness,
    rewrite_record_as_well,
    seal_with_another_key,
    take_the_record_of_another,
    remove_the_record,
]


@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_marks_that_were_not_graded_are_neither_exported_nor_reported(
    forge: Callable[[Path], None], course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for exporter in (MoodleExporter, CheckedExporter):
        assert "eve" in export(course, caplog, exporter)
    forge(course)
    for exporter in (MoodleExporter, CheckedExporter):
        said = export(course, caplog, exporter)
        assert f"hintgrader autograde {SET} --student" in said
        caplog.clear()
    assert "grade" in report(course)
    assert not (course / "grading" / "results" / f"{SET}.html").exists()


def test_what_a_person_gives_later_is_exported(course: Path, caplog) -> None:
    with book(course) as gradebook:
        gradebook.find_grade("fit-check", SET, SET, "ada").manual_score = 3
        gradebook.db.commit()
    assert "ada,,3\n" in export(course, caplog).replace("\r", "")


def test_late_penalty_of_other_points_is_named_with_what_mends_it(course: Path, caplog) -> None:
    rule = 'c.LateSubmissionPlugin.penalty_method = "zero"\n'
    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(rule)
    with book(course) as gradebook:
        gradebook.update_or_create_assignment(SET, duedate="2027-03-01 18:00 UTC")
        submission = gradebook.find_submission(SET, "ada")
        submission.timestamp = datetime(2027, 3, 2)
        submission.notebooks[0].late_submission_penalty = submission.score
        gradebook.db.commit()
        gradebook.find_grade("words", SET, SET, "ada").manual_score = 1
        gradebook.db.commit()
    export(course, caplog)
    again = f"hintgrader autograde {SET} --force --student ada"
    assert f"The late penalty of ada is out of date: {again}" in caplog.text
    assert caplog.text.count("out of date") == 1


def test_name_with_a_comma_stays_in_its_column(course: Path, caplog) -> None:
    odd = {"last_name": 'Müller, Dr. "Mu"', "first_name": "A\nB", "email": None}
    with book(course) as gradebook:
        gradebook.update_or_create_student("ada", **odd)
    table = export(course, caplog, CheckedExporter)
    lines = {line["student_id"]: line for line in csv.DictReader(table.splitlines())}
    assert {name: lines["ada"][name] for name in odd} == odd | {"first_name": "A\\nB", "email": ""}
    for line in lines.values():
        assert line["max_score"] == "6.0"
        assert float(line["score"]) == float(line["raw_score"])


# The words that each system takes: in Canvas, one would make a new assignment.
WORDS = [
    (MoodleExporter, f"{SET} feedback", ["", "unreadable"]),
    (BlackboardExporter, f"{SET} note", ["", "unreadable"]),
    (BrightspaceExporter, f"{SET} note Text Grade", ["", "unreadable", "#"]),
    (CanvasExporter, None, ["ada", "", ""]),
]


def test_unreadable_work_is_exported_as_such_and_not_as_wrong(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_record(path_of(course, "ada"), replace(record("ada", 0.0), unreadable=True))
    for exporter, heading, line in WORDS:
        table = list(csv.reader(export(course, caplog, exporter).splitlines()))
        assert heading in (None, *table[0])
        assert [cells[-len(line) :] for cells in table if "ada" in cells] == [line]
    assert "the work of ada is unreadable" in caplog.text
    with caplog.at_level("WARNING"):
        table = export(course, caplog, CheckedExporter)
    lines = {line["student_id"]: line for line in csv.DictReader(table.splitlines())}
    assert (lines["ada"]["score"], lines["eve"]["score"]) == ("unreadable", "1.5")


def stop_grading(course: Path) -> None:
    """The disk is full in the middle of ada's grading, when some marks are saved already."""
    with pytest.raises(OSError, match="full"), unfinished(path_of(course, "ada")):
        raise OSError("the disk\nis full")


def end_grading(course: Path) -> None:
    """The process that grades ada is killed."""
    with suppress(KeyboardInterrupt), unfinished(path_of(course, "ada")):
        raise KeyboardInterrupt


def collect_more(course: Path) -> None:
    """Nobody has graded what bob has handed in, nor does the gradebook know it."""
    folder = course / "grading" / "submitted" / "bob" / SET
    folder.mkdir(parents=True)
    with book(course) as gradebook:
        gradebook.add_student("bob")


NO_MARK = [
    (stop_grading, "ada", "OSError: the disk\\nis full"),
    (end_grading, "ada", "its grading was interrupted"),
    (collect_more, "bob", "it has not been graded"),
]


@pytest.mark.parametrize(("happening", "student", "why"), NO_MARK)
def test_export_leaves_out_a_mark_that_was_not_given_and_no_other_and_says_whose(
    happening: Callable[[Path], None],
    student: str,
    why: str,
    course: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    happening(course)
    for exporter, heading, line in WORDS:
        with pytest.raises(SystemExit) as status:
            export_to(course / "table.csv", course, exporter)
        assert status.value.code == 1
        table = list(csv.reader((course / "table.csv").read_text(encoding="utf-8").splitlines()))
        assert heading in (None, *table[0])
        (cells,) = [cells for cells in table if student in cells]
        assert cells[-len(line) :] == [
            {"unreadable": "not graded", "ada": student}.get(cell, cell) for cell in line
        ]
        assert "1.5" in next(cells for cells in table if "eve" in cells)
    again = f"Grade it: hintgrader autograde {SET}"
    assert f"{SET}: no mark of {student}: {why}. {again}" in caplog.text
    with pytest.raises(SystemExit):
        export_to(course / "table.csv", course, CheckedExporter)
    with (course / "table.csv").open(encoding="utf-8") as file:
        lines = {line["student_id"]: line["score"] for line in csv.DictReader(file)}
    assert (lines[student], lines["eve"]) == ("not graded", "1.5")
    assert f"{student} has no mark, and counts nowhere: {why}." in report(course)
    assert (course / "grading" / "results" / f"{SET}.html").exists()


def test_sum_without_a_part_that_only_waited_is_no_mark_until_a_person_grades_it(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ada = record("ada", 0.0)
    write_record(
        path_of(course, "ada"), replace(ada, parts=(replace(ada.parts[0], state=NOT_GRADED),))
    )
    with pytest.raises(SystemExit) as status:
        export_to(course / "table.csv", course)
    assert status.value.code == 1
    assert "no mark of ada: fit-check only waited, and is not graded" in caplog.text
    table = (course / "table.csv").read_text(encoding="utf-8")
    assert ("ada,,," in table.replace("\r", ""), "eve,,1.5" in table) == (True, True)
    with book(course) as gradebook:
        gradebook.find_grade("fit-check", SET, SET, "ada").manual_score = 2
        gradebook.db.commit()
    assert "ada,,2" in export(course, caplog)


def test_forged_mark_is_not_exported_beside_one_that_was_not_given(course: Path, caplog) -> None:
    stop_grading(course)
    give_a_bonus_for_lateness(course)
    with pytest.raises(SystemExit) as status:
        export_to(course / "table.csv", course)
    assert status.value.code == 2
    assert not (course / "table.csv").exists()
    assert "Nothing was exported" in caplog.text


def test_work_without_a_mark_is_exported_once_a_person_has_graded_all_of_it(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stop_grading(course)
    with book(course) as gradebook:
        for cell in ("fit-check", "words"):
            gradebook.find_grade(cell, SET, SET, "ada").manual_score = 2
        gradebook.db.commit()
    assert "ada,,4\n" in export(course, caplog).replace("\r", "")


def test_reason_that_somebody_else_wrote_excuses_no_mark(course: Path, caplog) -> None:
    stop_grading(course)
    reason = path_of(course, "ada").with_suffix(".begun")
    path_of(course, "eve").unlink()
    shutil.copy(reason, reason.with_name("eve.begun"))
    assert "eve, 01_least_squares: the marks are not from hintgrader" in export(course, caplog)


def test_marks_of_nbgraders_own_command_are_exported_if_the_settings_say_so(
    course: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path_of(course, "eve").unlink()
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write("c.HintGrader.check_marks = False\n")
    assert "eve,,1.5" in export(course, caplog)


def test_key_is_on_no_disk_while_a_weak_level_grades(course: Path, monkeypatch) -> None:
    results = course / "grading" / "results"
    path = path_of(course, "eve")
    text = path.read_text()
    with key_held(results):
        assert not (results / ".key").exists()
        assert read_record(path) == record("eve", 1.5)  # as who holds the key
        write_record(path, replace(record("eve", 2.0), seconds=1.0))
        monkeypatch.setattr(seal, "_held", {})  # as another process
        monkeypatch.setattr(seal, "LOCK_SECONDS", 0.0)
        with pytest.raises(KeyHeldError, match="without a sandbox"):
            seal_of(results, text)
        monkeypatch.undo()
        (results / ".key").write_bytes(b"of a student")
    assert (results / ".key").stat().st_mode & 0o777 == 0o600
    assert read_record(path).points == 2.0


def test_key_is_there_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch) -> None:
    """Two graders start at once: one reads the key, without a lock, while the other makes it."""
    found, as_it_is = [], os.open

    def opened(*arguments) -> int:
        descriptor = as_it_is(*arguments)
        found.append((tmp_path / ".key").exists())
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    seal_of(tmp_path, "text")
    assert found == [False]
    assert len((tmp_path / ".key").read_bytes()) == 32


def test_record_that_is_changed_meanwhile_counts_as_not_graded(course: Path) -> None:
    rewrite_record_as_well(course)
    (failure, other) = _changed(Course(course), SET, {"ada", "eve", "nobody"})
    assert (failure.student, other.student) == ("ada", "eve")
    assert "not as it was written" in failure.reason


def test_key_that_is_lost_means_that_nothing_is_as_it_was_graded(course: Path) -> None:
    results = course / "grading" / "results"
    (results / ".key").unlink()  # as if what held it had been killed
    with key_held(results), pytest.raises(ValueError, match="not as it was written"):
        read_record(path_of(course, "eve"))


def writes_a_record(task: Task) -> SubmissionRecord:
    found = replace(record(task.student, 1.0), assignment=task.assignment)
    write_record(path_of(Path(task.course), task.student), found)
    return found


def test_processes_of_the_grader_seal_with_the_key_that_it_holds(course: Path) -> None:
    with key_held(course / "grading" / "results"):
        list(grade_locally([Task(str(course), SET, "ada")], 1, writes_a_record))
    assert read_record(path_of(course, "ada")).points == 1.0


def test_points_given_by_hand_meanwhile_are_said(course: Path) -> None:
    def work() -> None:
        with unsandboxed(Course(course)), book(course) as gradebook:
            gradebook.find_grade("fit-check", SET, SET, "eve").extra_credit = 198
            gradebook.db.commit()

    with pytest.raises(GradingError, match="fit-check"):
        work()


def test_weaker_level_is_taken_only_if_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "strongest", lambda: Level.LIMITS)
    with pytest.raises(GradingError, match=r"sandbox is required.*say so: --level limits"):
        levels.choose_level(None)
    assert levels.choose_level("limits") == Level.LIMITS


@pytest.mark.parametrize(("held", "is_named"), [("1\n", True), ("0\n", False), (None, False)])
def test_ubuntus_ban_of_namespaces_is_named_with_its_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: str | None, is_named: bool
) -> None:
    switch = tmp_path / "apparmor_restrict_unprivileged_userns"
    if held is not None:
        switch.write_text(held)
    monkeypatch.setattr(levels, "strongest", lambda: Level.LIMITS)
    monkeypatch.setattr(levels, "RESTRICTED", switch)
    with pytest.raises(GradingError) as refused:
        levels.choose_level(None)
    assert (
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0" in str(refused.value)
    ) == is_named
