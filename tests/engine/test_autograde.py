"""The command that grades a class: real submissions, confined processes, nbgrader's gradebook.

A student may hand in anything; `odd_submissions.py` lists what we have thought of.
"""

import csv
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from hintgrader.autograde.summary import COLUMNS
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.load import claims_of
from hintgrader.pipeline.record import part_record
from hintgrader.supervisor.results import failed_part
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.apps.api import NbGraderAPI

from attn_bank import find_exercise
from tests.engine.autograding import (
    OF,
    POINTS,
    begin,
    cells_of,
    gradebook,
    hand_in_as_students,
    needs_linux,
    notebook_of,
    processes_with,
    record_of,
    released_course,
)
from tests.engine.odd_submissions import (
    READABLE,
    SECRET_FILE,
    UNREADABLE,
    about,
    by_name,
    change_notebook,
)
from tests.engine.test_nbgrader import FIRST, STUDENTS
from tests.sampling import left_to_proofs, sample, sampled

Graded = tuple[Path, subprocess.CompletedProcess, Path]


def claim(part: str, text: str) -> dict:
    """A change by which the notebook shows points below a check cell."""

    def change(notebook: dict) -> None:
        output = new_output("execute_result", {"text/plain": text}, execution_count=1)
        by_name(notebook, f"{part}-check")["outputs"] = [output]

    return change_notebook(change)


CLAIMS = {
    "boaster": ("soft-lookup", "4.0", "cheated?"),  # his answer is wrong
    "modest": ("softmax", "1.0", "graded"),
    "honest": ("softmax", "4.0", "graded"),
    "strange": ("softmax", "nan", "graded"),
}


# Students of whom a test below says more than what they earn.
TOLD = ("renamed", "huge", "extra-files", "late", "broken-timestamp", "binary-timestamp")
TOLD += ("=1+1", "-x.y", "version-0.1.0")


def odd() -> dict[str, tuple]:
    """A sample of odd submissions of either kind, by student, and all that tests below name."""
    taken = {*TOLD, *sample(UNREADABLE, 2), *sample(READABLE, 2)}
    return {name: what for name, what in (UNREADABLE | READABLE).items() if name in taken}


def in_sample(students: Iterable[str]) -> list:
    """Parameters of tests of those who hand in something odd, each with the mark that it needs."""
    return [pytest.param(s, marks=sampled if s in odd() else left_to_proofs) for s in students]


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Graded:
    """The course of all that can be handed in, graded by one command; what it said; its folder."""
    released = released_course(tmp_path_factory.getbasetemp())
    course = Path(shutil.copytree(released, tmp_path_factory.mktemp("graded") / "course"))
    hand_in_all(course)
    with gradebook(course) as book:
        book.add_student("absent")
        book.add_student("astray")
    temporary = tmp_path_factory.mktemp("temporary")
    command = begin(course, temporary, "--jobs", "2")
    said = command.communicate()
    return course, subprocess.CompletedProcess([], command.returncode, *said), temporary


def hand_in_all(course: Path) -> None:
    hand_in_as_students(course, *STUDENTS)
    for student, (change, _) in odd().items():
        hand_in(course, FIRST, student, {})
        change(notebook_of(course, student))
    wrong = STUDENTS["broken"]["default"][0]
    for student, (part, text, state) in CLAIMS.items():
        hand_in(course, FIRST, student, {part: wrong} if state == "cheated?" else {})
        claim(part, text)(notebook_of(course, student))
    astray = course / "grading" / "submitted" / "astray" / f"{FIRST} (1).ipynb"
    astray.parent.mkdir()
    astray.write_text("{}", encoding="utf-8")
    (course / "grading" / "submitted" / "nobody" / "scratch").mkdir(parents=True)


@sampled
def test_command_grades_all_that_can_be_handed_in(graded):
    _, said, _ = graded
    assert (said.returncode, said.stderr) == (0, "")
    number = len(STUDENTS) + len(odd()) + len(CLAIMS)
    assert f"{number} submissions: " in said.stdout
    assert "; 0 not graded." in said.stdout


