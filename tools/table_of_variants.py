"""The part of the kill matrix about faults that need no knowledge of an exercise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from hintgrader.exercise.contract import exemption, right_answers, wrong_answers
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mutation.reference import RIGHT, WRONG

from attn_bank import find_exercise

# Refused; not forbidden; accepted, since it is right.
REFUSED, WAIVED, ACCEPTED = "✘", "·", "✔"
INTRODUCTION = """## Faults that need no knowledge of an exercise

The engine alters every reference in ways that it knows: it casts the inputs, cuts off a gradient,
writes into an argument, and so on. {totals}

| sign | meaning |
|:-:|---|
| {refused} | forbidden, and refused |
| {waived} | not forbidden, and accepted; the reason stands below the table |
| {accepted} | right, and accepted |

Where a reference cannot be altered so, the place is empty. Some alterations are made once for each
input: {refused}{waived} says that some of them are forbidden, and some are not. The columns:

{columns}

"""


def write_table(names: Sequence[str]) -> str:
    """The section: every exercise, and what became of each alteration of its reference."""
    kinds = [*WRONG, *RIGHT]
    columns = [f"{place}. {kind}" for place, kind in enumerate(kinds, start=1)]
    head = f"| exercise | {' | '.join(map(str, range(1, len(kinds) + 1)))} |"
    rows, reasons, made = [], [], ""
    for name in names:
        exercise = find_exercise(name)
        signs = {kind: "".join(found) for kind, found in signs_of(exercise).items()}
        made += "".join(signs.values())
        cells = (shown(signs.get(kind, "")) for kind in kinds)
        rows.append(f"| `{exercise.function}` | {' | '.join(cells)} |")
        reasons += reasons_of(exercise)
    signs = {"refused": REFUSED, "waived": WAIVED, "accepted": ACCEPTED}
    totals = (
        f"Of {len(made)} altered answers\n{made.count(REFUSED)} are forbidden, and refused;"
        f" {made.count(WAIVED)} are not forbidden;\n{made.count(ACCEPTED)} are right, and accepted."
    )
    introduction = INTRODUCTION.format(totals=totals, columns="\n".join(columns), **signs)
    table = "\n".join([head, f"|---|{':-:|' * len(kinds)}", *rows])
    return (
        f"{introduction}:::{{dropdown}} Every exercise, and every alteration\n\n{table}\n\n"
        "What is not forbidden, and why:\n\n" + "\n".join(reasons) + "\n:::\n"
    )


def signs_of(exercise: Exercise) -> dict[str, list[str]]:
    """By the kind of alteration a sign for each that is made of the reference."""
    signs: dict[str, list[str]] = {}
    for variant in wrong_answers(exercise):
        sign = WAIVED if exemption(exercise, variant) else REFUSED
        signs.setdefault(variant.kind, []).append(sign)
    for variant in right_answers(exercise):
        signs.setdefault(variant.kind, []).append(ACCEPTED)
    return signs


def shown(signs: str) -> str:
    """Several signs as one of each, in the order of the legend."""
    return "".join(sign for sign in (REFUSED, WAIVED, ACCEPTED) if sign in signs)


def reasons_of(exercise: Exercise) -> Iterator[str]:
    """A line for each reason to forbid something not."""
    waived = [(exemption(exercise, variant), variant) for variant in wrong_answers(exercise)]
    for reason, found in groupby((pair for pair in waived if pair[0]), key=lambda pair: pair[0]):
        variants = [variant for _, variant in found]
        about = ", ".join(f"`{variant.of}`" for variant in variants if variant.of)
        yield f"- `{exercise.function}` {variants[0].kind} {about}".rstrip() + f": {reason}"
