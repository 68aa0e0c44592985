"""Odd submissions of students: files that are no notebooks, links, and notebooks out of shape.

Each function changes the solved notebook that lies at a path; the name of a student says whose it
is. `UNREADABLE` are worth nothing, with words that the record must say; `READABLE` are worth all
points but for the parts named.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v3
from nbformat.v4 import new_code_cell

from tests.conftest import ROOT

Change = Callable[[Path], None]
SECRET_FILE = "instructor's own"


def change_notebook(change: Callable[[dict], None]) -> Change:
    """Change the JSON of the notebook."""

    def on_disk(path: Path) -> None:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        change(notebook)
        path.write_text(json.dumps(notebook), encoding="utf-8")

    return on_disk


def by_name(notebook: dict, grade_id: str) -> dict:
    """The cell that nbgrader calls so."""
    return next(c for c in notebook["cells"] if about(c).get("grade_id") == grade_id)


def about(cell: dict) -> dict:
    """Return what nbgrader has written into a cell."""
    return cell["metadata"].get("nbgrader", {})


def write(text: str, encoding: str = "utf-8") -> Change:
    """Write something else instead of the notebook."""
    return lambda path: path.write_bytes(text.encode(encoding)) and None


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def rename(path: Path) -> None:
    path.rename(path.with_name("my answer\n=1+1.ipynb"))


def remove(path: Path) -> None:
    path.unlink()


def link_itself(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def link_solution(path: Path) -> None:
    """Instead of the notebook lies a link to its solution."""
    path.unlink()
    course, name = path.parents[4], path.name
    path.symlink_to(course / "solutions" / path.stem / name)


def link_notebook_of(student: str) -> Change:
    def link(path: Path) -> None:
        path.unlink()
        path.symlink_to(Path("..", "..", student, path.stem, path.name))

    return link


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def nest(path: Path) -> None:
    path.write_text("[" * 100_000, encoding="utf-8")


def drop_cells(notebook: dict) -> None:
    notebook["cells"] = []


def import_as_before(notebook: dict) -> None:
    """Import `check` as a problem set did before the exercises had a package of their own."""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        cell["source"] = source.replace("from attn_bank import", "from attn_course.grading import")


UNREADABLE: dict[str, tuple[Change, str]] = {
    "no-json": (write("softmax = ..."), "cannot be read as a notebook"),
    "no-notebook": (write('{"a": 1}'), "cannot be read as a notebook"),
    "list": (write("[1, 2]"), "cannot be read as a notebook"),
    "truncated": (truncate, "cannot be read as a notebook"),
    "nested": (nest, "cannot be read as a notebook"),
    "empty": (write(""), "cannot be read as a notebook"),
    "latin": (write('{"cells": "ä"}', "latin-1"), "cannot be read as a notebook"),
    "folder": (make_folder, "is a folder"),
    "pipe": (make_pipe, "is no file"),
    "renamed": (rename, "was not handed in; there is: 'my answer\\\\n=1\\+1.ipynb'"),
    "nothing": (remove, "was not handed in; there is: nothing"),
    "loop": (link_itself, "is a link out of the folder"),
    "link": (link_solution, "is a link out of the folder"),
    "neighbour": (link_notebook_of("solved"), "is a link out of the folder"),
    "released-before": (
        change_notebook(import_as_before),
        "it imports `check` from attn_course.grading, which is in attn_bank now. Copy the answers",
    ),
}


def to_version_3(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    path.write_text(nbformat.writes(v3.upgrade(_old(notebook)), version=3), encoding="utf-8")


def _old(notebook: NotebookNode) -> NotebookNode:
    return nbformat.convert(notebook, 3)


def huge_outputs(notebook: dict) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": ["x" * 2_000_000]}
    by_name(notebook, "softmax")["outputs"] = [stream]
    by_name(notebook, "softmax")["source"] += "\nfor _ in range(100000):\n    print('x' * 100)"


def reorder(notebook: dict) -> None:
    """The answer stands below the cell that checks it, and the last part comes first."""
    cells, part = notebook["cells"], by_name(notebook, "softmax")
    cells.remove(part)
    cells.insert(cells.index(by_name(notebook, "softmax-check")) + 1, part)


def check_as_markdown(notebook: dict) -> None:
    cell = by_name(notebook, "softmax-check")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def answer_as_markdown(notebook: dict) -> None:
    cell = by_name(notebook, "softmax")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def no_metadata(notebook: dict) -> None:
    """Leave it as an editor does that does not know nbgrader."""
    for cell in notebook["cells"]:
        cell["metadata"].pop("nbgrader", None)


def wrong_metadata(notebook: dict) -> None:
    about(by_name(notebook, "softmax-check")).update(points=1000, grade=False, locked=False)
    about(by_name(notebook, "softmax")).update(solution=False, grade=True, points=1000)


def other_versions(notebook: dict) -> None:
    """Leave it as an older nbgrader would, and as a newer one might."""
    for number, cell in enumerate(filter(about, notebook["cells"])):
        about(cell)["schema_version"] = 1 if number % 2 else 99


def broken_metadata(notebook: dict) -> None:
    """Cells of no account have metadata that are none of nbgrader's."""
    for cell, broken in zip(
        [c for c in notebook["cells"] if not about(c)],
        ["a word", None, [], {}, {"grade_id": 3}, {"grade": True, "grade_id": "new"}],
        strict=False,
    ):
        cell["metadata"]["nbgrader"] = broken