@pytest.mark.parametrize("student", in_sample(UNREADABLE))
def test_what_cannot_be_read_earns_nothing_and_says_why(graded, student):
    course, _, _ = graded
    record = record_of(course, student)
    assert (record.state, record.points, record.of) == ("missing", 0, OF)
    assert re.search(UNREADABLE[student][1], record.notes[0])
    assert set(cells_of(course, student).values()) == {(0, None, False), None}
    said, *parts = nbformat.read(Course(course).autograded(FIRST, student), as_version=4).cells
    assert f"\n\n    {record.notes[0]}\n\n" in said.source
    assert {name for part in parts if (name := about(part).get("grade_id"))} == {*POINTS, "words"}
    assert not any("BEGIN SOLUTION" in part.source for part in parts)


def test_student_whose_notebook_cannot_be_read_gets_a_page_that_says_why(graded):
    course, _, _ = graded
    with seed_of_no_other_course():
        NbGraderAPI(config=Course(course).config).generate_feedback(FIRST, "renamed")
    path = course / "grading" / "feedback" / "renamed" / FIRST / f"{FIRST}.html"
    page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    total = page.select_one(".total")
    assert total.text == f"{FIRST}: no notebook could be read"
    assert f"That is not a zero: none of the {OF + 3} points" in total.find_next("p").text
    assert "0 of" not in page.text
    rows = [[cell.text for cell in row.find_all("td")] for row in page.select(".summary tbody tr")]
    assert rows == [["–", "Nothing could be graded."]] * (len(POINTS) + 1)
    assert page.pre.text.startswith(f"{FIRST}.ipynb was not handed in; there is: 'my answer")


@pytest.mark.parametrize("student", in_sample(READABLE))
def test_notebook_out_of_shape_earns_what_its_answers_deserve(graded, student):
    course, _, _ = graded
    _, lost = READABLE[student]
    shares = {name: "*" not in lost and name.removesuffix("-check") not in lost for name in POINTS}
    deserved = {name: share * POINTS[name] for name, share in shares.items()}
    record = record_of(course, student)
    assert {part.part: part.points for part in record.parts} == deserved
    cells = cells_of(course, student)
    assert {name: cells[name] for name in POINTS} == {
        name: (points, None, False) for name, points in deserved.items()
    }
    assert Course(course).autograded(FIRST, student).is_file()


@pytest.mark.parametrize("student", STUDENTS)
def test_part_earns_what_it_deserves(graded, student):
    course, _, _ = graded
    shares = {f"{part}-check": share for part, (_, share) in STUDENTS[student].items()}
    for part in record_of(course, student).parts:
        assert part.points == shares.get(part.part, 1) * POINTS[part.part], part


def test_no_link_is_followed_and_nothing_beside_the_notebook_is_imported(graded):
    course, _, _ = graded
    copied = {
        str(path.relative_to(course / "grading" / "autograded" / "extra-files" / FIRST)): path
        for path in (course / "grading" / "autograded" / "extra-files").rglob("*")
        if path.is_file()
    }
    expected = {f"{FIRST}.ipynb", "attn_course.py", "data [1]*.csv", "torch/__init__.py"}
    assert copied.keys() == expected
    assert not any(SECRET_FILE in path.read_text("utf-8") for path in copied.values())
    (note,) = record_of(course, "extra-files").notes
    assert note.endswith("left out: 'all', 'notes.txt', 'nowhere', 'pipe'")


def test_late_submission_is_late_and_one_without_a_readable_date_is_not(graded):
    course, _, _ = graded
    with gradebook(course) as book:
        stamps = {s: book.find_submission(FIRST, s).timestamp for s in ("late", "broken-timestamp")}
    assert stamps["late"].year == 2030
    assert stamps["broken-timestamp"] is None
    for student in ("broken-timestamp", "binary-timestamp"):
        assert record_of(course, student).notes == (
            "timestamp.txt cannot be read: counted as handed in on time",
        )


@pytest.mark.parametrize("student", CLAIMS)
def test_notebook_that_shows_more_than_it_earns_is_named(graded, student):
    course, _, _ = graded
    part, text, state = CLAIMS[student]
    record = {p.part: p for p in record_of(course, student).parts}[f"{part}-check"]
    assert record.state == state
    assert record.claimed == (None if text == "nan" else float(text))
    if state == "cheated?":
        assert record.notes == (
            "the notebook shows 4 of 4 points, and its code earns 0 on the same inputs",
        )
    else:
        assert (record.notes, record.points) == ((), 4)


