"""Calling what the exercise is to write, unseen."""

from tests.engine.attacks import BORROWED, Attack

BORROWING = {
    "by its name": Attack(BORROWED, "it calls softmax"),
    "by another name": Attack(
        "def softmax(scores): return getattr(torch, 'soft' + 'max')(scores, -1)", "it calls softmax"
    ),
    "as an operator": Attack(
        "def softmax(scores): return torch.ops.aten.softmax.int(scores, -1)", "it calls softmax"
    ),
    "from the module of C": Attack(
        "def softmax(scores): return torch._C._VariableFunctions.softmax(scores, -1)",
        "it calls softmax",
    ),
    "without a profile": Attack(
        "import sys\n"
        "def softmax(scores):\n"
        "    sys.setprofile(None)\n"
        "    return torch.nn.functional.softmax(scores, -1)",
        "it calls .*softmax|cheated\\?.*called sys.setprofile",
    ),
    "with a profile of its own": Attack(
        "import sys\n"
        "def softmax(scores):\n"
        "    sys.setprofile(lambda *_: None)\n"
        "    with torch._C.DisableTorchFunction():\n"
        "        return torch.softmax(scores, -1)",
        "it calls setprofile",
    ),
    "without the modes": Attack(
        "def softmax(scores):\n"
        "    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():\n"
        "        return torch.softmax(scores, -1)",
        "it calls softmax",
    ),
    "with modes that are popped": Attack(
        "from torch.overrides import _get_current_function_mode_stack, _pop_mode\n"
        "from torch.utils._python_dispatch import _disable_current_modes\n"
        "def softmax(scores):\n"
        "    with _disable_current_modes():\n"
        "        while _get_current_function_mode_stack(): _pop_mode()\n"
        "        return torch.softmax(scores, -1)",
        "it calls softmax",
    ),
    "by a function of C": Attack(
        "def softmax(scores):\n"
        "    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():\n"
        "        return [*map(torch.softmax, [scores], [-1])][0]",
        "it calls softmax",
    ),
    "by a relative": Attack(
        "def softmax(scores): return (scores - scores.logcumsumexp(-1)[..., -1:]).exp()",
        "it calls logcumsumexp",
    ),
    "by the gradient of a relative": Attack(
        "def softmax(scores):\n"
        "    one = scores.detach().requires_grad_()\n"
        "    return torch.autograd.grad(one.logcumsumexp(-1)[..., -1].sum(), one)[0]",
        "it calls logcumsumexp",
    ),
    "by a relative of numpy's": Attack(
        "import numpy as np\n"
        "def softmax(scores):\n"
        "    total = np.logaddexp.reduce(scores.detach().numpy(), -1, keepdims=True)\n"
        "    return (scores - torch.from_numpy(total)).exp()",
        "it calls logaddexp",
    ),
    "in traced code": Attack(
        "traced = torch.jit.trace(lambda x: x.softmax(-1), (torch.ones(2, 3),))\n"
        "def softmax(scores): return traced(scores)",
        "it calls scripted or compiled code",
    ),
    "past the dispatcher": Attack(
        "there = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
        "of_aten = torch.ops.aten._softmax.default\n"
        "def softmax(scores): return of_aten.redispatch(there, scores, -1, False)",
        "it calls scripted or compiled code",
    ),
    "with a profiler that is switched off": Attack(
        "switch = torch._C._autograd._enable_record_function\n"
        "def softmax(scores):\n"
        "    list(map(switch, [False]))\n"
        "    return torch.softmax(scores, -1)",
        "it calls .*a profiler",
    ),
    "in a thread": Attack(
        "import threading\n"
        "def softmax(scores):\n"
        "    found = []\n"
        "    one = threading.Thread(target=lambda: found.append(torch.softmax(scores, -1)))\n"
        "    one.start(); one.join()\n"
        "    return found[0]",
        "it calls start_new_thread",
    ),
    "in a thread that was there": Attack(
        "import queue, threading\n"
        "asked, found = queue.Queue(), queue.Queue()\n"
        "def serve():\n"
        "    while True: found.put(torch.softmax(asked.get(), -1))\n"
        "def softmax(scores):\n"
        "    if not [one for one in threading.enumerate() if one.name == 'server']:\n"
        "        threading.Thread(target=serve, name='server', daemon=True).start()\n"
        "    asked.put(scores)\n"
        "    return found.get()",
        "it calls start_new_thread",
    ),
    "in a process": Attack(
        "import subprocess, sys\n"
        "def softmax(scores):\n"
        "    command = [sys.executable, '-c', 'print(1)']\n"
        "    said = subprocess.run(command, capture_output=True).stdout\n"
        "    return torch.softmax(scores, -1) if said else scores",
        "it calls fork_exec",
    ),
    "of the course": Attack(
        "def softmax(scores):\n"
        "    from attn_course.retrieval import softmax as borrowed\n"
        "    return borrowed(scores)",
        "it calls|cannot import",
    ),
    "past a watching that was exchanged": Attack(
        "import contextlib\n"
        "from hintgrader.worker import submission, watching\n"
        "submission.watched = watching.watched = lambda *_: contextlib.nullcontext()\n" + BORROWED,
        "cheated\\?.*tried to exchange hintgrader.worker.submission.watched",
    ),
    "past an outcome that was exchanged": Attack(
        "from hintgrader.worker import submission\n"
        "before = submission.Outcome.__init__\n"
        "def honest(self, output=None, error=None, gradients={}, inputs_after={}, borrowed=()):\n"
        "    before(self, output, error, gradients, inputs_after, ())\n"
        "submission.Outcome.__init__ = honest\n" + BORROWED,
        "cheated\\?.*tried to exchange hintgrader.worker.submission.Outcome.__init__",
    ),
    "past instruments that were exchanged": Attack(
        "from hintgrader.worker import measurements, notebook_process\n"
        "notebook_process.measure_here = measurements.measure_here\n"
        "measurements.Largest.readings = lambda self: {'numbers': 1, 'shape': (1,)}\n" + BORROWED,
        "cheated\\?.*tried to exchange hintgrader.worker.measurements.Largest.readings",
    ),
}
