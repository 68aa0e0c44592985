"""A class of students, from release to feedback, with nbgrader as an instructor uses it.

Every student below hands in the first problem set, each with something else wrong; the marks are
then read from the gradebook, and the feedback as a student reads it. That every other set can be
solved is for `test_nbgrader_sets.py`.
"""

import csv
import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from hintgrader.authoring.words import given_away, lines_of_solutions
from hintgrader.testing.courses import SECRET, NotebookChange, cell_of, hand_in
from nbformat import NotebookNode

from attn_bank import find_exercise
from tests.conftest import ROOT, shared_folder
from tests.kernels import kernel_name
from tests.problem_sets import EXERCISES, SOLUTIONS, nbgrader
from tests.sampling import sample, sampled

ASSIGNMENTS = sorted(folder.name for folder in SOLUTIONS.iterdir() if folder.is_dir())
FIRST = ASSIGNMENTS[0]
# That all of them run as they are given out is for `test_grading_outside.py`.
VALIDATED = sample(["04_bahdanau", "10_recurrence"], 1)


def exercise_of(notebook: NotebookNode, part: str) -> str:
    """The name of the exercise that a part's check cell checks."""
    return re.search(r'check\("([^"]+)"', cell_of(notebook, f"{part}-check").source)[1]


def answer_with(body: str) -> NotebookChange:
    """The student writes a function with this body, whatever the function is called."""

    def change(notebook: NotebookNode, part: str) -> None:
        function = find_exercise(exercise_of(notebook, part)).function
        cell_of(notebook, part).source = f"def {function}(*given, **named):\n    {body}\n"

    return change


def add_warning(notebook: NotebookNode, part: str) -> None:
    """The student's cell warns, writes to stderr, and prints what hidden inputs are drawn from."""
    cell_of(notebook, part).source += """
import sys, warnings
from hintgrader.bank.secret import hidden_secret
warnings.warn("careful")
print("noise", file=sys.stderr)
print(hidden_secret())
"""


def delete_answer(notebook: NotebookNode, part: str) -> None:
    notebook.cells.remove(cell_of(notebook, part))


def delete_check(notebook: NotebookNode, part: str) -> None:
    notebook.cells.remove(cell_of(notebook, f"{part}-check"))


def copy_answer(notebook: NotebookNode, part: str) -> None:
    insert_copy(notebook, part)


def copy_check(notebook: NotebookNode, part: str) -> None:
    insert_copy(notebook, f"{part}-check")


def insert_copy(notebook: NotebookNode, grade_id: str) -> None:
    original = cell_of(notebook, grade_id)
    copy = nbformat.from_dict(json.loads(json.dumps(original)))
    copy["id"] = f"copy-of-{grade_id}"
    notebook.cells.insert(notebook.cells.index(original) + 1, copy)


def edit_check(notebook: NotebookNode, part: str) -> None:
    """The student makes the check cell say what he likes."""
    cell_of(notebook, f"{part}-check").source = "1000.0"


# The change that a student makes to each part of the first problem set, and which share of its
# points the part must earn. Parts that are not named hold the solution.
STUDENTS: dict[str, dict[str, tuple[NotebookChange, int]]] = {
    "solved": {},
    "broken": {
        "softmax": (add_warning, 1),
        "soft-lookup": (answer_with("return ("), 0),
        "default": (answer_with("return torch.tensor(float('nan'))"), 0),
        "slip": (answer_with("return 'two'"), 0),
        "colours": (answer_with("raise SystemExit(1)"), 0),
    },
    "shuffled": {
        "softmax": (delete_check, 1),
        "soft-lookup": (copy_check, 1),
        "default": (copy_answer, 1),
        "slip": (delete_answer, 0),
        "colours": (edit_check, 1),
    },
}
PARTS = list(STUDENTS["broken"])


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The course with its first problem set: released, handed in, graded and given feedback."""
    return graded_by_nbgrader(tmp_path_factory.getbasetemp())


def graded_by_nbgrader(base: Path) -> Path:
    """The course, made once for a whole run of tests by the first worker that asks; only read."""
    course, done = shared_folder(base) / "by nbgrader", shared_folder(base) / "graded"
    with FileLock(done.with_suffix(".lock")):
        if not done.exists():
            course.mkdir()
            grade_by_nbgrader(course)
            done.touch()
    return course


def grade_by_nbgrader(course: Path) -> None:
    """Type what an instructor types."""
    lay_out(course, FIRST)
    (course / "grading").mkdir()
    (course / "grading" / "secret.txt").write_text(f"{SECRET}\n", encoding="utf-8")
    nbgrader(course, "generate_assignment", FIRST)
    for student, wrong in STUDENTS.items():
        changes = {part: change for part, (change, _) in wrong.items()}
        hand_in(course, FIRST, student, changes)
    released = course / "exercises" / FIRST
    shutil.copytree(released, course / "grading" / "submitted" / "untouched" / FIRST)
    nbgrader(course, "autograde", FIRST, f"--Execute.kernel_name={kernel_name()}")
    nbgrader(course, "generate_feedback", FIRST)
    nbgrader(course, "export", "--to", "grades.csv", "--exporter=nbgrader.plugins.CsvExportPlugin")


def lay_out(course: Path, *assignments: str) -> None:
    """Put the settings and the sources of problem sets into a folder."""
    shutil.copy(ROOT / "nbgrader_config.py", course)
    for assignment in assignments:
        shutil.copytree(SOLUTIONS / assignment, course / "solutions" / assignment)


def marks(course: Path, student: str, assignment: str = FIRST) -> dict[str, float | None]:
    """Points by grade cell, from the gradebook; None where a person has to read."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}") as book:
        (notebook,) = book.find_submission(assignment, student).notebooks
        return {grade.cell.name: grade.auto_score for grade in notebook.grades}


