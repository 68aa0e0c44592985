"""The summary of a class by the command that grades it: on the screen, in the table, in the log."""

import csv
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from hintgrader.__main__ import app
from hintgrader.autograde import command, summary
from hintgrader.autograde.summary import (
    count_states,
    log_lines,
    make_legend,
    make_table,
    plain,
    write_csv,
)
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.tasks import Failure
from hintgrader.records.records import PartRecord, SubmissionRecord, write_record
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from hintgrader.worker.level import Level
from nbformat import NotebookNode
from rich.console import Console
from typer.testing import CliRunner

from tests.engine.autograding import POINTS, gradebook, path_of_record, released_course
from tests.engine.test_nbgrader import FIRST

LONG = [f"exercise_number_{number}_with_a_long_name" for number in range(1, 8)]
STATES = ["graded", "missing", "timed out", "crashed", "cheated?", "graded", "graded"]


def record(student: str = "ada", *notes: str, **different: object) -> SubmissionRecord:
    """A record of seven exercises, in all states."""
    parts = tuple(
        PartRecord(f"{name}-check", f"{FIRST}/{name}", 10 / 3, 4.0, state, **different)
        for name, state in zip(LONG, STATES, strict=True)
    )
    return SubmissionRecord(FIRST, student, "cheated?", "sandbox", "", 1.0, parts, notes)


@pytest.fixture
def course(tmp_path_factory, tmp_path) -> Iterator[Path]:
    with seed_of_no_other_course():
        released = released_course(tmp_path_factory.getbasetemp())
        yield Path(shutil.copytree(released, tmp_path / "course"))


def shown(records: list[SubmissionRecord], *failures: Failure, width: int = 80) -> list[str]:
    console = Console(width=width)
    with console.capture() as caught:
        console.print(make_table(records, list(failures)))
        console.print(make_legend(records), markup=False)
    return caught.get().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_seven_exercises_take_one_line_of_eighty_columns(width):
    (line,) = [line for line in shown([record("a" * 40)], width=width) if "3.33" in line]
    cells = ["3.33", "3.33 –", "3.33 t", "3.33 !", "3.33 ?", "3.33", "3.33", "23.33/28"]
    assert " ".join(line.split()[1:]) == " ".join(cells)
    legend = " ".join(shown([record()], width=width))
    assert "7 exercise number 7 with a long name (points)" in " ".join(legend.split())
    assert "– missing, t timed out, ! crashed, ? cheated?" in " ".join(legend.split())


def test_names_of_students_are_no_orders_to_the_terminal():
    line = next(line for line in shown([record("[red]\x1b[3m")]) if "3.33" in line)
    assert line.split()[0] == r"[red]\x1b[3m"
    assert plain("a\nb\tc ł") == r"a\nb\tc ł"
    (first, *_) = log_lines([record("ada", "said\n=1+1")])
    assert first == r"ada: said\n=1+1"


def test_submission_that_lacks_some_parts_is_unfinished():
    begun = replace(record(), state="missing")
    nothing = replace(begun, parts=begun.parts[1:2])
    assert count_states([begun, nothing, begun]) == "1 missing, 2 unfinished"


def test_unreadable_work_has_no_points_on_the_screen():
    unreadable = replace(record("bob"), state="missing", unreadable=True)
    (line,) = [line for line in shown([unreadable]) if "bob" in line]
    assert line.split() == ["bob", "unreadable"]
    assert "missing" not in " ".join(shown([unreadable]))
    assert count_states([unreadable, record()]) == "1 cheated?, 1 unreadable"


def test_sum_is_said_to_lack_what_a_person_reads():
    assert " ".join(shown([record()])).count("; the sum is without the parts that a person") == 1


def test_failure_has_a_line_of_its_own():
    assert any("bob" in line and "not graded" in line for line in shown([], Failure("bob", "x")))


