"""From learning systems and back to them: whose file is whose, and the tables of points."""

from __future__ import annotations

import csv
import logging
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zipfile import ZipFile

import pytest
from hintgrader.nbgrader.archives.collector import RosterCollector
from hintgrader.nbgrader.exports import learning_systems as export
from nbgrader.api import Gradebook, Student
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from tests.conftest import ROOT
from tests.problem_sets import EXERCISES, nbgrader

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")

ASSIGNMENT = "01_retrieval"
DUE = datetime(2027, 3, 1, 18)
# Who is in the class: id, first name, last name, number in the learning system.
ROSTER = [
    ("ada", "Ada", "Lovelace", "1001"),
    ("alan", "Alan", "Turing", "1002"),
    ("grace", "Grace Brewster", "Hopper", "1003"),
    ("twin-1", "Kim", "Lee", "1004"),
    ("twin-2", "Kim", "Lee", "1005"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gradebook: Ada has earned 3.5 of 5 points, Alan 4 less 1 for being late, others nothing."""
    folder = tmp_path_factory.mktemp("class")
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        book.add_assignment(ASSIGNMENT, duedate=DUE)
        book.add_assignment("02_next")
        for name in (ASSIGNMENT, "02_next"):
            book.add_notebook(name, name)
            book.add_grade_cell("check", name, name, max_score=5, cell_type="code")
        for student, first, last, number in ROSTER:
            names = {"first_name": first, "last_name": last, "lms_user_id": number}
            book.add_student(student, **names, email=f"{student}@example.org")
        for student, points, penalty in (("ada", 3.5, None), ("alan", 4, 1)):
            book.add_submission(ASSIGNMENT, student)
            notebook = book.find_submission_notebook(ASSIGNMENT, ASSIGNMENT, student)
            notebook.late_submission_penalty = penalty
            grade = book.find_grade("check", ASSIGNMENT, ASSIGNMENT, student)
            grade.auto_score, grade.needs_manual_grade = points, student == "alan"
        book.db.commit()
    return folder


@pytest.fixture
def gradebook(folder: Path) -> Iterator[Gradebook]:
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        yield book


def exported(gradebook: Gradebook, name: str, target: Path, **settings) -> list[list[str]]:
    """The table that an exporter writes, read again."""
    exporter = getattr(export, f"{name}Exporter")(to=str(target), **settings)
    exporter.export(gradebook)
    with target.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def test_moodle_gets_names_and_addresses_to_map(gradebook: Gradebook, target: Path) -> None:
    table = exported(gradebook, "Moodle", target)
    assert table[0] == ["Username", "Email address", ASSIGNMENT, "02_next"]
    assert table[1:4] == [
        ["ada", "ada@example.org", "3.5", ""],
        ["alan", "alan@example.org", "3", ""],
        ["grace", "grace@example.org", "", ""],
    ]
    assert len(table) == 1 + len(ROSTER)


def test_canvas_gets_its_five_columns_and_the_points_possible(
    gradebook: Gradebook, target: Path
) -> None:
    table = exported(gradebook, "Canvas", target, assignment=[ASSIGNMENT])
    head, possible, first = table[:3]
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ASSIGNMENT]
    assert possible[0].strip() == "Points Possible"
    assert possible[1:] == ["", "", "", "", "5"]
    assert first == ["Lovelace, Ada", "1001", "", "ada", "", "3.5"]


def test_brightspace_gets_points_grades_and_an_end_for_each_line(
    gradebook: Gradebook, target: Path
) -> None:
    names = {ASSIGNMENT: "Retrieval"}
    table = exported(gradebook, "Brightspace", target, assignment=[ASSIGNMENT], headings=names)
    assert table[0] == ["Username", "Retrieval Points Grade", "End-of-Line Indicator"]
    assert table[1] == ["ada", "3.5", "#"]
    assert {line[-1] for line in table[1:]} == {"#"}


def test_blackboard_gets_the_column_that_is_named(gradebook: Gradebook, target: Path) -> None:
    names = {ASSIGNMENT: "Retrieval [Total Pts: 5 Points] |4711"}
    chosen = {"assignment": [ASSIGNMENT], "student": ["alan"], "headings": names}
    table = exported(gradebook, "Blackboard", target, **chosen)
    assert table == [["Username", "Retrieval [Total Pts: 5 Points] |4711"], ["alan", "3"]]


@pytest.mark.parametrize("name", ["Moodle", "Canvas", "Brightspace", "Blackboard"])
def test_name_that_a_spreadsheet_would_compute_is_text(
    gradebook: Gradebook, target: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    formula = '=HYPERLINK("http://x.org";"marks")'
    words = {"first_name": "+1", "last_name": formula, "email": "@SUM(A1)", "id": "-2+3"}
    eve = Student(**words, lms_user_id="\t=1")
    monkeypatch.setattr(Gradebook, "students", [eve])
    (*_, cells) = exported(gradebook, name, target)
    texts = [cell for cell in cells if cell and cell != "#"]
    assert texts
    assert [cell for cell in texts if cell.strip()[0] in "=+-@\t"] == []


def test_points_that_wait_for_a_person_are_announced(
    gradebook: Gradebook, target: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING"):
        exported(gradebook, "Moodle", target)
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == f"{ASSIGNMENT}: submissions with parts that nobody has read: 1; points may rise"


def collected(folder: Path, path: str, **settings) -> dict[str, str] | None:
    """Return what the collector makes of a file from an archive; None if it leaves it."""
    database = f"sqlite:///{folder}/gradebook.db"
    course = CourseDirectory(root="/course", db_url=database, assignment_id=ASSIGNMENT)
    settings["log"] = logging.getLogger("collector")  # a program's logger keeps it to itself
    collector = RosterCollector(parent=ZipCollectApp(coursedir=course), **settings)
    return collector.collect(f"/course/downloaded/{ASSIGNMENT}/extracted/{path}")


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("all/Ada Lovelace_4711_assignsubmission_file/01_retrieval.ipynb", "ada"),
        ("Ada Lovelace_4711_assignsubmission_file_01_retrieval.ipynb", "ada"),
        ("all/HOPPER  Grace Brewster_7_assignsubmission_file/my notebook.ipynb", "grace"),
        ("turingalan_1002_98765_01_retrieval.ipynb", "alan"),
        ("submissions/turingalan_LATE_1002_98765_01_retrieval-1.ipynb", "alan"),
        ("Problem set 1_ada_attempt_2027-02-28-21-05-00_01_retrieval.ipynb", "ada"),
    ],
)
def test_file_of_an_archive_is_that_of_its_student(folder: Path, path: str, student: str) -> None:
    found = collected(folder, path)
    assert (found["student_id"], found["file_id"]) == (student, ASSIGNMENT)


def test_accent_may_be_a_character_of_its_own(folder: Path, monkeypatch) -> None:
    rosa = Student(id="rosa", first_name="Rosa", last_name="P\u00e9ter")
    monkeypatch.setattr(RosterCollector, "_students", lambda _: [rosa])
    found = collected(folder, "all/Rosa Pe\u0301ter_9_assignsubmission_file/01_retrieval.ipynb")
    assert found["student_id"] == "rosa"


def test_blackboard_tells_the_time(folder: Path) -> None:
    found = collected(folder, "Set_1_ada_attempt_2027-02-28-21-05-09_01_retrieval.ipynb")
    assert found["timestamp"] == "2027-02-28 21:05:09"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("all/Kim Lee_8_assignsubmission_file/01_retrieval.ipynb", "2 students of the roster fit"),
        ("all/Nobody_8_assignsubmission_file/01_retrieval.ipynb", "0 students of the roster fit"),
        ("strange.ipynb", "unknown form of name"),
    ],
)
def test_file_of_nobody_is_left_and_said(
    folder: Path, path: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("WARNING"):
        assert collected(folder, path) is None
    assert why in caplog.text


def test_what_is_no_notebook_is_left_without_a_word(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert collected(folder, "Set_ada_attempt_2027-02-28-21-05-09.txt") is None
    assert caplog.text == ""


def test_names_of_another_system_are_read_by_a_pattern_of_ones_own(folder: Path) -> None:
    pattern = r".*/\d+-\d+ - (?P<full_name>[^/]+?) - [^/]+/[^/]+"
    path = "12-34 - Alan Turing - Feb 28, 2027 902 PM/01_retrieval.ipynb"
    assert collected(folder, path, named_regexp=pattern)["student_id"] == "alan"


def test_commands_go_from_an_archive_to_a_table(tmp_path: Path) -> None:
    """By the course's settings `zip_collect` puts files in place, and `export` finds its class."""
    course = tmp_path / "course"
    archive = course / "grading" / "downloaded" / ASSIGNMENT / "archive"
    archive.mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copytree(EXERCISES / ASSIGNMENT, course / "exercises" / ASSIGNMENT)
    with Gradebook(f"sqlite:///{course}/grading/gradebook.db", "attention") as book:
        book.add_assignment(ASSIGNMENT)
        book.add_student("ada", first_name="Ada", last_name="Lovelace")
    with ZipFile(archive / "all.zip", "w") as packed:
        for name in ("Ada Lovelace", "Some Body"):
            packed.writestr(f"{name}_4711_assignsubmission_file/mine.ipynb", "{}")
    nbgrader(course, "zip_collect", ASSIGNMENT)
    handed_in = course / "grading" / "submitted"
    found = [path.relative_to(handed_in).as_posix() for path in handed_in.rglob("*.ipynb")]
    assert found == [f"ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"]
    exporter = f"{export.__name__}.MoodleExporter"
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write("c.HintGrader.check_marks = False\n")  # nobody has graded it
    nbgrader(course, "export", f"--exporter={exporter}", "--to", "grading/moodle.csv")
    written = (course / "grading" / "moodle.csv").read_text(encoding="utf-8")
    assert written.splitlines() == [f"Username,Email address,{ASSIGNMENT}", "ada,,"]
