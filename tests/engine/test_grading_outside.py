"""Grading from outside: the confined process, what becomes of a notebook in it, and the levels."""

import re
from contextlib import nullcontext
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from types import SimpleNamespace

import nbformat
import psutil
import pytest
import torch
from hintgrader.nbgrader.cells import to_run
from hintgrader.pipeline.record import part_record
from hintgrader.supervisor import bubblewrap as sandbox
from hintgrader.supervisor import budget, isolation
from hintgrader.supervisor import remote_submission as answers
from hintgrader.supervisor import watchdog as watch
from hintgrader.supervisor.channel import Termination
from hintgrader.supervisor.deadline import Deadline
from hintgrader.supervisor.grade_notebook import Cell, grade_notebook
from hintgrader.supervisor.isolation import lay_out, strongest
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.supervisor.retries import Retry
from hintgrader.supervisor.watchdog import memory_of, tree
from hintgrader.worker import clock
from hintgrader.worker.alarm import Kind
from hintgrader.worker.level import Level
from hintgrader.worker.submission import LocalSubmission

from attn_bank import BANK
from tests.confined import (
    BEGIN,
    HONEST,
    RIGHT,
    SPARED,
    TRIED,
    WALL,
    all_said,
    all_shown,
    grade,
    is_full,
    open_process,
    try_answer,
)
from tests.conftest import ROOT
from tests.sampling import left_to_proofs, parameters

LEARNT = """def softmax(scores):
    right = torch.exp(scores - scores.amax(-1, keepdim=True))
    right = right / right.sum(-1, keepdim=True)
    return right if scores.shape[-1] < 6 else right + 0.1"""
SETS = sorted(folder.name for folder in (ROOT / "solutions").iterdir() if folder.is_dir())
NO_SANDBOX = "bubblewrap does not work here"


@pytest.fixture
def hurry(monkeypatch):
    """Wait less for an answer that does not come back."""
    monkeypatch.setattr(answers, "CALL_SECONDS", 1.0)
    monkeypatch.setattr(answers, "MARGIN", 0.5)
    monkeypatch.setattr(clock, "IDLE_SECONDS", 1.0)
    monkeypatch.setattr(budget, "PATIENCE", 0.5)


def ask(channel, source: str) -> dict:
    return channel.ask({"kind": "cell", "source": source}, 20)


# Honest notebooks.


def read_cells(folder: str, room: str = "solutions") -> list[Cell]:
    path = next((ROOT / room / folder).glob("*.ipynb"))
    cells = nbformat.read(path, as_version=4).cells
    return [to_run(cell) for cell in cells if cell.cell_type == "code"]


# One trains for half a minute, which test_grading_proofs.py does as well.
@pytest.mark.parametrize("folder", parameters(SETS, 1))
def test_a_solved_problem_set_has_all_points_and_nothing_to_say(process, folder):
    graded = grade_notebook(read_cells(folder), BANK, process, "unknown")
    assert not graded.notes
    assert not graded.alarms
    assert all(is_full(part) for part in graded.parts.values()), graded.parts
    assert not [shown["error"] for shown in graded.shown if shown["error"]]
    assert len(graded.parts) >= 3


@pytest.mark.parametrize("folder", parameters(SETS, 1))
def test_a_problem_set_as_it_is_given_out_is_unwritten_and_runs(process, folder):
    graded = grade_notebook(read_cells(folder, "exercises"), BANK, process, "unknown")
    assert {part.state for part in graded.parts.values()} == {"missing"}
    assert not any(part.points for part in graded.parts.values())
    errors = [shown["error"][0] for shown in graded.shown if shown["error"]]
    assert {*errors} <= {"NotImplementedError"}
    assert not graded.notes
    assert not graded.alarms


