"""A JupyterHub with its proxy, for the tests that `make test-hub` runs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hintgrader.testing.accounts import Account

from tests.conftest import ROOT

HUB = Path(os.environ["ATTN_HUB"])
TOKEN = "of-a-test-and-no-secret"
AT_ONCE = 4  # servers that start
SECONDS = 300  # that a server may take to start, on a busy machine
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
        """Send a form, and return the answer."""
        body = "&".join(f"{name}={value}" for name, value in form.items()).encode()
        request = urllib.request.Request(f"{self.address}{path}", body)
        request.add_header("Authorization", f"token {TOKEN}")
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())

    def start(self, *people: Account) -> None:
        """Start everybody's server, as signing in does, and wait for all of them."""
        for first in range(0, len(people), AT_ONCE):
            some = people[first : first + AT_ONCE]
            for one in some:
                assert self.ask(f"/hub/api/users/{one.name}", "POST")[0] == 201
                assert self.ask(f"/hub/api/users/{one.name}/server", "POST")[0] in (201, 202)
            for one in some:
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
        except BaseException as error:
            error.add_note((place / "hub.log").read_text(encoding="utf-8")[-3000:])
            raise
        finally:
            running.terminate()
            running.wait(60)
