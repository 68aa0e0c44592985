"""Generate the students' problem sets: `solutions/NN_slug/` becomes `exercises/NN_slug/`.

    python tools/build_exercises.py            generate, and put in place what changed
    python tools/build_exercises.py --check    generate, compare, change nothing

nbgrader generates into a temporary folder first, so a source that fails leaves `exercises/` as it
was. `solutions/for_assistants.md` becomes `exercises/AGENTS.md`, the name under which AI assistants
look for how to help. The sources themselves are stored stripped: no outputs, no counts, no editor's
metadata; with a first cell that gets the course where it is not installed (see hosted.py), and with
the opening that all of them share (see opening.py). A problem set that somebody has worked on in
place is never overwritten without `--force`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
from cells import KERNEL, BuildError, as_text, code_cells, first_line, put, read
from hintgrader.progress.remembered import FILE
from hintgrader.progress.told import PAGE
from hosted import with_first_cell
from nbformat import NotebookNode
from opening import with_opening

ROOT = Path(__file__).resolve().parent.parent
LEFT_THERE = {".ipynb_checkpoints", "__pycache__", FILE, PAGE}
FOR_ASSISTANTS, READ_BY_THEM = "solutions/for_assistants.md", "AGENTS.md"
# nbgrader's log: "[GenerateAssignmentApp | ERROR] message"
LOGGED_ERROR = re.compile(r"^\[\w+ \| ERROR\] (.*(?:\n(?!\[).*)*)", re.MULTILINE)


def stripped(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook without what running or opening it leaves behind."""
    notebook.metadata = nbformat.from_dict(KERNEL)
    for _, _, cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
        for key in ("execution", "collapsed", "scrolled", "ExecuteTime"):
            cell.metadata.pop(key, None)
    return notebook


def mistakes(source: Path, notebook: NotebookNode) -> Iterator[str]:
    """Yield what would make nbgrader fail or give out a solution, with the cell it is in."""
    grade_ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    twice = {name for name, count in Counter(grade_ids).items() if name and count > 1}
    for number, cell in enumerate(notebook.cells, start=1):
        place, nbgrader = (
            f"{source}: cell {number} ({first_line(cell)})",
            cell.metadata.get("nbgrader", {}),
        )
        if nbgrader.get("grade_id") in twice:
            yield f"{place}: grade_id {nbgrader['grade_id']!r} is used twice"
        for region, role in (("SOLUTION", "solution"), ("HIDDEN TESTS", "grade")):
            begins, ends = (cell.source.count(f"### {word} {region}") for word in ("BEGIN", "END"))
            if begins != ends:
                yield f"{place}: {begins} BEGIN {region}, but {ends} END {region}"
            elif begins and not nbgrader.get(role):
                yield f"{place}: holds {region}, but is not marked as a {role} cell"


def generate(root: Path, target: Path) -> None:
    """Let nbgrader write the release version of every problem set into `target`."""
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "*", "--force", "--no-db"]
    command += [f"--CourseDirectory.root={root}", f"--CourseDirectory.release_directory={target}"]
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    }
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if run.returncode:
        errors = LOGGED_ERROR.findall(run.stderr) or [run.stderr]
        raise BuildError("nbgrader: " + "\n".join(errors))


def files(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file under a folder, without what editors and checks leave."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not LEFT_THERE & set(path.parts)
    }


def worked_on(notebook: Path) -> bool:
    """Return whether somebody has run cells of a student's notebook."""
    return any(cell.execution_count or cell.outputs for _, _, cell in code_cells(read(notebook)))


def strip_sources(root: Path, check: bool) -> Iterator[str]:
    """Strip the sources in place, or yield what is not stripped; raise if one is wrong."""
    wrong = []
    for source in sorted(root.glob("solutions/*/*.ipynb")):
        notebook = read(source)
        wrong += mistakes(source.relative_to(root), notebook)
        whole = with_first_cell(with_opening(stripped(notebook)), root)
        content = as_text(whole).encode()
        if content == source.read_bytes():
            continue
        if check:
            place = source.relative_to(root)
            yield f"{place}: holds outputs, metadata or another opening; run `make exercises`"
        else:
            put(content, source)
    if wrong:
        raise BuildError("\n".join(wrong))


def build(root: Path, check: bool, force: bool) -> Iterator[str]:
    """Bring `exercises/` in step with `solutions/`, or yield where it is not."""
    yield from strip_sources(root, check)
    with tempfile.TemporaryDirectory() as folder:
        generate(root, Path(folder))
        wanted, stored = files(Path(folder)), files(root / "exercises")
    if (advice := root / FOR_ASSISTANTS).is_file():
        wanted[Path(READ_BY_THEM)] = advice.read_bytes()
    for path in sorted(stored.keys() - wanted.keys()):
        yield f"exercises/{path}: has no source in solutions/; delete it"
    for path in [path for path in wanted if wanted[path] != stored.get(path)]:
        target = root / "exercises" / path
        if check:
            yield f"exercises/{path}: not what solutions/ gives; run `make exercises`"
        elif target.suffix == ".ipynb" and target.exists() and worked_on(target) and not force:
            yield f"exercises/{path}: somebody has worked here; move it away, or pass --force"
        else:
            put(wanted[path], target)
            print(f"exercises/{path}")


def main(arguments: list[str]) -> int:
    """Build or check the problem sets; return 0, or 1 after a message for each that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument(
        "--force", action="store_true", help="overwrite notebooks with work in them"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        problems = list(build(options.root.resolve(), options.check, options.force))
    except BuildError as error:
        problems = [str(error), "exercises/ is left as it was"]
    for problem in problems:
        print(problem, file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
