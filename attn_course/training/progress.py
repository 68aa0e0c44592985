"""A progress bar if someone is watching, silence otherwise.

In a terminal it is a line on stderr, in a notebook a widget. If stderr goes to a file, or if a
notebook is executed unattended, for the book or by a test, the bar would only leave noise behind,
so none is shown.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

SMOOTHED_OVER = 50  # steps


@contextmanager
def progress_bar(wanted: bool, steps: int, losses: list[float]) -> Iterator[Callable[[], None]]:
    """Show the number of steps done, the pace, and the mean of the latest losses.

    Yields a function to call after each step, once `losses` has one more entry.
    """
    if not (wanted and is_watched()):
        yield lambda: None
        return
    with warnings.catch_warnings():  # tqdm warns where ipywidgets is missing, and shows text
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    with tqdm(total=steps, initial=len(losses), unit=" steps", dynamic_ncols=True) as bar:

        def show() -> None:
            bar.set_postfix_str(f"loss {fmean(losses[-SMOOTHED_OVER:]):.3f}", refresh=False)
            bar.update()

        yield show
        bar.total = bar.n  # or a notebook would colour an early stop as a failure


def is_watched() -> bool:
    """True if someone can see a progress bar while it moves."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return sys.stderr.isatty()
    # a page with a reader lets cells ask for input; nbclient, nbval and nbgrader do not
    return getattr(kernel, "_allow_stdin", True)
