"""The page that shows which check catches which mistake agrees with the banks.

Everything on it but the signs follows from the banks, and is made here again from the signs that
the page has. The signs of two exercises are found anew; `test_grading_proofs.py` confirms
all signs, with hidden inputs of another seed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attn_bank import exercise_names, find_exercise
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import bank_of_mistakes
import build_kill_matrix
from bank_of_mistakes import CAUGHT, HIDDEN, PASSED, SOME, UNTRIED
from cells import BuildError

PAGE = build_kill_matrix.PAGE.read_text(encoding="utf-8")
SAID = build_kill_matrix.read_page(PAGE)
# The first has every sign but one between them, and a check that hidden inputs alone decide.
ANEW = ("02_kernel_regression/choose_width", "01_retrieval/softmax")
TRAINS = "04_bahdanau/train_and_translate"


def test_page_has_every_mistake_of_every_exercise_and_no_other() -> None:
    assert [*SAID] == exercise_names()
    for name, bank in SAID.items():
        assert [*bank] == [mistake.name for mistake in find_exercise(name).mistakes], name


def test_page_is_what_its_signs_and_the_banks_give() -> None:
    assert build_kill_matrix.write_page(SAID) == PAGE


@pytest.mark.parametrize("name", exercise_names())
def test_signs_of_a_mistake_fit_the_points_that_it_declares(name: str) -> None:
    exercise = find_exercise(name)
    for mistake in exercise.mistakes:
        least, most = bank_of_mistakes.points_of(exercise, SAID[name][mistake.name])
        assert mistake.points is None or least <= mistake.points <= most, mistake.name


@pytest.mark.parametrize("name", ANEW)
def test_signs_are_found_again(name: str) -> None:
    assert bank_of_mistakes.examine_bank(name) == SAID[name]


def test_page_shows_every_sign_that_its_legend_explains() -> None:
    shown = {cell for bank in SAID.values() for cells in bank.values() for cell in cells}
    assert shown == {CAUGHT, HIDDEN, SOME, PASSED, UNTRIED}


def test_slow_check_is_not_asked_after_one_that_failed() -> None:
    for cells in SAID[TRAINS].values():
        assert (cells[1] == UNTRIED) == (cells[0] != PASSED)


def test_bank_that_declares_other_points_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = find_exercise(ANEW[1])
    wrong = replace(exercise.mistakes[0], points=2)
    monkeypatch.setattr(bank_of_mistakes, "exercise_names", lambda: [ANEW[1]])
    monkeypatch.setattr(
        bank_of_mistakes, "find_exercise", lambda _: replace(exercise, mistakes=(wrong,))
    )
    with pytest.raises(BuildError, match="forgets_to_normalise earns 0 to 0, declares 2"):
        bank_of_mistakes.examine_all()


def test_tool_writes_a_page_and_notices_one_that_is_out_of_date(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_kill_matrix, "examine_all", lambda: SAID)
    page = tmp_path / "page.md"
    assert build_kill_matrix.main(["--check", "--page", str(page)]) == 1
    assert not page.exists()
    assert build_kill_matrix.main(["--page", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == PAGE
    assert build_kill_matrix.main(["--check", "--page", str(page)]) == 0
    page.write_text(PAGE.replace("✘", "·", 1), encoding="utf-8")
    assert build_kill_matrix.main(["--check", "--page", str(page)]) == 1
    assert "not what the banks give" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "\n:::{dropdown} `softmax`",
            "\n:::{note} `softmax`",
            f"{len(SAID) - 1} exercises, and the bank has",
        ),
        (
            "| overflows |",
            "| flows over |",
            "of 01_retrieval/soft_lookup it lacks overflows; flows_over is",
        ),
    ],
)
def test_page_of_other_exercises_or_mistakes_is_named_with_the_command_that_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    page = tmp_path / "page.md"
    assert old in PAGE
    page.write_text(PAGE.replace(old, new), encoding="utf-8")
    assert build_kill_matrix.main(["--check-names", "--page", str(page)]) == 1
    told = capsys.readouterr().err
    assert said in told
    assert "; run: python tools/build_kill_matrix.py" in told
    assert build_kill_matrix.main(["--check-names"]) == 0


def test_checks_that_no_mistake_needs_are_named() -> None:
    assert "No check could go" in build_kill_matrix.write_spare(SAID)
    idle = dict.fromkeys(SAID[ANEW[1]], (CAUGHT, CAUGHT, PASSED, PASSED, PASSED))
    idle |= {"cuts_off_scores": (PASSED, PASSED, PASSED, CAUGHT, PASSED)}
    spare = build_kill_matrix.write_spare({ANEW[1]: idle})
    named = ", ".join(f"{number} of `{ANEW[1]}`" for number in (1, 2, 3, 5))
    assert named in spare
