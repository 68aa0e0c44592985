"""One problem set more, solved and graded by nbgrader's own steps, and the parts of all of them.

The first set is for `test_nbgrader.py`, by the commands that an instructor types; in this one
answers are handed layers. Here the same steps are called from one process, as nbgrader's own page
does it, since each command takes seconds to start; `make proofs` does it. That all sets, solved,
have all points from outside is for `test_grading_outside.py`.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from hintgrader.testing.courses import hand_in

from tests.engine.test_nbgrader import ASSIGNMENTS, lay_out, marks, read_points
from tests.problem_sets import SOLUTIONS
from tests.sampling import left_to_proofs

GRADED = ("08_self_attention",)
PROGRAM = """
import sys
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import PyFileConfigLoader

course = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", ".").load_config())
step, *assignments = sys.argv[1:]
for assignment in assignments:
    done = getattr(course, step)(assignment, *["solved"] * (step == "autograde"))
    if not done["success"]:
        sys.exit(f"{step} {assignment}: {done.get('error')} {done.get('log')}")
"""


def let_nbgrader(course: Path, step: str, *assignments: str) -> None:
    """Let nbgrader do this with problem sets of a course."""
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    command = [sys.executable, "-c", PROGRAM, step, *assignments]
    run = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course with problem sets that were handed in by somebody who solves them, and graded."""
    course = tmp_path_factory.mktemp("course")
    lay_out(course, *GRADED)
    let_nbgrader(course, "generate_assignment", *GRADED)
    for assignment in GRADED:
        hand_in(course, assignment, "solved", {})
    let_nbgrader(course, "autograde", *GRADED)
    return course


@left_to_proofs
@pytest.mark.parametrize("assignment", GRADED)
def test_solution_gets_every_point(course, assignment):
    points, solved = read_points(assignment), marks(course, "solved", assignment)
    assert {name: solved[name] for name in points} == points


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_one_part_of_each_set_waits_for_a_person(assignment):
    cells = nbformat.read(SOLUTIONS / assignment / f"{assignment}.ipynb", as_version=4).cells
    graded = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    by_person = [cell for cell in graded if cell.cell_type == "markdown"]
    assert len(by_person) == 1
    assert len(graded) == 1 + len(read_points(assignment))
