"""Try the newest versions of what requirements.txt pins, and write them there if they work.

    python tools/renew_pins.py            resolve, install, check, write
    python tools/renew_pins.py --resolve  only say what would change

A line with a comment is held as it is; the comment says why. The others may rise. Packages that
they bring along for the first time are added to the last section, and those that nothing needs any
more are taken out. The new versions are installed into an environment of their own, where the book
is built and a chapter is run; `make test` is left to you. Run it with the oldest Python that the
course supports, because later versions of a package may refuse that one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "requirements.txt"
BROUGHT = "# what the packages above bring with them"
PIP = ["-m", "pip", "--disable-pip-version-check"]
QUICK = ("tests/test_retrieval.py", "tests/test_wall.py", "book/01_retrieval.ipynb")


def pin_in(line: str) -> Requirement | None:
    """Return the package that a line of the file pins; None for other lines."""
    text = line.partition("#")[0].strip()
    return Requirement(text) if text else None


def asked_for(lines: list[str]) -> Iterator[str]:
    """Yield what the resolver is to find: the first sections' packages, and all that is held."""
    is_brought = False
    for line in lines:
        is_brought |= line == BROUGHT
        pin = pin_in(line)
        if pin is not None and "#" in line:
            yield str(pin)
        elif pin is not None and not is_brought:
            yield str(pin).replace("==", ">=")


def resolve(lines: list[str]) -> dict[str, dict]:
    """Return pip's report on each package of the newest versions that fit together, by its name."""
    command = [sys.executable, *PIP, "install", "--dry-run", "--ignore-installed", "--quiet"]
    run = subprocess.run(
        [*command, "--report", "-", *asked_for(lines)], stdout=subprocess.PIPE, text=True
    )
    if run.returncode:
        sys.exit("No versions were found that fit together, for the reasons above.")
    found = (item["metadata"] for item in json.loads(run.stdout)["install"])
    return {canonicalize_name(about["name"]): about for about in found}


def needed(roots: set[str], found: dict[str, dict]) -> set[str]:
    """Return what these packages need, without what torch alone does: that differs by machine."""
    reached, left = set(), roots - {"torch"}
    while left:
        reached |= left
        asked = (found[name].get("requires_dist", ()) for name in left)
        names = {canonicalize_name(Requirement(line).name) for lines in asked for line in lines}
        left = (names & found.keys()) - reached - {"torch"}
    return reached


def renewed(lines: list[str], found: dict[str, dict]) -> list[str]:
    """Return the lines of the file with the versions found."""
    pins = {canonicalize_name(pin.name) for pin in map(pin_in, lines) if pin}
    start = lines.index(BROUGHT) + 1
    roots = {canonicalize_name(pin.name) for pin in map(pin_in, lines[:start]) if pin}
    new = needed(roots & found.keys(), found) - pins
    kept = []
    for line in lines:
        pin = pin_in(line)
        if pin is None or "#" in line:
            kept.append(line)
        elif about := found.get(canonicalize_name(pin.name)):
            kept.append(line.replace(str(pin.specifier), f"=={about['version'].partition('+')[0]}"))
        elif pin.marker and not pin.marker.evaluate():
            kept.append(line)  # of another system
    added = [f"{found[name]['name']}=={found[name]['version']}" for name in new]
    start = kept.index(BROUGHT) + 1
    return [*kept[:start], *sorted([*kept[start:], *added], key=str.lower)]


def check(pins: Path, folder: Path) -> None:
    """Install the pins into an environment of its own, and try the course there.

    Raises:
        subprocess.CalledProcessError: Something fails; what it said is on the screen.
    """
    print("Installing them into an environment of their own: a few minutes.", flush=True)
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    ours = ["--no-deps", "--no-build-isolation", "--editable", "."]
    book = ["-m", "jupyter_book.cli.main", "build", ".", "-W", "-n", "--keep-going", "--quiet"]
    for words in (
        [*PIP, "install", "--quiet", "--requirement", str(pins)],
        [*PIP, "install", "--quiet", *ours],
        [*PIP, "check"],
        [*book, "--path-output", str(folder / "book")],
        ["-m", "pytest", "--quiet", "--nbval", *QUICK],
    ):
        print(f"python {' '.join(words)}", flush=True)
        subprocess.run([python, *words], cwd=ROOT, check=True)


def main(arguments: list[str]) -> int:
    """Say what may change, and write it unless it fails; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--resolve", action="store_true", help="only say what would change")
    options = parser.parse_args(arguments)
    lines = PINS.read_text(encoding="utf-8").splitlines()
    new = renewed(lines, resolve(lines))
    changed = [f"- {line}" for line in lines if line not in new]
    changed += [f"+ {line}" for line in new if line not in lines]
    print("\n".join(sorted(changed, key=lambda line: line[2:].lower())) or "All pins are newest.")
    if options.resolve or not changed:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, PINS.name)
        pins.write_text("\n".join(new) + "\n", encoding="utf-8")
        try:
            check(pins, Path(folder, "env"))
        except subprocess.CalledProcessError as error:
            print(f"{PINS.name} is left as it was: {error}", file=sys.stderr)
            return 1
        PINS.write_text(pins.read_text(encoding="utf-8"), encoding="utf-8")
    print(f"{PINS.name} is written. Now run `make test`.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
