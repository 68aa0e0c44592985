"""Throughput of `hintgrader autograde` against `nbgrader autograde`, on one class, in one run.

    python benchmarks/grading.py                      # 40 submissions of 01_retrieval
    python benchmarks/grading.py 04_bahdanau --number 12 --least 1 1

Close other programs first. Everything is timed as an instructor meets it: a command is started, and
is over when all marks are in the gradebook. The marks have to be the same in all three, and ours as
many times as fast as is asked for.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

ROOT = Path(__file__).resolve().parents[1]
Marks = dict[tuple[str, str], float | None]
COMMANDS = {
    "nbgrader autograde": ["nbgrader", "autograde"],
    "hintgrader, limits": ["hintgrader", "autograde", "--level", "limits"],
    "hintgrader, sandbox": ["hintgrader", "autograde"],
}
LEAST = (8.0, 6.0)  # times as fast as nbgrader: with limits, with the sandbox


def lay_out(course: Path, assignment: str, number: int) -> None:
    """Make a course with one problem set, and hand it in as a class does."""
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copytree(ROOT / "solutions" / assignment, course / "solutions" / assignment)
    run(course, ["nbgrader", "generate_assignment", assignment])
    name = f"{assignment}.ipynb"
    source = nbformat.read(course / "solutions" / assignment / name, as_version=4)
    for student in range(number):
        notebook = nbformat.read(course / "exercises" / assignment / name, as_version=4)
        fill_in(notebook, source, student)
        folder = course / "grading" / "submitted" / f"student-{student:03}" / assignment
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / name)


def fill_in(notebook: NotebookNode, source: NotebookNode, student: int) -> None:
    """Solve the parts: of ten, seven right, one not written, one wrong, one that raises."""
    answers = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in source.cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
    }
    parts = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") in answers]
    for number, cell in enumerate(parts):
        right = answers[cell.metadata.nbgrader.grade_id]
        head = "\n".join(line for line in right.splitlines() if "###" not in line)
        kind = (3 * student + 7 * number) % 10
        if kind < 7:
            cell.source = head
        elif kind > 7:
            cell.source = f"{head}\n\n{wrong(right, raises=kind == 9)}"


def wrong(answer: str, raises: bool) -> str:
    """A function of the same name that is of no use."""
    name = [line for line in answer.splitlines() if line.startswith("def ")][-1]
    name = name.removeprefix("def ").partition("(")[0]
    body = "raise ValueError('too large')" if raises else "return torch.zeros(2)"
    return f"def {name}(*given, **named):\n    {body}\n"


def run(course: Path, words: list[str]) -> float:
    """Run a command in a course; the seconds that it took."""
    begun = time.perf_counter()
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(course / "none")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return time.perf_counter() - begun


def marks_of(course: Path, assignment: str) -> Marks:
    """Points by student and cell, as the gradebook has them."""
    with Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}", "attention") as gradebook:
        return {
            (submission.student.id, grade.cell.name): grade.auto_score
            for submission in gradebook.find_assignment(assignment).submissions
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def main() -> None:
    """Grade the same class with each command, in a fresh copy of the course, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("assignment", nargs="?", default="01_retrieval")
    parser.add_argument("--number", type=int, default=40, help="of submissions")
    how = {"nargs": 2, "type": float, "metavar": ("LIMITS", "SANDBOX"), "default": LEAST}
    parser.add_argument("--least", help="times as fast as nbgrader that each has to be", **how)
    chosen = parser.parse_args()
    seconds, marks = grade_with_each(chosen.assignment, chosen.number)
    plain, *others = marks.values()
    assert len(plain) >= chosen.number, "some submissions were not graded"
    assert all(other == plain for other in others), "the marks are not the same"
    print(f"{chosen.number} submissions of {chosen.assignment}, {len(plain)} equal marks")
    first = next(iter(seconds.values()))
    ratios = {name: first / taken for name, taken in seconds.items()}
    for name, taken in seconds.items():
        each = taken / chosen.number
        print(f"{name:20} {taken:6.1f} s {each:6.2f} s each, {ratios[name]:5.1f} times as fast")
    if slow := too_slow(ratios, chosen.least):
        sys.exit(f"Too slow. {slow}")


def grade_with_each(assignment: str, number: int) -> tuple[dict[str, float], dict[str, Marks]]:
    """Seconds that each command took, and the marks that it gave."""
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "course")
        course.mkdir()
        lay_out(course, assignment, number)
        seconds, marks = {}, {}
        for place, (name, words) in enumerate(COMMANDS.items()):
            own = Path(folder, str(place))
            shutil.copytree(course, own)
            seconds[name] = run(own, [*words, assignment])
            marks[name] = marks_of(own, assignment)
    return seconds, marks


def too_slow(ratios: dict[str, float], least: Sequence[float]) -> str:
    """Say in words which of our ways gain less speed over nbgrader than they have to."""
    _, *ours = ratios
    slow = [(name, ask) for name, ask in zip(ours, least, strict=True) if ratios[name] < ask]
    return ", ".join(f"{name}: {ratios[name]:.2f} times as fast, not {ask:g}" for name, ask in slow)


if __name__ == "__main__":
    main()
