"""The script that sets up a hub, with a Python that only notes what it is asked to install."""

from __future__ import annotations

import os
import shutil
import subprocess

from hintgrader.testing.accounts import account, needs_root, open_folder

from tests.conftest import ROOT

PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then echo "$PREFIX"; exit; fi
for last; do :; done
[ -d "$last" ] || exit 0
cp -r "$last" "$PREFIX/installed" && mkdir "$last/build" && echo "$*" > "$PREFIX/asked"
"""


@needs_root
def test_script_builds_outside_the_clone_and_takes_no_secret_of_the_class() -> None:
    with open_folder() as place, account("prof") as prof:
        home, prefix = place / prof.name, place / "prefix"
        course = home / "a course"
        (course / "grading").mkdir(parents=True)
        (course / "grading" / "secret.txt").write_text("seed")
        (course / "engine" / "build" / "lib").mkdir(parents=True)  # whose files a wheel would hold
        prefix.mkdir()
        files = {"nbgrader_config.py", "requirements-grading.txt", "requirements-torch.txt"}
        for name in files:
            shutil.copy(ROOT / name, course)
        subprocess.run(["usermod", "--home", home, prof.name], check=True)
        subprocess.run(["chown", "-R", prof.name, home], check=True)
        python = place / "python"
        python.write_text(PYTHON)
        python.chmod(0o755)
        before = {path: path.stat().st_uid for path in course.rglob("*")}
        script = [ROOT / "tools" / "set_up_hub.sh", "--python", python, "--course", course]
        script += ["--instructor", prof.name, "--exchange", place / "exchange"]
        run = subprocess.run(
            list(map(str, script)),
            env=os.environ | {"PREFIX": str(prefix)},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        assert {path: path.stat().st_uid for path in course.rglob("*")} == before
        installed = {path.name for path in (prefix / "installed").iterdir()}
        assert installed == files | {"engine"}
        assert list((prefix / "installed" / "engine").iterdir()) == []
        copy = (prefix / "asked").read_text().split()[-1]
        assert not os.path.exists(copy)
