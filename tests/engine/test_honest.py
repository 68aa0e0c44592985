"""Acts of honest notebooks are not called cheating, and the guide lists all that is."""

from __future__ import annotations

import re

import pytest
from hintgrader.pipeline.record import part_record
from hintgrader.pipeline.run_order import ANOTHER_ORDER, SEVERAL, out_of_order
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.worker import limits
from hintgrader.worker.alarm import Kind
from hintgrader.worker.time_limits import CELL_SECONDS, NOTEBOOK_SECONDS
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.confined import HONEST, RIGHT, SPARED, TRIED, all_said, all_shown, grade
from tests.conftest import ROOT

# Code of people who know no sandbox; there is no network in it, and some modules are missing.
ACTS = {
    "a file fetched, if it can be": """
from urllib.request import urlretrieve
try: urlretrieve("http://example.org/data.csv", "data.csv")
except OSError: print("no network")""",
    "a page": "import requests\nrequests.get('https://example.org', timeout=1)",
    "a model of somebody's": "import torch\ntorch.hub.load('pytorch/vision', 'resnet18')",
    "the name of one's machine": """
import socket
try: print(socket.gethostbyname(socket.gethostname()))
except OSError as error: print(error)""",
    "one's own child killed": """
import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
os.kill(child.pid, signal.SIGTERM); child.wait()
group = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.killpg(group.pid, signal.SIGKILL); group.wait()""",
    "a pool that ends": """
import multiprocessing
one = multiprocessing.get_context("fork").Process(target=__import__("time").sleep, args=(60,))
one.start(); one.terminate(); one.join()""",
    "an alarm for oneself": """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: print("rang"))
os.kill(os.getpid(), signal.SIGUSR1)""",
}


def test_honest_acts_are_remarks_at_most_and_cost_nothing(process: SandboxProcess) -> None:
    graded = grade(process, *ACTS.values(), HONEST, SPARED)
    part = graded.parts["spared"]
    assert (float(part.points), part.state, graded.state) == (part.points.of, "graded", "graded")
    assert "network" in all_said(graded, "spared")


# What a kernel of Jupyter's offers, and the account in which it runs.
OFFERED = (
    "import faulthandler\nfaulthandler.enable()",
    "import sys\nassert sys.stdout.encoding.lower() == 'utf-8'\nsys.stdout.name, sys.stderr.errors",
    "import subprocess, sys\nsubprocess.run(['echo', 'x'], stdout=sys.stdout, check=True)",
    "import getpass\nassert getpass.getuser()",
    "breakpoint()",  # at home somebody has typed `c`
)


@pytest.mark.parametrize("source", OFFERED)
def test_what_a_kernel_offers_is_here_too(process: SandboxProcess, source: str) -> None:
    graded = grade(process, f"{source}\n{RIGHT}", TRIED)
    part = graded.parts["tried"]
    assert (float(part.points), graded.incomplete) == (part.points.of, False), all_shown(graded)


def test_source_of_an_answer_is_read_behind_the_wall_for_a_hint(process: SandboxProcess) -> None:
    shadowed = """def softmax(scores):
    for scores in scores.exp():
        pass
    return int(scores.sum() / 0)"""
    graded = grade(process, shadowed, TRIED, HONEST, SPARED)
    assert "`for scores in ...` gives" in (graded.parts["tried"].points.hint or "")
    assert [*graded.alarms, *graded.parts["tried"].alarms] == []


HELPED = """def softmax(scores):
    raised = raise_all(scores)
    return raised / raised.sum(-1, keepdim=True)"""
HELPER = "def raise_all(scores):\n    return torch.exp(scores - scores.amax(-1, keepdim=True))"
# What a kernel still knew when the check was run, and the notebook does not say any more.
HIDDEN_STATE = {
    "a helper deleted": ([HELPED, TRIED], "a call raised NameError: name 'raise_all' is"),
    "a helper below": ([HELPED, TRIED, HELPER], "a call raised NameError: name 'raise_all' is"),
    "a variable renamed": (
        ["dim = -1", RIGHT.replace("-1", "axis"), TRIED],
        "a call raised NameError: name 'axis' is not defined",
    ),
    "an import deleted": (
        ["%reset -f\nfrom attn_bank import check", RIGHT, TRIED],
        "a call raised NameError: name 'torch' is not defined",
    ),
    "another name for the answer": (
        [RIGHT.replace("softmax", "my_softmax"), TRIED],
        "there is no function `softmax`: did you run the cell above?",
    ),
    "another thing of its name": (
        [f"{RIGHT}\nsoftmax = 3", TRIED],
        "`softmax` is 3, not a function",
    ),
}