def read_points(assignment: str = FIRST) -> dict[str, float]:
    """Points that each check cell of a problem set can give."""
    path = SOLUTIONS / assignment / f"{assignment}.ipynb"
    return {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    }


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("student", STUDENTS)
def test_part_earns_what_it_deserves_whatever_became_of_the_others(course, student, part):
    points = read_points()[f"{part}-check"]
    _, share = STUDENTS[student].get(part, (None, 1))
    assert marks(course, student)[f"{part}-check"] == share * points


def test_untouched_notebook_gets_no_point(course):
    points, untouched = read_points(), marks(course, "untouched")
    assert {name: untouched[name] for name in points} == dict.fromkeys(points, 0)


def test_one_part_waits_for_a_person(course):
    waiting = marks(course, "solved").keys() - read_points().keys()
    assert len(waiting) == 1


def test_untouched_notebook_shows_no_traceback_in_its_checks(course):
    path = course / "grading" / "autograded" / "untouched" / FIRST / f"{FIRST}.ipynb"
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            kinds = {output.output_type for output in cell.outputs}
            assert "error" not in kinds, cell.source
    assert "not written yet" in path.read_text(encoding="utf-8")


def test_feedback_says_what_is_wrong_but_shows_no_hidden_test(course):
    page = course / "grading" / "feedback" / "broken" / FIRST / f"{FIRST}.html"
    text = page.read_text(encoding="utf-8")
    for words in (
        "What happened",
        "did you run the cell above?",
        "shape is ()",
        "a str",
        "SystemExit",
    ):
        assert words in text
    assert "hidden=True" not in text
    assert "HIDDEN TESTS" not in text


def test_export_has_one_line_a_submission(course):
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["assignment"] == FIRST]
    scores = {line["student_id"]: float(line["score"]) for line in lines if line["score"]}
    points = read_points()
    assert scores.keys() == {*STUDENTS, "untouched"}
    assert scores["solved"] == sum(points.values())
    assert scores["broken"] == points["softmax-check"]
    assert scores["shuffled"] == sum(points.values()) - points["slip-check"]
    assert scores["untouched"] == 0


def test_secret_of_the_configuration_reaches_the_kernels(course):
    path = course / "grading" / "autograded" / "broken" / FIRST / f"{FIRST}.ipynb"
    outputs = cell_of(nbformat.read(path, as_version=4), "softmax").outputs
    assert SECRET in "".join(output.get("text", "") for output in outputs)


@pytest.fixture(scope="module")
def validated(tmp_path_factory) -> dict[str, str]:
    """The words that validation says of problem sets as they were given out, by their names."""
    folder = tmp_path_factory.mktemp("student")
    for assignment in VALIDATED:
        shutil.copy(EXERCISES / assignment / f"{assignment}.ipynb", folder)
    notebooks = [f"{name}.ipynb" for name in VALIDATED]
    said = nbgrader(folder, "validate", f"--Execute.kernel_name={kernel_name()}", *notebooks)
    parts = re.split(r"Validating '.*/(\w+)\.ipynb'", said)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@sampled
@pytest.mark.parametrize("assignment", VALIDATED)
def test_student_validates_and_checks_without_the_files_of_the_instructor(validated, assignment):
    said = validated[assignment]
    assert f"VALIDATION FAILED ON {len(read_points(assignment)) + 1} CELL(S)" in said
    assert said.count("Partial credit; passed some") == len(read_points(assignment))
    assert "Traceback" not in said.replace("NotImplementedError", "")


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_released_problem_set_holds_no_solution_and_no_hidden_test(assignment):
    name = f"{assignment}.ipynb"
    released = (EXERCISES / assignment / name).read_text(encoding="utf-8")
    for mark in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "hidden=True"):
        assert mark not in released
    solved = nbformat.read(SOLUTIONS / assignment / name, as_version=4)
    lines = lines_of_solutions(solved.cells)
    assert list(given_away(lines, nbformat.reads(released, as_version=4))) == []
