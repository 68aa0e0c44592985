"""Two copies of the checks: one that is installed, as on a hub, and the course's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.one_source import check_one_source

from tests.conftest import ROOT


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A clone whose packages are those that are in use, in a copy."""
    for package in ("attn_bank", "attn_course"):
        ignored = shutil.ignore_patterns("__pycache__", "*.safetensors", "*.json")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return tmp_path


def test_edited_check_is_not_graded_with_the_copy_that_is_installed(course: Path) -> None:
    check_one_source(Course(course))
    edited = course / "attn_bank" / "retrieval" / "softmax.py"
    edited.write_text(edited.read_text("utf-8") + "\n# fairer\n", encoding="utf-8")
    with pytest.raises(CourseError) as refused:
        check_one_source(Course(course))
    for place in (course / "attn_bank", ROOT / "attn_bank"):
        assert str(place.resolve()) in str(refused.value)
    code = (
        "from pathlib import Path\nfrom hintgrader.nbgrader.course import Course\n"
        "from hintgrader.nbgrader.one_source import check_one_source\n"
        "check_one_source(Course(Path.cwd()))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}  # what is in the folder comes first
    run = [sys.executable, "-c", code]
    subprocess.run(run, cwd=course, env=environment, check=True)
