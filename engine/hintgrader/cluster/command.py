"""The commands `hintgrader cluster ...`: Dask's own, closed to everybody who has not the key."""

import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.exits import report_errors
from hintgrader.nbgrader.private import check_private, private_files

REST = {"allow_extra_args": True, "ignore_unknown_options": True}
app = typer.Typer(no_args_is_help=True, help="Start what grades on several machines.")
Folder = Annotated[Path, typer.Option(help="Folder of the course.")]
Host = Annotated[str, typer.Option(help="Address of this machine at which others reach it.")]
# Dask's pages and figures are for everybody who finds their port: there are none.
NO_PAGES = {
    "DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES": "[]",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
}
LOOPBACK = "127.0.0.1"


@app.command(context_settings=REST)
def scheduler(
    rest: typer.Context,
    host: Host = LOOPBACK,
    port: Annotated[int, typer.Option(help="Port at which it listens.")] = 8786,
    course: Folder = Path(),
) -> None:
    """Start the scheduler; Dask takes further options."""
    with report_errors(), private_files(course):
        here = _closed(course)
        from distributed.cli.dask_scheduler import main

        from hintgrader.cluster.secret import make_secret

        make_secret(here)
        _run(main, here, [*rest.args, "--host", host, "--port", f"{port}", "--protocol", "tls"])


@app.command(context_settings=REST)
def worker(
    rest: typer.Context,
    address: Annotated[str, typer.Argument(help="The scheduler's, such as tls://host:8786.")],
    host: Annotated[str | None, typer.Option(help="Address at which others reach it.")] = None,
    course: Folder = Path(),
) -> None:
    """Start workers on this machine, such as --nworkers 8; Dask takes further options."""
    with report_errors(), private_files(course), tempfile.TemporaryDirectory() as scratch:
        here = _closed(course)
        from distributed.cli.dask_worker import main
        from distributed.comm.addressing import get_address_host
        from distributed.utils import get_ip

        from hintgrader.cluster.secret import closed_address

        address = closed_address(address)
        host = host or get_ip(get_address_host(address))
        # The folder that Dask would take is one that any account can make before it does.
        where = ["--host", host, "--nthreads", "1", "--local-directory", scratch]
        _run(main, here, [*rest.args, address, *where])


def _closed(folder: Path) -> Course:
    """The course, whose `grading/` nobody else may enter."""
    course = Course(folder.resolve())
    check_private(course)
    if find_spec("distributed") is None:
        raise CourseError("A cluster needs `distributed`, which comes with the extra `cluster`.")
    os.environ |= NO_PAGES  # before Dask is imported
    return course


def _run(main: Callable[..., Any], course: Course, words: list[str]) -> None:
    from hintgrader.cluster.secret import secret_file

    file = str(secret_file(course))
    keys = ["--tls-ca-file", file, "--tls-cert", file, "--tls-key", file]
    pages = ["--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"]
    main([*words, *keys, *pages], prog_name="dask", standalone_mode=False)
