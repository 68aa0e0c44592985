"""Acts of honest notebooks are not called cheating, and the guide lists all that is."""

from __future__ import annotations

import re
from pathlib import Path

from attn_grade.host.deadline import CELL_SECONDS, NOTEBOOK_SECONDS
from attn_grade.host.isolation import strongest
from attn_grade.inside import limits
from attn_grade.inside.alarm import Kind
from tests.confined import HONEST, SPARED, all_said, grade, open_process
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


def test_honest_acts_are_remarks_at_most_and_cost_nothing(tmp_path: Path) -> None:
    with open_process(strongest(), tmp_path) as process:
        graded = grade(process, *ACTS.values(), HONEST, SPARED)
    part = graded.parts["spared"]
    assert (float(part.points), part.state, graded.state) == (part.points.of, "graded", "graded")
    assert "network" in all_said(graded, "spared")


def test_guide_lists_all_that_is_called_cheating_and_nothing_else() -> None:
    guide = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ((?:tried|called) [^|]+) \|", guide, re.M)
    assert sorted(listed) == sorted(kind.text.format("...") for kind in Kind if kind.accuses)


def test_limits_in_the_promise_are_those_of_the_program() -> None:
    promised = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    memory, file = limits.MEMORY // 2**30, limits.FILE_SIZE // 2**20
    assert f"at most {memory} GB of memory, {limits.PROCESSES} processes, {file} MB" in promised
    assert (CELL_SECONDS, NOTEBOOK_SECONDS) == (180, 1800)
    assert "three minutes for a cell and half an hour in all" in promised
