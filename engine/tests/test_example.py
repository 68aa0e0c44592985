"""The example is released, graded, reported on and exported, as a course of one's own would be.

It has a package for students, a bank of exercises whose answers are arrays, strings and trees, two
problem sets, and settings. The commands run where no package of another course can be imported.
"""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

import hintgrader
from hintgrader.bank.grade import grade
from hintgrader.records.records import PartRecord, SubmissionRecord, read_record, record_path
from hintgrader.supervisor.isolation import strongest
from hintgrader.testing.courses import cell_of, hand_in
from hintgrader.worker.submission import LocalSubmission
from tests.example import COURSE, FIRST, SECOND, lay_out

POINTS = {FIRST: {"fit-check": 4, "summarise-check": 3}, SECOND: {"align-check": 4}}
# Leaves of an environment the engine, and no package of the course that it came with.
ELSEWHERE = """import sys

editable = [f for f in sys.meta_path if hasattr(sys.modules.get(f.__module__), "MAPPING")]
for finder in editable:
    sys.meta_path.remove(finder)


class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("attn_course", "attn_bank"):
            raise ModuleNotFoundError(f"No module named {name!r}")


sys.meta_path.insert(0, Absent)
"""
LOOK = """found = []
for name in ("hintgrader", "methods_course", "attn_course", "attn_bank"):
    try:
        found.append(__import__(name).__name__)
    except ModuleNotFoundError:
        pass
print(*found)"""
# The libraries are imported once, which takes longer than what most commands do.
ENDED = "ended with status "
COMMANDS = f"""import os, runpy, sys
import hintgrader.testing.preloaded

for command in sys.stdin:
    if not (child := os.fork()):
        sys.argv = command.split()
        sys.modules.pop(sys.argv[0] + ".__main__", None)  # imported above, to be run now
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        sys.exit()
    print({ENDED!r}, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sep="", flush=True)"""
RIDGE = """def fit(design, target):
    penalty = 0.1 * np.eye(design.shape[1], dtype=design.dtype)
    return np.linalg.solve(design.T @ design + penalty, design.T @ target)"""
LIST = """def summarise(design, target, coefficients):
    return [target - predict(design, coefficients)]"""
BORROWED = """def fit(design, target):
    return np.linalg.lstsq(design, target, rcond=None)[0]"""
BACKWARDS = """def align(source, target):
    found = solved(source, target)
    return found | {"rows": tuple(row[::-1] for row in found["rows"])}"""


def write(source: str):
    def change(notebook, part: str) -> None:
        before = cell_of(notebook, part).source
        cell_of(notebook, part).source = f"{before}\n\nsolved = {part}\n\n{source}"

    return change


def look_around(notebook, part: str) -> None:
    notebook.cells.append(nbformat.v4.new_code_cell(LOOK))


STUDENTS = {
    "solved": {FIRST: {"fit": look_around}, SECOND: {}},
    "wrong": {
        FIRST: {"fit": write(RIDGE), "summarise": write(LIST)},
        SECOND: {"align": write(BACKWARDS)},
    },
    "borrowing": {FIRST: {"fit": write(BORROWED)}},
}


class Elsewhere:
    """A copy of the course, and an environment with the engine alone."""

    def __init__(self, folder: Path) -> None:
        self.course, self.packages = folder / "course", folder / "packages"
        lay_out(self.course)
        shutil.copytree(Path(hintgrader.__file__).parent, self.packages / "hintgrader")
        (self.packages / "sitecustomize.py").write_text(ELSEWHERE, encoding="utf-8")
        self.terminal = self.python(COMMANDS)

    def python(self, program: str) -> subprocess.Popen:
        """Start a program of Python in the folder of the course."""
        own = {"PYTHONPATH": str(self.packages), "JUPYTER_CONFIG_DIR": str(self.packages / "none")}
        environment = {k: v for k, v in os.environ.items() if k != "HINTGRADER_SECRET"} | own
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        command = [sys.executable, "-c", program]
        return subprocess.Popen(command, cwd=self.course, env=environment, text=True, **pipes)

    def type(self, command: str) -> None:
        """Run `python -m COMMAND` in the folder of the course."""
        print(command, file=self.terminal.stdin, flush=True)
        said = []
        for line in self.terminal.stdout:
            said.append(line)
            if line.startswith(ENDED):
                break
        assert said[-1:] == [f"{ENDED}0\n"], "".join(said)

    def record(self, assignment: str, student: str) -> SubmissionRecord:
        return read_record(record_path(self.course / "grading" / "results", assignment, student))

    def part(self, student: str, name: str) -> PartRecord:
        assignment = SECOND if name == "align" else FIRST
        parts = self.record(assignment, student).parts
        return next(part for part in parts if part.part == f"{name}-check")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """The course, released, handed in, graded, reported on and exported."""
    elsewhere = Elsewhere(tmp_path_factory.mktemp("elsewhere"))
    with elsewhere.terminal:
        elsewhere.type("nbgrader generate_assignment *")
        for student, handed_in in STUDENTS.items():
            for assignment, changes in handed_in.items():
                hand_in(elsewhere.course, assignment, student, changes)
        for assignment in POINTS:
            elsewhere.type(f"hintgrader autograde {assignment} --jobs 1")
        elsewhere.type(f"hintgrader report {FIRST}")
        elsewhere.type("nbgrader export --to grades.csv")
    return elsewhere


