"""A line in a notebook while something takes long; it is empty once that is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOOKING = "looking for what went wrong ..."


@contextmanager
def shown_at_work(words: str = LOOKING) -> Iterator[None]:
    """Show a line inside the `with` block, where a kernel of Jupyter runs; nothing stays of it."""
    display = _display_of_kernel()
    if display is None:
        yield
        return
    handle = display({"text/plain": words}, raw=True, display_id=True)
    try:
        yield
    finally:
        handle.update({"text/plain": ""}, raw=True)


def _display_of_kernel() -> Any:
    """IPython's `display` in a kernel, whose front end can change what was shown; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return ipython.display.display if ipython and getattr(shell, "kernel", None) else None
