"""Grading a class from the command line: `python -m hintgrader`, or `hintgrader`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hintgrader.cluster.command import app as cluster_app
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.exits import report_errors
from hintgrader.nbgrader.printable import plain
from hintgrader.nbgrader.private import private_files
from hintgrader.privacy.command import app as data_app
from hintgrader.worker.level import Level
from hintgrader.worker.time_limits import CELL_SECONDS

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")
app.add_typer(cluster_app, name="cluster")
Assignment = Annotated[str, typer.Argument(help="Name of the problem set, such as 04_bahdanau.")]
Folder = Annotated[Path, typer.Option(help="Folder of the course.")]


@app.callback()
def main() -> None:
    """Grade problem sets of a class from outside: fast, confined, and into nbgrader's gradebook."""


@app.command()
def autograde(
    assignment: Assignment,
    student: Annotated[
        list[str] | None, typer.Option(help="Grade only this student; may be given several times.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Grade graded work again too.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes.")] = None,
    level: Annotated[
        str | None, typer.Option(help="Isolation: sandbox (default), limits or plain.")
    ] = None,
    cell_seconds: Annotated[
        float, typer.Option(min=1, help="Seconds that a cell computes.")
    ] = CELL_SECONDS,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tls://host:8786.")
    ] = None,
    course: Folder = Path(),
    csv: Annotated[
        Path | None, typer.Option(help="Table; by default grading/results/ASSIGNMENT.csv.")
    ] = None,
) -> None:
    """Grade a problem set of the whole class, or what an earlier run has not finished."""
    if level not in (None, *map(str, Level)):
        raise typer.BadParameter(f"{level} is not a level; there are sandbox, limits and plain")
    from hintgrader.autograde.command import AutogradeOptions
    from hintgrader.autograde.command import autograde as grade_class

    options = AutogradeOptions(
        course=course,
        assignment=assignment,
        students=tuple(student or ()),
        force=force,
        jobs=jobs,
        level=level,
        scheduler=scheduler,
        csv=csv,
        cell_seconds=cell_seconds,
    )
    with report_errors(force), private_files(course):
        all_graded = grade_class(options, Console())
    if not all_graded:
        raise typer.Exit(1)


@app.command()
def report(
    assignment: Assignment,
    course: Folder = Path(),
    html: Annotated[
        Path | None, typer.Option(help="Page; by default grading/results/ASSIGNMENT.html.")
    ] = None,
) -> None:
    """Write a page on what the class got right and wrong in a graded problem set."""
    from hintgrader.report.command import report as write

    with report_errors(), private_files(course):
        written = write(course, assignment, html)
    Console().print(f"{written}", markup=False, soft_wrap=True)


@app.command()
def history(
    assignment: Assignment,
    student: Annotated[str, typer.Argument(help="The student's id.")],
    note: Annotated[
        str, typer.Option(help="Words to keep, such as why an appeal was granted.")
    ] = "",
    course: Folder = Path(),
) -> None:
    """Tell what a submission earned over the term, and what was said of it; keep a note."""
    from hintgrader.report.history import tell_history

    with report_errors(), private_files(course):
        for line in tell_history(Course(course.resolve()), assignment, student, note):
            Console().print(plain(line), markup=False, highlight=False, soft_wrap=True)


@app.command()
def rubric(assignment: Assignment, course: Folder = Path()) -> None:
    """Let points and comments given by hand follow changed items of the rubric."""
    from hintgrader.nbgrader.rubric.command import apply_rubric

    with report_errors(), private_files(course):
        for line in apply_rubric(Course(course.resolve()), assignment):
            Console().print(plain(line), markup=False, highlight=False, soft_wrap=True)


