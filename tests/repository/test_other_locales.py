"""Commands in a locale that is not UTF-8, and Python without docstrings: work, or one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.conftest import ROOT

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    course = tmp_path / "course"
    course.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", course)
    (course / "roster.csv").write_text("id,last_name\nzoe,Müller\n", encoding="utf-8")
    return course


def run(course: Path, environment: dict[str, str], *words: str) -> tuple[int, str]:
    own = {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(course / "none")} | environment
    known = {k: v for k, v in os.environ.items() if not k.startswith("HINTGRADER")} | own
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run([sys.executable, *words], cwd=course, env=known, **both)
    return done.returncode, done.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("words", "status"),
    [("nbgrader db student import roster.csv", 1), ("hintgrader tables", 2)],
)
def test_locale_that_would_garble_names_is_refused(course: Path, words: str, status: int) -> None:
    found, said = run(course, ASCII, "-m", *words.split())
    assert (found, "Traceback" in said) == (status, False)
    assert "which would garble names. Set one of UTF-8" in " ".join(said.split())
    assert not (course / "grading" / "gradebook.db").exists()


def test_screen_that_is_not_utf8_shows_names_in_ascii(course: Path) -> None:
    (course / "grading").mkdir(mode=0o700)
    with Gradebook(f"sqlite:///{course}/grading/gradebook.db") as gradebook:
        gradebook.add_student("zoe", last_name="Müller")
    ascii_screen = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}  # Python takes UTF-8 for files
    status, said = run(course, ascii_screen, "-m", "nbgrader", "db", "student", "list")
    assert (status, r"zoe (M\xfcller, None)" in said) == (0, True)


def test_python_without_docstrings_is_refused_with_the_reason(course: Path) -> None:
    status, said = run(course, {"PYTHONOPTIMIZE": "2"}, "-c", "import attn_bank")
    assert status != 0
    assert "Python runs with -OO or PYTHONOPTIMIZE=2" in said
    assert "has no docstring" not in said
