"""The problem sets as their authors write them, read for the proofs, and graded by nbgrader."""

from functools import cache
from pathlib import Path

from hintgrader.authoring.solution import Solution
from hintgrader.authoring.solution import find_solution as find_solution_in
from hintgrader.testing.commands import type_command

from attn_bank import find_exercise
from tests.conftest import ROOT

SOLUTIONS = ROOT / "solutions"
EXERCISES = ROOT / "exercises"
# Their answers loop over sentences, rows of layers or heads of a model, or the mistakes have sixty
# forms, so that to judge what is known of them takes as long as the rest of a sample: `make proofs`
# does.
LONG = frozenset(
    {
        "05_luong/attentional_states",
        "10_recurrence/layers_to_hear",
        "11_transformer/next_token_law",
        "12_induction/cost_of_silence",
    }
)


def nbgrader(course: Path, *arguments: str) -> str:
    """Run an nbgrader command in a course, as an instructor types it; return what it says."""
    environment = {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    run = type_command("nbgrader", *arguments, folder=course, environment=environment)
    assert run.status == 0, run.stdout
    return run.stdout


def notebook_path(exercise: str, folder: Path = SOLUTIONS) -> Path:
    chapter = exercise.split("/")[0]
    return folder / chapter / f"{chapter}.ipynb"


@cache
def find_solution(exercise: str) -> Solution:
    """The solution cell of an exercise, and the points that its grade cell gives."""
    return find_solution_in(notebook_path(exercise), find_exercise(exercise))
