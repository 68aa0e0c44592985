"""A class on one machine: each person has a folder, JupyterLab in it, and a window of the browser.

They hand each other files through nbgrader's exchange. Nobody reaches the network: a window is
refused all but its own server, and the servers, with the kernels that they start, are told of a
proxy that does not answer.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Locator, Page, Route, expect

TOKEN = "of-this-class"
KILL_GRACE = 90  # seconds, for machines that do ten other things; nothing here takes them
LOCAL = ("localhost", "127.0.0.1")
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy"), "http://localhost:9")
NO_NETWORK["no_proxy"] = ",".join(LOCAL)
WIDE = {"width": 1280, "height": 900}


@dataclass(frozen=True)
class Person:
    """Somebody's folder, and beside it the settings of JupyterLab and of nbgrader."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables that keep programs from the settings of this machine, and from the network."""
        place = self.folder.parent
        names = ("CONFIG", "DATA", "RUNTIME")
        jupyter = {f"JUPYTER_{name}_DIR": str(place / name.lower()) for name in names}
        return os.environ | jupyter | NO_NETWORK | {"PYTHONUNBUFFERED": "1"}

    def command(self, *arguments: str) -> str:
        """Run `python -m ARGUMENTS` in the folder; return what it says."""
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        command = [sys.executable, "-m", *arguments]
        run = subprocess.run(command, cwd=self.folder, env=self.environment, **both)
        assert run.returncode == 0, run.stdout
        return run.stdout


def seat(classroom: Path, name: str) -> Person:
    """Give somebody an empty folder, and the settings that an administrator makes for everybody."""
    exchange, place = classroom / "exchange", classroom / name
    for folder in (exchange, place / "config", place / "folder"):
        folder.mkdir(parents=True, exist_ok=True)
    exchange.chmod(0o777)  # nbgrader insists: everybody hands in there
    settings = f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n"
    (place / "config" / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    # JupyterLab asks once whether it may fetch news, in front of what one wants to press.
    news = place / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    return Person(place / "folder")


@contextmanager
def jupyterlab(person: Person, log: Path) -> Iterator[str]:
    """Start JupyterLab in a person's folder, on a free port; return its address, and end it."""
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += ["--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}"]
    with log.open("w", encoding="utf-8") as said:
        both = {"stdout": said, "stderr": subprocess.STDOUT}
        server = subprocess.Popen(command, cwd=person.folder, env=person.environment, **both)
        try:
            yield _address(server, log)
        finally:
            _end(server)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Wait until a server says where it is."""
    said, end = "", time.monotonic() + KILL_GRACE
    while server.poll() is None and time.monotonic() < end:
        said = log.read_text(encoding="utf-8")
        if found := re.search(r"http://[\w.]+:\d+/lab", said):
            return f"{found[0]}?token={TOKEN}"
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab does not start:\n{said}")


def _end(server: subprocess.Popen[bytes]) -> None:
    """Ask a server to end its kernels and itself; now and then a thread of it waits for ever."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@dataclass(frozen=True)
class Desk:
    """A person with a window on JupyterLab.

    `refused` lists what the window asked of the network, `log` is what the server says.
    """

    person: Person
    page: Page
    refused: list[str]
    log: Path

    def choose(self, entry: str) -> None:
        """Choose an entry of the menu Nbgrader."""
        self.page.get_by_role("menuitem", name="Nbgrader").click()
        self.page.get_by_role("menuitem", name=entry, exact=True).click()

    @contextmanager
    def pictured(self) -> Iterator[None]:
        """If what is done in here fails, take a picture, and quote the server."""
        try:
            yield
        except Exception as error:
            picture = self.log.with_suffix(".png")
            self.page.screenshot(path=picture)
            said = self.log.read_text(encoding="utf-8")[-3000:]
            error.add_note(f"The page is pictured in {picture}; the server said:\n{said}")
            raise


@contextmanager
def desk(browser: Browser, person: Person) -> Iterator[Desk]:
    """Start JupyterLab for a person, and open it in a window of the browser."""
    refused: list[str] = []
    log = person.folder.with_suffix(".log")

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    with jupyterlab(person, log) as address, browser.new_context(viewport=WIDE) as window:
        window.set_default_timeout(1000 * KILL_GRACE)
        window.route(is_far, refuse)
        started = Desk(person, window.new_page(), refused, log)
        with started.pictured():
            started.page.goto(address)
        yield started


def is_far(address: str) -> bool:
    """Tell whether a browser needs the network for this."""
    parts = urlsplit(address)
    return parts.scheme in ("http", "https") and parts.hostname not in LOCAL


def wait_for(place: Locator, words: str) -> None:
    """Wait until words can be read at a place."""
    expect(place).to_contain_text(words, timeout=1000 * KILL_GRACE)
