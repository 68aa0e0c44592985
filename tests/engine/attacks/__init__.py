"""Cells of notebooks that want more points than they have earned, or want to do harm.

Each attack stands in a notebook where the answer of `01_retrieval/softmax` should; `torch` is
imported. If it gets something that it must not, it prints it after the word GOT.
"""

from dataclasses import dataclass

WRONG = "def softmax(scores):\n    return torch.zeros_like(scores)\n"
BORROWED = "def softmax(scores):\n    return torch.softmax(scores, -1)\n"
# Some attacks would end all processes of a machine. None of these two folders is like that outside.
GUARD = """import os
if not os.path.isdir("/course/attn_course") or os.path.exists("/etc/passwd"):
    raise SystemExit("this is no sandbox")
"""


@dataclass(frozen=True)
class Attack:
    """A cell of a notebook.

    Args:
        source: Its text.
        noticed: A regular expression for what the part's state, its notes, the notebook's notes, or
            its table must say, and do not say of an answer that is only wrong.
    """

    source: str
    noticed: str

    @property
    def guarded(self) -> str:
        """The cell, which ends before it begins where there is no sandbox."""
        indented = self.source.replace("\n", "\n    ")
        return f"{GUARD}else:\n    {indented}\n"

    @property
    def taints(self) -> bool:
        """True if nothing can be said any more of later cells in its notebook."""
        return "tried to exchange" in self.noticed


def wrong(source: str, noticed: str) -> Attack:
    """An attack beside an answer that is wrong."""
    return Attack(f"{source}\n{WRONG}", noticed)
