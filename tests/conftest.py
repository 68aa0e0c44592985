"""Shared by the test files: the environment, the list of pages, and the book, built once."""

from __future__ import annotations

import functools
import gc
import http.server
import importlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests import kernels
from tests.sampling import left_to_proofs, takes_all
from tools.browser import launch

if TYPE_CHECKING:
    from hintgrader.supervisor.process import SandboxProcess
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
# It starts a JupyterHub, which `make test-hub` brings along.
collect_ignore = [] if "ATTN_HUB" in os.environ else ["engine/test_hub.py"]
# It takes packages that `make peers` brings along.
if "ATTN_PEERS" not in os.environ:
    collect_ignore += ["course/peers/test_packages.py", "course/peers/test_triton.py"]

# nbgrader looks for its own tools on PATH, whether or not the environment is activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


@dataclass(frozen=True)
class Build:
    """One build of the book: its exit status, what it said, and where its pages lie."""

    status: int
    log: str
    html: Path


# They take long in one process: begun last, they would leave the other processors idle.
LONG = (
    "test_types.py",
    "test_nbgrader_sets.py",
    "test_nbgrader.py",
    "test_course_in_browser.py",
    "test_attacks.py",
    "test_trained_captions.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Fork the kernels of chapters, in all workers from one server."""
    if config.getoption("nbval", False):
        config.option.nbval_kernel_name = kernels.NAME
        if not hasattr(config, "workerinput"):
            running = ExitStack()
            running.enter_context(kernels.forked_kernels())
            config.add_cleanup(running.close)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for the proofs; begin with the long ones, in the order of `LONG`.

    What needs a GPU is skipped where there is none.
    """
    on_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if on_gpu and not importlib.import_module("torch").cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="needs CUDA"))
    if not takes_all():
        left = [item for item in items if item.get_closest_marker(left_to_proofs.name)]
        items[:] = [item for item in items if not item.get_closest_marker(left_to_proofs.name)]
        config.hook.pytest_deselected(items=left)
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage while tests are collected: what is imported stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let nbgrader know the version of its tables without starting a program each time.

    What has been imported and collected stays: the collector of garbage need not go through it
    again and again, here and in the processes that the tests fork. Nor need it look for garbage as
    often as it does by itself.
    """
    if "nbgrader.api" in sys.modules:
        import hintgrader.testing.preloaded  # noqa: F401
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 100)


# If it is set, as where main is guarded, a machine has to have what the tests need.
NO_SKIPS = "ATTN_COURSE_NO_SKIPS"
MAY_LACK = "CUDA"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Let a test fail that is skipped for want of something, if nothing may be wanting."""
    report: pytest.TestReport = yield
    if os.environ.get(NO_SKIPS) and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1].removeprefix("Skipped: ")
        if MAY_LACK not in reason:
            report.outcome = "failed"
            report.longrepr = f"{NO_SKIPS} is set, and so nothing may be skipped: {reason}"
    return report


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests were started in the background and ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxProcess]:
    """A confined process, at the highest level that there is here; to start one takes seconds."""
    from hintgrader.supervisor.isolation import strongest

    from tests.confined import open_process

    with open_process(strongest(), tmp_path_factory.mktemp("process")) as process:
        yield process


@functools.cache
def toc_pages() -> list[str]:
    """Return every page of `_toc.yml`, in reading order, without suffix."""
    import yaml  # what needs a GPU does without

    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [toc["root"], *files]


def modules_with_pages() -> list[str]:
    """Return the modules that the reference describes: all that are public.

    A package with `__all__` is one face: what lies below it is its own affair.
    """
    index = (ROOT / "book" / "api.md").read_text(encoding="utf-8")
    names, below = [], []
    for package in re.findall(r"^   ([\w.]+)$", index, re.M):
        if "." in package:  # this module, and none below it
            names.append(package)
            continue
        for file in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            names += [name] if "._" not in name else []
            if file.name == "__init__.py" and "__all__" in file.read_text(encoding="utf-8"):
                below.append(f"{name}.")
    return [name for name in names if not name.startswith(tuple(below))]


def chapters() -> list[str]:
    """Return the names `NN_slug` of the chapters in `_toc.yml`."""
    names = [page.removeprefix("book/") for page in toc_pages()]
    return [name for name in names if name[0].isdigit()]


def build_book(target: Path, source: Path = ROOT) -> Build:
    """Build the book of `source` under `target`, warnings being errors, as `make book` does."""
    command = [str(Path(sys.executable).parent / "jupyter-book"), "build", str(source)]
    run = subprocess.run(
        [*command, "-W", "-n", "--keep-going", "--path-output", str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    return Build(run.returncode, run.stdout, target / "_build" / "html")


def shared_folder(base: Path) -> Path:
    """Return the folder that the workers of one run share, from the temporary one of one."""
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build the book once for a whole test run, whichever worker asks first."""
    folder = shared_folder(tmp_path_factory.getbasetemp())
    done, target = folder / "book.log", folder / "book"
    with FileLock(folder / "book.lock"):
        if not done.exists():
            build = build_book(target)
            done.write_text(f"{build.status}\n{build.log}", encoding="utf-8")
    status, _, log = done.read_text(encoding="utf-8").partition("\n")
    return Build(int(status), log, target / "_build" / "html")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that keeps no diary."""

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


# It is one for consecutive files of tests: to start it takes as long as several of them.
RUNNING_BROWSER = ExitStack()


@functools.cache
def running_browser() -> Browser:
    """Start a headless Chromium, if none is running."""
    from playwright.sync_api import sync_playwright

    playwright = RUNNING_BROWSER.enter_context(sync_playwright())
    RUNNING_BROWSER.callback(running_browser.cache_clear)
    browser = launch(playwright)
    RUNNING_BROWSER.callback(browser.close)
    return browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Take the headless Chromium, and leave no window open."""
    browser = running_browser()
    yield browser
    for window in browser.contexts:
        window.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the browser before tests that take none: its event loop would trip those of kernels."""
    yield
    if nextitem is None or nextitem.path not in with_browser(item.session):
        RUNNING_BROWSER.close()


def pytest_sessionfinish() -> None:
    """End the browser where the tests were stopped."""
    RUNNING_BROWSER.close()


@functools.cache
def with_browser(session: pytest.Session) -> frozenset[Path]:
    """Return the files of tests in which some take a browser."""
    return frozenset(i.path for i in session.items if "browser" in getattr(i, "fixturenames", ()))


@pytest.fixture(scope="session")
def bases(book: Build) -> Iterator[dict[str, str]]:
    """Serve the built book; return where it is for each scheme."""
    assert (book.html / "index.html").is_file(), "the book does not build: see test_book.py"
    handler = functools.partial(Quiet, directory=str(book.html))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {
            "http": f"http://localhost:{server.server_port}",
            "file": book.html.resolve().as_uri(),
        }
        server.shutdown()
