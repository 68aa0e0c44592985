"""The grader's rooms have an order, what they import is declared, and its types fit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hintgrader

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(hintgrader.__file__).parent  # where it is installed, too
# What a student's `check` goes through: it needs no package that grades a class.
OF_CHECK = {"values", "exercise", "checking", "hints", "bank"}
# A docstring is a noun phrase, an imperative or a sentence, and begins with none of these.
FRAGMENT = re.compile(r"(How|Of|See that|What|Where|Whether|Whoever)\b")


def module_of(path: Path) -> str:
    """The full name of the module in a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def names_imported(nodes: Iterable[ast.AST]) -> set[str]:
    """All that these statements import, by full names; of a name its module as well."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import of {node.module}"
            names |= {str(node.module), *(f"{node.module}.{one.name}" for one in node.names)}
    return names


@cache
def trees() -> dict[str, ast.Module]:
    """Each module of the grader, parsed."""
    paths = PACKAGE.rglob("*.py")
    return {module_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def imports() -> dict[str, set[str]]:
    """All that each module imports, wherever in it."""
    return {name: names_imported(ast.walk(tree)) for name, tree in trees().items()}


def inner_imports() -> dict[str, set[str]]:
    """The modules of the grader that each of them imports."""
    return {name: names & set(imports()) - {name} for name, names in imports().items()}


def room(module: str) -> str:
    """The folder that a module is in; those at the top are one more."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else "top"


def circle(arrows: dict[str, set[str]]) -> set[str]:
    """Return what lies on a circle of arrows, or leads to one."""
    left = dict(arrows)
    while ends := [name for name, found in left.items() if not found & set(left)]:
        for name in ends:
            del left[name]
    return set(left)


def declared(*extras: str) -> set[str]:
    """The packages that come with the grader, and with some of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    return {canonicalize_name(Requirement(line).name) for line in chain.from_iterable(lines)}


def test_no_two_modules_import_each_other() -> None:
    assert circle(inner_imports()) == set()


def test_the_rooms_have_an_order() -> None:
    arrows: dict[str, set[str]] = {}
    for name, found in inner_imports().items():
        if name != "hintgrader.__main__":
            rooms = arrows.setdefault(room(name), set())
            rooms |= {room(one) for one in found if one != "hintgrader"} - {room(name)}
    assert circle(arrows) == set()


def test_submissions_side_of_the_wall_imports_itself_alone() -> None:
    for name, found in inner_imports().items():
        if room(name) == "worker":
            assert {room(one) for one in found if one != "hintgrader"} <= {"worker"}, name


def test_importing_the_package_imports_nothing_but_what_python_has_loaded() -> None:
    assert imports()["hintgrader"] == {"sys"}


def test_commands_that_grade_nothing_do_without_pytorch() -> None:
    """To import it takes longer than all that most commands do, nbgrader's own among them."""
    reached: set[str] = set()
    left = {"hintgrader.__main__", "hintgrader.nbgrader.settings"}
    while left := left - reached:
        reached |= left
        left = set().union(*(names_imported(trees()[n].body) for n in left if n in trees()))
    assert "hintgrader.nbgrader.course" in reached
    assert [name for name in reached if name.partition(".")[0] == "torch"] == []


def test_everything_that_is_imported_is_declared() -> None:
    """No course is, and so the grader imports none."""
    installed_by, lacking = packages_distributions(), set()
    for name, found in imports().items():
        extras = () if room(name) in OF_CHECK else ("grading", "cluster", "testing")
        known = declared(*extras)
        for top in {one.partition(".")[0] for one in found} - sys.stdlib_module_names:
            package = canonicalize_name(installed_by.get(top, [top])[0])
            if top != "hintgrader" and package not in known:
                lacking.add(f"{package}, for {name}")
    assert lacking == set()


def docstrings(path: Path) -> Iterator[str]:
    """Yield every docstring of a file, the file's own too."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


@pytest.mark.parametrize(
    "folder", [PACKAGE, ROOT / "tests", ROOT / "examples"], ids=lambda p: p.name
)
def test_docstrings_are_no_fragments(folder: Path) -> None:
    texts = [(path, text) for path in folder.rglob("*.py") for text in docstrings(path)]
    assert texts
    assert [(path, text) for path, text in texts if FRAGMENT.match(text)] == []


@pytest.mark.skipif(not (ROOT / "hintgrader").is_dir(), reason="looks at the sources")
def test_type_checker_finds_nothing() -> None:
    run = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