def test_csv_holds_no_formula(tmp_path):
    for begin in "=+-@":
        write_csv(tmp_path / "a.csv", [record(f"{begin}1", mistake=f"{begin}2", notes=("\t=3",))])
        with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file))
        assert (row["student"], row["mistake"]) == (f"'{begin}1", f"'{begin}2")
        assert row["notes"] == r"\t=3"
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def run(course: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["autograde", FIRST, "--course", str(course), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_table_of_a_large_class_is_in_the_csv_alone(course, monkeypatch):
    students = [f"s{number:03}" for number in range(summary.MAX_ROWS + 1)]
    for student in students:
        (course / "grading" / "submitted" / student / FIRST).mkdir(parents=True)
        write_record(path_of_record(course, student), record(student))
    monkeypatch.setattr(command, "_outcomes", lambda order, tasks: iter(()))
    status, said = run(course, "--csv", str(course / "elsewhere" / "marks.csv"))
    assert status == 0
    assert f"{len(students)} submissions: {len(students)} cheated?; 0 not graded." in said
    assert "s000" not in said
    rows = (course / "elsewhere" / "marks.csv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + len(students) * len(LONG)
    _, said = run(course, "--student", "s001")
    assert "s001" in said
    assert "s002" not in said
    assert "Isolation" not in said
    write_record(path_of_record(course, "s002"), replace(record("s002"), level="limits"))
    _, said = run(course, "--student", "s001", "--student", "s002")
    assert "Isolation: 1 sandbox, 1 limits." in said
    monkeypatch.setattr(command, "choose_level", lambda *_: pytest.fail("not for others"))
    _, said = run(course, "--student", "s001", "--scheduler", "tls://there:8786")
    assert "Isolation: 1 sandbox." in said
    assert "Already graded: 1. Use --force to grade them again." in said


def test_submission_that_cannot_be_graded_is_named_everywhere(course, monkeypatch):
    hand_in(course, FIRST, "ada", {})

    def fail(order: command.AutogradeOptions, tasks: list) -> Iterator:
        yield tasks[0], Failure("ada", "the disk\nis full")

    monkeypatch.setattr(command, "_outcomes", fail)
    status, said = run(course)
    assert status == 1
    assert r"ada cannot be graded: the disk\nis full" in said
    assert "0 submissions: none graded; 1 not graded." in said
    results = course / "grading" / "results"
    log = (results / f"{FIRST}.log").read_text("utf-8")
    assert log == "ada not graded: the disk\\nis full\n"
    with (results / f"{FIRST}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (found,) = {(row["student"], row["points"], row["state"], row["notes"]) for row in rows}
    assert found == ("ada", "", "not graded", r"the disk\nis full")
    assert [row["of"] for row in rows] == [f"{points:g}" for points in POINTS.values()]


def test_interrupted_run_leaves_a_table_of_what_is_graded(course, monkeypatch):
    for student in ("ada", "bob"):
        hand_in(course, FIRST, student, {})

    def stop(order: command.AutogradeOptions, tasks: list) -> Iterator:
        write_record(path_of_record(course, "ada"), record("ada"))
        yield tasks[0], record("ada")
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_outcomes", stop)
    status, _ = run(course)
    assert status == 130
    table = (course / "grading" / "results" / f"{FIRST}.csv").read_text("utf-8")
    states = dict(re.findall(r"^(\w+),.*,(cheated\?|not graded),", table, re.MULTILINE))
    assert states == {"ada": "cheated?", "bob": "not graded"}


def test_failure_is_no_mark_though_there_was_one_before(course, monkeypatch):
    hand_in(course, FIRST, "ada", {})
    write_record(path_of_record(course, "ada"), record("ada"))
    failed = Failure("ada", "no more connections")
    monkeypatch.setattr(command, "_outcomes", lambda order, tasks: iter([(tasks[0], failed)]))
    status, said = run(course)
    assert status == 1
    assert "Already graded" not in said
    assert "0 submissions: none graded; 1 not graded." in said
    table = (course / "grading" / "results" / f"{FIRST}.csv").read_text("utf-8")
    assert "cheated?" not in table


def test_interruption_is_said_though_the_table_cannot_be_written(course, monkeypatch):
    hand_in(course, FIRST, "ada", {})

    def stop(order: command.AutogradeOptions, tasks: list) -> Iterator:
        shutil.rmtree(course / "grading")
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(command, "_outcomes", stop)
    assert run(course)[0] == 130


def change_gradebook(course: Path) -> None:
    with gradebook(course) as book:
        book.find_grade_cell("softmax-check", FIRST, FIRST).max_score = 3
        book.db.commit()


def change_source(change: Callable[[NotebookNode], None]) -> Callable[[Path], None]:
    def change_in(course: Path) -> None:
        path = Course(course).source(FIRST)
        notebook = nbformat.read(path, as_version=4)
        (cell,) = [
            each
            for each in notebook.cells
            if each.metadata.get("nbgrader", {}).get("grade_id") == "softmax-check"
        ]
        change(cell)
        nbformat.write(notebook, path)

    return change_in


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_gradebook, "the gradebook gives it 3 points, and 01_retrieval/softmax has 4. Rel"),
        (
            change_source(lambda cell: cell.metadata.nbgrader.update(points=5)),
            "it gives 5 points, and 01_retrieval/softmax has 4",
        ),
        (
            change_source(lambda cell: cell.metadata.nbgrader.update(grade_id="new")),
            "the gradebook does not know it. Release it: nbgrader generate_assignment",
        ),
        (
            change_source(lambda cell: cell.update(source="assert True")),
            "it gives points and checks no exercise",
        ),
        (
            change_source(lambda cell: cell.update(source='check("01_retrieval/none")')),
            "there is no exercise '01_retrieval/none'",
        ),
    ],
)
def test_what_does_not_agree_is_said_before_anything_is_graded(course, change, words):
    hand_in(course, FIRST, "ada", {})
    change(course)
    result = CliRunner().invoke(app, ["autograde", FIRST, "--course", str(course)])
    assert result.exit_code == 2
    assert words in result.stderr
    assert not path_of_record(course, "ada").exists()


def test_weaker_isolation_comes_with_advice(course, monkeypatch):
    hand_in(course, FIRST, "ada", {})
    monkeypatch.setattr(command, "_outcomes", lambda order, tasks: iter(()))
    monkeypatch.setattr(command, "choose_level", lambda *_: Level.LIMITS)
    _, said = run(course)
    assert "isolation: limits. Submissions can read and change your files: only for people" in said
    monkeypatch.setattr(command, "choose_level", lambda *_: Level.SANDBOX)
    monkeypatch.setattr(command, "can_refuse", lambda: False)
    _, said = run(course)
    assert "isolation: sandbox. Some requests to the kernel are not refused" in said


def test_broken_record_of_somebody_else_spoils_nothing(course, monkeypatch):
    for student in ("ada", "bob"):
        hand_in(course, FIRST, student, {})
    write_record(path_of_record(course, "ada"), record("ada"))
    path_of_record(course, "bob").write_text("{", encoding="utf-8")
    monkeypatch.setattr(command, "_outcomes", lambda order, tasks: iter(()))
    status, said = run(course, "--student", "ada")
    assert status == 0
    assert "ada" in said
