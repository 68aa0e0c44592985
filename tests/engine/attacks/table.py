"""Tries every attack in a sandbox, and writes what came of it: `tests/engine/attacks/README.md`.

    python -m tests.engine.attacks.table        # minutes; it takes bubblewrap and libseccomp

A test holds the page against the attacks that there are.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hintgrader.supervisor import budget, remote_submission, watchdog
from hintgrader.supervisor.process import SandboxProcess
from hintgrader.supervisor.results import Graded
from hintgrader.worker import clock
from hintgrader.worker.level import Level

from tests.confined import (
    HONEST,
    SPARED,
    all_said,
    grade,
    is_full,
    open_process,
    try_answer,
)
from tests.engine.attacks import Attack
from tests.engine.attacks.groups import AROUND, GROUPS, TRIED

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).with_name("README.md")
HEAD = """# The attacks, and what came of them

`python -m tests.engine.attacks.table` writes this page, with what it sees. Each attack takes the
place of an answer worth {points:g} points in a notebook of two parts; after it, in the same
process, somebody else's notebook is graded. *Harm* is what it cost the honest part beside it, or
that notebook. `make test` tries {tried} attacks of each group again, `make proofs` all.

{count} attacks in a sandbox: together they gained {gained:g} points, and harmed {harmed}.
"""
TABLE = "| attack | points | what the instructor reads | harm |\n|---|---|---|---|"
AROUND_HEAD = """
## Around the sandbox

Of these, real accounts or archives take part; the test that holds each is named.

| attack | points | what the instructor reads | harm | test |
|---|---|---|---|---|"""
CALL_SECONDS, MARGIN, MEMORY = 2.0, 1.0, 2**30  # less than when grading: to wait less
LONGEST = 200
NONE, ITSELF = "none", "its own notebook"


def main() -> None:
    """Try all, and write the page."""
    remote_submission.CALL_SECONDS, remote_submission.MARGIN = CALL_SECONDS, MARGIN
    clock.IDLE_SECONDS, budget.PATIENCE = CALL_SECONDS, MARGIN
    watchdog.MEMORY = MEMORY
    gained, harmed, points, sections = 0.0, 0, 0.0, []
    with (
        tempfile.TemporaryDirectory() as folder,
        open_process(Level.SANDBOX, Path(folder)) as process,
    ):
        for group, attacks in GROUPS.items():
            lines = [f"\n## {group[0].upper()}{group[1:]}\n\n{TABLE}"]
            for name, attack in attacks.items():
                graded = try_answer(process, attack.guarded)
                earned = float(graded.parts["tried"].points)
                points, harm = graded.parts["tried"].points.of, harm_of(process, attack, graded)
                gained, harmed = gained + earned, harmed + (harm not in (NONE, ITSELF))
                cells = name, f"{earned:g}", said_of(attack, graded), harm
                lines.append(row(*cells))
                print(*cells, sep=" | ", flush=True)
            sections.append("\n".join(lines))
    count = sum(map(len, GROUPS.values()))
    whom = f"others {harmed} times" if harmed else "nobody else"
    head = HEAD.format(tried=TRIED, points=points, count=count, gained=gained, harmed=whom)
    around = "\n".join([AROUND_HEAD, *(row(*cells, f"`{test}`") for *cells, test in AROUND)])
    PAGE.write_text("\n".join([head.rstrip(), *sections, around]) + "\n", encoding="utf-8")


def harm_of(process: SandboxProcess, attack: Attack, graded: Graded) -> str:
    """Say whom an attack has harmed."""
    after = grade(process, HONEST, SPARED)
    if not is_full(after.parts["spared"]) or after.notes or after.alarms:
        return "the next notebook"
    if is_full(graded.parts["spared"]):
        return NONE
    return ITSELF if attack.taints else "the part beside it"


def said_of(attack: Attack, graded: Graded) -> str:
    """Cut the instructor's text to as little as shows that the attack was noticed."""
    items = all_said(graded, "tried").replace(f"{ROOT}/", "").split(" | ")
    for end in range(1, len(items) + 1):
        if re.search(attack.noticed, said := " | ".join(items[:end]), re.DOTALL):
            break
    found = re.search(attack.noticed, said, re.DOTALL)
    end = max(LONGEST, found.end()) if found else LONGEST
    return said if len(said) <= end else f"{said[:end]}…"


def row(*cells: str) -> str:
    """A line of a table."""
    return f"| {' | '.join(' '.join(cell.split()).replace('|', '·') for cell in cells)} |"


def rows_of(page: str) -> Iterator[list[str]]:
    """Yield the cells of each line of the tables on a page, but not of their heads."""
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith("| attack |"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


if __name__ == "__main__":
    main()