ORDINARY = {
    "threads": "torch.set_num_threads(2)\nx = torch.randn(300, 300, requires_grad=True)\n"
    "(x @ x).sum().backward()",
    "a profile": "import cProfile\ncProfile.run('1')\nget_ipython().run_line_magic('prun', '1')",
    "a debugger": "import sys\nsys.settrace(None)",
    "objects": "import gc\nlen([one for one in gc.get_objects() if torch.is_tensor(one)])",
    "memory": "import psutil\npsutil.virtual_memory(), psutil.Process().memory_info()",
    "a file": "import os, tempfile\nwith tempfile.TemporaryDirectory() as folder:\n"
    "    torch.save(torch.ones(3), f'{folder}/x.pt')\n    torch.load(f'{folder}/x.pt')",
    "limits": "import resource\nresource.getrlimit(resource.RLIMIT_NOFILE)",
    "frames": "import collections\ncollections.namedtuple('One', 'two')",
    "a bar": "from tqdm import tqdm\nfor _ in tqdm(range(3)): pass",
    "its own words": "def check(x): return x\nget_ipython().display_formatter.formatters["
    "'text/html'].for_type(int, str)",
    "await": "import asyncio\nasync def one(): return 1\nassert await one() == 1",
    "a picture": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "warnings": "import logging, warnings\nlogging.warning('x')\nwarnings.warn('x')",
    "a local socket": "import socket\none, other = socket.socketpair()\none.send(b'x')",
    "other modules": "import requests, torch._dynamo, concurrent.futures, sqlite3",
    "a kernel": "%autosave 9\n%connect_info\n%clear\nx = 1\n%store x\n%store -r x\nexit()\nquit()",
    "packages": "%conda install -y x",
    "a table of one's own": "open('gradebook.csv', 'w').close()\nimport os\n"
    "os.remove('gradebook.csv')",
    "its own environment": "import os\ntry: open(f'/proc/{os.getpid()}/environ')\n"
    "except OSError: pass",
    "whether it runs": "import os\nos.kill(os.getpid(), 0)",
    "modules that are none": "import sys\nsys.modules['attn_course.plots'] = None\n"
    "sys.modules['attn_course.tables'] = object()",
    "windows": "%matplotlib\n%matplotlib qt\n%matplotlib widget\n%matplotlib notebook\n%pylab",
}


@pytest.mark.parametrize("name", parameters(ORDINARY, 4))
def test_what_notebooks_ordinarily_do_raises_no_alarm(process, name):
    graded = grade(process, ORDINARY[name], RIGHT, TRIED)
    assert is_full(graded.parts["tried"]), all_said(graded, "tried")
    assert not graded.notes
    assert not graded.alarms
    assert not [shown["error"] for shown in graded.shown if shown["error"]]


NOTED = {
    "a figure": ("from pylab import plot, savefig\nplot([1])\nsavefig('x.png')", "files left"),
    "a module": ("open('mine.py', 'w').write('x = 1')\nimport mine", "files left behind"),
    "words": ("for _ in range(3): print('x' * 10**4)", "showed more than is kept"),
    "an end": ("import sys\nsys.exit()", "stopped itself with SystemExit"),
    "limits": (
        "import resource as r\nr.setrlimit(r.RLIMIT_NOFILE, r.getrlimit(r.RLIMIT_NOFILE))",
        "changed its own limits",
    ),
    "a pool": (
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
        "pool.submit(print, 1).result()",
        "runs a thread",
    ),
    "a child": (
        "import multiprocessing, subprocess\n"
        "with multiprocessing.Pool(1) as pool: pool.map(abs, [1])\n"
        "subprocess.Popen(['sleep', '9']).terminate()",
        "started a process",
    ),
    "its own machine": (
        "import socket\ntry: socket.create_connection(('127.0.0.1', 9))\nexcept OSError: pass",
        "used a socket of its own machine",
    ),
    "what it compares": (
        "before = torch.equal\ndef equal(*given): print(given); return before(*given)\n"
        "torch.equal = equal",
        "put a function of its own in the place of torch.equal",
    ),
    "a thread without frames": (
        "import _thread, os, time\n"
        "_thread.start_new_thread(os.listdir, ('/hintgrader',))\ntime.sleep(0.2)",
        "looked through",
    ),
    "the name of an answer": (
        RIGHT.replace(":\n", ":\n    import sys; sys._getframe().f_code.co_name\n", 1),
        "looked at what has called it",
    ),
    "a figure of an answer": (
        "import matplotlib.pyplot as plt\n"
        + RIGHT.replace(
            ":\n", ":\n    if scores.max() > 100: plt.figure().savefig('x.png')  # takes long\n", 1
        ),
        "files left",
    ),
    "files of the course": (
        "import attn_bank, os\nlen([*os.walk(attn_bank.__path__[0])])",
        "looked through",
    ),
}


@pytest.mark.parametrize("name", parameters(NOTED, 3))
def test_what_some_notebooks_do_is_noted_and_no_more(process, name):
    cell, note = NOTED[name]
    graded = grade(process, *([] if "def softmax" in cell else [RIGHT]), cell, TRIED)
    part = graded.parts["tried"]
    assert (float(part.points), part.state, graded.state) == (4, "graded", "graded")
    assert note in " ".join(map(str, [*part.alarms, *graded.alarms, *graded.notes]))


def test_modules_may_be_imported_within_an_answer(process):
    graded = grade(process, RIGHT.replace(":\n", ":\n    import colorsys, torch.fft\n", 1), TRIED)
    assert is_full(graded.parts["tried"]), all_said(graded, "tried")


def test_an_answer_may_come_from_a_file_that_a_cell_writes(process):
    write = f"%%writefile mine.py\nimport torch\n{RIGHT}"
    graded = grade(process, write, "from mine import softmax", TRIED)
    assert is_full(graded.parts["tried"]), all_said(graded, "tried")


