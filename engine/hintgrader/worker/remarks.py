"""Remarks on what cells leave in their own process besides values."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from types import FunctionType, ModuleType

from hintgrader.worker.alarm import Alarm, Kind
from hintgrader.worker.limits import OPEN_FILES

TQDM_MONITOR = "tqdm._monitor"  # tqdm's thread, which redraws its bars


def remarks(packages: tuple[str, ...]) -> Iterator[Alarm]:
    """Yield remarks on threads, open files, and functions put in place of the course's.

    Args:
        packages: Names of those that a submission may import.
    """
    main = threading.main_thread()
    others = [one for one in threading.enumerate() if one is not main]
    if any(type(one).__module__ != TQDM_MONITOR for one in others):
        yield Alarm(Kind.THREAD)
    with contextlib.suppress(OSError):  # where the system has no such folder
        if len(os.listdir("/proc/self/fd")) > OPEN_FILES // 2:
            yield Alarm(Kind.OPEN_FILES)
    theirs = vars(sys.modules["__main__"])
    for place, module in list(sys.modules.items()):
        is_course = place.partition(".")[0] in packages
        if is_course and isinstance(module, ModuleType):  # a cell may put anything there
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value.__globals__ is theirs:
                    yield Alarm(Kind.COMPARED, f"{place}.{name}")
