"""What cells see of the grader: `check`, its table, the shell, and how they show something.

No points depend on these, and none on the functions by which cells compare numbers. Whoever puts
others in the places of the former wants to deceive somebody who looks at the notebook; whoever
puts others in the places of the latter may only want to print what they compare.
"""

import sys
from typing import TYPE_CHECKING

import torch
from IPython import get_ipython
from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher

from attn_course.grading import score
from attn_course.grading.outside import shell
from attn_course.grading.outside.integrity import Parts, aspects, parts_of

if TYPE_CHECKING:
    from attn_course.grading.outside.child import Notebook

COMPARING = ((torch, ("allclose", "equal", "isclose", "eq")), (torch.testing, ("assert_close",)))
COMPARING += ((torch.Tensor, ("allclose", "equal", "isclose", "eq", "__eq__")),)
SHOWING = (score, shell, CapturingDisplayHook, CapturingDisplayPublisher)


def parts_shown(notebook: "Notebook") -> Parts:
    """All that cells see, by its names."""
    grading = "attn_course.grading"
    modules = {name: sys.modules.get(name) for name in ("attn_course", grading, score.__name__)}
    found: Parts = {f"{grading}.check": (getattr(modules[grading], "check", None),)}
    found |= {f"the module {name}": (module,) for name, module in modules.items()}
    found |= {f"the {name} behind the check": (one,) for name, one in vars(notebook).items()}
    for place in SHOWING:
        found |= parts_of(place, place.__name__)
    found["what Score shows"] = (", ".join(sorted(vars(score.Score))),)
    for one, names in _methods_that_show(notebook):
        for name in names:
            method = getattr(one, name, None)
            found[f"{name} of the shell"] = aspects(getattr(method, "__func__", method))
    return found


def parts_compared() -> Parts:
    """The functions by which cells compare numbers, by their names."""
    return {
        f"{place.__name__}.{name}": (getattr(place, name),)
        for place, names in COMPARING
        for name in names
    }


def _methods_that_show(notebook: "Notebook") -> list[tuple[object, tuple[str, ...]]]:
    ipython = get_ipython()
    return [
        (ipython, ("run_cell", "run_code", "run_ast_nodes")),
        (ipython.display_formatter, ("format",)),
        (notebook.shell, ("run",)),
    ]
