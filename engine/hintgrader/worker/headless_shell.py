"""IPython's shell without a screen, a terminal, a kernel or a package manager.

What a line asks of these does not end its cell: below it may stand an answer. Neither does a
statement that asks for a package, a file, a network or a keyboard that is there at home.
"""

import ast
import builtins
import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE, STDOUT, CalledProcessError, Popen
from types import CodeType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList

from hintgrader.worker.alarm import MAX_DETAIL
from hintgrader.worker.submission import message_of

PIECE = 65_536  # bytes of what a command prints that are read at once
NOT_STARTED = 127  # the exit code of a command that cannot be started, as shells have it
MAX_FORGIVEN = 5  # lines of one cell that are named
PACKAGE_MANAGERS = ("conda", "mamba", "micromamba", "pip", "uv")
# What a notebook may ask of a kernel, a browser or an editor, none of which is here.
UNSUPPORTED_MAGICS: tuple[str, ...] = ("autosave", "clear", "connect_info", "ed", "edit", "less")
UNSUPPORTED_MAGICS += ("man", "more", "qtconsole", "subshell")
# What is raised where a machine lacks what another one has, and the devices that it may lack.
LACKING = (ImportError, OSError, EOFError, MemoryError, CalledProcessError)
DEVICES = re.compile(r"\b(CUDA|NVIDIA|MPS|mps)\b")


class HeadlessShell(InteractiveShell):
    """A shell that runs the commands of a notebook by pipes, since there are no terminals.

    It shows no tracebacks: how a cell failed is read from the result.

    Attributes:
        forgiven: How lines of the present cell failed, after which it went on.
        unbound: Names that statements would have defined which were left out.
    """

    def init_instance_attrs(self) -> None:
        super().init_instance_attrs()
        self.forgiven: list[str] = []
        self.unbound: set[str] = set()

    def init_magics(self) -> None:
        """Define IPython's magics, and stand-ins for what cannot be done here."""
        super().init_magics()
        for name in (*UNSUPPORTED_MAGICS, *PACKAGE_MANAGERS):
            stand_in = _install_nothing if name in PACKAGE_MANAGERS else _do_nothing
            self.magics_manager.register_function(stand_in, magic_name=name)

    async def run_code(
        self, code_obj: CodeType, result: Any = None, *, async_: bool = False
    ) -> bool:
        """Run a statement; leave out one for which something is missing here."""
        failed = await super().run_code(code_obj, result, async_=async_)
        error = result.error_in_exec if failed and result else None
        if isinstance(error, Exception) and self._is_lack(error):
            here = {*self.user_ns, *dir(builtins)}
            self.unbound |= {name for name in code_obj.co_names if name not in here}
            self._forgive(error)
            result.error_in_exec = None
            return False
        return bool(failed)

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> object:
        """Run a line magic; if it fails, print why."""
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except Exception as error:
            self._forgive(error)
            return None

    def magic(self, line: str) -> object:
        """Run a line magic as older versions of IPython are asked to, Colab's among them."""
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest, 2)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object:
        """Run a cell magic; under one that is not to be had here, run what is Python without."""
        is_known = self.find_cell_magic(magic_name) and magic_name != "debug"  # it asks for input
        if is_known or not self._is_python(cell):
            return super().run_cell_magic(magic_name, line, cell)
        print(f"There is no cell magic `%%{magic_name}` here; the cell runs without.")
        return self.run_cell(cell, store_history=False).raise_error()

    def system(self, cmd: str) -> None:
        """Run a command of the system's shell, and print what it prints."""
        code = NOT_STARTED
        try:
            if cmd.rstrip().endswith("&"):
                raise OSError("Background processes not supported.")  # as Jupyter does
            code = _run_command(self.var_expand(cmd, depth=1))
        except Exception as error:  # as where no more processes may be started
            self._forgive(error)
        self.user_ns["_exit_code"] = code

    system_piped = system_raw = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> SList | LSString:
        """Run a command of the system's shell, and return what it prints."""
        try:
            return super().getoutput(cmd, split, depth + 1)
        except Exception as error:
            self._forgive(error)
            return SList() if split else LSString()

    def showtraceback(self, *_: object, **__: object) -> None:
        pass

    def showsyntaxerror(self, *_: object, **__: object) -> None:
        pass

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """Show pictures as they are, whatever windows or controls are asked for."""
        return super().enable_matplotlib("inline")

    def enable_gui(self, gui: str | None = None) -> None:
        """Wait for no window's events: there is none."""

    def ask_exit(self) -> None:
        """Ignore `exit()`."""

    @contextmanager
    def _tee(self, channel: str) -> Iterator[None]:
        """Keep no second copy of what is printed: IPython's own grows without end."""
        yield

    def _is_lack(self, error: Exception) -> bool:
        """True if something of the student's machine is missing, or what was to be made of it."""
        if isinstance(error, NameError):
            return error.name in self.unbound
        if isinstance(error, AssertionError | RuntimeError):
            return bool(DEVICES.search(message_of(error)))
        return isinstance(error, LACKING)

    def _forgive(self, error: Exception) -> None:
        """Say how a line failed."""
        said = f"{type(error).__name__}: {message_of(error)}"
        if len(self.forgiven) < MAX_FORGIVEN:
            self.forgiven.append(said.splitlines()[0][:MAX_DETAIL])
        print(said, file=sys.stderr)

    def _is_python(self, cell: str) -> bool:
        try:
            ast.parse(self.transform_cell(cell))
        except (SyntaxError, ValueError):
            return False
        return True


def _run_command(command: str) -> int:
    """Print the output of a command as it comes; return its exit code."""
    decoder = getincrementaldecoder("utf-8")("replace")
    with Popen(command, shell=True, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as process:
        pipe: Any = process.stdout
        while piece := pipe.read1(PIECE):
            print(decoder.decode(piece), end="")
    return process.returncode


def _do_nothing(_: str) -> None:
    """Accept a line that asks for something."""


def _install_nothing(_: str) -> None:
    """Say that packages stay as they are: an installation would outlast the notebook."""
    print("No package is installed while a notebook is graded.")
