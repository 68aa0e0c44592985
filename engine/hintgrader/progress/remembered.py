"""Results of checks, kept beside the notebook, so that a restart of the kernel loses nothing.

The file is the student's own. Nothing reads it when work is graded.
"""

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from symtable import symtable
from typing import NamedTuple

FILE = ".progress.json"
LAST = 100  # answers to an exercise that are kept
SESSION = "JPY_SESSION_NAME"  # where a Jupyter server says for which notebook it starts a kernel


class Checked(NamedTuple):
    """An answer to a part, and what its last check has shown.

    Attributes:
        points: What it showed.
        function: The name of the function that it tried.
        answer: The fingerprint of the cell that defined it; empty if none was found.
        time: When this answer was checked for the first time, in seconds since the epoch.
        notebook: The name of its file; empty if that is not certain.
    """

    points: float
    function: str
    answer: str
    time: float
    notebook: str = ""


Kept = dict[str, list[Checked]]  # by exercise; the answer that was checked last stands last


def remember(exercise: str, function: str, points: float) -> None:
    """Keep what a check has shown, if a kernel runs it beside the notebook of its problem set.

    A folder that is gone, or cannot be written to, is no reason for a check to fail.
    """
    sources = run_so_far()
    if sources is None:
        return
    with suppress(OSError):
        folder = Path.cwd()
        if not any(folder.glob(f"{exercise.partition('/')[0]}*.ipynb")):
            return
        cell = definition(sources, function)
        answer = "" if cell is None else fingerprint(cell)
        notebook = notebook_of_kernel(folder, exercise)
        kept, _ = recall(folder)
        before = kept.get(exercise, [])
        others = [one for one in before if (one.notebook, one.answer) != (notebook, answer)]
        times = [one.time for one in before if one not in others]
        first = min(times, default=time.time())
        kept[exercise] = [
            *others[1 - LAST :],
            Checked(float(points), function, answer, first, notebook),
        ]
        lists = {name: [one._asdict() for one in several] for name, several in kept.items()}
        draft = folder / f"{FILE}.draft"
        draft.write_text(json.dumps(lists, indent=1), encoding="utf-8")
        draft.replace(folder / FILE)


def last_points(exercise: str) -> float | None:
    """The points of the last check in the notebook of this kernel; None if none are kept."""
    if run_so_far() is not None:
        with suppress(OSError):
            folder = Path.cwd()
            notebook = notebook_of_kernel(folder, exercise)
            kept, _ = recall(folder)
            here = [one for one in kept.get(exercise, []) if one.notebook in ("", notebook)]
            return here[-1].points if here else None
    return None


def not_run(exercise: str, name: str) -> bool:
    """True if a cell of the notebook of this kernel defines a name, and has not been run in it."""
    sources = run_so_far()
    if sources is None or hasattr(sys.modules["__main__"], name):
        return False
    with suppress(OSError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        folder = Path.cwd()
        notebook = folder / (notebook_of_kernel(folder, exercise) or "none")
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        return any(_defines(source, name) for source in code)
    return False


def notebook_of_kernel(folder: Path, exercise: str) -> str:
    """The name of the notebook of this kernel, in the folder in which it runs.

    It is the one of its session, or else the only one of this problem set; empty if there are more.
    """
    if session := notebook_of_session(folder):
        return session
    found = list(folder.glob(f"{exercise.partition('/')[0]}*.ipynb"))
    return found[0].name if len(found) == 1 else ""


def notebook_of_session(folder: Path) -> str:
    """The name of the notebook, in a folder, that a server has started this kernel for, or empty.

    The server says it once. So it is believed while there is a file of that name.
    """
    session = Path(os.environ.get(SESSION, ""))
    is_here = not session.is_absolute() or session.parent.resolve() == folder.resolve()
    is_there = session.suffix == ".ipynb" and is_here and (folder / session.name).is_file()
    return session.name if is_there else ""


def recall(folder: Path) -> tuple[Kept, bool]:
    """Results that a folder keeps, by exercise; and whether some of it cannot be read."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, False
    except (OSError, ValueError, RecursionError):
        return {}, True
    if not isinstance(found, dict):
        return {}, True
    lists = {name: one if isinstance(one, list) else [one] for name, one in found.items()}
    kept = {name: list(filter(None, map(_checked, several))) for name, several in lists.items()}
    is_whole = all(len(kept[name]) == len(several) for name, several in lists.items())
    return {name: several for name, several in kept.items() if several}, not is_whole


def definition(sources: Iterable[str], function: str) -> str | None:
    """The last cell that defines a function at its top; None if none does."""
    name = re.escape(function)
    defines = re.compile(
        rf"^(?:(?:async\s+)?(?:def|class)\s+{name}\b|{name}\s*(?::[^=\n]*)?=(?!=)"
        rf"|(?:from\s.*\s)?import\s.*\b{name}\b)",
        re.MULTILINE,
    )
    return next((text for text in reversed(list(sources)) if defines.search(text)), None)


def _defines(source: str, name: str) -> bool:
    """True if a cell gives a name a value at its top."""
    try:
        symbol = symtable(source, "cell", "exec").lookup(name)
    except KeyError:
        return False
    except (SyntaxError, ValueError):  # a magic, or half a line
        return definition([source], name) is not None
    return symbol.is_assigned() or symbol.is_imported()


def fingerprint(source: str) -> str:
    """A short hash of a cell, whatever space stands at the ends of its lines."""
    lines = [line.rstrip() for line in source.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _checked(one: object) -> Checked | None:
    """An entry of the file; None if it is none."""
    with suppress(TypeError):
        checked = Checked(**one)  # type: ignore[arg-type]  # a mapping or a TypeError
        numbers = checked.points, checked.time
        if all(type(each) in (int, float) for each in numbers) and all(
            isinstance(each, str) for each in (checked.function, checked.answer, checked.notebook)
        ):
            return checked
    return None


def run_so_far() -> list[str] | None:
    """The cells that a kernel of Jupyter has run, as they were typed; None if this is no kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not getattr(shell, "kernel", None):
        return None
    return [str(source) for source in shell.history_manager.input_hist_raw]