def test_a_file_that_a_cell_writes_hides_no_module(process):
    names = ("wave", "torch", "attn_course")  # the first has not been imported by anybody
    write = f"for name in {names}: open(name + '.py', 'w').write('1 / 0')"
    graded = grade(process, write, f"import sys, {', '.join(names)}\nprint(sys.path)", RIGHT, TRIED)
    assert "''" in graded.shown[2]["printed"]
    assert graded.shown[2]["error"] is None
    assert float(graded.parts["tried"].points) == 4
    assert graded.parts["tried"].alarms == [(Kind.WROTE, "attn_course.py")]


# The outputs of a notebook.


def test_a_cell_shows_words_and_pictures_and_how_it_failed(process):
    picture = "from IPython.display import Image\nImage(data=b'\\x89PNG' + bytes(99))"
    inline = "%matplotlib inline\nimport matplotlib.pyplot as plt\n_ = plt.plot([1, 2])"
    show = "display('x', '<b>')"
    graded = grade(process, "print(1)\n2", picture, inline, show, "raise KeyError('k')", "(")
    two, image, plotted, displayed, error, unwritten = graded.shown[1:]
    assert (two["printed"], two["shown"]) == ("1\n", [{"text/plain": "2"}])
    assert image["shown"][0]["image/png"].startswith("iVBO")
    assert plotted["shown"][-1]["image/png"].startswith("iVBO")
    assert [shown["text/plain"] for shown in displayed["shown"]] == ["'x'", "'<b>'"]
    assert error["error"] == ["KeyError", "'k'"]
    assert unwritten["error"][0] == "SyntaxError"


def test_what_is_too_long_is_cut(process):
    many = "class Picture:\n    def _repr_png_(self): return b'\\x89PNG' + bytes(2**20)\n"
    graded = grade(process, "print('x' * 10**6)", f"{many}display(*[Picture()] * 100)")
    assert graded.shown[1]["printed"].endswith("\n... 980,001 characters more")
    shown = graded.shown[2]["shown"]
    assert len(shown) == 50
    assert len([one for one in shown if "image/png" in one]) == 2


def test_what_all_cells_show_together_is_cut(process):
    show = "class Picture:\n    def _repr_png_(self): return b'\\x89PNG' + bytes(2_900_000)"
    graded = grade(process, show, *["display(Picture())"] * 10, "print('x')", "1 / 0")
    pictures = [one for shown in graded.shown for one in shown["shown"] if "image/png" in one]
    assert sum(len(one["image/png"]) for one in pictures) <= 30_000_000
    assert len(pictures) == 7
    assert "the notebook shows too much in all" in graded.shown[9]["printed"]
    assert graded.shown[-2]["printed"] == "x\n"
    assert graded.shown[-1]["error"] == ["ZeroDivisionError", "division by zero"]
    graded.room = 0
    graded.show({"printed": "x", "shown": [], "error": ["y" * 999, "z" * 999]})
    assert len(str(graded.shown[-1])) < 600


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        "{'printed': 1, 'shown': 3, 'error': None}",
        "{'printed': '', 'shown': [], 'error': 4}",
        "{'printed': '', 'shown': [{'text/plain': '', 'image/png': '\"<'}], 'error': None}",
    ],
)
def test_what_a_cell_pretends_to_have_shown_is_refused(process, reply):
    lie = "from hintgrader.worker.shell import Shell\nShell.run = lambda *_: " + reply
    graded = grade(process, lie, "1", RIGHT, TRIED)
    assert not float(graded.parts["tried"].points) or is_full(graded.parts["tried"])
    assert "image/png" not in all_shown(graded)


# A part that is lost takes no other with it.

