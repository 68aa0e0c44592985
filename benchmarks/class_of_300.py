"""A class of 300 from Moodle's archive to Moodle's table, with one odd hand-in of ten.

    python benchmarks/class_of_300.py --jobs 2

Every hand-in holds the name of its student. It fails if somebody is lost, has what is another's, or
has other marks than those who handed in the same answers.
"""

import argparse
import csv
import io
import random
import re
import resource
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
from nbformat import NotebookNode

from grading import fill_in, lay_out, marks_of, run

SET = "01_retrieval"
NAME = f"{SET}.ipynb"
PATTERNS = 10  # of right and wrong answers
SHARE = 0.1  # of odd hand-ins
FORGED = "Student 001_1_assignsubmission_file_"  # as Moodle writes a classmate's
EXPORTER = "--exporter=hintgrader.nbgrader.exports.learning_systems.MoodleExporter"
Upload = dict[str, bytes]


def zipped(files: Upload) -> bytes:
    """A zip archive."""
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(files: Upload) -> bytes:
    """A tar archive, packed by gzip."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def adding(line: str) -> Callable[[bytes], Upload]:
    """The notebook, with a line more in its last answer, on which no other builds."""

    def change(notebook: bytes) -> Upload:
        found = nbformat.reads(notebook.decode(), as_version=4)
        list(filter(is_answer, found.cells))[-1].source += f"\n{line}\n"
        return {NAME: nbformat.writes(found).encode()}

    return change


def is_answer(cell: NotebookNode) -> bool:
    """True for a cell of code that a student writes."""
    return cell.cell_type == "code" and bool(cell.metadata.get("nbgrader", {}).get("solution"))


# By kind: what is uploaded, and what becomes of it.
ODD: dict[str, tuple[Callable[[bytes], Upload], str]] = {
    "a broken zip": (lambda _: {"work.zip": b"PK\3\4 and no more"}, "unreadable"),
    "a bomb": (lambda _: {"work.zip": zipped({NAME: bytes(200_000_000)})}, "unreadable"),
    "half a notebook": (lambda found: {NAME: found[: len(found) // 2]}, "unreadable"),
    "two of other names": (lambda found: {"a.ipynb": found, "b.ipynb": found}, "left"),
    "a classmate's name": (lambda found: {f"{FORGED}x.ipynb": found}, "graded"),
    "a second download": (lambda found: {f"{SET} (1).ipynb": found}, "graded"),
    "a byte-order mark": (lambda found: {NAME: b"\xef\xbb\xbf" + found}, "graded"),
    "a tar in a zip": (lambda f: {"a.zip": zipped({"b.tgz": tarred({NAME: f})})}, "graded"),
    "the process ended": (adding("import os; os._exit(0)"), "loses a part"),
    "the gradebook": (adding("open('grading/gradebook.db', 'wb').write(b'')"), "loses a part"),
}


def hand_in(course: Path, number: int) -> dict[str, str]:
    """Put the class's archive in its place; return the kind of each odd hand-in, by student."""
    source = nbformat.read(course / "solutions" / SET / NAME, as_version=4)
    drawn = sorted(random.Random(SET).sample(range(number), round(SHARE * number)))
    kinds = {student_of(n): [*ODD][place % len(ODD)] for place, n in enumerate(drawn)}
    place = course / "grading" / "downloaded" / SET / "archive"
    place.mkdir(parents=True)
    with ZipFile(place / "moodle.zip", "w", ZIP_DEFLATED) as archive:
        for n in range(number):
            student = student_of(n)
            notebook = nbformat.read(course / "exercises" / SET / NAME, as_version=4)
            fill_in(notebook, source, n % PATTERNS)
            for cell in filter(is_answer, notebook.cells):
                cell.source += f"\n# of {student}"
            found = {NAME: nbformat.writes(notebook).encode()}
            if student in kinds:
                found = ODD[kinds[student]][0](found[NAME])
            for name, content in found.items():
                folder = f"Student {n:03}_{4000 + n}_assignsubmission_file"
                archive.writestr(f"{folder}/{name}", content)
    return kinds


def student_of(number: int) -> str:
    """The id of a student."""
    return f"student-{number:03}"


def enter_class(course: Path, number: int) -> None:
    """Import the roster."""
    lines = [f"{student_of(n)},Student,{n:03}" for n in range(number)]
    roster = course / "grading" / "roster.csv"
    roster.write_text("\n".join(["id,first_name,last_name", *lines]), encoding="utf-8")
    run(course, ["nbgrader", "db", "student", "import", str(roster)])


def faults(course: Path, number: int, kinds: dict[str, str]) -> list[str]:
    """List the students whose marks are wrong, and how.

    Such a student is lost, has somebody else's work, or has other marks than students with the
    same answers.
    """
    with (course / "grading" / "moodle.csv").open(newline="", encoding="utf-8") as file:
        exported = {line["Username"]: line for line in csv.DictReader(file)}
    marks: dict[str, dict[str, float | None]] = {}
    for (student, cell), points in marks_of(course, SET).items():
        marks.setdefault(student, {})[cell] = points
    found = [f"{student_of(n)} is lost" for n in range(number) if student_of(n) not in exported]
    usual: dict[int, dict[str, float | None]] = {}
    for n in range(number):
        if student_of(n) not in kinds:
            usual.setdefault(n % PATTERNS, marks[student_of(n)])
    for n in range(number):
        student = student_of(n)
        fate = ODD[kinds[student]][1] if student in kinds else "graded"
        points, said = exported[student][SET], exported[student][f"{SET} feedback"]
        if fate in ("unreadable", "left"):
            right = points == "" and (said == "unreadable") == (fate == "unreadable")
            found += [] if right else [f"{student} ({kinds[student]}): {points!r}, {said!r}"]
            continue
        text = (course / "grading" / "autograded" / student / SET / NAME).read_text("utf-8")
        if (names := set(re.findall(r"# of ([\w-]+)", text))) != {student}:
            found.append(f"{student} has what is of {names}")
        other = [cell for cell, had in usual[n % PATTERNS].items() if marks[student][cell] != had]
        if len(other) > (fate == "loses a part") or points == "":
            found.append(f"{student} ({kinds.get(student)}) has other marks: {other}")
    return found


def main() -> None:
    """Take the class from the archive to the table, and say how long each step took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=300, help="of students")
    parser.add_argument("--jobs", default="2", help="processes that grade")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder, "course")
        course.mkdir()
        lay_out(course, SET, 0)
        enter_class(course, chosen.number)
        kinds = hand_in(course, chosen.number)
        steps = {
            "collect": ["nbgrader", "zip_collect", SET],
            "grade": ["hintgrader", "autograde", SET, "--jobs", chosen.jobs],
            "export": ["nbgrader", "export", "--to", "grading/moodle.csv", EXPORTER],
        }
        for name, words in steps.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            begun = time.perf_counter()
            run(course, words)
            taken, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
            work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{name:8} {taken / 60:5.1f} minutes, {work:6.0f} s of processor time", flush=True
            )
        found = faults(course, chosen.number, kinds)
    print(f"{chosen.number} students, {len(kinds)} odd: {dict(Counter(kinds.values()))}")
    if found:
        raise SystemExit("\n".join(found))
    print("Nobody is lost, nobody has what is another's, and equal answers have equal marks.")


if __name__ == "__main__":
    main()
