"""Digests of a submission and its checks: when one changes, the submission is graded again."""

import hashlib
import json
from functools import cache
from pathlib import Path

import nbformat

from hintgrader.bank.bank import Bank
from hintgrader.bank.secret import hidden_secret
from hintgrader.nbgrader.cells import code_cells
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.extensions import read_extensions
from hintgrader.nbgrader.times import TIMESTAMP
from hintgrader.pipeline.locate import notebook_in
from hintgrader.supervisor.isolation import folder_of
from hintgrader.worker.wall import ENGINE


def digest_of(course: Course, assignment: str, student: str) -> str:
    """Digest of everything that decides the points: notebook, time, extension, the problem set's
    code, seed and checks."""
    _ = course.config  # puts the seed in place
    found = hashlib.sha256(f"{hidden_secret()}|{package_digest(course.bank)}".encode())
    folder = course.submitted(assignment, student)
    notebook, handed_in_at = notebook_in(folder, assignment), folder / TIMESTAMP
    for path in (notebook, handed_in_at):
        content = path.read_bytes() if path.is_file() else b"none"
        found.update(hashlib.sha256(content).digest())
    found.update(_code(course.source(assignment)))
    if until := read_extensions(course).get((assignment, student)):
        found.update(str(until).encode())
    return found.hexdigest()


def _code(source: Path) -> bytes:
    """The cells of code, each with its name; words, and points, may change."""
    notebook = nbformat.read(source, as_version=4) if source.is_file() else None
    cells = [] if notebook is None else code_cells(notebook)
    named = [(cell.source, cell.metadata.get("nbgrader", {}).get("grade_id")) for cell in cells]
    return json.dumps(named).encode()


@cache
def package_digest(bank: Bank) -> str:
    """Digest of the checks and all that they use: the names of their files, and the contents."""
    found = hashlib.sha256()
    for package in (*bank.student_packages, ENGINE, bank.package):
        folder = folder_of(package)
        for path in sorted(folder.rglob("*.py")):
            name = f"{package}/{path.relative_to(folder).as_posix()}"
            found.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()