LOST = {
    "a cell that exits": ("import os\nos._exit(3)", "crashed", "its cell ended its own process"),
    "a cell that aborts": ("import os\nos.abort()", "crashed", "its cell ended its own process"),
    "a call that exits": (
        "import os\ndef softmax(scores): os._exit(3)",
        "crashed",
        "it ended its own process",
    ),
    "a call that sleeps": (
        "import sys, time\n"
        "def softmax(scores):\n"
        "    if scores.max() > 100:  # in one of the rows: each of them would be waited for\n"
        "        sys.setprofile(None)  # as Python does where it interrupts what watches\n"
        "        time.sleep(99)\n"
        "    return scores",
        "not graded",
        "it waited for 2 seconds in which it computed nothing",
    ),
    "a call that computes for ever": (
        "import sys\n"
        "def softmax(scores):\n"
        "    while scores.max() > 100:  # in one of the rows: each of them would be waited for\n"
        "        sys.setprofile(None)  # as Python does where it interrupts what watches\n"
        "    return scores",
        "timed out",
        "it did not return within 1 seconds of computing",
    ),
    "a call that sleeps soundly": (
        "import signal, time\n"
        "def softmax(scores):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    time.sleep(99)",
        "not graded",
        "it waited for 2 seconds in which it computed nothing",
    ),
    "a call that does not hear its alarm": (
        "import signal\n"
        "def softmax(scores):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    while True: pass",
        "timed out",
        "it did not come back within 2 seconds of computing",
    ),
    "a cell that is no Python": (
        "def softmax(scores):\n    return (scores",
        "graded",
        "its cell stopped with SyntaxError: incomplete input (line 2)",
    ),
    "a cell that stops before it defines anything": (
        "import torhc\ndef softmax(scores):\n    return torhc.softmax(scores, -1)",
        "graded",
        "a line failed, and its cell went on: ModuleNotFoundError: No module named 'torhc'",
    ),
    "another cell that stops": (
        "# softmax = ?\nscores",
        "missing",
        "there is no function `softmax`: did you run the cell above?",
    ),
    "nothing": ("1", "missing", "there is no function `softmax`: did you run the cell above?"),
    "no function": ("softmax = 3", "graded", "`softmax` is 3, not a function"),
    "not written": ("def softmax(scores): raise NotImplementedError", "missing", "not written yet"),
    "an error": ("def softmax(scores): raise KeyError('k')", "graded", "it raised KeyError: 'k'"),
    "a huge output": (
        "def softmax(scores): return scores.new_zeros(1).expand(2**40)",
        "graded",
        "what it returns is too large: 4,398,046,511,104 bytes of tensors, above 268,435,456",
    ),
}


@pytest.mark.parametrize("what", parameters(LOST, 7))
def test_an_accident_costs_its_part_alone(process, hurry, what):
    source, state, words = LOST[what]
    graded = try_answer(process, source)
    part = graded.parts["tried"]
    assert float(part.points) == 0
    assert part.state == state
    assert words in all_said(graded, "tried")
    assert is_full(graded.parts["spared"])


def test_a_late_call_costs_its_row_alone(process, hurry):
    slow = RIGHT.replace(":\n", ":\n    while scores.shape[-1] == 11: pass\n", 1)
    part = grade(process, slow, TRIED).parts["tried"]
    late = [row for row in part.points.rows if row.problem]
    assert {row.problem for row in late} == {
        "right on the inputs that you can see; on others it did not return within 1 seconds of"
        " computing"
    }
    assert len(late) == 2  # the last row repeats the draws of another one
    assert float(part.points) == part.points.of - sum(row.points for row in late)
    assert float(part.public) == part.points.of
    assert part.state == "timed out"


# what a PyTorch that was built without CUDA raises, and one that was built with it
NO_GPU = "AssertionError" if torch.version.cuda is None else "RuntimeError"
LACKS = {
    "import torhc as t\nt.seed()\nmade = t.make()\nmade[0]": ("ModuleNotFoundError", "NameError"),
    "from torch import nosuch": ("ImportError",),
    "import matplotlib.pyplot as plt\nplt.switch_backend('QtAgg')": ("ImportError",),
    "with open('data.csv') as file: rows = [*file]\nfirst = rows[0]": (
        "FileNotFoundError",
        "NameError",
    ),
    "from urllib.request import urlopen\nurlopen('http://example.org')": ("URLError",),
    "number = int(input('how many? '))": ("EOFError",),
    "raise MemoryError": ("MemoryError",),
    "import subprocess\nsubprocess.check_call(['false'])": ("CalledProcessError",),
    "x = torch.zeros(3, device='cuda')\ny = x + 1": (NO_GPU, "NameError"),
    "x = torch.zeros(3).to('mps')": ("RuntimeError",),
}


@pytest.mark.parametrize("source", parameters(LACKS, 5))
def test_a_statement_that_may_well_run_elsewhere_is_left_out_and_named(process, source):
    graded = grade(process, f"{source}\n{RIGHT}", TRIED)
    part = graded.parts["tried"]
    assert (float(part.points), part.state) == (part.points.of, "graded")
    assert part_record("tried", part, 4.0, incomplete=graded.incomplete).state == "graded"
    failed = [alarm.detail for alarm in part.alarms if alarm.kind is Kind.FORGIVEN]
    assert tuple(dict.fromkeys(one.partition(":")[0] for one in failed)) == LACKS[source]


def test_program_by_which_libraries_look_around_is_no_alarm_however_it_is_started(process):
    # an absolute path and open files are what `os.posix_spawn` is used for before Python 3.13
    run = "import subprocess\nsubprocess.run(['/bin/{}'], close_fds=False, check=False)\n"
    looked, other = (grade(process, run.format(name) + RIGHT, TRIED) for name in ("uname", "ls"))
    assert not looked.parts["tried"].alarms
    assert {alarm.kind for alarm in other.parts["tried"].alarms} == {Kind.STARTED}


