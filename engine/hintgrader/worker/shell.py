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
from traitlets.config import Config

from hintgrader.worker.headless_shell import HeadlessShell
from hintgrader.worker.submission import message_of
from hintgrader.worker.wire import Message

MAX_TEXT, MAX_SHOWN, MAX_PICTURES = 20_000, 50, 4_000_000  # of one cell, in all
OWN_DESCRIPTOR = 2  # of this process; what is written to it goes nowhere
CELL_FILE_NAME = re.compile(r"<ipython-input-[^>]*>, (?=line)")  # in what a SyntaxError says


class Shell:
    """IPython's shell, which sends nothing to the screen."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False  # it has a thread, and a file
        config.InteractiveShell.separate_in = ""
        config.DisplayFormatter.active_types = ["text/plain", "image/png"]  # what is kept
        self._shell = HeadlessShell.instance(config=config)
        self._shell.display_pub = CapturingDisplayPublisher()
        if (extensions := self._shell.extension_manager) is not None:
            extensions.load_extension("storemagic")  # as a kernel does

    def run(self, source: str) -> Message:
        """Run a cell.

        Returns:
            What it printed and showed, how it failed, if it did, whether that was `cut`, and how
            lines failed that were `forgiven`.
        """
        shell, printed, shown = self._shell, _Page(), _Shown()
        publisher: Any = shell.display_pub
        publisher.outputs, shell.forgiven = shown, []
        shell.display_trap.hook = CapturingDisplayHook(shell=shell, outputs=shown)
        with redirect_stdout(printed), redirect_stderr(printed):
            result = shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        failure = None if error is None else [_kind(error), _message(error)]
        cut = bool(printed.cut) or shown.cut
        said = {"printed": printed.text(), "shown": [*shown], "error": failure}
        return said | {"cut": cut, "forgiven": [*shell.forgiven]}


def _kind(error: BaseException) -> str:
    """The public name of an error: Python 3.13 has an `_IncompleteInputError`, a SyntaxError."""
    names = (kind.__name__ for kind in type(error).__mro__)
    return next(name for name in names if not name.startswith("_"))


class _Page(io.TextIOBase):
    """Keeps the beginning of what is printed, however much follows.

    Like a kernel's it has a name, an encoding, and the descriptor of what the process has itself.
    """

    name, encoding, errors = "<stdout>", "UTF-8", None

    def fileno(self) -> int:
        return OWN_DESCRIPTOR

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


class _Shown(list[dict[str, Any]]):
    """The words that a cell shows, and its pictures as base64, as far as there is room for all."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Begin again, as where a cell asks for that."""
        super().clear()
        self._room, self.cut = MAX_PICTURES, False

    def append(self, output: dict[str, Any]) -> None:
        """Keep an output, or note that it was cut."""
        if len(self) == MAX_SHOWN:
            self.cut = True
            return
        data = output.get("data", {})
        words = str(data.get("text/plain", ""))
        kept = {"text/plain": words[:MAX_TEXT]}
        self.cut |= len(words) > MAX_TEXT
        picture = data.get("image/png")
        if isinstance(picture, bytes):
            picture = base64.b64encode(picture).decode()
        if isinstance(picture, str) and len(picture) <= self._room:
            self._room -= len(picture)
            kept["image/png"] = picture
        else:
            self.cut |= picture is not None
        super().append(kept)
