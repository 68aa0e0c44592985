"""Notebooks that want more than they have earned, or want to do harm, get nothing and do none."""

import re
import sqlite3
from contextlib import closing

import pytest
from hintgrader.supervisor import budget, remote_submission, watchdog
from hintgrader.supervisor.isolation import strongest
from hintgrader.worker import clock, system_calls
from hintgrader.worker.level import Level

from tests.confined import (
    HONEST,
    SPARED,
    all_said,
    all_shown,
    grade,
    is_full,
    open_process,
    try_answer,
)
from tests.conftest import ROOT
from tests.engine.attacks import BORROWED, WRONG, Attack, table
from tests.engine.attacks.borrowing import BORROWING
from tests.engine.attacks.groups import AROUND, GROUPS, TRIED
from tests.engine.attacks.pretending import PRETENDING, SHADOWS, writing
from tests.sampling import parameters

ATTACKS = {f"{group}: {name}": one for group, all in GROUPS.items() for name, one in all.items()}
# None of these sends a signal, starts a process, fills anything or leaves its own process.
HARMLESS = PRETENDING | {name: BORROWING[name] for name in ("without the modes", "in a thread")}


# Only the kernel can refuse these, and only libseccomp can ask it to.
REFUSED = {
    "reading: more rights",
    "filling: memory that nobody owns",
    "leaving: limits of the parent",
}


@pytest.fixture(scope="module", autouse=True)
def hurry():
    """Wait less for who does not come back, and see sooner who takes too much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_submission, "CALL_SECONDS", 0.5)
        patch.setattr(remote_submission, "MARGIN", 0.25)
        patch.setattr(clock, "IDLE_SECONDS", 1.0)
        patch.setattr(budget, "PATIENCE", 0.5)
        patch.setattr(watchdog, "MEMORY", 2**30)
        yield


@pytest.fixture
def sandbox(process):
    if process.level < Level.SANDBOX:
        pytest.skip("bubblewrap does not work here: nothing may be attacked outside a sandbox")
    return process


@pytest.fixture(scope="module")
def limits(tmp_path_factory):
    if strongest() < Level.LIMITS:
        pytest.skip("there are no limits here")
    with open_process(Level.LIMITS, tmp_path_factory.mktemp("limits")) as process:
        yield process


def some_of_each_group() -> list:
    """All attacks, of which `make test` tries a few of each group."""
    groups = [[f"{group}: {name}" for name in all] for group, all in GROUPS.items()]
    return [one for names in groups for one in parameters(names, TRIED)]


def earns_nothing_and_is_noticed(process, attack: Attack, source: str) -> None:
    graded = try_answer(process, source)
    said, shown = all_said(graded, "tried"), all_shown(graded)
    assert float(graded.parts["tried"].points) == 0, said
    assert re.search(attack.noticed, said, re.S), said
    assert not re.search("GOT|no sandbox", shown), shown
    assert attack.taints or is_full(graded.parts["spared"]), all_said(graded, "spared")
    after = grade(process, HONEST, SPARED)
    assert is_full(after.parts["spared"]), all_said(after, "spared")
    assert not after.notes
    assert not after.alarms


@pytest.mark.parametrize("name", some_of_each_group())
def test_attack_in_a_sandbox(sandbox, name):
    if name in REFUSED and not system_calls.can_refuse():
        pytest.skip("libseccomp is not installed")
    earns_nothing_and_is_noticed(sandbox, ATTACKS[name], ATTACKS[name].guarded)


@pytest.mark.parametrize("name", parameters(HARMLESS, 4))
def test_attack_within_limits(limits, name):
    earns_nothing_and_is_noticed(limits, HARMLESS[name], HARMLESS[name].source)


def test_nothing_is_left_for_the_next(sandbox):
    for _ in range(2):
        graded = try_answer(sandbox, SHADOWS["a file that was left"].guarded)
        assert "GOT" not in all_shown(graded)


def test_a_gradebook_keeps_its_points(sandbox, tmp_path):
    path = tmp_path / "gradebook.db"
    with closing(sqlite3.connect(path)) as gradebook, gradebook:
        gradebook.execute("CREATE TABLE grade (auto_score REAL)")
    before = path.read_bytes()
    attack = writing(path)
    earns_nothing_and_is_noticed(sandbox, attack, attack.guarded)
    assert path.read_bytes() == before


def test_an_attack_is_told_from_an_answer_that_is_wrong(sandbox):
    said = all_said(try_answer(sandbox, WRONG), "tried")
    assert not [name for name, one in ATTACKS.items() if re.search(one.noticed, said, re.S)]


def test_attacks_end_where_there_is_no_sandbox(limits):
    graded = grade(limits, Attack("print('GOT')\n" + BORROWED, "no sandbox").guarded)
    assert "no sandbox" in all_shown(graded)
    assert "GOT" not in all_shown(graded)


def test_page_has_all_attacks_and_none_of_them_gains_or_harms_anything():
    page = table.PAGE.read_text(encoding="utf-8")
    assert f"tries {TRIED} attacks of each group" in page
    rows = list(table.rows_of(page))
    tried, around = rows[: len(ATTACKS)], rows[len(ATTACKS) :]
    assert [name for name, *_ in tried] == [name for one in GROUPS.values() for name in one]
    assert [(*one, test.strip("`")) for *one, test in around] == AROUND
    for (name, points, said, harm), attack in zip(tried, ATTACKS.values(), strict=True):
        assert points == "0", name
        assert re.search(attack.noticed, said), name
        assert harm == table.NONE or attack.taints, name


def test_tests_that_the_page_names_are_there():
    for *_, test in AROUND:
        file, _, name = test.partition("::")
        (path,) = [*ROOT.glob(f"tests/**/{file}"), *ROOT.glob(f"engine/tests/**/{file}")]
        assert f"def {name}(" in path.read_text(encoding="utf-8")
