"""Rules for all tests of the grader: one thread, nothing skipped unseen, long ones left out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# One thread keeps sums the same, and more of them would wait for each other. Before torch is read.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
# nbgrader looks for its own tools on PATH, whether or not the environment is activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
# The first runs what takes minutes; with the second, a machine has to have what the tests need.
PROOFS, NO_SKIPS = "GRADER_PROOFS", "GRADER_NO_SKIPS"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is left to the proofs."""
    if not os.environ.get(PROOFS):
        left = [item for item in items if item.get_closest_marker("left_to_proofs")]
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """Let nbgrader know the version of its tables without starting a program each time."""
    if "nbgrader.api" in sys.modules:
        import hintgrader.testing.preloaded  # noqa: F401


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Let a test fail that is skipped for want of something, if nothing may be wanting."""
    report: pytest.TestReport = yield
    if os.environ.get(NO_SKIPS) and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{NO_SKIPS} is set, and so nothing may be skipped: {report.longrepr[-1]}"
    return report
