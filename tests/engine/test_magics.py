"""Lines that are not Python: whatever becomes of them, the answer below them is graded."""

from __future__ import annotations

import pytest
from hintgrader.supervisor.grade_notebook import Graded
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.worker.alarm import Kind
from IPython.core.interactiveshell import InteractiveShell

from tests import confined
from tests.confined import HONEST, RIGHT, SPARED, TRIED, all_said, grade, is_full

# What fails where there is no terminal, network, module or file, and what fails anywhere.
LINES = (
    "!echo hello",
    "!false",
    "!nosuchcommand",
    "!pip install -q torch",
    "!sleep 99 &",
    "!cat",
    "!echo '\\0'",
    "files = !ls nowhere",
    "out = %system nosuchcommand",
    "!!ls",
    "%pip install -q torch",
    "%uv pip install torch",
    "%mamba install torch",
    "%cd nowhere",
    "%run missing.py",
    "%load missing.py",
    "%load_ext autoreload\n%autoreload 2",
    "%load_ext tensorboard\n%tensorboard --logdir runs",
    "%reload_ext nosuch",
    "%matplotlib nosuch",
    "%config NoSuch.value = 1",
    "%env NO_SUCH",
    "%timeit -n1 -r1 nosuch()",
    "%time 1 / 0",
    "%precision nosuch",
    "%colors nosuch",
    "%xmode nosuch",
    "%store nosuch",
    "%tensorflow_version 2.x",
    "%shell ls",
    "get_ipython().magic('matplotlib inline')",
    "get_ipython().system('false')",
    "get_ipython().system_raise_on_error = True\n!false\nfiles = !false",
)
UNENDING = ("reset", "code_wrap")  # they take away what is defined, as they do in Jupyter


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for a cell on a busy machine."""
    monkeypatch.setattr(confined, "CELL_SECONDS", 60.0)


@pytest.fixture
def all_lines() -> list[str]:
    """The lines above, and every line magic of IPython, without arguments."""
    magics = InteractiveShell().magics_manager.magics["line"]
    return [*LINES, *(f"%{name}" for name in sorted(magics) if name not in UNENDING)]


def test_no_line_ends_the_cell_of_an_answer(process: SandboxProcess, all_lines: list[str]) -> None:
    cells = [f"{line}\nended = ended - {{{line!r}}}" for line in all_lines]
    asked = [f"ended = {set(all_lines)}", *cells, "assert not ended, ended"]
    graded = grade(process, *asked, f"{LINES[0]}\n{LINES[1]}\n{RIGHT}", TRIED)
    assert len(all_lines) > 100
    assert [shown["error"] for shown in graded.shown if shown["error"]] == []
    part = graded.parts["tried"]
    assert (float(part.points), part.state) == (part.points.of, "graded"), all_said(graded, "tried")


def test_line_that_fails_is_named(process: SandboxProcess) -> None:
    asked = "for number in range(99): get_ipython().run_line_magic(f'no{number}', '')"
    graded = grade(process, f"%run missing.py\n{asked}\n{RIGHT}", TRIED)
    named = [alarm.detail for alarm in graded.parts["tried"].alarms]
    assert named[0] == "Exception: File `'missing.py'` not found."
    assert len(named) == 5
    assert graded.incomplete  # at home there may have been such a file
    assert not grade(process, RIGHT, TRIED).incomplete


def printed(process: SandboxProcess, source: str) -> tuple[str, Graded]:
    """Grade an answer below such lines; return what its cell prints, and all else."""
    graded = grade(process, f"{source}\n{RIGHT}", TRIED)
    return graded.shown[1]["printed"], graded


@pytest.mark.parametrize("line", ["%precision 0", "%precision %.2e", "%precision 9", "%pprint"])
def test_points_are_shown_unrounded_whatever_precision_is_asked_for(
    process: SandboxProcess, line: str
) -> None:
    nearly_right = RIGHT.replace(".amax(-1, keepdim=True)", "[..., :1]")
    graded = grade(process, f"{line}\n{nearly_right}", TRIED)
    points = float(graded.parts["tried"].public)
    assert points % 1 == 0.5  # which rounding would turn into another number
    assert [one["text/plain"] for one in graded.shown[-1]["shown"]] == [str(points)]


def test_command_prints_into_its_cell_and_leaves_its_exit_code(process: SandboxProcess) -> None:
    said = "word = 'two'\n!echo one {word}; echo three >&2; exit 4\nprint(_exit_code)"
    assert printed(process, said)[0] == "one two\nthree\n4\n"
    assert printed(process, "!sleep 9 &")[0] == "OSError: Background processes not supported.\n"
    assert printed(process, "found = !echo one; echo two\nprint(found)")[0] == "['one', 'two']\n"


def test_expressions_in_a_magic_are_those_of_its_cell(process: SandboxProcess) -> None:
    inside = "def time_it(local):\n    %time inner = local\n    %env COLOUR={local}\ntime_it('red')"
    assert printed(process, inside)[0].endswith("env: COLOUR=red\n")


def test_packages_stay_as_they_are(process: SandboxProcess) -> None:
    for line in ("%pip uninstall -y torch", "%uv pip install torch", "%conda install torch"):
        said, graded = printed(process, line)
        assert said == "No package is installed while a notebook is graded.\n"
        assert is_full(graded.parts["tried"]), all_said(graded, "tried")
    asked = "import sys\n!{sys.executable} -m pip install nosuch"
    said, graded = printed(process, asked)
    assert "No matching distribution" in said
    assert "Retrying" not in said
    started = graded.parts["tried"].alarms
    assert (Kind.STARTED, "subprocess.Popen") in started
    # from Python 3.13 on, a second event tells by what it was started
    assert set(started) <= {(Kind.STARTED, "subprocess.Popen"), (Kind.STARTED, "os.posix_spawn")}


@pytest.mark.parametrize("magic", ["%%time", "%%capture", "%%prun", "%%debug", "%%nosuch -x"])
def test_cell_below_a_magic_is_run_where_it_is_python(process: SandboxProcess, magic: str) -> None:
    part = grade(process, f"{magic}\n{RIGHT}", TRIED).parts["tried"]
    assert (float(part.points), part.state) == (part.points.of, "graded")


@pytest.mark.parametrize("cell", ["%%bash\nfalse", "%%shell\nls -l | wc", "%%html\n<b>", "%%sql\n"])
def test_cell_in_another_language_costs_no_other(process: SandboxProcess, cell: str) -> None:
    graded = grade(process, cell, RIGHT, TRIED, HONEST, SPARED)
    for part in graded.parts.values():
        assert (float(part.points), part.state) == (part.points.of, "graded")


def test_cell_that_jupyter_only_times_defines_nothing(process: SandboxProcess) -> None:
    assert grade(process, f"%%timeit -n1 -r1\n{RIGHT}", TRIED).parts["tried"].state == "missing"


MEASURED = """import tracemalloc
tracemalloc.start()
{flood}
kept, _ = tracemalloc.get_traced_memory()
tracemalloc.stop()"""


@pytest.mark.parametrize(
    "flood",
    [
        "for number in range(50_000): print('one', number)",
        "import sys\nfor number in range(50_000): print('one', number, file=sys.stderr)",
        "for number in range(1_000): display('x' * 10_000)",
        "!head -c 20000000 /dev/zero",
    ],
)
def test_output_beyond_what_is_shown_is_not_kept(process: SandboxProcess, flood: str) -> None:
    graded = grade(process, MEASURED.format(flood=flood), "print(kept)", RIGHT, TRIED)
    part = graded.parts["tried"]
    assert (float(part.points), part.state) == (part.points.of, "graded"), all_said(graded, "tried")
    assert Kind.CUT in {alarm.kind for alarm in part.alarms}
    assert int(graded.shown[2]["printed"]) < 1_000_000
