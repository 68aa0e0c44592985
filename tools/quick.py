"""Run the tests that look at what has changed, the nearest first, for a minute at most.

    python tools/quick.py              what has changed since the last commit
    python tools/quick.py --since main what has changed on this branch

A test file looks at a module if it has its name or imports it, itself or by a helper of the tests,
and at another file if it names it. Of a part of the bank, tests of all exercises take that part.
Not all that a change can break is found so: `make test` finds it.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine"  # its tests run there, by settings of its own
SECONDS = 50
# They look at all files of the repository, and take seconds.
EVERYWHERE = ("tests/repository/test_layout.py",)
# They build the book, go through whole classes or type everything: minutes.
SLOW = ("book", "course_in_browser", "nbgrader_sets", "print", "types")
WHOLE_BOOK = {"book", "bases"}  # fixtures that build it
LEFT_OUT = {f"test_{name}.py" for name in SLOW}
# Files of other languages in a folder are looked at by these, whatever their names.
BESIDE = {
    "attn_course/interactive": ("tests/figures/test_interactive.py",),
    "book": ("tests/book/test_coverage.py",),
    "book/text": ("tests/book/test_notebooks.py",),
    "exercises": ("tests/repository/test_builders.py",),
    "solutions": ("tests/repository/test_builders.py",),
    "tests/bank/held_out": ("tests/bank/test_held_out.py",),
}


def git(*words: str) -> list[str]:
    """Return the lines that git says."""
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def changed(since: str) -> list[str]:
    """Return the files that differ from a commit, or are new, from the root of the repository."""
    return [*git("diff", "--name-only", since), *git("ls-files", "--others", "--exclude-standard")]


@cache
def imports(test: Path) -> frozenset[str]:
    """Return what a file of the tests imports, itself or by helpers of the tests."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    base = ENGINE if test.is_relative_to(ENGINE) else ROOT
    helpers = [base / f"{name.replace('.', '/')}.py" for name in found if name[:6] == "tests."]
    near = (helper for helper in helpers if helper.is_file() and helper.name != "conftest.py")
    return frozenset(found.union(*map(imports, near)))


def exercise_of(path: PurePosixPath) -> str | None:
    """Return the name of the exercise that a module of the bank is; None for any other file."""
    if path.parts[0] != "attn_bank" or len(path.parts) != 3 or path.suffix != ".py":
        return None
    sets = [folder.name for folder in ROOT.glob(f"solutions/[0-9]*_{path.parts[1]}")]
    return f"{sets[0]}/{path.stem}" if sets and path.stem != "__init__" else None


def looking_at(path: PurePosixPath) -> Iterator[str]:
    """Yield the test files, and the chapter, that look at a file, the nearest first."""
    tests = sorted([*ROOT.glob("tests/**/test_*.py"), *ENGINE.glob("tests/test_*.py")])
    if "tests" in path.parts[:2] and path.name.startswith("test_"):
        yield path.as_posix()
    elif exercise_of(path):
        yield "tests/bank/test_grading_proofs.py"
        others = "hints", "hidden_sizes", "kill_matrix"
        yield from (f"tests/bank/test_{name}.py" for name in others)
    elif path.suffix == ".py":
        package = path.relative_to("engine") if path.parts[0] == "engine" else path
        module = ".".join(package.with_suffix("").parts).removesuffix(".__init__")
        by_name = [test for test in tests if path.stem == test.stem.removeprefix("test_")]
        direct = [test for test in tests if module in imports(test)]
        yield from (test.relative_to(ROOT).as_posix() for test in (*by_name, *direct))
    else:
        naming = (test for test in tests if path.name in test.read_text(encoding="utf-8"))
        names = (f"test_{path.stem}", f"test_interactive_{path.stem}")
        stems = (test for test in tests if test.stem in names)
        yield from (test.relative_to(ROOT).as_posix() for test in (*stems, *naming))
        for folder, others in BESIDE.items():
            yield from others if path.is_relative_to(folder) else ()
    yield from (f"book/{file.name}" for file in ROOT.glob(f"book/[0-9]*_{path.stem}.ipynb"))


class Minute:
    """Sorts tests, keeps those of the changed exercises, and stops when the time is over."""

    def __init__(self, places: list[str], exercises: set[str]) -> None:
        self.places, self.exercises, self.over = places, exercises, False
        self.end, self.done = time.monotonic() + SECONDS, 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the nearest first."""
        order = {place: number for number, place in enumerate(self.places)}
        items[:] = [item for item in items if self.concerns(item)]
        items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))

    def concerns(self, item: pytest.Item) -> bool:
        """Tell whether a test builds no book, and is of no exercise or of one that has changed."""
        if WHOLE_BOOK.intersection(getattr(item, "fixturenames", ())):
            return False
        one = getattr(item, "callspec", None)
        exercise = one.params.get("exercise") if one and self.exercises else None
        return exercise is None or exercise in self.exercises

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        """Look at the clock after each test; name those that are not reached."""
        self.done += 1
        left = Counter(item.path.name for item in self.session.items[self.done :])
        if left and time.monotonic() > self.end:
            self.over = True
            named = ", ".join(f"{number} of {name}" for name, number in left.items())
            self.session.shouldstop = f"the time is over; tests left to make test: {named}"

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep the session, to be stopped."""
        self.session = session


def run(places: list[str], exercises: set[str]) -> int:
    """Run tests while there is time; return pytest's exit status, 0 if it stopped them."""
    options = ["--quiet", "--exitfirst", "--nbval", "-p", "no:cacheprovider"]
    status = pytest.main([*options, *places], [minute := Minute(places, exercises)])
    stopped = minute.over and status == pytest.ExitCode.INTERRUPTED
    return 0 if stopped and not minute.session.testsfailed else int(status)


def run_engine(places: list[str]) -> int:
    """Run tests of the engine in its folder, for as long; return their exit status."""
    own = [PurePosixPath(place).relative_to(ENGINE.name).as_posix() for place in places]
    return subprocess.run([sys.executable, __file__, "--tests", *own], cwd=ENGINE).returncode


def main(arguments: list[str]) -> int:
    """Run the tests; return pytest's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--since", default="HEAD", help="a commit; by default the last one")
    parser.add_argument("--tests", nargs="+", help="these alone, whatever has changed")
    given = parser.parse_args(arguments)
    if given.tests:
        return run(given.tests, set())
    paths = list(map(PurePosixPath, changed(given.since)))
    places = list(dict.fromkeys(test for path in paths for test in looking_at(path)))
    places = [test for test in (*places, *EVERYWHERE) if PurePosixPath(test).name not in LEFT_OUT]
    print(f"{len(paths)} files have changed. Looking at them: {', '.join(places)}", flush=True)
    of_engine = [place for place in places if place.startswith(f"{ENGINE.name}/")]
    places = [place for place in places if place not in of_engine]
    exercises = {name for path in paths if (name := exercise_of(path))}
    return run(places, exercises) or (run_engine(of_engine) if of_engine else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
