"""The wall between what a submission may see and what it may not: folders, and no list."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest
from hintgrader.supervisor.isolation import strongest
from hintgrader.supervisor.process import SandboxProcess

from attn_bank import BANK
from tests.confined import BEGIN, RIGHT, TRIED, grade, is_full, open_process
from tests.conftest import ROOT

ENGINE, BANK_PACKAGE, COURSE = "hintgrader", "attn_bank", "attn_course"
# Packages that grading a class needs, and a student who runs `check` does not.
FOR_INSTRUCTORS = {"nbgrader", "sqlalchemy", "distributed", "psycopg", "psutil", "IPython", "typer"}
LOOK = """import pkgutil, sys
import attn_bank, attn_course, hintgrader
found = []
for package in (attn_bank, attn_course, hintgrader):
    walk = pkgutil.walk_packages(package.__path__, package.__name__ + ".", lambda _: None)
    found += [package.__name__, *(module.name for module in walk)]
print(*sorted(found))"""


def base_of(package: str) -> Path:
    """The folder that a package lies in."""
    return ROOT / "engine" if package.partition("/")[0] == ENGINE else ROOT


def modules(package: str) -> dict[str, Path]:
    """The files of a package, by the names of their modules."""
    found = {}
    base = base_of(package)
    for path in (base / package).rglob("*.py"):
        parts = path.relative_to(base).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_by(path: Path) -> set[str]:
    """All that a file imports, wherever in it, by full names; of a name its module as well."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(path.relative_to(ROOT).parent.parts)
            place = resolve_name("." * node.level + (node.module or ""), package)
            found |= {place} | {f"{place}.{alias.name}" for alias in node.names}
    return found


def imports_of(package: str) -> dict[str, set[str]]:
    """Return the modules of ours that each module of a package imports."""
    ours = {**modules(ENGINE), **modules(BANK_PACKAGE), **modules(COURSE)}
    return {name: imported_by(path) & set(ours) for name, path in modules(package).items()}


def is_in(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


@pytest.mark.parametrize(
    ("package", "may_import"),
    [
        (COURSE, [COURSE]),
        (BANK_PACKAGE, [BANK_PACKAGE, ENGINE, COURSE]),
    ],
)
def test_arrows_run_one_way(package: str, may_import: list[str]) -> None:
    for module, imports in imports_of(package).items():
        # to import a module imports the packages that it is in, which is for the next test
        wrong = {
            one
            for one in imports
            if not any(is_in(one, place) or is_in(place, one) for place in may_import)
        }
        assert not wrong, f"{module} imports {wrong}"


def test_no_two_modules_of_the_bank_import_each_other() -> None:
    arrows = {name: found - {name} for name, found in imports_of(BANK_PACKAGE).items()}
    left = dict(arrows)
    while ends := [name for name, found in left.items() if not found & set(left)]:
        for name in ends:
            del left[name]
    assert not left, f"a circle within {sorted(left)}"


def test_the_engine_names_no_course() -> None:
    named = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "engine" / ENGINE).rglob("*.*")
        if path.suffix != ".pyc"
        and any(name in path.read_text(encoding="utf-8") for name in (COURSE, BANK_PACKAGE))
    ]
    assert named == []


def test_a_submission_finds_the_course_the_worker_and_check_and_nothing_else(
    process: SandboxProcess,
) -> None:
    printed = grade(process, LOOK).shown[1]["printed"]
    expected = {*modules(COURSE), *modules(f"{ENGINE}/worker"), ENGINE, BANK_PACKAGE}
    assert set(printed.split()) == expected


def test_progress_is_nothing_to_the_grader(process: SandboxProcess) -> None:
    cell = "from attn_bank import progress\n\nprogress()  # of whom?"
    graded = grade(process, cell, RIGHT, TRIED)
    assert is_full(graded.parts["tried"])
    assert [shown for shown in graded.shown[1].values() if shown] == []
    assert [*graded.alarms, *graded.notes] == []


def test_what_stands_for_the_bank_is_made_anew(tmp_path: Path) -> None:
    with open_process(strongest(), tmp_path):
        stand_in = tmp_path / "packages" / BANK.package / "__init__.py"
        names = ast.parse(stand_in.read_text(encoding="utf-8")).body
    assert [type(node) for node in names] == [ast.Expr, ast.ImportFrom, ast.Assign]
    assert BEGIN.source.endswith(f"from {BANK.package} import check")


def test_a_student_who_checks_an_answer_needs_nothing_that_grades_a_class() -> None:
    """Nor PyTorch's compiler, which takes a second to import."""
    code = (
        "import sys\nfrom attn_bank import check\n"
        "check('01_retrieval/softmax', lambda scores: scores.exp())\n"
        f"print(*({FOR_INSTRUCTORS | {'torch._dynamo'}!r} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