@app.command()
def similar(
    assignment: Assignment,
    course: Folder = Path(),
    html: Annotated[
        Path | None,
        typer.Option(help="Page; by default grading/results/ASSIGNMENT-similarity.html."),
    ] = None,
) -> None:
    """Write a page on answers that are more alike than strangers' are, for a person to read."""
    from hintgrader.similarity.command import write_similarity

    with report_errors(), private_files(course):
        written = write_similarity(course, assignment, html)
    Console().print(f"{written}", markup=False, soft_wrap=True)


@app.command()
def pack_feedback(
    assignment: Assignment,
    to: Annotated[
        Path | None, typer.Option(help="Zip; by default grading/results/ASSIGNMENT-feedback.zip.")
    ] = None,
    course: Folder = Path(),
) -> None:
    """Put everybody's feedback into one zip, named as the learning system's own archive is."""
    from hintgrader.nbgrader.pack_feedback import pack_feedback as pack

    with report_errors(), private_files(course):
        packed = pack(Course(course.resolve()), assignment, to)
    said = f"{packed.path} has the pages of {len(packed.students)}."
    if packed.missing:
        said += f" Without a page: {', '.join(packed.missing)}."
    if packed.stale:
        said += f" Graded again since, make their pages anew: {', '.join(packed.stale)}."
    Console().print(plain(said), markup=False, soft_wrap=True)


@app.command()
def check_course(course: Folder = Path()) -> None:
    """List what is missing or stale, before anything is released."""
    from hintgrader.authoring.faults import faults_of

    with report_errors():
        faults = dict.fromkeys(faults_of(Course(course.resolve())))
    for fault in faults:
        Console(stderr=True).print(fault, markup=False, highlight=False, soft_wrap=True)
    if faults:
        raise typer.Exit(1)
    Console().print("Nothing is missing, and nothing stale.")


@app.command()
def tables(course: Folder = Path()) -> None:
    """Write points and tables of parts into the problem sets, as the exercises give them."""
    from hintgrader.authoring.parts import write_tables

    with report_errors():
        for path in write_tables(Course(course.resolve())):
            Console().print(f"{path}", markup=False, soft_wrap=True)


@app.command()
def drop(
    exercise: Annotated[str, typer.Argument(help="Its name, such as 03_seq2seq/part.")],
    course: Folder = Path(),
) -> None:
    """Take an exercise out of the points, even after its problem set was handed in."""
    from hintgrader.authoring.drop import drop as drop_exercise

    with report_errors():
        source = drop_exercise(Course(course.resolve()), exercise)
    name, said = source.stem, Console()
    said.print(f"{source}", markup=False, soft_wrap=True)
    said.print(f"Release it, and grade: nbgrader generate_assignment {name} --force")


@app.command()
def new(
    exercise: Annotated[str, typer.Argument(help="Its name, such as 03_seq2seq/part.")],
    course: Folder = Path(),
) -> None:
    """Lay out a new exercise: its module in the bank, its right answers, its cells."""
    from hintgrader.authoring.new import lay_out_exercise

    with report_errors():
        for path in lay_out_exercise(Course(course.resolve()), exercise):
            Console().print(f"{path}", markup=False, soft_wrap=True)
        Console().print(f"Fill them in, and see what is still wrong: hintgrader try {exercise}")


@app.command("try")
def try_exercises(
    exercise: Annotated[
        list[str] | None, typer.Argument(help="Names; by default all that have changed.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Try all, in minutes.")] = False,
    course: Folder = Path(),
) -> None:
    """Say which rows refuse which mistakes of an exercise, with their hints, and what to mend."""
    from hintgrader.authoring.trying import changed_since, try_all

    status = 0
    with report_errors():
        here = Course(course.resolve())
        names = exercise or (here.bank.names() if everything else changed_since(here))
        for lines, faults in try_all(here, names):
            status |= bool(faults)
            for line in lines if exercise else faults:
                Console().print(line, markup=False, highlight=False, soft_wrap=True)
    if status:
        raise typer.Exit(1)
    Console().print(f"Tried {len(names)}: nothing is to mend.")


if __name__ == "__main__":
    app(prog_name="hintgrader")