def test_there_is_the_engine_and_no_package_of_the_course_it_came_with(elsewhere):
    where = f"{LOOK}\nimport hintgrader\nprint(hintgrader.__file__)"
    found, place = elsewhere.python(where).communicate()[0].splitlines()
    assert found.split() == ["hintgrader", "methods_course"]
    assert Path(place).is_relative_to(elsewhere.packages)


def test_a_submission_finds_the_package_of_this_course_and_no_other(elsewhere):
    path = elsewhere.course / "grading" / "autograded" / "solved" / FIRST / f"{FIRST}.ipynb"
    shown = nbformat.read(path, as_version=4).cells[-1].outputs[0].text
    assert shown.split() == ["hintgrader", "methods_course"]
    assert elsewhere.record(FIRST, "solved").level == str(strongest())


@pytest.mark.parametrize("assignment", POINTS)
def test_release_holds_no_solution(elsewhere, assignment):
    released = elsewhere.course / "exercises" / assignment / f"{assignment}.ipynb"
    text = released.read_text(encoding="utf-8")
    assert "YOUR CODE HERE" in text
    for secret in ("SOLUTION", "HIDDEN", "np.linalg.solve", "costs ="):
        assert secret not in text


@pytest.mark.parametrize("assignment", POINTS)
def test_right_answers_of_arrays_strings_and_trees_earn_all_points(elsewhere, assignment):
    record = elsewhere.record(assignment, "solved")
    assert {part.part: part.points for part in record.parts} == POINTS[assignment]
    assert (record.state, record.notes) == ("graded", ())
    with Gradebook(f"sqlite:///{elsewhere.course / 'grading' / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(assignment, "solved").score == record.points


def test_wrong_array_is_recognised_as_the_mistake_that_it_is(elsewhere):
    part = elsewhere.part("wrong", "fit")
    assert (part.points, part.mistake) == (0, "adds_a_ridge")
    assert "at [0] it is" in part.rows[0].problem
    assert part.hint.startswith("you add a multiple of the identity")


def test_wrong_tree_is_recognised_too(elsewhere):
    part = elsewhere.part("wrong", "align")
    assert (part.points, part.mistake) == (1, "forgets_to_turn_the_rows_around")
    assert part.rows[0].problem.startswith("under 'rows': value 1 of 2: it is")


def test_answer_of_another_kind_is_told_what_is_expected(elsewhere):
    row, _ = elsewhere.part("wrong", "summarise").rows
    keys = "'residuals', 'squares', 'worst'"
    assert row.problem.startswith(f"it is a list of 1; expected a dict with the keys {keys}")


def test_function_of_numpy_that_does_the_exercise_is_noticed(elsewhere):
    part = elsewhere.part("borrowing", "fit")
    assert part.points == 0
    assert "it calls lstsq; the exercise is to write that yourself" in part.rows[0].problem


def test_report_shows_the_checks_and_the_mistake(elsewhere):
    page = elsewhere.course / "grading" / "results" / f"{FIRST}.html"
    text = page.read_text(encoding="utf-8")
    for words in ("you add a multiple of the identity", "several targets are fitted at once"):
        assert words in text


def test_export_has_the_points_of_both_problem_sets(elsewhere):
    with (elsewhere.course / "grades.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    scores = {(one["student_id"], one["assignment"]): float(one["score"] or 0) for one in lines}
    assert scores["solved", FIRST] == 7
    assert scores["solved", SECOND] == 4
    assert scores["wrong", SECOND] == 1
    assert scores["borrowing", FIRST] == 3


def test_mistakes_earn_what_they_are_said_to_and_are_recognised(monkeypatch):
    monkeypatch.syspath_prepend(COURSE)
    from methods_bank import BANK

    for name in BANK.names():
        exercise = BANK.find(name)
        assert grade(exercise, LocalSubmission(exercise.reference), "seed") == exercise.points
        for mistake in exercise.mistakes:
            points = grade(exercise, LocalSubmission(mistake.answer), "seed")
            assert points.mistake == mistake.name
            if mistake.points is None:  # made by a promise
                assert 0 <= float(points) < exercise.points
            else:
                assert float(points) == mistake.points