@pytest.mark.parametrize(
    ("trouble", "incomplete", "state"),
    [
        (None, False, "cheated?"),
        (None, True, "graded"),
        (Termination(Cause.SLOW_REQUEST, 180), False, "timed out"),
        (Termination(Cause.ENDED_ITSELF), True, "crashed"),
    ],
)
def test_who_did_not_come_to_the_end_may_have_come_honestly_by_what_is_shown(
    trouble, incomplete, state
):
    part = failed_part(find_exercise("01_retrieval/softmax"), "it raised NameError", trouble)
    record = part_record("softmax-check", part, 4.0, incomplete)
    assert record.state == state
    assert "shows 4 of 4 points, and its code earns 0 on the same inputs" in record.notes[-1]


@pytest.mark.parametrize(
    ("shown", "claimed"),
    [
        (["4.0"], 4),
        (["1000.0"], 1000),
        (["1.0", "3.0"], 3),
        (["3.0", "1.0"], 3),
        (["'4.0'"], None),
        (["nan"], None),
        (["inf"], None),
        (["softmax"], None),
        ([], None),
    ],
)
def test_claim_is_the_highest_number_that_is_shown(shown, claimed):
    cell = new_code_cell("1", metadata={"nbgrader": {"grade": True, "grade_id": "a"}})
    cell.outputs = [new_output("execute_result", {"text/plain": text}) for text in shown]
    other = new_code_cell("1", metadata={"nbgrader": "none"}, outputs=cell.outputs)
    assert claims_of(new_notebook(cells=[cell, other])).get("a") == claimed


def test_csv_has_a_row_for_each_student_and_exercise(graded):
    course, _, _ = graded
    path = course / "grading" / "results" / f"{FIRST}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    students = {*STUDENTS, *odd(), *CLAIMS, "absent", "astray"}
    quoted = {"=1+1": "'=1+1", "-x.y": "'-x.y"}  # no spreadsheet takes them for formulas
    names = [quoted.get(student, student) for student in sorted(students)]
    assert [row["student"] for row in rows] == [name for name in names for _ in POINTS]
    absent = [row for row in rows if row["student"] == "absent"]
    assert {(row["points"], row["state"], row["isolation"]) for row in absent} == {
        ("0", "missing", "")
    }
    assert {row["notes"] for row in absent} == {"nothing was handed in"}
    unreadable = {(row["points"], row["state"]) for row in rows if row["student"] in UNREADABLE}
    assert unreadable == {("", "unreadable")}
    astray = {row["notes"] for row in rows if row["student"] == "astray"}
    assert astray == {f"nothing was handed in as astray/{FIRST}; there is: '{FIRST} (1).ipynb'"}
    boast, spy = [row for row in rows if row["state"] == "cheated?"]
    assert (boast["student"], boast["exercise"]) == ("boaster", f"{FIRST}/soft_lookup")
    assert (spy["student"], spy["notes"][:27]) == ("broken", "tried to import hintgrader.")
    assert (boast["points"], boast["of"], boast["claimed"]) == ("0", "4", "4")


def test_log_names_what_a_person_should_look_at_and_nothing_else(graded):
    course, said, _ = graded
    log = (course / "grading" / "results" / f"{FIRST}.log").read_text("utf-8").splitlines()
    named = {*UNREADABLE} & {*odd()}
    named |= {"extra-files", "broken-timestamp", "binary-timestamp", "boaster"}
    named |= {"astray", "broken", "huge", "nobody"}  # who is in no roster, and so in no table
    assert {re.match(r"[\w-]+", line)[0] for line in log} == named
    assert len(log) == len(named) + 1  # of the broken one a line reaches, and an answer stops
    assert f"what to look at ({len(log)})" in said.stdout


def test_table_has_a_line_for_each_student_within_eighty_columns(graded):
    _, said, _ = graded
    lines = said.stdout.splitlines()
    (solved,) = [line for line in lines if line.strip().startswith("solved")]
    assert solved.split() == ["solved", "4", "4", "4", "4", "5", "21/21"]
    (boaster,) = [line for line in lines if line.strip().startswith("boaster")]
    assert boaster.split() == ["boaster", "4", "0", "?", "4", "4", "5", "17/21"]
    assert max(map(len, lines[:-1])) <= 80  # the last has the names of files, which may be long
    assert "2 soft lookup" in said.stdout
    assert sum(FIRST in line for line in lines) == 2  # the bar, drawn once, and those names


@needs_linux
def test_command_leaves_no_process_and_no_file(graded):
    _, _, temporary = graded
    assert list(temporary.iterdir()) == []
    assert processes_with(temporary) == []
