"""The page that shows which check catches which mistake is what the verdicts and the banks give.

`make test` finds the verdicts of two exercises anew, and `make proofs` all of them;
`test_grading_proofs.py` confirms them with hidden inputs of another seed.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from hintgrader.authoring.verdicts import (
    CAUGHT,
    HIDDEN,
    PASSED,
    SOME,
    UNTRIED,
    examine_bank,
    faults_of_points,
    read_verdicts,
)

from attn_bank import exercise_names, find_exercise
from tests.conftest import ROOT
from tests.sampling import parameters

sys.path.insert(0, str(ROOT / "tools"))
import build_kill_matrix

# The first has every sign but one between them, and a check that hidden inputs alone decide.
ANEW = ("02_kernel_regression/choose_width", "01_retrieval/softmax")
TRAINS = "04_bahdanau/train_and_translate"


@pytest.fixture(scope="module")
def kept() -> build_kill_matrix.Banks:
    """All verdicts; each belongs to its exercise as it is now."""
    return build_kill_matrix.read_all()


def test_verdicts_are_of_the_exercises_as_they_are_and_the_page_is_made_of_them() -> None:
    assert build_kill_matrix.main(["--check"]) == 0
    files = {path.relative_to(build_kill_matrix.VERDICTS) for path in find_files()}
    assert files == {Path(f"{name.partition('_')[2]}.json") for name in exercise_names()}


def find_files() -> list[Path]:
    return [path for path in build_kill_matrix.VERDICTS.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", exercise_names())
def test_signs_of_a_mistake_fit_the_points_that_it_declares(name: str, kept) -> None:
    assert list(faults_of_points(find_exercise(name), kept[name])) == []


@pytest.mark.parametrize("name", parameters(exercise_names(), 0, always=ANEW))
def test_signs_are_found_again(name: str, kept) -> None:
    assert examine_bank(find_exercise(name)) == kept[name]


def test_page_shows_every_sign_that_its_legend_explains(kept) -> None:
    shown = {cell for bank in kept.values() for cells in bank.values() for cell in cells}
    assert shown == {CAUGHT, HIDDEN, SOME, PASSED, UNTRIED}


def test_slow_check_is_not_asked_after_one_that_failed(kept) -> None:
    for cells in kept[TRAINS].values():
        assert (cells[1] == UNTRIED) == (cells[0] != PASSED)


def test_tool_writes_a_page_and_notices_one_that_is_out_of_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written, page = build_kill_matrix.PAGE.read_text(encoding="utf-8"), tmp_path / "page.md"
    # the test above has seen what it is made of
    monkeypatch.setattr(build_kill_matrix, "write_page", lambda _: written)
    assert build_kill_matrix.main(["--check", "--page", str(page)]) == 1
    assert not page.exists()
    assert build_kill_matrix.main(["--page", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == written
    page.write_text(written.replace("✘", "·", 1), encoding="utf-8")
    assert build_kill_matrix.main(["--check", "--page", str(page)]) == 1
    assert "not what the verdicts give" in capsys.readouterr().err


def change_version(content: dict) -> None:
    content["version"] = "00000000"


def rename_a_mistake(content: dict) -> None:
    content["mistakes"] = {
        name.replace("overflows", "flows_over"): cells
        for name, cells in content["mistakes"].items()
    }


def leave_out_a_check(content: dict) -> None:
    content["mistakes"]["overflows"] = "·"


@pytest.mark.parametrize(
    "change", [change_version, rename_a_mistake, leave_out_a_check, dict.clear]
)
def test_verdicts_on_another_exercise_than_there_is_are_named_with_the_command_that_mends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change
) -> None:
    folder, name = tmp_path / "verdicts", ANEW[1]
    shutil.copytree(build_kill_matrix.VERDICTS, folder)
    path = folder / f"{name.partition('_')[2]}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    assert read_verdicts(find_exercise(name), path) is None
    page = tmp_path / "page.md"
    assert build_kill_matrix.main(["--verdicts", str(folder), "--page", str(page)]) == 1
    assert not page.exists()
    said = f"{name} has not been tried as it is now; run: hintgrader try {name}\n"
    assert capsys.readouterr().err == said


def test_checks_that_no_mistake_needs_are_named(kept) -> None:
    assert "No check could go" in build_kill_matrix.write_spare(kept)
    idle = dict.fromkeys(kept[ANEW[1]], (CAUGHT, CAUGHT, PASSED, PASSED, PASSED))
    idle |= {"cuts_off_scores": (PASSED, PASSED, PASSED, CAUGHT, PASSED)}
    spare = build_kill_matrix.write_spare({ANEW[1]: idle})
    named = ", ".join(f"{number} of `{ANEW[1]}`" for number in (1, 2, 3, 5))
    assert named in spare
