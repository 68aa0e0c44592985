"""Agreement of two wrong answers, in what was found at a check or at a draw."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, zip_longest

from torch import Tensor

from hintgrader.checking.findings import Finding
from hintgrader.values.equality import rounded_numbers, same, share_of_numbers
from hintgrader.worker.plain import Plain, oddity

# Two that compute the same in another order differ by more than the answer may from the right one:
# what is wrong may be badly conditioned, such as weights of scores in the hundreds, in float32.
TOLERANCE = 1e-4


def alike(mine: Iterable[Finding], theirs: Iterable[Finding]) -> bool:
    """True if both erred at as many draws, and in the same way."""
    return all(one and other and alike_at(one, other) for one, other in zip_longest(mine, theirs))


def alike_at(one: Finding, other: Finding) -> bool:
    """Likewise, at one draw."""
    both = isinstance(one.evidence, Tensor) == isinstance(other.evidence, Tensor)
    return both and same(one.evidence, other.evidence, TOLERANCE)


def alike_where_finite(one: Plain, other: Plain) -> bool:
    """True unless there are finite numbers in the first that are others in the second."""
    if not isinstance(one, Tensor) or not isinstance(other, Tensor) or oddity(one) or oddity(other):
        return True
    if one.shape != other.shape:
        return True
    numbers = one.isfinite()
    return same(one[numbers], other[numbers].to(one.dtype), TOLERANCE)


def alike_but_for_words(mine: Iterable[Finding], theirs: Iterable[Finding]) -> bool:
    """Likewise, where two exceptions of one kind may say different things."""
    return all(
        one and other and ((one.raised and one.raised == other.raised) or alike_at(one, other))
        for one, other in zip_longest(mine, theirs)
    )


def differ(mine: Iterable[Finding], theirs: Iterable[Finding]) -> bool:
    """True if both are numbers, and others, or the mistake leaves `nan` where numbers are."""
    mine, theirs = [*mine], [*theirs]
    both = all(map(tells, chain(mine, theirs)))
    return (both and not alike(mine, theirs)) or denies(mine, theirs)


def denies(mine: Iterable[Finding], theirs: Iterable[Finding]) -> bool:
    """True if at a draw there are finite numbers only, and a mistake leaves `nan` or infinity."""
    left = {one.draw for one in theirs if not (is_word(one) or tells(one))}
    return any(one.draw in left and tells(one) for one in mine)


def one_number_alone(found: Iterable[Finding]) -> bool:
    """True if all numbers are the same one, which many a mistake gives: a choice out of a few."""
    return len({number for one in found for number in rounded_numbers(one.evidence)}) < 2


def is_word(found: Finding) -> bool:
    """True if there are no numbers: an exception, or a gradient that is cut off."""
    return isinstance(found.evidence, str)


def is_verdict(found: Finding) -> bool:
    """True if it is the name of what was misjudged."""
    one = found.evidence
    return isinstance(one, list) and len(one) == 1 and isinstance(one[0], str)


def tells(found: Finding) -> bool:
    """True if there are numbers only, all of them finite."""
    return share_of_numbers(found.evidence) == 1


def does_not_fit(found: Finding) -> bool:
    """True if the axes of something do not fit: an exception, or an output of another shape."""
    one, right = found.evidence, found.expected
    if isinstance(one, list):  # of an output that no gradient can be asked of
        return bool(one) and isinstance(one[-1], str) and one[-1] == "shape"
    if isinstance(one, Tensor) and isinstance(right, Tensor) and not oddity(one):
        return one.shape != right.shape
    return bool(found.raised)


def other_forms(found: Finding) -> list[str]:
    """Advice on the form of the numbers, whatever they are."""
    one, right, forms = found.evidence, found.expected, []
    if bare(found) is found:
        return []
    if isinstance(one, list | tuple):
        one, forms = one[0], ["return the output alone"]
    if not isinstance(one, Tensor) or not isinstance(right, Tensor):
        return forms
    if one.ndim != right.ndim:
        forms.append("mind the axes of length 1")
    if one.dtype != right.dtype:
        given = {value.dtype for value in found.inputs.values() if isinstance(value, Tensor)}
        forms.append(f"return {'the dtype of the inputs' if right.dtype in given else right.dtype}")
    return forms


def bare(found: Finding) -> Finding:
    """The finding with the numbers in the form that they should have."""
    one, right = found.evidence, found.expected
    if not isinstance(right, Tensor):
        return found
    if isinstance(one, list | tuple) and one:
        one = one[0]
    if not isinstance(one, Tensor) or oddity(one):
        return found
    if one.ndim != right.ndim and one.squeeze().shape == right.squeeze().shape:
        one = one.reshape(right.shape)
    one = one.to(right.dtype)
    return found if one is found.evidence else replace(found, evidence=one)


def in_form(found: Finding) -> Finding | None:
    """Likewise; None if the form was all that was wrong."""
    made = bare(found)
    return None if made is not found and same(made.evidence, found.expected) else made
