"""A progress bar for those who watch, and silence for the rest.

In a terminal it is a line on stderr, in a notebook a widget. Where stderr goes to a file, or where
a notebook is executed with nobody in front of it, for the book or by a test, the bar would stay as
noise: there is none.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

SMOOTHED_OVER = 50  # steps


@contextmanager
def progress_bar(wanted: bool, steps: int, losses: list[float]) -> Iterator[Callable[[], None]]:
    """Show how many of the steps are done, at what pace, and the mean of the latest losses.

    Yields a function to be called whenever `losses` has become one longer.
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
        bar.total = bar.n  # an early stop is no failure, as which a notebook would colour it


def is_watched() -> bool:
    """Whether someone sees a progress bar while it moves."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return sys.stderr.isatty()
    # a page with a reader lets cells ask for input; nbclient, nbval and nbgrader do not
    return getattr(kernel, "_allow_stdin", True)
