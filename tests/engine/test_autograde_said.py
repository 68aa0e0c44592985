"""The answers of the command that grades a class to requests that cannot be met."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from hintgrader.__main__ import app
from hintgrader.bank.secret import hidden_secret
from hintgrader.nbgrader import gradebook, private
from hintgrader.nbgrader.course import Course
from hintgrader.supervisor import isolation
from hintgrader.supervisor.bubblewrap import find_bubblewrap_mode
from hintgrader.supervisor.isolation import strongest
from hintgrader.testing.courses import hand_in, seed_of_no_other_course
from typer.testing import CliRunner

from tests.engine.autograding import released_course
from tests.engine.test_nbgrader import FIRST


@pytest.fixture
def copy(tmp_path_factory, tmp_path) -> Iterator[Path]:
    """A course of its own for a test, with nothing handed in."""
    with seed_of_no_other_course():
        released = released_course(tmp_path_factory.getbasetemp())
        yield Path(shutil.copytree(released, tmp_path / "course"))


def typed(*words: str) -> tuple[int, str]:
    """Return the exit status and the words of a command that fails before anything is graded."""
    result = CliRunner().invoke(app, ["autograde", *words])
    assert not isinstance(result.exception, Exception) or result.exit_code == 2, result.exception
    return result.exit_code, " ".join(result.output.split())


def test_folder_that_is_no_course(tmp_path):
    status, said = typed(FIRST, "--course", str(tmp_path))
    assert (status, said) == (2, f"{tmp_path} is not a course: it has no nbgrader_config.py.")


def test_settings_that_cannot_be_read(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(", encoding="utf-8")
    status, said = typed(FIRST, "--course", str(tmp_path))
    assert status == 2
    assert "nbgrader_config.py cannot be read. SyntaxError" in said


@pytest.fixture
def seeded(tmp_path, monkeypatch) -> Path:
    """The file with the seed of a course that has nothing else."""
    monkeypatch.setenv("HINTGRADER_SECRET", "")  # which is none
    shutil.copy(Path(__file__).parents[2] / "nbgrader_config.py", tmp_path)
    private.make_private(tmp_path / "grading")
    secret = tmp_path / "grading" / "secret.txt"
    secret.touch(mode=0o600)
    return secret


def test_seed_that_is_empty(seeded):
    seeded.write_text("\n", encoding="utf-8")
    status, said = typed(FIRST, "--course", str(seeded.parent.parent))
    assert status == 2
    assert f"{seeded} is empty. Write a seed into it, or remove it." in said


def test_seed_of_the_file_is_not_overruled_by_an_empty_variable(seeded):
    seeded.write_text("own\n", encoding="utf-8")
    assert Course(seeded.parent.parent).config
    assert hidden_secret() == "own"


def test_problem_set_that_is_not_released(copy):
    status, said = typed("02_kernel_regression", "--course", str(copy))
    assert status == 2
    assert f"does not know 02_kernel_regression (it knows: {FIRST})" in said
    assert "nbgrader generate_assignment 02_kernel_regression" in said


def test_nothing_handed_in(copy):
    status, said = typed(FIRST, "--course", str(copy))
    assert status == 2
    assert said.startswith(f"Nobody has handed in {FIRST}")


def test_students_are_found_in_a_folder_whose_name_looks_like_a_pattern(tmp_path):
    course = tmp_path / "a* ?2027"
    (course / "grading" / "submitted" / "ada" / FIRST).mkdir(parents=True)
    shutil.copy(Path(__file__).parents[2] / "nbgrader_config.py", course)
    assert Course(course).students(FIRST) == ["ada"]


def test_student_who_handed_nothing_in(copy):
    hand_in(copy, FIRST, "lovelace", {})
    status, said = typed(FIRST, "--course", str(copy), "--student", "lovelaec")
    assert (status, said) == (
        2,
        "Nothing was handed in by lovelaec. Did you mean: lovelace?",
    )


def test_results_that_cannot_be_kept(copy):
    hand_in(copy, FIRST, "lovelace", {})
    (copy / "grading" / "results").write_text("a file", encoding="utf-8")
    status, said = typed(FIRST, "--course", str(copy))
    assert status == 2
    assert said.startswith(f"Results cannot be written to {copy / 'grading' / 'results'}")


def test_table_that_cannot_be_written(copy):
    hand_in(copy, FIRST, "lovelace", {})
    status, said = typed(FIRST, "--course", str(copy), "--csv", str(copy))
    assert (status, said) == (2, f"The table cannot be written: {copy} is a folder.")


def test_gradebook_that_cannot_be_written(copy, monkeypatch):
    hand_in(copy, FIRST, "lovelace", {})
    with closing(sqlite3.connect(copy / "grading" / "gradebook.db")) as database:
        refuse = "BEGIN SELECT RAISE(ABORT, 'refused'); END"
        database.execute(f"CREATE TRIGGER keep BEFORE INSERT ON student {refuse}")
    monkeypatch.setattr(gradebook, "TRIES", 1)
    status, said = typed(FIRST, "--course", str(copy))
    assert status == 2
    assert "refused" in said


@pytest.fixture
def without_bubblewrap(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    for found in (strongest, find_bubblewrap_mode):
        found.cache_clear()
    yield
    monkeypatch.undo()
    for found in (strongest, find_bubblewrap_mode):
        found.cache_clear()


@pytest.mark.parametrize("words", [("--level", "sandbox"), ()])
def test_sandbox_that_cannot_be_had(copy, without_bubblewrap, words):
    hand_in(copy, FIRST, "lovelace", {})
    status, said = typed(FIRST, "--course", str(copy), *words)
    assert status == 2
    assert "only limits: bubblewrap has to be installed" in said


@pytest.mark.parametrize("words", [(), ("--level", "plain")])
def test_windows(copy, monkeypatch, words):
    hand_in(copy, FIRST, "lovelace", {})
    monkeypatch.setattr(isolation, "sys", SimpleNamespace(platform="win32"))
    strongest.cache_clear()
    assert typed(FIRST, "--course", str(copy), *words) == (
        2,
        "On Windows itself nothing can be graded: install the course within WSL.",
    )
    assert not list(copy.glob("grading/results/*"))


@pytest.mark.parametrize("level", ["limits", "plain"])
def test_cluster_without_sandboxes(level):
    status, said = typed(FIRST, "--scheduler", "tls://localhost:9", "--level", level)
    assert status == 2
    assert "On a cluster submissions are graded in sandboxes alone" in said


@pytest.mark.parametrize("words", [("--level", "high"), ("--jobs", "0"), ("--fast",), ()])
def test_words_that_mean_nothing(words):
    status, _ = typed(*([FIRST] if words else []), *words)
    assert status == 2


def test_help_names_every_option_and_fits_eighty_columns():
    _, said = typed("--help")
    assert typed("-h") == (0, said)
    options = "student force jobs level scheduler course csv"
    for option in options.split():
        assert f"--{option}" in said
    lines = CliRunner().invoke(app, ["--help"]).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("autograde" in line for line in lines)
