"""Running the cells of a notebook as IPython does, without a kernel, and keeping what they show.

Of what a cell shows only words and pictures are kept: no HTML, no scripts.
"""

import base64
import io
import re
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from attn_grade.inside.submission import message_of
from attn_grade.inside.wire import Message

MAX_TEXT, MAX_SHOWN, MAX_PICTURES = 20_000, 50, 4_000_000  # of one cell, in all
CELL_FILE_NAME = re.compile(r"<ipython-input-[^>]*>, (?=line)")  # in what a SyntaxError says
# What a notebook may ask of a kernel, a browser or a package manager, none of which is here.
UNSUPPORTED_MAGICS: tuple[str, ...] = (
    "autosave",
    "clear",
    "conda",
    "connect_info",
    "less",
    "mamba",
    "man",
    "micromamba",
)
UNSUPPORTED_MAGICS += ("more", "qtconsole", "subshell")


class Shell:
    """IPython's shell, which sends nothing to the screen."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False  # it has a thread, and a file
        config.InteractiveShell.separate_in = ""
        self._shell = _Quiet.instance(config=config)
        self._shell.display_pub = CapturingDisplayPublisher()
        if (extensions := self._shell.extension_manager) is not None:
            extensions.load_extension("storemagic")  # as a kernel does
        magics: Any = self._shell.magics_manager
        for name in UNSUPPORTED_MAGICS:
            magics.register_function(_do_nothing, magic_name=name)

    def run(self, source: str) -> Message:
        """Run a cell: what it printed and showed, how it failed, if it did, what was `cut`."""
        shell, printed = self._shell, _Page()
        publisher: Any = shell.display_pub
        shown = publisher.outputs = []
        shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=shown)
        with redirect_stdout(printed), redirect_stderr(printed):
            result = shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        failure = None if error is None else [_kind(error), _message(error)]
        kept, is_all = _keep(shown)
        cut = bool(printed.cut) or not is_all
        return {"printed": printed.text(), "shown": kept, "error": failure, "cut": cut}


def _kind(error: BaseException) -> str:
    """The public name of an error: Python 3.13 has an `_IncompleteInputError`, a SyntaxError."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next(name for name in names if not name.startswith("_"))


class _Quiet(InteractiveShell):
    """A shell without a screen, and without a kernel that could be told to end.

    It shows no tracebacks: how a cell failed is read from the result.
    """

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


def _do_nothing(_: str) -> None:
    """Accept a line that asks for something."""


class _Page(io.TextIOBase):
    """Keeps the beginning of what is printed, however much follows."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._length < MAX_TEXT:
            self._parts.append(text[: MAX_TEXT - self._length])
        self._length += len(text)
        return len(text)

    @property
    def cut(self) -> int:
        """Characters beyond those that are kept."""
        return max(0, self._length - MAX_TEXT)

    def text(self) -> str:
        more = f"\n... {self.cut:,} characters more" if self.cut else ""
        return "".join(self._parts) + more


def _message(error: BaseException) -> str:
    return CELL_FILE_NAME.sub("", message_of(error)[:MAX_TEXT])


def _keep(outputs: list[dict[str, Any]]) -> tuple[list[dict[str, str]], bool]:
    """The words of outputs, and their pictures as base64, as far as there is room for all."""
    kept, room, is_all = [], MAX_PICTURES, len(outputs) <= MAX_SHOWN
    for output in outputs[:MAX_SHOWN]:
        data = output.get("data", {})
        words = str(data.get("text/plain", ""))
        kept.append({"text/plain": words[:MAX_TEXT]})
        is_all &= len(words) <= MAX_TEXT
        picture = data.get("image/png")
        if isinstance(picture, bytes):
            picture = base64.b64encode(picture).decode()
        if isinstance(picture, str) and len(picture) <= room:
            room -= len(picture)
            kept[-1]["image/png"] = picture
        else:
            is_all &= picture is None
    return kept, is_all
