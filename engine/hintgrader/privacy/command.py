"""The commands `hintgrader data ...`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.exits import report_errors
from hintgrader.nbgrader.printable import plain_lines
from hintgrader.nbgrader.private import private_files
from hintgrader.privacy.backup import back_up, restore
from hintgrader.privacy.person import delete_person, export_person
from hintgrader.privacy.taken_back import take_back

app = typer.Typer(no_args_is_help=True, help="Export, delete, take back, back up and restore data.")
Folder = Annotated[Path, typer.Option(help="Folder of the course.")]
Student = Annotated[str, typer.Argument(help="The student's id.")]
File = Annotated[Path, typer.Argument(help="The archive.")]
SURE = "delete everything that the course knows about {}? This cannot be undone"


@app.command()
def export(student: Student, to: File, course: Folder = Path()) -> None:
    """Write everything that is known about a student into a zip."""
    with report_errors(), private_files(course):
        _say(f"{to}: {export_person(Course(course.resolve()), student, to)} files")


@app.command()
def delete(
    student: Student,
    course: Folder = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete everything that is known about a student."""
    if not yes:
        typer.confirm(SURE.format(student).capitalize(), abort=True)
    with report_errors():
        left = delete_person(Course(course.resolve()), student)
    _say("Deleted. The tables and reports on the class can be made again.")
    if left:
        _say("These may still hold something about the student: " + ", ".join(map(str, left)))


@app.command("take-back")
def take_hand_in_back(
    assignment: Annotated[str, typer.Argument(help="Name of the problem set.")],
    student: Student,
    course: Folder = Path(),
) -> None:
    """Take one hand-in out of the class with its marks, and keep its files."""
    with report_errors(), private_files(course):
        _say(f"{take_back(Course(course.resolve()), assignment, student)} has it now")


@app.command()
def backup(to: File, course: Folder = Path()) -> None:
    """Write all of grading/, with everybody's data and your seed, into a tar.gz."""
    with report_errors(), private_files(course):
        _say(f"{to}: {back_up(Course(course.resolve()), to):,} bytes")


@app.command("restore")
def put_back(source: File, course: Folder = Path()) -> None:
    """Put a backup into an empty grading/."""
    with report_errors(), private_files(course):
        _say(f"{restore(Course(course.resolve()), source)} files are put back")


def _say(text: str) -> None:
    Console().print(plain_lines(text), markup=False, highlight=False, soft_wrap=True)