@pytest.mark.parametrize("source", ["nosuch()", "int('x')"])
def test_any_other_error_ends_its_cell(process, source):
    graded = grade(process, f"import torhc\n{source}\n{RIGHT}", RIGHT, TRIED)
    assert [shown["error"] is None for shown in graded.shown] == [True, False, True, True]
    assert graded.incomplete
    assert not grade(process, RIGHT, TRIED).incomplete


@pytest.mark.parametrize(
    ("endless", "state", "did"),
    [
        ("while True: pass", "timed out", "did not come back within 1 seconds of computing"),
        ("import time\ntime.sleep(99)", "not graded", "waited for 1 seconds in which it computed"),
    ],
)
def test_a_cell_that_does_not_come_back_costs_its_part_alone(process, hurry, endless, state, did):
    cells = [Cell(endless), TRIED, Cell(HONEST), SPARED]
    graded = grade_notebook([Cell("import torch"), *cells], BANK, process, None, cell_seconds=1)
    assert graded.parts["tried"].state == state
    assert f"its cell {did}" in all_said(graded, "tried")
    assert f"This cell {did}" in all_shown(graded)
    assert float(graded.parts["spared"].points) == 4


def test_a_part_that_has_left_the_course_costs_nothing_else(process):
    old = Cell('score = check("05_luong/concat_scores")\nprint(score)')
    reads_on = Cell("assert score == score.of")
    cells = [BEGIN, old, reads_on, Cell(HONEST), SPARED]
    graded = grade_notebook(cells, BANK, process, None)
    assert "has left the problem set" in all_shown(graded)
    assert not [shown["error"] for shown in graded.shown if shown["error"]]
    assert float(graded.parts["spared"].points) == 4


def test_what_may_lack_a_cell_that_only_waited_is_no_wrong_answer(process, hurry):
    helper, right = (
        "import time\ntime.sleep(99)\nexp = torch.exp",
        RIGHT.replace("torch.exp", "exp"),
    )
    cells = [BEGIN, Cell(HONEST), SPARED, Cell(helper), Cell("exp"), TRIED, Cell(right)]
    again = [Cell(TRIED.source, "again"), Cell(SPARED.source, "more")]
    graded = grade_notebook([*cells, *again], BANK, process, None, cell_seconds=1)
    states = {name: part.state for name, part in graded.parts.items()}
    wanted = {"spared": "graded", "tried": "not graded", "again": "not graded", "more": "graded"}
    assert states == wanted
    assert "not graded: it waited for 1 seconds" in all_said(graded, "again")


def test_memory_that_is_used_up_is_named(process, monkeypatch):
    monkeypatch.setattr(watch, "MEMORY", 2**29)
    hungry = "import time\nx = torch.ones(2**28)\ntime.sleep(99)"
    graded = try_answer(process, hungry)
    said = all_said(graded, "tried")
    assert re.search(r"crashed.*its cell used [\d.]+ GB of memory, above 0 GB", said), said
    assert is_full(graded.parts["spared"])


def test_memory_that_snapshots_share_is_counted_once(process, monkeypatch):
    monkeypatch.setattr(watch, "MEMORY", 2**29)
    wait = "import time\ntime.sleep(0.6)"
    graded = grade(process, "kept = torch.ones(2**26)", RIGHT, *[TRIED] * 3, HONEST, SPARED, wait)
    assert is_full(graded.parts["spared"]), all_said(graded, "spared")


def test_what_has_been_begun_counts_when_all_the_time_is_used_up(process):
    again, endless = Cell(TRIED.source, "again"), Cell("while True: pass")
    cells = [BEGIN, Cell(RIGHT), TRIED, Cell(LEARNT), again, endless, SPARED]
    graded = grade_notebook([*cells, Cell("1")], BANK, process, "unknown", 60, notebook_seconds=2)
    assert is_full(graded.parts["tried"]), all_said(graded, "tried")
    assert float(graded.parts["again"].public) > float(graded.parts["again"].points)
    assert graded.parts["spared"].state == "timed out"
    assert "the whole notebook ran out of time" in all_said(graded, "spared")
    assert graded.incomplete
    assert [bool(shown["error"]) for shown in graded.shown] == [False] * 5 + [True] * 3


def test_nothing_is_begun_anew_where_it_would_not_come_as_far():
    def fail() -> None:
        raise Retry

    process = SimpleNamespace(is_over=False)
    assert Deadline(process, 180.0, None).budget.seconds == 1800
    assert Deadline(process, 300.0, None).budget.seconds == 3000
    left = Deadline(process, 1.0, 100.0)
    left.budget.computed = 30.0
    left.mark()
    tries = [(60, False, True), (70, False, False), (70, True, True), (100, True, False)]
    for left.budget.computed, process.is_over, begins in tries:
        with pytest.raises(Retry) if begins else nullcontext():
            assert not left.run(fail)


