"""What cells leave in their own process, beside values: worth a note, and no more."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from types import FunctionType, ModuleType

from attn_course.grading.outside.limits import OPEN_FILES

GRADER = "attn_course.grading"  # which is compared with what it was
BARS = "tqdm._monitor"  # tqdm's thread, which redraws its bars


def remarks() -> Iterator[str]:
    """Say what there is of threads, of open files and of functions in places of the course's."""
    main = threading.main_thread()
    others = [one for one in threading.enumerate() if one is not main]
    if any(type(one).__module__ != BARS for one in others):
        yield "runs a thread beside its cells"
    with contextlib.suppress(OSError):  # where the system has no such folder
        if len(os.listdir("/proc/self/fd")) > OPEN_FILES // 2:
            yield "keeps many files or sockets open"
    theirs = vars(sys.modules["__main__"])
    for place, module in list(sys.modules.items()):
        is_course = place.startswith("attn_course.") and not place.startswith(GRADER)
        if is_course and isinstance(module, ModuleType):  # a cell may put anything there
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value.__globals__ is theirs:
                    yield f"put a function of its own in the place of {place}.{name}"
