"""A class on a real JupyterHub, set up by the script that the guide gives.

`make test-hub` runs it. It takes root, `useradd`, and a Python that other accounts may run, with
JupyterHub and its proxy beside it: `ATTN_HUB` names their environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.accounts import Account, account, needs_root, open_folder
from tests.conftest import ROOT

HUB = Path(os.environ["ATTN_HUB"])
TOKEN = "of-a-test-and-no-secret"
SET = "01_least_squares"
SECONDS = 300  # that a server may take to start, on a busy machine
pytestmark = needs_root
SETTINGS = """
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = ["{hub}/node_modules/.bin/configurable-http-proxy"]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.db_url = "sqlite:///{place}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{place}/cookie"
c.LocalProcessSpawner.shell_cmd = []
c.Spawner.cmd = ["{hub}/bin/jupyterhub-singleuser"]
c.Spawner.start_timeout = c.Spawner.http_timeout = {seconds}
c.Spawner.environment = {{"PATH": "{hub}/bin:{bin}:/usr/bin:/bin"}}
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [
    {{"name": "test", "services": ["test"],
      "scopes": ["admin:users", "admin:servers", "access:servers"]}}
]
"""


@dataclass(frozen=True)
class Hub:
    """A JupyterHub that runs."""

    address: str

    def ask(self, path: str, method: str = "GET", **sent: Any) -> tuple[int, str]:
        """The status and the text of an answer."""
        body = json.dumps(sent).encode() if sent else b"" if method == "POST" else None
        request = urllib.request.Request(f"{self.address}{path}", body, method=method)
        request.add_header("Authorization", f"token {TOKEN}")
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")

    def post(self, path: str, **form: str) -> dict[str, Any]:
        """What a form that is sent gives back."""
        body = "&".join(f"{name}={value}" for name, value in form.items()).encode()
        request = urllib.request.Request(f"{self.address}{path}", body)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())

    def start(self, *people: Account) -> None:
        """Start everybody's server, as signing in does, and wait for all of them."""
        for one in people:
            assert self.ask(f"/hub/api/users/{one.name}", "POST")[0] == 201
            assert self.ask(f"/hub/api/users/{one.name}/server", "POST")[0] in (201, 202)
        for one in people:
            until(lambda name=one.name: self.ask(f"/user/{name}/api/status")[0] == 200)


def until(happened: Any, seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.5)


@contextmanager
def jupyterhub(place: Path) -> Iterator[Hub]:
    """Start JupyterHub with its proxy, and end both."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    words = {"place": place, "hub": HUB, "token": TOKEN, "seconds": SECONDS, "ports": ports}
    settings = place / "jupyterhub_config.py"
    settings.write_text(SETTINGS.format(bin=ROOT / ".venv" / "bin", **words), encoding="utf-8")
    hub = Hub(f"http://127.0.0.1:{ports[0]}")

    def answers() -> bool:
        try:
            return hub.ask("/hub/api/")[0] == 200
        except OSError:
            return False

    with (place / "hub.log").open("w") as log:
        command = [HUB / "bin" / "jupyterhub", "--config", settings]
        running = subprocess.Popen(command, cwd=place, stdout=log, stderr=subprocess.STDOUT)
        try:
            until(answers)
            yield hub
        finally:
            running.terminate()
            running.wait(60)


@pytest.fixture(scope="module")
def everybody() -> Iterator[tuple[Hub, dict[str, Account], Path]]:
    """A hub, the accounts of an instructor and two students, and a folder that all may enter."""
    with ExitStack() as opened:
        place = opened.enter_context(open_folder())
        people = {name: opened.enter_context(account(name)) for name in ("prof", "ada", "eve")}
        for one in people.values():
            home = place / one.name
            home.mkdir(mode=0o700)
            subprocess.run(["usermod", "--home", home, "--shell", "/bin/sh", one.name], check=True)
            os.chown(home, one.user, one.user)
        course = place / people["prof"].name / "methods"
        ignored = shutil.ignore_patterns("__pycache__", "grading")
        shutil.copytree(ROOT / "tests" / "another_course", course, ignore=ignored)
        subprocess.run(["chown", "-R", people["prof"].name, course], check=True)
        script = [ROOT / "tools" / "set_up_hub.sh", "--no-install", "--course-id", "methods"]
        script += ["--python", HUB / "bin" / "python", "--exchange", place / "exchange"]
        script += ["--instructor", people["prof"].name, "--course", course]
        subprocess.run(list(map(str, script)), check=True)
        with jupyterhub(place) as hub:
            hub.start(*people.values())
            yield hub, people, place


def typed(person: Account, folder: Path, *words: str) -> str:
    """What a command prints that somebody types in a terminal of the server's."""
    path = f"{HUB}/bin:{ROOT}/.venv/bin:/usr/bin:/bin"
    line = f'export HOME={folder.parent} PATH={path}; cd {folder}; exec "$@" 2>&1'
    return person.does(line, "python", "-m", *words)


def test_formgrader_opens_on_the_course_though_the_server_starts_at_home(everybody) -> None:
    hub, people, place = everybody
    prof = people["prof"].name
    course = place / prof / "methods"
    typed(people["prof"], course, "nbgrader", "generate_assignment", SET)
    status, said = hub.ask(f"/user/{prof}/formgrader/api/assignments")
    assert status == 200, said
    assert SET in {one["name"] for one in json.loads(said)}
    status, page = hub.ask(f"/user/{prof}/formgrader")
    assert status == 200
    assert 'url_prefix = "methods"' in page


def test_students_do_not_have_the_instructors_menus(everybody) -> None:
    hub, people, _ = everybody
    for name, sees in (("prof", True), ("ada", False)):
        status, _ = hub.ask(f"/user/{people[name].name}/formgrader/api/assignments")
        assert (status == 200) == sees
        _, page = hub.ask(f"/user/{people[name].name}/lab")
        (config,) = re.findall(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.S)
        off = json.loads(config).get("disabledExtensions", [])
        assert ("@jupyter/nbgrader:formgrader" not in off) == sees
        assert "@jupyter/nbgrader:assignment-list" not in off


def test_set_goes_to_a_student_and_comes_back_from_nobody_else(everybody) -> None:
    hub, people, place = everybody
    prof, ada, eve = people["prof"], people["ada"], people["eve"]
    course = place / prof.name / "methods"
    typed(prof, course, "nbgrader", "generate_assignment", SET, "--force")
    typed(prof, course, "nbgrader", "release_assignment", SET)
    form = {"course_id": "methods", "assignment_id": SET}
    for step in ("fetch", "submit"):
        answer = hub.post(f"/user/{ada.name}/assignments/{step}", **form)
        assert answer["success"], answer
    inbound = place / "exchange" / "methods" / "inbound"
    (handed_in,) = inbound.iterdir()
    forged = inbound / f"{ada.name}+{SET}+2037-01-01 00:00:00 UTC+x"
    eve.does(f'mkdir "$1"; echo "{{}}" > "$1/{SET}.ipynb"', forged)
    said = typed(prof, course, "nbgrader", "collect", SET)
    assert f"belongs to {eve.name}, not to {ada.name}" in said
    taken = course / "grading" / "submitted" / ada.name / SET / f"{SET}.ipynb"
    assert taken.read_bytes() == (handed_in / f"{SET}.ipynb").read_bytes()
