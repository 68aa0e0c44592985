"""The progress bar: a line in a terminal, a widget in a notebook, nothing where nobody watches."""

from __future__ import annotations

import contextlib
import html
import itertools
import os
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from torch import Tensor, nn

from attn_course.training import progress, train
from attn_course.training.progress import progress_bar
from tests.conftest import ROOT
from tests.course.points import Points, new_model, points, squared_error, train_points
from tests.kernels import kernel_name

STEPS = 60


@pytest.fixture(scope="module")
def losses() -> list[float]:
    """Return the losses of the run that all tests show."""
    return train_points(new_model(), STEPS).losses


def last_state(losses: list[float], seconds: str = r"\d\d:\d\d<00:00") -> str:
    """Return a pattern of the bar after the last step, with the mean loss of 50 steps."""
    pace = r"\s*\d+\.\d+ steps/s"
    return rf"100%\|█+\| 60/60 \[{seconds},{pace}, loss {fmean(losses[-50:]):.3f}\]"


# --- a terminal ---------------------------------------------------------------------------------


def in_a_terminal(code: str, *arguments: str) -> str:
    """Run a program in a terminal, 100 characters wide, and return what it shows."""
    ours, its = os.openpty()
    termios.tcsetwinsize(its, (24, 100))
    run = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        stdin=its,
        stdout=its,
        stderr=its,
    )
    os.close(its)
    shown = b"".join(iter(lambda: read(ours), b"")).decode()
    os.close(ours)
    assert run.wait() == 0, shown
    return shown


def read(terminal: int) -> bytes:
    """Return what a terminal shows next, or nothing when its program has ended."""
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that nobody writes any more
        return b""


RESUME = """
import sys
from tests.course.points import new_model, train_points
train_points(new_model(), 60, checkpoint=sys.argv[1])
"""


def stop_at(step: int) -> Callable[[nn.Module, Points], Tensor]:
    """Return a loss that stops the run before a step."""
    calls = itertools.count()

    def loss(model: nn.Module, batch: Points) -> Tensor:
        if next(calls) == step:
            raise KeyboardInterrupt
        return squared_error(model, batch)

    return loss


def test_terminal_shows_one_line_that_grows_from_where_the_run_stands(
    losses: list[float], tmp_path: Path
) -> None:
    file = tmp_path / "run.pt"
    with pytest.raises(KeyboardInterrupt):
        train(new_model(), points(), stop_at(20), STEPS, checkpoint=file)
    shown = in_a_terminal(RESUME, str(file))
    states = [state.strip() for state in re.split(r"[\r\n]+", shown) if state.strip()]
    assert re.fullmatch(r"33%\|█+[^|]*\| 20/60 \[00:00<\?, \? steps/s\]", states[0])
    assert re.fullmatch(last_state(losses), states[-1])
    assert shown.count("\n") == 1


def test_nothing_is_written_to_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    train_points(new_model())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("stops", [True, False])
def test_bar_that_stops_early_ends_full_unless_the_run_failed(
    stops: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    losses: list[float] = []
    with contextlib.suppress(KeyboardInterrupt), progress_bar(True, 10, losses) as show:
        for loss in (8.0, 6.0, 1.0):
            losses.append(loss)
            show()
        if not stops:
            raise KeyboardInterrupt
    last = capsys.readouterr().err.split("\r")[-1]
    assert ("3/3 " if stops else "3/10 ") in last
    assert "loss 5.000" in last


def test_bar_that_is_not_wanted_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    train_points(new_model(), progress=False)
    assert capsys.readouterr().err == ""
    train_points(new_model())
    assert "24/24" in capsys.readouterr().err


# --- a notebook ---------------------------------------------------------------------------------

TRAIN = "from tests.course.points import new_model, train_points; train_points(new_model(), 60);"
# ipywidgets is found missing, and nothing of tqdm is loaded yet
WITHOUT_WIDGETS = """
import sys
for name in [name for name in sys.modules if name.partition(".")[0] in ("tqdm", "ipywidgets")]:
    del sys.modules[name]
sys.modules["ipywidgets"] = None
"""


@pytest.fixture(scope="module")
def notebook() -> NotebookNode:
    """Execute the same cell with nobody in front of it, before a page, and without ipywidgets."""
    cells = [TRAIN, "import sys; 'tqdm.notebook' in sys.modules", TRAIN, WITHOUT_WIDGETS, TRAIN]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    place = {"metadata": {"path": str(ROOT)}}
    client = NotebookClient(notebook, timeout=120, resources=place, kernel_name=kernel_name())

    def watch_from_the_third_cell_on(cell: NotebookNode, cell_index: int) -> None:
        client.kc.allow_stdin = cell_index >= 2  # as JupyterLab does

    client.on_cell_execute = watch_from_the_third_cell_on
    return client.execute()


def test_notebook_that_nobody_watches_stays_clean(notebook: NotebookNode) -> None:
    assert notebook.cells[0].outputs == []
    assert notebook.cells[1].outputs[0].data["text/plain"] == "False"


def test_notebook_that_is_watched_shows_a_widget(
    notebook: NotebookNode, losses: list[float]
) -> None:
    (output,) = notebook.cells[2].outputs
    assert "application/vnd.jupyter.widget-view+json" in output.data
    widgets = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    states = [widget["state"] for widget in widgets.values()]
    (bar,) = [state for state in states if "bar_style" in state]
    assert (bar["value"], bar["max"], bar["bar_style"]) == (60, 60, "success")
    texts = [html.unescape(state["value"]) for state in states if "placeholder" in state]
    text = "".join(texts).replace("\u2007", " ")  # spaces as wide as a digit
    assert re.fullmatch(last_state(losses).replace(r"\|█+\|", ""), text)


def test_notebook_without_ipywidgets_shows_text_and_no_warning(
    notebook: NotebookNode, losses: list[float]
) -> None:
    text = "".join(output.text for output in notebook.cells[4].outputs)
    assert re.fullmatch(last_state(losses), text.split("\r")[-1].strip())
    assert "Warning" not in text
