"""Commands as they are typed, each in a process of its own that has the libraries imported.

They are forked from a server that imports PyTorch and nbgrader once: to start Python and to import
them takes two or three seconds of a processor, and the tests type some hundred commands.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """The outcome of a command: its exit status, and its words on stdout and on stderr."""

    status: int
    stdout: str
    stderr: str


def type_command(
    *words: str,
    folder: Path,
    environment: Mapping[str, str | None] | None = None,
    umask: int | None = None,
    apart: bool = False,
) -> Ran:
    """Run `python -m WORDS`, or `python WORDS` if the first word is a path.

    Args:
        words: The words typed after Python's name.
        folder: The folder in which they are typed.
        environment: Variables that are other than here; None for one that is not set.
        umask: Mask of the process; as it is here if left out.
        apart: Keep what it says on stderr apart; otherwise it comes on stdout, in its order.
    """
    variables = {**os.environ, **(environment or {})}
    variables = {name: value for name, value in variables.items() if value is not None}
    with tempfile.TemporaryDirectory() as heard:
        out, err = Path(heard, "out"), Path(heard, "err" if apart else "out")
        out.touch()
        err.touch()
        order = (words, str(folder), variables, umask, str(out), str(err))
        process = _server().Process(target=_carry_out, args=order)
        process.start()
        process.join()
        said = [path.read_text(encoding="utf-8") for path in (out, err)]
    return Ran(process.exitcode or 0, said[0], said[1] if apart else "")


@cache
def _server() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload(["hintgrader.testing.preloaded"])
    return context


def _carry_out(
    words: tuple[str, ...],
    folder: str,
    variables: dict[str, str],
    umask: int | None,
    out: str,
    err: str,
) -> None:
    for path, stream in ((os.devnull, 0), (out, 1), (err, 2)):
        opened = os.open(path, os.O_RDWR | os.O_APPEND)
        os.dup2(opened, stream)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    if umask is not None:
        os.umask(umask)
    sys.argv = list(words)
    if words[0].endswith(".py"):
        sys.path.insert(0, str(Path(words[0]).resolve().parent))
        runpy.run_path(words[0], run_name="__main__")
    else:
        sys.path.insert(0, folder)
        sys.modules.pop(f"{words[0]}.__main__", None)  # imported above, to be run now
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