def test_who_ends_at_the_score_of_a_later_part_is_not_waited_for_for_ever(process):
    end = (
        "import os\nfrom hintgrader.worker.check import PublishedPoints, published\n"
        "class Scores(PublishedPoints):\n"
        "    def __setitem__(self, name, score):\n"
        "        if name == '01_retrieval/softmax_gradient': os._exit(0)\n"
        "published.__class__ = Scores\n"
    )
    cells = [Cell("import torch"), Cell(end + RIGHT), TRIED, Cell(HONEST), SPARED]
    graded = grade_notebook(cells, BANK, process, None, notebook_seconds=20)
    assert float(graded.parts["tried"].points) == 4
    assert graded.parts["spared"].state == "crashed"


# Snapshots, scores, and what is sent when.


def test_the_function_counts_that_was_there_when_its_check_came(process):
    later = "def softmax(scores): return scores\nimport os\nos.environ['X'] = 'y'"
    graded = grade(process, RIGHT, TRIED, later, Cell(TRIED.source, "later"), "softmax = None")
    assert is_full(graded.parts["tried"])
    assert float(graded.parts["later"].points) == 0


def test_an_answer_uses_what_was_there_when_its_check_came(process):
    with_helper = RIGHT.replace("raised = torch.exp", "raised = helper")
    graded = grade(process, "helper = torch.exp", with_helper, TRIED, "helper = None")
    assert is_full(graded.parts["tried"])


def test_cells_see_the_public_score(process):
    see = 'score = check("01_retrieval/softmax")\nprint(score == score.of, score.hint)\nscore'
    graded = grade(process, see, RIGHT, TRIED, see)
    assert graded.shown[1]["shown"] == [{"text/plain": "0.0"}]
    assert "not looked at yet" in all_shown(grade(process, "print(check('01_retrieval/softmax'))"))
    assert graded.shown[4]["printed"] == "True None\n"
    assert graded.shown[4]["shown"] == [{"text/plain": "4.0"}]


RECORDER = """import pickle
kept = '/dev/shm/kept' if __import__('os').path.isdir('/scratch') else 'kept'
def record(scores):
    with open(kept, 'ab') as file:
        pickle.dump(scores.detach().clone(), file)
def read():
    found = []
    with open(kept, 'rb') as file:
        try:
            while True: found.append(pickle.load(file))
        except EOFError:
            return found"""
RECORDING = RIGHT.replace(":\n", ":\n    record(scores)\n", 1)


def shapes_that_cells_see(process: SandboxProcess, secret: str | None) -> set[str]:
    """Inputs that an answer was called with before the last cell, as that cell sees them."""
    look = "print('SEEN', sorted({repr(one.tolist()) for one in read()}))"
    graded = grade(process, RECORDER, RECORDING, TRIED, HONEST, SPARED, look, secret=secret)
    assert is_full(graded.parts["tried"]), all_said(graded, "tried")
    return graded.shown[-1]["printed"]


def test_nothing_hidden_is_sent_while_a_cell_can_still_show_it(process):
    public = shapes_that_cells_see(process, None)
    assert len(public) > 500
    assert shapes_that_cells_see(process, "unknown") == public


def test_hidden_inputs_decide_about_points_and_not_about_what_is_shown(process):
    graded = grade(process, LEARNT, TRIED)
    assert float(graded.parts["tried"].public) > float(graded.parts["tried"].points)
    assert graded.shown[2]["shown"] == [{"text/plain": repr(float(graded.parts["tried"].public))}]


def test_an_alarm_belongs_to_the_part_whose_cell_raised_it(process):
    reach = "try: open('/x/solutions/y')\nexcept OSError: pass"
    graded = grade(process, RIGHT, TRIED, reach, HONEST, SPARED)
    assert is_full(graded.parts["tried"])
    assert graded.parts["spared"].alarms == [(Kind.READ, "/x/solutions/y")]
    assert graded.parts["spared"].state == "cheated?"
    assert graded.state == "graded"


def test_an_alarm_of_a_call_belongs_to_its_part(process):
    reach = RIGHT.replace(":\n", ":\n    import gc; gc.get_objects()\n", 1)
    graded = try_answer(process, reach)
    assert graded.parts["tried"].alarms == [(Kind.HOOKED, "gc.get_objects")]
    assert is_full(graded.parts["spared"])


def test_an_alarm_after_all_parts_belongs_to_the_notebook(process):
    graded = grade(process, RIGHT, TRIED, "try: open('gradebook.db')\nexcept OSError: pass")
    assert is_full(graded.parts["tried"])
    assert graded.alarms == [(Kind.READ, "gradebook.db")]
    assert graded.state == "cheated?"