@pytest.mark.parametrize("name", HIDDEN_STATE)
def test_what_a_kernel_still_knew_is_a_remark(process: SandboxProcess, name: str) -> None:
    cells, reason = HIDDEN_STATE[name]
    record = part_record("tried", grade(process, *cells).parts["tried"], claimed=4.0)
    assert record.state in ("graded", "missing")
    assert "shows 4 of 4 points, and its code earns 0 on the same inputs" in record.notes[-2]
    assert reason in record.notes[-1]
    unclaimed = part_record("tried", grade(process, *cells).parts["tried"], claimed=None)
    assert unclaimed.notes == ()


@pytest.mark.parametrize("body", ["return scores", "raise NotImplementedError"])
def test_points_shown_for_what_was_never_right_are_named(
    process: SandboxProcess, body: str
) -> None:
    part = grade(process, f"def softmax(scores):\n    {body}", TRIED).parts["tried"]
    assert part_record("tried", part, claimed=4.0).state == "cheated?"
    record = part_record("tried", part, claimed=4.0, out_of_order=ANOTHER_ORDER)
    assert record.state in ("graded", "missing")
    assert record.notes[-1] == ANOTHER_ORDER


@pytest.mark.parametrize(
    ("counts", "shown", "expected"),
    [
        ((1, 2, 3), 2, False),
        ((3, 2, 4), 2, True),  # changed after the check
        ((2, 3, 1), 3, True),  # it knew what stands below
        ((None, 2, None), 2, False),
        ((9, None, 1), 2, False),
        ((9, 2, 1), 7, False),  # the output comes from elsewhere
    ],
)
def test_order_of_the_cells_is_read_from_their_counts(
    counts: tuple[int | None, ...], shown: int, expected: bool
) -> None:
    cells = [new_code_cell(execution_count=count) for count in counts]
    cells[1].metadata.nbgrader = {"grade_id": "softmax-check"}
    cells[1].outputs = [new_output("execute_result", {"text/plain": "4.0"}, execution_count=shown)]
    found = out_of_order(new_notebook(cells=cells))
    assert found == ({"softmax-check": ANOTHER_ORDER} if expected else {})


OTHER_HELPER = HELPER.replace("scores - ", "scores + ")
ELSEWHERE = "scale = 2\ndef unused(): return scale"


@pytest.mark.parametrize(
    ("sources", "count", "name"),
    [
        ([HELPER, OTHER_HELPER, HELPED], None, "raise_all"),
        ([HELPED, HELPER, OTHER_HELPER], None, "raise_all"),
        ([RIGHT, "%time\n" + HELPED, HELPER], None, "softmax"),
        ([HELPER.replace("-1", "axis"), HELPED, "axis = -1", "axis = 0"], None, "axis"),
        ([HELPER, HELPER, HELPED, "def broken("], None, None),  # both say the same
        ([ELSEWHERE, "scale = 3", HELPER, HELPED], None, None),  # on which it does not depend
        ([HELPER, OTHER_HELPER, HELPED], 1, None),  # in order
    ],
)
def test_names_with_several_definitions_are_a_reason_where_no_cell_is_counted(
    sources: list[str], count: int | None, name: str | None
) -> None:
    check = new_code_cell(TRIED.source, execution_count=count)
    check.metadata.nbgrader = {"grade_id": "tried", "grade": True, "solution": False}
    check.outputs = [new_output("execute_result", {"text/plain": "4.0"}, execution_count=count)]
    found = out_of_order(new_notebook(cells=[*map(new_code_cell, sources), check]))
    assert found == ({"tried": SEVERAL.format(name)} if name else {})


def test_guide_lists_all_that_is_called_cheating_and_nothing_else() -> None:
    guide = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ((?:tried|called) [^|]+) \|", guide, re.M)
    assert sorted(listed) == sorted(kind.text.format("...") for kind in Kind if kind.accuses)


def test_limits_in_the_promise_are_those_of_the_program() -> None:
    promised = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    memory, file = limits.MEMORY // 2**30, limits.FILE_SIZE // 2**20
    assert f"at most {memory} GB of memory, {limits.PROCESSES} processes, {file} MB" in promised
    assert (CELL_SECONDS, NOTEBOOK_SECONDS) == (180, 1800)
    assert "of processor time three minutes for a cell and half an hour in all" in promised
