"""One concept, one slug: chapter, module, figures, problem set and tests stand where they should.

The list of chapters is `_toc.yml`; everything here holds for each of them, and for any that joins.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbformat import NotebookNode
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT, chapters

CHAPTERS = chapters()
SLUGS = [name[3:] for name in CHAPTERS]
FOLDERS = (
    "attn_bank",
    "attn_course",
    "engine",
    "benchmarks",
    "book",
    "docs",
    "exercises",
    "solutions",
    "tests",
    "tools",
)
OURS = ("attn_bank", "attn_course")
TOO_HEAVY = ("IPython", "matplotlib", "sklearn", "sqlite3", "statsmodels")
# Rooms that several chapters share, and those of one chapter; later ones may import both.
SHARED = ("layer", "shapes")
COMPANIONS = {"seq2seq": ("decoding",), "captioning": ("captions",), "long_context": ("context",)}
# It stays where problem sets of version 0.1.0 import it from.
KEPT = ("counterfactual",)
# Put together here, so that this file does not hold what it looks for.
FORBIDDEN = {
    "an allclose whose default tolerances refuse right answers": r"(?<!assert_)allclose" + r"\(",
    "unfinished work": r"\b(TO" + r"DO|FIX" + r"ME)\b",
}
# A docstring is a noun phrase, an imperative or a sentence, and begins with none of these.
FRAGMENT = re.compile(r"(How|Of|See that|What|Where|Whether|Whoever)\b")


def imports(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a Python file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every docstring of a Python file, the file's own too, after its line."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def sources(*suffixes: str) -> list[Path]:
    """Return the files of ours that end so, the generated ones too."""
    found = chain.from_iterable((ROOT / folder).rglob("*") for folder in FOLDERS)
    skipped = {"__pycache__", ".ipynb_checkpoints", "_build"}
    files = [path for path in found if path.suffix in suffixes and not skipped & set(path.parts)]
    return sorted(files) + sorted(path for path in ROOT.glob("*") if path.suffix in suffixes)


def code_cells(path: Path) -> list[NotebookNode]:
    """Return the code cells of a notebook, or of a chapter's text."""
    notebook = jupytext.read(path) if path.suffix == ".md" else nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_tools_and_benchmarks_do_not_lean_on_the_tests() -> None:
    files = [path for folder in ("tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    leaning = [path for path in files for name in imports(path) if name.split(".")[0] == "tests"]
    assert files
    assert leaning == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_module_of_a_chapter_imports_torch_and_earlier_chapters_only(name: str) -> None:
    earlier = SLUGS[: CHAPTERS.index(name)]
    so_far = [*earlier, name[3:]]
    ours = [*SHARED, *earlier, *chain.from_iterable(COMPANIONS.get(s, ()) for s in so_far)]
    allowed = {"jaxtyping", "torch", *(sys.stdlib_module_names - set(TOO_HEAVY))}
    for imported in imports(ROOT / "attn_course" / f"{name[3:]}.py"):
        package, _, rest = imported.partition(".")
        fits = rest.split(".")[0] in ours if package == "attn_course" else package in allowed
        assert fits, f"{name[3:]}.py imports {imported}"


def test_top_of_the_package_holds_chapters_and_rooms_alone() -> None:
    modules = {path.stem for path in (ROOT / "attn_course").glob("*.py")}
    assert modules == {"__init__", *SLUGS, *KEPT}, "a module of no chapter belongs in a room"


def needed(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports; of `from a import b` also `a`, where `b` is sought."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
    yield from imports(path)


def test_modules_of_the_package_import_each_other_in_no_circle() -> None:
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "attn_course").rglob("*.py")
    }
    arrows = {name: {*needed(path)} & files.keys() - {name} for name, path in files.items()}
    assert {*TopologicalSorter(arrows).static_order()} == set(files)  # a circle raises an error


def test_only_the_figures_import_pyplot() -> None:
    plots = ROOT / "attn_course" / "plots"  # a report on a class draws its own
    drawing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "attn_course").rglob("*.py")
        if any(name.startswith("matplotlib.pyplot") for name in imports(path))
        and not path.is_relative_to(plots)
    }
    drawing |= {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("book/text/*.md"), *ROOT.glob("solutions/*/*.ipynb")]
        if any("pyplot" in cell.source for cell in code_cells(path))
    }
    assert drawing == set()


def test_importing_the_package_is_light() -> None:
    modules = ", ".join(["attn_course", *(f"attn_course.{slug}" for slug in SLUGS)])
    code = f"import sys, {modules}; print(*({set(TOO_HEAVY)} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@cache
def declared(*extras: str) -> set[str]:
    """Return the packages that come with ours, and with some of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    return {canonicalize_name(Requirement(line).name) for line in chain.from_iterable(groups)}


def test_everything_that_is_imported_is_declared() -> None:
    installed_by, lacking = packages_distributions(), set()
    for path in chain.from_iterable((ROOT / package).rglob("*.py") for package in OURS):
        found = {name.partition(".")[0] for name in imports(path)}
        for name in found - sys.stdlib_module_names - set(OURS):
            package = canonicalize_name(installed_by.get(name, [name])[0])
            if package not in declared("course"):
                lacking.add(f"{package}, for {path.relative_to(ROOT)}")
    assert lacking == set()


def pins(path: Path) -> dict[str, str]:
    """Return the version of each package that a file pins, with at least one hash."""
    text = path.read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line[0] != "#"]
    assert all("--hash=sha256:" in line for line in lines)
    found = [Requirement(line.partition("--hash")[0]) for line in lines]
    return {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in found}


PINNED = {
    "requirements.txt": (("course",), ("book",)),
    "requirements-grading.txt": (("course", "grading", "cluster"), ("book",)),
    "requirements-test.txt": (("course", "grading", "cluster"), ("book", "test")),
}


@pytest.mark.parametrize("name", PINNED)
def test_what_is_declared_is_pinned_to_one_version_everywhere(name: str) -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras, groups = PINNED[name]
    asked = [about["project"]["dependencies"]]
    asked += [about["project"]["optional-dependencies"][extra] for extra in extras]
    asked += [about["dependency-groups"][group] for group in groups]
    needs = {canonicalize_name(one.name): one for one in map(Requirement, chain(*asked))}
    del needs["torch"]  # requirements-torch.txt says why
    for ours in ("attn-course", "hintgrader"):  # they lie here
        needs.pop(ours, None)
    found = pins(ROOT / name)
    for package, need in needs.items():
        assert need.specifier.contains(found[package]), f"{package}: run `make pins UPGRADE=`"
    assert found.items() <= pins(ROOT / "requirements-test.txt").items()


def test_reader_installs_nothing_of_grading_and_tests() -> None:
    apart = {"distributed", "mypy", "nbgrader", "playwright", "psycopg", "pytest"}
    assert apart.isdisjoint(pins(ROOT / "requirements.txt"))


def test_map_of_the_readme_names_what_stands_there() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if line.startswith("| ") and "SLUG" not in line):
        for path, name in re.findall(r"`([\w/]+\.(?:py|md))`: `(\w+)`", line):
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^(def |class )?{name}\b", text, re.MULTILINE), f"{path}: {name}"


@pytest.mark.parametrize("what", FORBIDDEN)
def test_sources_hold_nothing_forbidden(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{path.relative_to(ROOT)}: {what}"
        for path in sources(".py", ".md", ".ipynb")
        if pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_docstrings_are_no_fragments() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in sources(".py")
        for line, text in docstrings(path)
        if FRAGMENT.match(text)
    ]
    assert found == []
