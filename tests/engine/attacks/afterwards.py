"""Borrowing after the call, when the output has been returned and nobody seems to watch."""

from tests.engine.attacks import Attack

LATER = """
def later(*_):
    out.copy_(torch.softmax(kept, -1))
"""
RETURNS = """
def softmax(scores):
    global kept, out
    kept, out = scores.detach().clone(), torch.zeros_like(scores)
    {}
    return out
"""


def later(prepares: str, does: str) -> Attack:
    """An attack that fills its output later.

    Args:
        prepares: What stands before the answer, and may use `later()`.
        does: What the answer does before it returns.
    """
    source = f"{LATER}{prepares}{RETURNS.format(does)}"
    return Attack(source, "it calls (softmax|setitimer)")


OF_ANOTHER_CLASS = """
class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out.__class__ = torch.Tensor
        with torch._C.DisableTorchFunction():
            later()
        return False
"""
AFTERWARDS = {
    "an argument of another class": later(OF_ANOTHER_CLASS, "scores.__class__ = Later"),
    "an output of another class": later(OF_ANOTHER_CLASS, "out.__class__ = Later"),
    "when an argument is let go": later("import weakref", "weakref.finalize(scores, later)"),
    "by the last breath of an object": later(
        "\nclass Later:\n    def __del__(self): later()\n", "scores.later = Later()"
    ),
    "in the place of a method": later(
        "\nbefore = torch.Tensor.detach\n"
        "def detach(self):\n"
        "    torch.Tensor.detach = before\n"
        "    later()\n"
        "    return before(self)\n",
        "torch.Tensor.detach = detach",
    ),
    "in the place of an attribute": later(
        "", "torch.Tensor.requires_grad = property(lambda self: later())"
    ),
    "by a mode that is left on": later(
        "\nfrom torch.overrides import TorchFunctionMode\n"
        "class Later(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        later()\n"
        "        return func(*args, **(kwargs or {}))\n",
        "Later().__enter__()",
    ),
    "by a timer": later(
        "import signal\n",
        "signal.signal(signal.SIGVTALRM, later); signal.setitimer(signal.ITIMER_VIRTUAL, 1e-4)",
    ),
    "by an audit hook": later(
        "import sys\nsys.addaudithook(lambda event, _: later() if event == 'now' else None)",
        "sys.audit('now')",
    ),
}
