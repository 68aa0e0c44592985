"""The sentence in which a student reads what was recognised. Rows are called by their numbers."""

from collections.abc import Sequence

from hintgrader.exercise.definition import Exercise
from hintgrader.hints.recognised import Recognised


def say(exercise: Exercise, known: Recognised) -> str:
    """The hint for what was recognised."""
    if known.row is not None and known.mistake:
        others = "nothing in other rows speaks against it"
        if known.others:
            others = "other rows fail in another way, perhaps for the same reason"
        return (
            f"in row {known.row + 1} your numbers are exactly what a known mistake gives; {others}."
            f" The hint for that mistake: {known.mistake.hint}"
        )
    more = [*known.forms]
    if known.others:
        more.append(f"see {_number_rows(known.others)}")
    if known.axes is not None:
        more.append(_say_axes(exercise, known))
    if known.mistake is None:
        right = "your numbers are right wherever they can be compared; their form is not: "
        return f"{right if known.axes is None else ''}{', and '.join(more)}"
    several = f"there is more than one thing to mend. First: {known.mistake.hint}."
    if known.second:
        rest = f". Then {more[0]}" if more else ""
        return f"{several} Second: {known.second.hint}{rest}"
    if known.forms or known.axes is not None:
        return f"{several} Then {', and '.join(more)}"
    if known.others:
        them = "they" if len(known.others) > 1 else "it"
        rows = _number_rows(known.others)
        return f"first: {known.mistake.hint}. Then see {rows}: {them} may fail for another reason"
    return known.mistake.whole_hint


def _number_rows(rows: Sequence[int]) -> str:
    numbers = [str(row + 1) for row in rows]
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    return f"rows {', '.join(numbers[:-1])} and {numbers[-1]}"


def _say_axes(exercise: Exercise, known: Recognised) -> str:
    """Advice for an answer that fits one number of axes, and no other."""
    name = exercise.contract.batch[0] if exercise.contract else "the input"
    axes = "1 axis" if known.axes == 1 else f"{known.axes} axes"
    where = f"has {axes}{' or fewer' if known.fewer else ''}"
    only = f"at most {axes}" if known.fewer else axes
    such_as = f"`.T`, `mm`, `dim=1`, `len({name})` or a sum without `keepdim`"
    if known.axes == 3:
        such_as = f"`bmm`, `dim=2`, `len({name})` or a sum without `keepdim`"
    right = "" if known.mistake else f"where `{name}` {where}, no row finds a fault: "
    return (
        f"{right}look for what fits only a `{name}` with {only}, such as {such_as}. Any number of"
        " axes may come before, so count from the back: `.mT`, `dim=-1`, `keepdim=True`"
    )
