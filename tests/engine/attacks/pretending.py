"""Making a wrong answer look right, here or in what the grader imports."""

from pathlib import Path

from tests.conftest import ROOT
from tests.engine.attacks import Attack, wrong


def writing(gradebook: Path) -> Attack:
    """A cell that gives itself points in a gradebook."""
    return wrong(
        "import sqlite3\n"
        "try:\n"
        f"    with sqlite3.connect({str(gradebook)!r}) as gradebook:\n"
        "        gradebook.execute('UPDATE grade SET auto_score = 4')\n"
        "    print('GOT', gradebook)\n"
        "except sqlite3.Error as error: print(error)\n"
        f"try: print('GOT', open({str(gradebook)!r}, 'wb'))\n"
        "except OSError as error: print(error)",
        "cheated\\?.*tried to read .*gradebook.db.*tried to write .*gradebook.db",
    )


PRETENDING = {
    "torch.allclose and the like": wrong(
        "from hintgrader.worker import plain\n"
        "torch.allclose = torch.equal = torch.isclose = lambda *_, **__: True\n"
        "torch.testing.assert_close = lambda *_, **__: None\n"
        "plain.as_plain = plain.plain_kind = lambda *_: None",
        "cheated\\?.*tried to exchange hintgrader.worker.plain",
    ),
    "the check and the score": wrong(
        "import sys, attn_bank as bank\n"
        "from hintgrader.worker import points\n"
        "class Points(float):\n"
        "    rows, hint, of = (), None, 4.0\n"
        "bank.check = lambda *_, **__: Points(4.0)\n"
        "points.Points.__new__ = lambda *_, **__: Points(4.0)\n"
        "sys.modules['hintgrader.worker.points'].Points = Points\n"
        "sys.modules['attn_bank'] = bank",
        "cheated\\?.*replace attn_bank.check.*Points",
    ),
    "what a cell shows": wrong(
        "import builtins, json, sys\n"
        "get_ipython().display_formatter.format = lambda *_: ({'text/plain': '4.0'}, {})\n"
        "sys.displayhook = print\n"
        "builtins.float = lambda *_: 4.0\n"
        "json.dumps = lambda *_, **__: '{}'\n"
        "json.loads = lambda *_, **__: {}",
        "crashed.*its cell ended its own process",
    ),
    "isinstance": wrong(
        "import builtins\nbuiltins.isinstance = lambda *_: True",
        "crashed.*its cell ended its own process",
    ),
    "one that equals everything": Attack(
        "class Same:\n"
        "    shape, dtype, device = (3, 5), torch.float32, torch.device('cpu')\n"
        "    def __eq__(self, other): return True\n"
        "    def __sub__(self, other): return 0.0\n"
        "    __rsub__ = __abs__ = __le__ = __float__ = __sub__\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, *_, **__): return torch.tensor(True)\n"
        "def softmax(scores): return Same()",
        "it is a __main__.Same",
    ),
    "a tensor of another class": Attack(
        "class Same(torch.Tensor):\n"
        "    @classmethod\n"
        "    def __torch_function__(cls, *_, **__): return torch.tensor(True)\n"
        "def softmax(scores): return torch.zeros_like(scores).as_subclass(Same)",
        r"it is a \w+ tensor",
    ),
    "a number that equals everything": Attack(
        "class Same(float):\n"
        "    def __eq__(self, other): return True\n"
        "    def __le__(self, other): return True\n"
        "    __sub__ = __rsub__ = __abs__ = lambda self, *_: self\n"
        "def softmax(scores): return Same('nan')",
        "it is a float; expected a tensor",
    ),
    "a view that changes later": Attack(
        "import threading, time\n"
        "kept = []\n"
        "def later():\n"
        "    while True:\n"
        "        time.sleep(0.001)\n"
        "        for one in kept: one.uniform_()\n"
        "threading.Thread(target=later, daemon=True).start()\n"
        "def softmax(scores):\n"
        "    kept.append(torch.empty(scores.shape))\n"
        "    return kept[-1].expand(scores.shape)",
        "runs a thread beside its cells",
    ),
    "the answer among the arguments": Attack(
        "import sys\n"
        "def softmax(scores):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for one in frame.f_locals.values():\n"
        "            if type(one).__name__ in ('Case', 'Check', 'Exercise'): return one.exact\n"
        "        frame = frame.f_back\n"
        "    return scores",
        "looked at what has called it .sys._getframe",
    ),
    "the points behind the check": wrong(
        "from hintgrader.worker import check\n"
        "from hintgrader.worker.points import Row, Points\n"
        "best = Points((Row('all', 4.0),))\n"
        "check.published = type('', (dict,), {'get': lambda *_: best})()",
        "cheated\\?.*tried to replace hintgrader.worker.check.published",
    ),
    "a crowd of remarks": wrong(
        "import os, subprocess\n"
        "for number in range(40):\n"
        "    try: os.listdir(f'/x/engine/hintgrader/{number}')\n"
        "    except OSError: pass\n"
        "    try: subprocess.run([f'/x/{number}'])\n"
        "    except OSError: pass\n"
        "try: open('/x/solutions/y')\n"
        "except OSError: pass",
        "cheated\\?.*tried to read /x/solutions/y.*looked through",
    ),
    "the reference": wrong(
        "mine = lambda scores: torch.zeros_like(scores)\n"
        "try:\n"
        "    from attn_bank.retrieval.softmax import EXERCISE\n"
        "    object.__setattr__(EXERCISE, 'reference', mine)\n"
        "    print('GOT')\n"
        "except ImportError as error: print(error)",
        "cheated\\?.*tried to import attn_bank",
    ),
    "the course's own function": wrong(
        "from attn_course import retrieval\n"
        "retrieval.softmax = lambda scores, *_, **__: torch.zeros_like(scores)",
        "put a function of its own in the place of attn_course.retrieval.softmax",
    ),
    "PyTorch's comparisons alone": wrong(
        "torch.equal = lambda *_: True", "a function of its own in the place of torch.equal"
    ),
    "the display alone": wrong(
        "get_ipython().display_formatter.format = lambda *_, **__: ({'text/plain': '4.0'}, {})",
        "cheated\\?.*tried to replace format of the shell",
    ),
    "the table alone": wrong(
        "from hintgrader.worker.points import Points\nPoints.__repr__ = lambda _: '4.0'",
        "cheated\\?.*tried to replace what Points shows",
    ),
    "the shell alone": wrong(
        "before = get_ipython().run_cell\n"
        "get_ipython().run_cell = lambda source, **named: before(source, **named)",
        "cheated\\?.*tried to replace run_cell of the shell",
    ),
}

