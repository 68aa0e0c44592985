"""Laying out an exercise, the tables of parts, and what is said to be missing or stale."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from hintgrader.testing.commands import type_command
from tests.example import COURSE, lay_out

NEW = "02_edit_distance/count"


def hintgrader(course: Path, *words: str) -> tuple[int, list[str]]:
    """Run a command in the folder of a course; its status, and what it says on stderr."""
    run = type_command("hintgrader", *words, folder=course, apart=True)
    return run.status, run.stderr.splitlines()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the small course, which asks for right answers as well."""
    return lay_out_course(tmp_path / "course")


def lay_out_course(course: Path) -> Path:
    lay_out(course)
    answers = course / "answers"
    for path in course.glob("methods_bank/*/[a-z]*.py"):
        target = answers / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("def one(): ...\ndef another(): ...\ndef _helps(): ...\n")
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write(
            'c.HintGrader.right_answers = "answers"\nc.HintGrader.min_right_answers = 2\n'
        )
    return course


PLACE = "solutions/02_edit_distance/02_edit_distance.ipynb"
HINTS = "Hint 1: a nudge", "Hint 2: shapes", "Hint 3: the decisive step"


def test_new_exercise_is_laid_out_and_what_it_lacks_is_said(course: Path) -> None:
    assert hintgrader(course, "check-course") == (0, [])
    assert hintgrader(course, "new", NEW) == (0, [])
    source = course / "solutions" / "02_edit_distance" / "02_edit_distance.ipynb"
    notebook = nbformat.read(source, as_version=4)
    assert "## Part B. What it is about (1 point, 0 minutes)" in str(notebook.cells[-3].source)
    assert "| B |  | 1 | 0 |" in notebook.cells[0].source
    assert hintgrader(course, "check-course") == (
        1,
        [
            f"{NEW} does not say how long it takes: set its `minutes`",
            f"{NEW} knows 1 mistake; it needs at least 3",
            f"{NEW} has 0 right answers in answers/edit_distance/count.py; it needs at least 2",
            f"{NEW} is the first of its part: set its `title`, for the table",
            *(f"{PLACE}: nothing stands under {hint!r}" for hint in HINTS),
        ],
    )
    status, said = hintgrader(course, "new", NEW)
    assert status == 2
    assert said[0].endswith("methods_bank/edit_distance/count.py is there already.")


def test_part_that_was_retired_is_named_with_what_became_of_it(course: Path) -> None:
    bank = course / "methods_bank" / "__init__.py"
    text = bank.read_text(encoding="utf-8")
    retired = 'retired={"01_least_squares/old": "it is no more"}, student_packages='
    bank.write_text(text.replace("student_packages=", retired), encoding="utf-8")
    path = course / "solutions" / "01_least_squares" / "01_least_squares.ipynb"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("01_least_squares/fit", "01_least_squares/old"), encoding="utf-8")
    code, said = hintgrader(course, "check-course")
    assert code == 1
    assert "'01_least_squares/old' has left the course: it is no more." in said[0]


def test_cells_and_tables_that_do_not_fit_the_exercises_are_named(course: Path) -> None:
    for number, (assignment, old, new) in enumerate(
        [
            ("01_least_squares", "01_least_squares/fit", "01_least_squares/fits"),
            ("02_edit_distance", '"points": 4', '"points": 5'),
            ("02_edit_distance", "two words aligned | 4 |", "two words | 5 |"),
        ]
    ):
        path = course / "solutions" / assignment / f"{assignment}.ipynb"
        text = path.read_text(encoding="utf-8")
        assert old in text, number
        path.write_text(text.replace(old, new), encoding="utf-8")
    first, second = (
        f"solutions/{name}/{name}.ipynb" for name in ("01_least_squares", "02_edit_distance")
    )
    missing = "01_least_squares/fits"
    assert hintgrader(course, "check-course") == (
        1,
        [
            f"{first}: fit-check: there is no exercise {missing!r}; lay it out: hintgrader new"
            f" {missing}",
            f"{second}: align-check: it gives 5 points, and 02_edit_distance/align has 4; run:"
            " hintgrader tables",
            f"{second}: the table of parts, or a heading, is not what the exercises say; run:"
            " hintgrader tables",
            f"01_least_squares/fit is in the bank, and no graded cell of {first} says"
            ' check("01_least_squares/fit")',
        ],
    )