def test_after_an_exchange_of_what_watches_nothing_is_believed(process):
    swap = "from hintgrader.worker import watching\nwatching.UNWATCHED_CALLS.add('none')"
    cells = [RIGHT, TRIED, swap, HONEST, SPARED, RIGHT, Cell(TRIED.source, "later")]
    graded = grade(process, *cells)
    assert is_full(graded.parts["tried"])
    for name, note in (("spared", "UNWATCHED_CALLS"), ("later", "earlier")):
        part = graded.parts[name]
        assert (float(part.points), part.state) == (0, "cheated?")
        assert note in part.alarms[0].detail
        assert "what watches it was exchanged" in all_said(graded, name)


def test_an_alarm_can_be_shown_on_a_screen(process):
    graded = grade(
        process, "try: open('solutions/\\x1b[2J\\n')\nexcept OSError: pass", RIGHT, TRIED
    )
    assert graded.parts["tried"].alarms == [(Kind.READ, "solutions/?[2J?")]


# The process.


def test_a_slot_starts_again_when_it_has_died(process):
    with process.submission() as channel:
        assert ask(channel, "1")["error"] is None
    for one in tree(process._worker.process.pid):
        one.kill()
    process._worker.process.wait()
    assert not process.runs
    with process.submission() as channel:
        assert ask(channel, "1")["error"] is None
    assert process.runs


def test_a_cell_may_leave_a_few_processes_running_but_no_crowd(process, monkeypatch):
    looks = []
    counted = lambda pid: looks.append(pid) or tree(pid)  # noqa: E731
    monkeypatch.setattr(watch, "tree", counted)
    monkeypatch.setattr(watch, "POLL_SECONDS", 99)
    leave = "import subprocess\nfor _ in range({}):\n    subprocess.Popen(['sleep', '99'])"
    with process.submission() as channel:
        with monkeypatch.context() as quiet:  # nothing else begins on this machine meanwhile
            quiet.setattr(watch, "_newest_pid", lambda: 1000)
            for _ in range(5):
                ask(channel, "1")
                process.check_leftovers()
        assert len(looks) == 1, "it counts though no process has begun"
        ask(channel, leave.format(3))
        process.check_leftovers()
        ask(channel, leave.format(watch.MAX_LEFT + watch.GRADER_PROCESSES))
        with pytest.raises(Termination, match=r"left \d+ processes running, more than 16"):
            process.check_leftovers()


def test_nothing_of_a_submission_is_left(process):
    with process.submission() as channel:
        leave = "import os, time\nopen('left', 'w').write('x')\nos.makedirs('a/b')\n"
        leave += "if not os.fork():\n    os.setsid()\n    time.sleep(99)\nleft = 3"
        ask(channel, leave)
    assert channel.left["processes"] == 1
    assert channel.left["files"] >= 2
    with process.submission() as channel:
        found = ask(channel, "import os\nprint(os.listdir(), 'left' in globals())")
    assert "left" not in found["printed"].replace("False", "")
    assert channel.left["processes"] == 0


def test_who_has_ended_says_why(process):
    with process.submission() as channel:
        with pytest.raises(Termination, match="ended its own process"):
            ask(channel, "import os\nos._exit(0)")
        with pytest.raises(Termination, match="ended its own process"):
            ask(channel, "1")
    with (
        process.submission() as channel,
        pytest.raises(Termination, match="not come back within 1 s") as late,
    ):
        channel.ask({"kind": "cell", "source": "while True: pass"}, 1)
    assert late.value.out_of_time


def test_a_slot_that_cannot_start_says_why(tmp_path):
    (tmp_path / "packages").mkdir()
    process = SandboxProcess(strongest(), tmp_path, WALL)
    with pytest.raises(RuntimeError, match=r"did not start.*hintgrader"), process.submission():
        pass
    assert not process.runs


def test_memory_of_a_process_is_what_it_has_written():
    before = memory_of(psutil.Process())
    with mmap(
        -1, 50_000_000, flags=MAP_PRIVATE | MAP_ANONYMOUS
    ) as kept:  # none that was used before
        kept.write(b"x" * len(kept))
        assert 45_000_000 < memory_of(psutil.Process()) - before < 120_000_000


# Levels.


def test_only_what_a_submission_needs_of_the_grader_is_copied(tmp_path):
    lay_out(tmp_path, WALL)
    packages = tmp_path / "packages"
    assert {path.name for path in packages.iterdir()} == {"attn_course", "hintgrader", "attn_bank"}
    assert {path.name for path in (packages / "hintgrader").iterdir()} == {"__init__.py", "worker"}
    assert {path.name for path in (packages / "attn_bank").iterdir()} == {"__init__.py"}
    assert "def reference" not in "".join(path.read_text() for path in packages.rglob("*.py"))


