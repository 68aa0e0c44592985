"""Every problem set but the first, solved: released and graded, one after the other in one course.

The first is for `test_nbgrader.py`, by the commands that an instructor types. Here the same steps
are called from one process, as nbgrader's own page does it, since each command takes seconds to
start, and each course more to make its gradebook.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_nbgrader import ASSIGNMENTS, FIRST, hand_in, lay_out, marks, read_points

OTHERS = [assignment for assignment in ASSIGNMENTS if assignment != FIRST]
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


def let_nbgrader(course: Path, step: str) -> None:
    """Let nbgrader do this with every problem set of a course."""
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    command = [sys.executable, "-c", PROGRAM, step, *OTHERS]
    run = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """The course with its other problem sets, handed in by somebody who solves them, and graded."""
    course = tmp_path_factory.mktemp("course")
    lay_out(course, *OTHERS)
    let_nbgrader(course, "generate_assignment")
    for assignment in OTHERS:
        hand_in(course, assignment, "solved", {})
    let_nbgrader(course, "autograde")
    return course


@pytest.mark.parametrize("assignment", OTHERS)
def test_solution_gets_every_point(course, assignment):
    points, solved = read_points(assignment), marks(course, "solved", assignment)
    assert {name: solved[name] for name in points} == points


@pytest.mark.parametrize("assignment", OTHERS)
def test_one_part_of_each_set_waits_for_a_person(course, assignment):
    waiting = marks(course, "solved", assignment).keys() - read_points(assignment).keys()
    assert len(waiting) == 1
