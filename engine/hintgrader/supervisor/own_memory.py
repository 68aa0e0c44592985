"""A limit on the memory of the grading process itself.

A submission's process has a limit of its own. But what it sends is taken apart and compared in the
grader's, where an allocation above this limit fails: it costs the part, not the machine.
"""

import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from hintgrader.worker.limits import GIGABYTE

GRADER_MEMORY = 4 * GIGABYTE  # beyond what the process has when it begins


@cache  # once in a process
def limit_own_memory() -> None:
    """Limit the memory of this process, on Linux; what it starts may set limits of its own."""
    if sys.platform != "linux":
        return
    import resource

    status = Path("/proc/self/status").read_text()
    used = 1024 * sum(map(int, re.findall(r"^VmData:\s+(\d+)", status, re.M)))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):  # a limit below this one is there already
        resource.setrlimit(resource.RLIMIT_DATA, (used + GRADER_MEMORY, hard))
