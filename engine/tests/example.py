"""The course in `examples/methods`: two problem sets on numerical methods, copied to be graded."""

import shutil
from pathlib import Path

from hintgrader.worker.wall import Wall

COURSE = Path(__file__).resolve().parents[1] / "examples" / "methods"
SETTINGS = COURSE / "nbgrader_config.py"
WALL = Wall(("methods_course",), "methods_bank", ("solutions/", "gradebook.db", "grading/secret"))
FIRST, SECOND = "01_least_squares", "02_edit_distance"


def lay_out(course: Path) -> Path:
    """Copy the course into a folder."""
    ignored = shutil.ignore_patterns("__pycache__", "grading", "exercises")
    return Path(shutil.copytree(COURSE, course, ignore=ignored))