def test_table_of_a_problem_set_that_is_laid_out_has_a_row_for_its_part(course: Path) -> None:
    assert hintgrader(course, "new", "03_roots/bisect") == (0, [])
    source = course / "solutions" / "03_roots" / "03_roots.ipynb"
    assert "| A |  | 1 | 0 |" in nbformat.read(source, as_version=4).cells[0].source


def test_points_of_a_cell_are_written_as_the_checks_have_them(course: Path) -> None:
    source = course / "solutions" / "02_edit_distance" / "02_edit_distance.ipynb"
    before = source.read_text(encoding="utf-8")
    replace_in(source, {'"points": 4': '"points": 0.5'})
    assert hintgrader(course, "tables") == (0, [])
    assert source.read_text(encoding="utf-8") == before


# What an author writes into the files that were laid out, for an answer that doubles.
EXERCISE = {
    'raise NotImplementedError("write the right answer")': "return 2 * numbers",
    'title=""': 'title="double them"',
    "minutes=0": "minutes=5",
    "points=0.5),": "points=0.5, exempts={'cuts off': 'nothing is learned through the doubles'}),",
    "; say here what a student should have done instead": ": double them",
    "EXERCISE =": """@mistake
def squares(numbers):
    \"\"\"you square the numbers: double them\"\"\"
    return numbers**2


@mistake
def adds_two(numbers):
    \"\"\"you add 2 to the numbers: double them\"\"\"
    return numbers + 2


EXERCISE =""",
}
ANSWERS = """

def adds(numbers):
    return numbers + numbers


def stacks(numbers):
    return (numbers[None] * 2)[0]
"""
SOLUTION = {
    r"raise NotImplementedError(\"write the solution\")": "return 2 * numbers",
    "</summary>": "</summary>\\n\\nAsk what $2x$ is.",
}


