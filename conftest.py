"""Settings of the tests and of the chapters, however pytest is called."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

# One thread keeps sums, and so stored outputs, the same; more of them, in several kernels at once,
# wait for each other: minutes become a quarter of an hour. Set before anything imports torch.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
# The C library keeps what a tensor leaves for the next one: to give it back and ask again costs a
# kernel that trains a tenth of its time. It reads this where a process starts: kernels, workers.
for variable in ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"):
    os.environ[variable] = "1000000000"
os.environ["MALLOC_TOP_PAD_"] = "50000000"
# Interactive figures are shown as the chapters store them, see attn_course/interactive/figure.py;
# the others are drawn and not stored, see attn_course/plots/vector.py.
os.environ["ATTN_COURSE_STORES_FIGURES"] = "without pictures"

# Tests of one file share what they have made, and cells of one chapter a kernel: they run in one
# process. In these files only those do whose parameters have this in common: an exercise, a visit.
SHARED = {
    "test_grading_proofs.py": re.compile(r"\d\d_\w+/\w+"),
    "test_pages.py": re.compile(r"\[.*\]"),
}


def common_to(nodeid: str) -> str:
    """Name what a test shares with others: its file, or that and a part of its parameters."""
    file, _, test = nodeid.partition("::")
    shared = SHARED.get(Path(file).name)
    common = shared and shared.search(test)
    return f"{file} {common[0]}" if common else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the tests so; loadgroup of pytest-xdist 3.8 does nothing under pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling  # only there if this is called

    class Groups(LoadScopeScheduling):
        """Hand a process the tests that share something, and then the next ones."""

        def _split_scope(self, nodeid: str) -> str:
            return common_to(nodeid)

    return Groups(config, log)
