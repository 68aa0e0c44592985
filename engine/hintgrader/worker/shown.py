"""The parts of the grader that cells see: `check`, its table, the shell, and its displays.

No points depend on these, and none on the functions by which cells compare numbers. Code that
replaces the former wants to deceive a reader of the notebook; code that replaces the latter may
only want to print what is compared.
"""

import sys
from typing import Any

import torch
from IPython import get_ipython
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher

from hintgrader.worker.integrity import VISIBLE_MODULES, Parts, aspects, parts_of
from hintgrader.worker.points import Points
from hintgrader.worker.shell import Shell
from hintgrader.worker.wall import WORKER

COMPARISONS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (torch, ("allclose", "equal", "isclose", "eq")),
    (torch.testing, ("assert_close",)),
)
COMPARISONS += ((torch.Tensor, ("allclose", "equal", "isclose", "eq", "__eq__")),)
DISPLAY_CLASSES = (CapturingDisplayHook, CapturingDisplayPublisher)


def parts_shown(bank: str, notebook: dict[str, Any]) -> Parts:
    """The parts that cells see, by name.

    Args:
        bank: Name of the package that stands for the bank of exercises.
        notebook: The attributes of what runs the cells, its shell among them.
    """
    found: Parts = {f"{bank}.check": (getattr(sys.modules.get(bank), "check", None),)}
    seen = (bank, WORKER, *(module.__name__ for module in VISIBLE_MODULES))
    found |= {f"the module {name}": (sys.modules.get(name),) for name in seen}
    found |= {f"the {name} of the notebook": (one,) for name, one in notebook.items()}
    for place in (*VISIBLE_MODULES, *DISPLAY_CLASSES):
        found |= parts_of(place, place.__name__)
    found["what Points shows"] = (", ".join(sorted(vars(Points))),)
    for one, names in _methods_that_show(notebook["shell"]):
        for name in names:
            method = getattr(one, name, None)
            found[f"{name} of the shell"] = aspects(getattr(method, "__func__", method))
    return found


def parts_compared() -> Parts:
    """The functions by which cells compare numbers, by their names."""
    return {
        f"{place.__name__}.{name}": (getattr(place, name),)
        for place, names in COMPARISONS
        for name in names
    }


def _methods_that_show(shell: Shell) -> list[tuple[object, tuple[str, ...]]]:
    ipython = get_ipython()
    return [
        (ipython, ("run_cell", "run_code", "run_ast_nodes")),
        (ipython.display_formatter, ("format",)),
        (shell, ("run",)),
    ]