def graded_cell_of_its_own(notebook: dict) -> None:
    metadata = {"nbgrader": {"grade": True, "grade_id": "mine", "points": 50, "solution": False}}
    notebook["cells"].insert(1, new_code_cell("50.0", metadata=metadata))


def of_other_editors(notebook: dict) -> None:
    """Leave it as various editors and services do, against the format."""
    notebook["metadata"] = {"kernelspec": {}, "title": "half of an emoji: \ud83d"}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"tags": ["a", "a"], "collapsed": "yes"}
        if cell["cell_type"] == "code":
            del cell["execution_count"]
            cell["outputs"] = [{"output_type": "stream", "text": "x", "transient": {}}]
            cell["outputExpanded"] = True
        cell["id"] = "the same"


def nest_metadata(notebook: dict) -> None:
    nested: dict = {}
    for _ in range(475):
        nested = {"a": nested}
    notebook["metadata"]["a"] = nested


def half_a_character(notebook: dict) -> None:
    by_name(notebook, "softmax")["source"] += "\n# half of an emoji: \ud83d"


def no_kernel(notebook: dict) -> None:
    notebook["metadata"] = {"kernelspec": {"name": "julia", "display_name": "Julia"}}


def extra_files(path: Path) -> None:
    """Beside the notebook lie a package of its own, links to what is secret, and a lot of else."""
    course, folder = path.parents[4], path.parent
    (folder / "attn_course.py").write_text("raise SystemExit('shadowed')", encoding="utf-8")
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("raise SystemExit('shadowed')")
    secret = course / "grading" / "private.txt"
    secret.write_text(SECRET_FILE, encoding="utf-8")
    (folder / "notes.txt").symlink_to(secret)
    (folder / "all").symlink_to(course / "solutions")
    (folder / "nowhere").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    shutil.copy(path, folder / "another.ipynb")
    (folder / "data [1]*.csv").write_text("1,2\n", encoding="utf-8")


def late(path: Path) -> None:
    (path.parent / "timestamp.txt").write_text("2030-01-01 00:00:00 UTC", encoding="utf-8")


def broken_timestamp(path: Path) -> None:
    (path.parent / "timestamp.txt").write_text("yesterday, about nine", encoding="utf-8")


def binary_timestamp(path: Path) -> None:
    (path.parent / "timestamp.txt").write_bytes(b"\xff\xfe\x00\x01")


def of_version_0_1_0(path: Path) -> None:
    """It is of version 0.1.0, with all answers but the third; its texts are headings alone."""
    kept = ROOT / "tests" / "repository" / "version_0_1_0" / path.name
    shutil.copy(kept.with_suffix(".json"), path)  # no name by which it would be run as a test


def keep(path: Path) -> None:
    """Nothing is odd but the name of the student."""


READABLE: dict[str, tuple[Change, set[str]]] = {
    "no-cells": (change_notebook(drop_cells), {"*"}),
    "version-3": (to_version_3, set()),
    "huge": (change_notebook(huge_outputs), set()),
    "reordered": (change_notebook(reorder), {"softmax"}),
    "check-as-text": (change_notebook(check_as_markdown), set()),
    "answer-as-text": (change_notebook(answer_as_markdown), set()),
    "no-metadata": (change_notebook(no_metadata), set()),
    "wrong-metadata": (change_notebook(wrong_metadata), set()),
    "other-versions": (change_notebook(other_versions), set()),
    "broken-metadata": (change_notebook(broken_metadata), set()),
    "graded-cell-of-its-own": (change_notebook(graded_cell_of_its_own), set()),
    "other-editors": (change_notebook(of_other_editors), set()),
    "nested-metadata": (change_notebook(nest_metadata), set()),
    "half-a-character": (change_notebook(half_a_character), set()),
    "julia": (change_notebook(no_kernel), set()),
    "extra-files": (extra_files, set()),
    "version-0.1.0": (of_version_0_1_0, {"default"}),
    "late": (late, set()),
    "broken-timestamp": (broken_timestamp, set()),
    "binary-timestamp": (binary_timestamp, set()),
    "Ada Łovelace": (keep, set()),
    "[a]*": (keep, set()),
    "*": (keep, set()),
    "-x.y": (keep, set()),
    "=1+1": (keep, set()),
    ".hidden": (keep, set()),
}
