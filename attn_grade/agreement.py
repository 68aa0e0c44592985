"""Agreement of two wrong answers, in what was found at a check or at a draw."""

from dataclasses import replace

from torch import Tensor

from attn_grade.equality import same, share_of_numbers
from attn_grade.findings import Finding


def alike(mine: list[Finding], theirs: list[Finding]) -> bool:
    """True if both erred at as many draws, and in the same way."""
    return len(mine) == len(theirs) and all(map(alike_at, mine, theirs))


def alike_at(one: Finding, other: Finding) -> bool:
    """Likewise, at one draw."""
    both = isinstance(one.evidence, Tensor) == isinstance(other.evidence, Tensor)
    return both and same(one.evidence, other.evidence)


def alike_but_for_words(mine: list[Finding], theirs: list[Finding]) -> bool:
    """Likewise, where two exceptions of one kind may say different things."""
    return len(mine) == len(theirs) and all(
        (one.raised and one.raised == other.raised) or alike_at(one, other)
        for one, other in zip(mine, theirs, strict=True)
    )


def differ(mine: list[Finding], theirs: list[Finding]) -> bool:
    """True if both are numbers, and others."""
    return all(map(tells, (*mine, *theirs))) and not alike(mine, theirs)


def is_word(found: Finding) -> bool:
    """True if there are no numbers: an exception, or a gradient that is cut off."""
    return isinstance(found.evidence, str)


def tells(found: Finding) -> bool:
    """True if there are numbers only, all of them finite."""
    return share_of_numbers(found.evidence) == 1


def has_other_dtype(found: Finding) -> bool:
    """True if the numbers have not the dtype that they should have."""
    return bare(found) is not found


def bare(found: Finding) -> Finding:
    """The finding with the numbers in the dtype that they should have."""
    one, right = found.evidence, found.expected
    if isinstance(one, Tensor) and isinstance(right, Tensor) and one.dtype != right.dtype:
        return replace(found, evidence=one.to(right.dtype))
    return found


def without_dtype(found: Finding) -> Finding | None:
    """Likewise; None if the dtype was all that was wrong."""
    made = bare(found)
    return None if made is not found and same(made.evidence, found.expected) else made
