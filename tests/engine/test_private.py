"""The course's files are closed to others: a second account tries to read and to replace them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from hintgrader.__main__ import app
from hintgrader.nbgrader import private
from hintgrader.nbgrader.course import CourseError
from hintgrader.testing.accounts import Account, account, needs_root, open_folder
from hintgrader.testing.commands import type_command
from typer.testing import CliRunner

from tests.conftest import ROOT
from tests.problem_sets import EXERCISES, SOLUTIONS
from tests.sampling import left_to_proofs

SET = "01_retrieval"
NOTEBOOK = Path("submitted", "ada", SET, f"{SET}.ipynb")
SECRET = Path("secret.txt")
# The files in `grading/` after a problem set was graded, reported and given back.
KEPT = (
    SECRET,
    Path("gradebook.db"),
    NOTEBOOK,
    Path("autograded", "ada", SET, f"{SET}.ipynb"),
    Path("feedback", "ada", SET, f"{SET}.html"),
    Path("results", f"{SET}.csv"),
    Path("results", f"{SET}.log"),
    Path("results", f"{SET}.html"),
    Path("results", SET, "ada.json"),
)
BESIDE = ("grades.csv", "table.csv", "page.html")  # what was asked for elsewhere


@pytest.fixture(scope="module")
def mallory() -> Iterator[Account]:
    """Somebody who has an account on the machine of the course, and no more."""
    with account("mallory") as made:
        yield made


# A umask of 022 takes rights away that one of 000 leaves.
UMASKS = [0o000, pytest.param(0o022, marks=left_to_proofs)]


@pytest.fixture(params=UMASKS, ids=["umask-000", "umask-022"], scope="module")
def graded(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A course in which one submission went the whole way, under a umask that closes little."""
    with open_folder() as folder:
        course = lay_out(folder / "course")
        go_the_whole_way(course, request.param)
        yield course


def lay_out(course: Path) -> Path:
    """Lay out a course of one problem set, as a clone with the modes of a careless umask."""
    course.mkdir(mode=0o755)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    shutil.copytree(SOLUTIONS / SET, course / "solutions" / SET)
    (course / "grading").mkdir()
    (course / "grading").chmod(0o755)  # as `mkdir` makes it
    (course / "grading" / SECRET).write_text("of this class\n", encoding="utf-8")
    (course / "grading" / SECRET).chmod(0o644)
    return course


def go_the_whole_way(course: Path, umask: int) -> None:
    """Release, hand in, grade, report, give back and export."""
    said = typed(course, umask, "nbgrader", "generate_assignment", SET)
    assert "grading was open to others (mode 755), and is closed now." in said
    handed_in = course / "grading" / NOTEBOOK
    handed_in.parent.mkdir(parents=True)
    shutil.copy(EXERCISES / SET / f"{SET}.ipynb", handed_in)
    for folder in (*handed_in.parents[:3], handed_in):
        folder.chmod(0o777)  # as nbgrader collects it
    typed(course, umask, "hintgrader", "autograde", SET, "--csv", "table.csv")
    typed(course, umask, "hintgrader", "autograde", SET)
    typed(course, umask, "hintgrader", "report", SET)
    typed(course, umask, "hintgrader", "report", SET, "--html", "page.html")
    typed(course, umask, "nbgrader", "generate_feedback", SET)
    typed(course, umask, "nbgrader", "export", "--to", "grades.csv")