def replace_in(path: Path, changes: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def hintgrader_says(course: Path, *words: str) -> list[str]:
    return type_command("hintgrader", *words, folder=course).stdout.splitlines()


@pytest.fixture(scope="module")
def filled_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course, with an exercise that was laid out and filled in."""
    course = lay_out_course(tmp_path_factory.mktemp("filled") / "course")
    with (course / "nbgrader_config.py").open("a") as settings:
        settings.write('c.HintGrader.verdicts = "verdicts"\n')
    assert hintgrader(course, "new", NEW) == (0, [])
    laid_out = [course / package / f"{NEW[3:]}.py" for package in ("methods_bank", "answers")]
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", str(COURSE.parent / "ruff.toml"), *map(str, laid_out)]
    subprocess.run([*ruff, "check", "--quiet", *settings], check=True)
    subprocess.run([*ruff, "format", "--check", "--quiet", *settings], check=True)
    replace_in(course / "methods_bank" / f"{NEW[3:]}.py", EXERCISE)
    with (course / "answers" / f"{NEW[3:]}.py").open("a") as answers:
        answers.write(ANSWERS)
    replace_in(course / "solutions" / "02_edit_distance" / "02_edit_distance.ipynb", SOLUTION)
    assert hintgrader(course, "tables") == (0, [])
    return course


@pytest.fixture
def new(filled_in: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled_in, tmp_path / "course")


def test_new_exercise_is_tried_and_its_verdicts_are_kept(new: Path) -> None:
    not_tried = f"{NEW} has not been tried as it is now; run: hintgrader try {NEW}"
    assert not_tried in hintgrader(new, "check-course")[1]
    said = hintgrader_says(new, "try", NEW)
    assert said[-1] == "Tried 1: nothing is to mend."
    assert "✘ ✘  0  squares: you square the numbers: double them" in said
    kept = json.loads((new / "verdicts" / f"{NEW[3:]}.json").read_text(encoding="utf-8"))
    assert kept["mistakes"]["squares"] == "✘ ✘"
    assert kept["mistakes"]["casts_to_float32"] == "· ✘"
    assert not [fault for fault in hintgrader(new, "check-course")[1] if NEW in fault]
    replace_in(new / "methods_bank" / f"{NEW[3:]}.py", {"minutes=5": "minutes=6"})
    assert not_tried in hintgrader(new, "check-course")[1]


# In the exercise, the right answers or the solution, and what its author is told.
TO_MEND = {
    "right answer": (
        "answers",
        "numbers + numbers",
        "numbers + 2.5",
        "adds has to be right, and row 1",
    ),
    "reference": (
        "bank",
        "return 2 * numbers",
        "raise NotImplementedError",
        "the reference has to be right, and row 1",
    ),
    "points": (
        "bank",
        "@mistake\ndef squares",
        "@mistake(points=0.5)\ndef squares",
        "squares earns",
    ),
    "hint": ("bank", "return numbers + 2", "return numbers", "adds_two is told something else"),
    "unseen": ("bank", "return numbers**2", "return 2 * numbers", "squares is refused by no row"),
    "waiver": (
        "bank",
        "points=0.5, exempts={",
        "points=0.5, exempts={'casts to float32': 'x' * 30, ",
        "is exempt (",
    ),
    "solution": (
        "source",
        "return 2 * numbers",
        "return 3 * numbers",
        "the solution has to be right, and row",
    ),
    "mutant": (
        "source",
        "return 2 * numbers",
        "return 2 * numbers + 0 * 5",
        "'0 * 5 -> 0' of the so",
    ),
    "fold": ("source", "Ask what $2x$ is.", "", "nothing stands under 'Hint 1: a nudge'"),
    "formula": (
        "source",
        "$2x$",
        r"$\\frac{$",
        "a formula cannot be typeset in a report: '## Part B",
    ),
    "line": (
        "source",
        "Ask what $2x$ is.",
        "Say `return 2 * numbers`.",
        "read a line of a solution: 'return 2",
    ),
    "paper": (
        "source",
        "**Write**",
        "**On paper first.** Why?\\n\\n**Write**",
        "has no answer in a fold",
    ),
    "marks": ("source", "### END SOLUTION", "### END", "its solutions cannot be cut out: no end"),
    "equivalent": (
        "bank",
        "mutants={}",
        "mutants={'a -> b': 'c'}",
        "names 'a -> b', which is no ch",
    ),
    "full stop": ("bank", "square the numbers: double them", "square.", "a hint that is no clause"),
    "unsaid axes": ("bank", "axes={", "axes=None and {", "does not say which sizes are drawn long"),
    "short axes": ("bank", '"length": 97', '"length": 7', "up to 7; long axes begin at 13"),
    "other axes": ("bank", '"length": 97', '"len": 97', "'len', which is no size"),
    "error": ("bank", "import torch\n", "import torches\n", "cannot be used: ModuleNotFoundError"),
    "idle": (
        "bank",
        "    checks=(",
        "    checks=(\n        Check('c', 1, draw, sizes=({'length': 2},)),",
        "refuses no wrong answer that the others pass: c",
    ),
}


# An exercise is tried once for all that do not keep each other from being seen.
TOGETHER = (
    ("line", "right answer", "points", "hint", "waiver", "mutant", "equivalent", "short axes"),
    ("unseen", "solution", "full stop", "other axes", "idle", "formula", "paper"),
    ("reference", "unsaid axes", "fold", "marks"),
    ("error",),
)


@pytest.mark.parametrize("changes", TOGETHER, ids=", ".join)
def test_what_is_to_mend_of_an_exercise_is_said_and_no_verdict_is_kept(
    new: Path, changes: tuple[str, ...]
) -> None:
    places = {
        "answers": f"answers/{NEW[3:]}.py",
        "bank": f"methods_bank/{NEW[3:]}.py",
        "source": "solutions/02_edit_distance/02_edit_distance.ipynb",
    }
    for where, old, right, _ in map(TO_MEND.get, changes):
        replace_in(new / places[where], {old: right})
    said = hintgrader_says(new, "try", NEW)
    assert [name for name in changes if not any(TO_MEND[name][3] in line for line in said)] == []
    assert not (new / "verdicts").exists()


def test_all_that_is_to_mend_is_tried() -> None:
    assert sorted(name for changes in TOGETHER for name in changes) == sorted(TO_MEND)
