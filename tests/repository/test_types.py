"""The type checker finds nothing; `Any` in public signatures, by name or alias, is counted."""

import subprocess
import sys

from tools.count_any import CEILING, CHECKED, ROOT, signatures_with_any

SOURCE = """
from typing import Any
Message = dict[str, Any]
Answer = Callable[..., int]
class Channel:
    def __init__(self, socket: Any, name: str) -> None: ...
    def ask(self, message: Message) -> Message | None: ...
    def _hear(self, message: Message) -> None: ...
def grade(answer: Answer, *seeds: int) -> int: ...
"""


def test_type_checker_finds_nothing() -> None:
    run = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_any_is_counted_in_each_type_of_a_public_signature_and_behind_an_alias() -> None:
    assert signatures_with_any([SOURCE]) == ["__init__", "ask", "ask"]


def test_ceiling_is_the_number_itself_so_that_a_new_one_is_noticed() -> None:
    paths = [path for pattern in CHECKED for path in ROOT.glob(pattern)]
    found = signatures_with_any(path.read_text(encoding="utf-8") for path in paths)
    assert len(found) == CEILING