SHADOWS = {
    "modules in the way": wrong(
        "import os, sys\n"
        'lie = \'import sys; sys.stderr.write("GOT"); print("GOT"); raise SystemExit\'\n'
        "for folder in {os.getcwd(), os.path.expanduser('~'), '/tmp', '/dev/shm', '/course'}:\n"
        "    for name in ('attn_course', 'torch', 'sitecustomize', 'usercustomize', 'psutil',\n"
        "                 'json', 'socket', 'random', 'IPython'):\n"
        "        try:\n"
        "            open(f'{folder}/{name}.py', 'w').write(lie)\n"
        "        except OSError:\n"
        "            pass\n"
        "sys.path.insert(0, '/tmp')",
        "cheated\\?.*tried to write /scratch/attn_course.py",
    ),
    "startup files": wrong(
        "import os\n"
        "home = os.path.expanduser('~')\n"
        "for path in ('.ipython/profile_default/startup/0.py', '.config/matplotlib/matplotlibrc',\n"
        "             '.local/lib/python3.11/site-packages/usercustomize.py', '.pdbrc',\n"
        "             '.config/python/x.pth', 'matplotlibrc', 'pyvenv.cfg', '.profile'):\n"
        "    os.makedirs(os.path.dirname(f'{home}/{path}') or '.', exist_ok=True)\n"
        "    open(f'{home}/{path}', 'w').write('print(\"GOT\")')",
        "files left behind, which are gone now: 5",
    ),
    "a file that was left": wrong(
        "import os\n"
        "for folder in ('/dev/shm', '/scratch'):\n"
        "    for name in os.listdir(folder):\n"
        "        print('GOT', folder, name)\n"
        "    open(f'{folder}/left', 'w').write('x')\n"
        "    os.makedirs(f'{folder}/hidden/deep', exist_ok=True)\n"
        "    open(f'{folder}/hidden/deep/left', 'w').write('x')\n"
        "    os.chmod(f'{folder}/hidden/deep', 0)\n"
        "    os.symlink('/', f'{folder}/all')",
        "files left behind, which are gone now: 6",
    ),
}

RECORDS = {"the gradebook": writing(ROOT / "grading" / "gradebook.db")}
