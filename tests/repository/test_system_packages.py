"""The packages that the script of the system's packages misses on a machine that has none."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.conftest import ROOT

SCRIPT = ROOT / "tools" / "system_packages.sh"
BASH = shutil.which("bash")


def test_what_is_missing_is_said_in_one_line_and_what_is_there_is_not(tmp_path: Path) -> None:
    copy = tmp_path / "tools" / SCRIPT.name
    copy.parent.mkdir()
    shutil.copy(SCRIPT, copy)
    commands = tmp_path / "bin"
    commands.mkdir()

    def there(name: str, prints: str = "") -> None:
        (commands / name).write_text(f"#!{BASH}\necho {prints}\n", encoding="utf-8")
        (commands / name).chmod(0o755)

    def said() -> tuple[int, str]:
        done = subprocess.run(
            [str(BASH), str(copy), "browser"],
            cwd=tmp_path,
            env={"PATH": str(commands)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    there("dirname", "tools")
    there("id", "1000")
    there("uname", "Linux")
    code, line = said()
    assert code == 1
    install = (
        "sudo apt-get install --yes --no-install-recommends chromium-headless-shell bubblewrap"
    )
    assert line.startswith(f"The tests need chromium-headless-shell bubblewrap: {install} ")
    there("chromium")
    code, line = said()
    assert code == 1
    assert line.startswith("The tests need bubblewrap: ")
    there("bwrap")
    assert said() == (0, "")


def test_what_runs_by_itself_names_no_package_of_its_own() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "tools/system_packages.sh" in run
    for path in [ROOT / ".ci" / "run", *(ROOT / ".github" / "workflows").glob("*.yml")]:
        assert "apt-get" not in path.read_text(encoding="utf-8"), path
