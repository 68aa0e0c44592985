"""Laying out a new exercise: a module of the bank, one of right answers, and the cells."""

import re
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from importlib.resources import files
from pathlib import Path
from string import Template

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from hintgrader.authoring.parts import HEAD, HEADING, with_points, with_table, write_notebook
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.restore_cells import SCHEMA

NAME = re.compile(r"(?P<number>\d+)_(?P<folder>[a-z]\w*)/(?P<part>[a-z]\w*)")
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def lay_out_exercise(course: Course, name: str) -> Iterator[Path]:
    """Write what a new exercise needs, to be filled in; the paths, relative to the course.

    A problem set that there is not yet is laid out as well.

    Raises:
        CourseError: The name is of no such form, or something of it is there already.
    """
    if not (parts := NAME.fullmatch(name)):
        raise CourseError(f"{name!r} is no name of an exercise, such as 03_seq2seq/part")
    words = parts.groupdict() | {"name": name, "bank": course.bank.package}
    bank = _folder_of_bank(course) / words["folder"]
    files_to_write = {bank / f"{words['part']}.py": "exercise", bank / "__init__.py": "folder"}
    if course.settings.right_answers:
        answers = course.root / course.settings.right_answers / words["folder"]
        files_to_write[answers / f"{words['part']}.py"] = "right_answers"
        files_to_write[answers / "__init__.py"] = "folder_of_answers"
    for path in files_to_write:
        if path.name != "__init__.py" and path.exists():
            raise CourseError(f"{path} is there already.")
    for path, template in files_to_write.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_fill(template, words), encoding="utf-8")
            yield path.relative_to(course.root)
    source = course.source(name.partition("/")[0])
    notebook = nbformat.read(source, as_version=4) if source.exists() else _problem_set(words)
    place = _place_of_new_part(notebook)
    notebook.cells[place:place] = _cells(words)
    invalidate_caches()  # the module has only just come
    source.parent.mkdir(parents=True, exist_ok=True)
    write_notebook(with_table(with_points(notebook, course.bank), course.bank), source)
    yield source.relative_to(course.root)


def _folder_of_bank(course: Course) -> Path:
    """The folder of the bank, which must lie within the course."""
    folder = Path(import_module(course.bank.package).__path__[0]).resolve()
    if not folder.is_relative_to(course.root):
        raise CourseError(
            f"{course.bank.package} is imported from {folder}, outside of {course.root}. Go into"
            " the folder of the course that is meant, and run: python -m hintgrader new"
        )
    return folder


def _fill(template: str, words: dict[str, str]) -> str:
    text = files(__package__).joinpath("templates", f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(words)


def _problem_set(words: dict[str, str]) -> NotebookNode:
    title = f"# Problem set {words['number']}: what it is about\n\n{HEAD}".strip()
    cells = [new_markdown_cell(title, id="title")]
    cells.append(new_code_cell(f"import torch\n\nfrom {words['bank']} import check", id="setup"))
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def _place_of_new_part(notebook: NotebookNode) -> int:
    """Before the last part, if that is one that a person reads; else at the end."""
    headings = [i for i, cell in enumerate(notebook.cells) if HEADING.search(cell.source)]
    last = notebook.cells[headings[-1] :] if headings else []
    is_read = last and not any("check(" in cell.source for cell in last)
    return headings[-1] if is_read else len(notebook.cells)


def _cells(words: dict[str, str]) -> list[NotebookNode]:
    part = words["part"]
    about: dict[str, object] = {"grade": False, "locked": False, "schema_version": SCHEMA}
    about |= {"solution": True, "task": False, "grade_id": part}
    check = about | {"grade": True, "locked": True, "solution": False, "points": 1}
    return [
        new_markdown_cell(_fill("task", words).strip(), id=f"{part}-task"),
        new_code_cell(_fill("solution", words).strip(), id=part, metadata={"nbgrader": about}),
        new_code_cell(
            _fill("check", words).strip(),
            id=f"{part}-check",
            metadata={"nbgrader": check | {"grade_id": f"{part}-check"}},
        ),
    ]