def typed(course: Path, umask: int, *words: str, status: int = 0) -> str:
    """Type a command in the folder of a course; return what it says."""
    environment = {"HINTGRADER_SECRET": None, "COLUMNS": "80"}
    environment |= {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    run = type_command(*words, folder=course, environment=environment, umask=umask)
    assert run.status == status, run.stdout
    return run.stdout


@needs_root
def test_others_read_and_replace_nothing(graded: Path, mallory: Account) -> None:
    paths = [*(graded / "grading" / kept for kept in KEPT), *(graded / name for name in BESIDE)]
    assert [path for path in paths if not path.is_file()] == []
    before = {path: path.read_bytes() for path in paths}
    reached = [path for path in paths if mallory.runs('cat "$1"', path).returncode == 0]
    replacing = ('echo forged > "$1"', 'mv "$1" "$1.away"', 'echo forged > "$1.new"')
    reached += [
        path for path in paths for how in replacing if not mallory.runs(how, path).returncode
    ]
    assert reached == []
    assert {path: path.read_bytes() for path in paths} == before
    assert mallory.runs('ls "$1"', graded / "grading").returncode != 0


@needs_root
def test_others_read_and_replace_no_record_though_the_folder_is_opened_later(
    graded: Path, mallory: Account
) -> None:
    grading = graded / "grading"
    grading.chmod(0o755)
    try:
        for kept in (SECRET, Path("gradebook.db"), KEPT[-1], KEPT[5]):
            assert mallory.runs('cat "$1"', grading / kept).returncode != 0, kept
    finally:
        grading.chmod(0o700)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with a secret, all of it private."""
    course = lay_out(tmp_path / "a course")
    private.make_private(course / "grading")
    return course


NOT_RELEASED = "The gradebook does not know"


def refused(course: Path, command: str) -> str:
    """Return the words of a command of hintgrader that does not begin, in one line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINTGRADER_SECRET", "")  # the settings write the seed of the course there
        run = CliRunner().invoke(app, [command, SET, "--course", str(course)])
    assert run.exit_code == 2
    return " ".join(run.output.split())


@pytest.mark.parametrize(
    ("place", "mode"),
    [("grading", 0o755), ("grading", 0o710), ("grading/secret.txt", 0o644), (".", 0o777)],
)
@pytest.mark.parametrize("command", ["autograde", "report"])
def test_command_stops_where_others_may_enter_and_goes_on_once_that_is_mended(
    course: Path, place: str, mode: int, command: str
) -> None:
    (course / place).chmod(mode)
    said = refused(course, command)
    assert f"(mode {mode:o})" in said
    (mend,) = re.findall(r"chmod -R [\w-]+ '[^']+'", said)
    subprocess.run(shlex.split(mend), check=True)
    assert NOT_RELEASED in refused(course, command)


@needs_root
@pytest.mark.parametrize("place", ["grading", "grading/secret.txt"])
def test_command_stops_where_something_belongs_to_another(
    course: Path, mallory: Account, place: str
) -> None:
    os.chown(course / place, mallory.user, -1)
    said = refused(course, "autograde")
    assert f"belongs to {mallory.name}, not to root." in said
    mend = f"sudo chown -R root {shlex.quote(str(course / 'grading'))}"
    assert mend in said
    subprocess.run(shlex.split(mend)[1:], check=True)
    assert NOT_RELEASED in refused(course, "autograde")


def test_file_in_a_closed_folder_is_closed_without_alarm(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "grading" / SECRET).chmod(0o644)
    capsys.readouterr()
    private.make_private(course / "grading")
    assert (course / "grading" / SECRET).stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr() == ("", "")


@needs_root
def test_graders_of_one_group_share_a_folder_that_says_so(graded: Path, mallory: Account) -> None:
    with account("grace") as grace:
        grading = graded / "grading"
        subprocess.run(["chgrp", "-R", grace.name, grading], check=True)
        subprocess.run(["chmod", "-R", "g+rwX,o-rwx", grading], check=True)
        subprocess.run(["find", grading, "-type", "d", "-exec", "chmod", "g+s", "{}", "+"])
        said = typed(graded, 0o022, "hintgrader", "autograde", SET, "--force")
        assert "1 submission" in said
        assert grace.does('cat "$1"', grading / SECRET) == "of this class\n"
        grace.does('touch "$1"', grading / KEPT[-1])  # as grading again would
        assert mallory.runs('cat "$1"', grading / SECRET).returncode != 0


def test_new_folder_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private.make_private(tmp_path / "grading")
    finally:
        os.umask(before)
    assert (tmp_path / "grading").stat().st_mode & 0o777 == 0o700


def test_folder_of_another_cannot_be_closed(course: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    (course / "grading").chmod(0o777)
    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(CourseError, match=r"is open to others and belongs to .*chown -R"):
        private.make_private(course / "grading")


def test_settings_leave_the_umask_of_a_server_alone(course: Path) -> None:
    code = (
        "import os\nfrom pathlib import Path\n"
        "from hintgrader.nbgrader.course import Course\n"
        "os.umask(0o022)\nassert Course(Path.cwd()).config\nassert os.umask(0) == 0o022"
    )
    subprocess.run([sys.executable, "-c", code], cwd=course, check=True)


def test_released_notebook_can_be_read_by_students(course: Path, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    typed(course, 0o022, "nbgrader", "generate_assignment", SET)
    settings = f"--Exchange.root={exchange}"
    typed(course, 0o022, "nbgrader", "release_assignment", SET, settings)
    released = exchange / "attention" / "outbound" / SET / f"{SET}.ipynb"
    assert nbformat.read(released, as_version=4).cells
    for folder in (released.parent, *released.parents[1:3]):
        assert folder.stat().st_mode & 0o005 == 0o005, folder
    assert released.stat().st_mode & 0o004