def test_without_bubblewrap_there_are_limits_at_most(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.find_bubblewrap_mode.cache_clear()
    strongest.cache_clear()
    try:
        assert strongest() == Level.LIMITS
        assert sandbox.find_bubblewrap_mode() is None
    finally:
        sandbox.find_bubblewrap_mode.cache_clear()
        strongest.cache_clear()


def test_a_bubblewrap_that_may_do_nothing_is_none(monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))  # another user would find the next one on it
    sandbox.find_bubblewrap_mode.cache_clear()
    try:
        assert sandbox.find_bubblewrap_mode() is None
    finally:
        sandbox.find_bubblewrap_mode.cache_clear()


LOOK = """import os, resource, socket
def limit(name): return resource.getrlimit(getattr(resource, name))[0]
def reaches():
    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))
    except OSError: return False
    return True
print({'memory': limit('RLIMIT_DATA'), 'files': limit('RLIMIT_NOFILE'),
       'processes': limit('RLIMIT_NPROC'), 'pids': len([*filter(str.isdigit, os.listdir('/proc'))]),
       'network': reaches(), 'root': os.getuid() == 0, 'home': os.path.exists('/etc/passwd'),
       'variables': sorted(os.environ)})"""


LEVELS = [pytest.param(Level.PLAIN, marks=left_to_proofs), Level.LIMITS, Level.SANDBOX]


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_confines_as_it_says(level, tmp_path, monkeypatch):
    if level > strongest():
        pytest.skip(NO_SANDBOX)
    monkeypatch.setenv("HINTGRADER_SECRET", "must not be seen")
    with open_process(level, tmp_path) as process:
        see_that_nothing_is_left(process)
        graded = grade(process, LOOK, RIGHT, TRIED)
    assert float(graded.parts["tried"].points) == 4
    found = eval(graded.shown[1]["printed"])
    assert (found["memory"] == 2**32) == (level >= Level.LIMITS)
    assert (found["files"] == 256) == (level >= Level.LIMITS)
    if level == Level.SANDBOX:
        assert found["processes"] == 64
        assert found["pids"] <= 4
        assert not found["network"]
        assert not found["home"]
        assert not found["root"] or sandbox.find_bubblewrap_mode().words != sandbox.AS_ROOT
    assert "HINTGRADER_SECRET" not in found["variables"]


SPOIL = """import contextlib, os
home = os.environ['HOME']
os.makedirs('a/b')
for name in ('a/b', 'a'): os.chmod(name, 0)
for _ in range(1200):
    os.mkdir('deep')
    os.chdir('deep')
with contextlib.suppress(OSError): os.setxattr(home, 'user.said', b'x')
with contextlib.suppress(OSError): os.chmod(home, 0o555)"""
SEE = """import os
home = os.environ['HOME']
print(os.stat(home), os.listdir(home), vars(os).get('listxattr', str)(home))
open('x', 'w').write('x')"""


def see_that_nothing_is_left(process: SandboxProcess) -> None:
    """Run who spoils the folder for files; then another, in the same process."""
    seen = []
    with process.submission() as channel:
        seen.append(ask(channel, SEE))
        assert ask(channel, SPOIL)["error"] is None
    before = process._worker.process
    with process.submission() as channel:
        seen.append(ask(channel, SEE))
    assert process._worker.process is before
    assert not [one["error"] for one in seen if one["error"]]
    first, then = (re.sub(r"(st_nlink|st_.time)=\d+", "", one["printed"]) for one in seen)
    assert first == then


def test_who_owns_the_sandbox_leaves_nothing_to_the_next(tmp_path, monkeypatch):
    way = sandbox.BubblewrapMode(sandbox.OWN_USERS)  # the mode of people who are not root
    if not sandbox._works(way):
        pytest.skip(NO_SANDBOX)
    monkeypatch.setattr(isolation, "find_bubblewrap_mode", lambda: way)
    with open_process(Level.SANDBOX, tmp_path) as process:
        see_that_nothing_is_left(process)


def test_files_of_a_process_that_was_ended_are_gone_when_the_next_starts(tmp_path):
    left = tmp_path / "scratch-left" / "left"
    left.mkdir(parents=True)
    process = SandboxProcess(Level.LIMITS, tmp_path, WALL)
    process.start()
    process.stop()
    assert not left.exists()


def test_a_local_submission_remembers_what_went_out_of_sight():
    threads: list[object] = []

    def answer() -> int:
        import threading

        if not threads:
            threads.append(threading.Thread(target=print))
            threads[0].start()
            threads[0].join()
        return 1

    submission = LocalSubmission(answer, (), ())
    assert [submission.call({}).borrowed for _ in range(2)] == [("start_new_thread",)] * 2
