"""Generate the page that shows which check catches which mistake: `book/kill_matrix.md`.

    python tools/build_kill_matrix.py            write the page from the verdicts that are kept
    python tools/build_kill_matrix.py --check    compare, change nothing

Nothing is examined here. `hintgrader try` does that for the exercises that have changed, and keeps
what their checks say under `book/kill_matrix/`, a file for each.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import chain, groupby
from pathlib import Path

from cells import BuildError, put
from hintgrader.authoring.verdicts import (
    CAUGHT,
    HIDDEN,
    NOT_TRIED,
    PASSED,
    SEEDS,
    SOME,
    UNTRIED,
    Verdicts,
    catching,
    deciding,
    points_of,
    read_verdicts,
)
from hintgrader.exercise.definition import Exercise
from table_of_variants import write_table

from attn_bank import exercise_names, find_exercise

# What the checks say, by exercise.
Banks = Mapping[str, Verdicts]
PAGE = Path(__file__).resolve().parent.parent / "book" / "kill_matrix.md"
VERDICTS = PAGE.with_suffix("")
REMAKE = "python tools/build_kill_matrix.py"
INTRODUCTION = f"""# The kill matrix

A check is worth what it catches. Each exercise comes with a bank of mistakes that students make,
and these tables say which check catches which of them. Every mistake was examined as an answer is
when a problem set is graded: on the inputs that students see, and on hidden ones, which are drawn
from a seed. Here {len(SEEDS)} seeds were tried.

{{totals}}

In the table of an exercise each row is a mistake and each column a check, numbered as in the list
above the table. Click on its name to open it.

| sign | meaning |
|:-:|---|
| {CAUGHT} | caught, on the inputs that students see |
| {HIDDEN} | caught on hidden inputs alone, whatever the seed |
| {SOME} | caught on the hidden inputs of some seeds, not of others |
| {PASSED} | passed |
| {UNTRIED} | not tried: a check that takes long waits until the others are passed |

A mistake earns the sum of the points of the checks that it passes. The last check of most
exercises repeats draws of another one, in float64, to look at more than the numbers. Wrong numbers
fail both, so it does not count where another check catches as well.
"""
# Each exercise is folded away, behind its name.
FOLD = ":::{dropdown} `"


def write_page(found: Banks) -> str:
    """The whole page, from what the checks said of the mistakes."""
    parts = [INTRODUCTION.format(totals=write_totals(found)), write_table([*found])]
    for problem_set, names in groupby(found, key=lambda name: name.split("/")[0]):
        parts.append(f"## Problem set {problem_set[:2]}\n")
        parts.append(f"For the chapter [](./{problem_set}.ipynb).\n")
        parts += [write_exercise(find_exercise(name), found[name]) for name in names]
    return "\n".join(parts)


def write_totals(found: Banks) -> str:
    """Say how much was examined, what hangs on one check, and which checks nothing here needs."""
    everything = list(chain.from_iterable(bank.values() for bank in found.values()))
    checks = sum(len(find_exercise(name).checks) for name in found)
    once = sum(alone(find_exercise(name), bank).total() for name, bank in found.items())
    unseen = sum(CAUGHT not in cells for cells in everything)
    luck = sum(SOME in cells for cells in everything)
    return (
        f"There are {len(found)} exercises with {checks} checks and {len(everything)} mistakes.\n"
        f"Exactly one check catches {once} of the mistakes. On the inputs that students see, "
        f"{unseen} of them pass every check.\nWhat {luck} of them earn depends on the seed. "
        f"{write_spare(found)}"
    )


def write_spare(found: Banks) -> str:
    """The checks without which every mistake would still be caught, and that are not easier."""
    spare = []
    for name, bank in found.items():
        exercise = find_exercise(name)
        easier = {place for place, check in enumerate(exercise.checks) if check.easier}
        numbers = {*range(len(exercise.checks))} - {*alone(exercise, bank)} - easier
        spare += [f"{place + 1} of `{name}`" for place in sorted(numbers)]
    if not spare:
        return (
            "No check could go: each of\nthem is the only one to catch some mistake, or easier "
            "than another,\nso that a nearly right answer passes it."
        )
    return (
        f"No mistake of the banks\nneeds these {len(spare)} checks, which catch changes of the "
        f"solution that other checks miss: {', '.join(spare)}."
    )


def alone(exercise: Exercise, bank: Verdicts) -> Counter[int]:
    """Count the mistakes that one check alone catches, by the place of the check."""
    deciders = (deciding(exercise, cells) for cells in bank.values())
    return Counter(places[0] for places in deciders if len(places) == 1)


def write_exercise(exercise: Exercise, bank: Verdicts) -> str:
    """The section of an exercise: its checks, numbered, and a row for each mistake."""
    caught, only = Counter(chain.from_iterable(map(catching, bank.values()))), alone(exercise, bank)
    lines = [f"{FOLD}{exercise.function}`: {len(exercise.mistakes)} mistakes", ""]
    for place, check in enumerate(exercise.checks):
        points = f"{check.points:g} point{'' if check.points == 1 else 's'}"
        counts = f"catches {caught[place]}, {only[place]} alone"
        lines.append(f"{place + 1}. {check.label} ({points}; {counts})")
    numbers = [str(place + 1) for place in range(len(exercise.checks))]
    lines += ["", f"| mistake | earns | {' | '.join(numbers)} |"]
    lines.append(f"|---|--:|{':-:|' * len(numbers)}")
    for mistake in exercise.mistakes:
        least, _ = points_of(exercise, cells := bank[mistake.name])
        earns = least if mistake.points is None else mistake.points
        row = [in_words(mistake.name), f"{earns:g}", *cells]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join([*lines, ":::", ""])


def in_words(name: str) -> str:
    """The name of a mistake as a person reads it."""
    return name.replace("_", " ")


def read_all(folder: Path = VERDICTS) -> Banks:
    """The verdicts on all exercises, in their order.

    Raises:
        BuildError: Some have not been tried as they are now; the message says which.
    """
    found: dict[str, Verdicts] = {}
    for name in exercise_names():
        verdicts = read_verdicts(find_exercise(name), folder / f"{name.partition('_')[2]}.json")
        if verdicts is not None:
            found[name] = verdicts
    if untried := [name for name in exercise_names() if name not in found]:
        raise BuildError("\n".join(map(NOT_TRIED.format, untried)))
    return found


def main(arguments: list[str]) -> int:
    """Write or check the page; return 0, or 1 after a message."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: %(default)s")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        content = write_page(read_all(options.verdicts)).encode()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    if options.page.is_file() and options.page.read_bytes() == content:
        return 0
    if options.check:
        print(f"{options.page}: not what the verdicts give; run: {REMAKE}", file=sys.stderr)
        return 1
    put(content, options.page)
    print(options.page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
