"""Slips that can be made in any exercise: the reference with one thing done otherwise.

They are tried on an answer that no mistake of the bank explains. What is said of it is no more than
its numbers show: that they are what comes out if this one thing is done otherwise.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations, permutations
from typing import Any

import torch
from torch import Tensor

from hintgrader.checking.findings import Finding, Findings
from hintgrader.exercise.contract import sample_inputs
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.exercise.mutation.answer import has, is_floating
from hintgrader.exercise.mutation.call import with_others
from hintgrader.exercise.mutation.value import AXES, Change, changes
from hintgrader.exercise.wrong_answers import Altered, Answer, given, leafwise, mistaking, then
from hintgrader.hints.cache import Effort, FindingsCache
from hintgrader.values.equality import rounded_numbers, share_of_numbers
from hintgrader.worker.plain import Inputs, Plain, map_leaves
from hintgrader.worker.submission import LocalSubmission

Slips = Iterator[tuple[str, Answer]]
ENOUGH = 2  # draws at which numbers do not agree by chance
TOLD_APART = 4  # different numbers, at least: where all are 0 or 1, much comes out alike
GIVEN = "your numbers are what a right answer gives with {}: look at what you make of it"
DONE = "your numbers are what a right answer gives {}"
MADE = "your output is the right one {}: at the end a step is missing, or there is one too many"
SCALED = (
    "your output is the right one {}: a mean and a sum differ by such a factor, and so do numbers"
    " with their scale and without"
)
FIRST = "you return the first entry of the right output, and nothing else: is `return` in a loop?"
_FIRST: tuple[Change, ...] = (lambda x: x[0], lambda x: x[:1])
_POWERS = {
    -0.5: "divided by the root of",
    -1.0: "divided by",
    0.5: "multiplied by the root of",
    1.0: "multiplied by",
}
_LISTS: dict[str, Change] = {
    "in reverse order": lambda x: x[::-1],
    "without its first part": lambda x: x[1:],
    "without its last part": lambda x: x[:-1],
}


def slip_of(
    exercise: Exercise, findings: Findings, secret: str | None, effort: Effort
) -> Mistake | None:
    """The slip that gives what was found, at all checks, or None."""
    places = [
        (row, one)
        for row, found in enumerate(findings)
        for one in found
        if share_of_numbers(one.evidence)
    ]
    if len(places) < ENOUGH or any(check.slow for check in exercise.checks):
        return None
    if len({number for _, one in places for number in rounded_numbers(one.evidence)}) < TOLD_APART:
        return None
    row, first = places[0]
    for slip in (*slips_of(exercise), *_times_a_number(exercise, first)):
        theirs = FindingsCache(exercise, slip.answer, secret, effort)
        if theirs.agrees_from((row, first.draw), findings):
            return slip
    return None


@cache
def slips_of(exercise: Exercise) -> list[Mistake]:
    """The slips that can be made in an exercise; none where its reference cannot be called."""
    if (inputs := sample_inputs(exercise)) is None:
        return []
    reference = (exercise.contract and exercise.contract.answer) or exercise.reference
    with torch.device("cpu"):  # whatever default an earlier cell has set
        outcome = LocalSubmission(reference).call(inputs)
        if outcome.error:
            return []
        every = chain(
            _given(reference, inputs),
            ((DONE.format(words), answer) for words, answer in with_others(reference, inputs)),
            _scaled(reference, inputs),
            _made(reference, outcome.output),
        )
        return [Mistake(_named(answer, hint), hint, None) for hint, answer in every]


def _times_a_number(exercise: Exercise, found: Finding) -> list[Mistake]:
    """The slip of one factor for all numbers, whatever it is."""
    pairs = [*zip(rounded_numbers(found.evidence), rounded_numbers(found.expected), strict=False)]
    factors = [one / right for one, right in pairs if right]
    if not factors or not math.isfinite(factor := sum(factors) / len(factors)):
        return []
    times = leafwise(exercise.reference, lambda x: x * factor if has(_is_real, x) else x)
    hint = f"every number of your output is {factor:.4g} times what it should be"
    return [Mistake(_named(times, "times a number"), hint, None)]


def _is_real(leaf: object) -> bool:
    return isinstance(leaf, float) or is_floating(leaf)


def _named(answer: Answer, hint: str) -> Answer:
    said = hint.partition(":")[0]
    for words in (GIVEN, DONE, MADE):
        said = said.removeprefix(words.partition("{}")[0])
    answer.__name__ = "_".join(re.findall(r"\w+", said))
    return answer


def _given(reference: Answer, inputs: Inputs) -> Slips:
    for name, value in inputs.items():
        for words, change in changes(value, made=False):
            yield GIVEN.format(f"`{name}` {words}"), given(reference, **{name: change})
    alike_kinds = {name: type(value) for name, value in inputs.items()}
    for one, other in permutations(inputs, 2):
        if alike_kinds[one] is alike_kinds[other]:
            said = GIVEN.format(f"`{other}` in the place of `{one}`")
            yield said, mistaking(reference, **{one: other})
    for one, other in combinations(inputs, 2):
        if alike_kinds[one] is alike_kinds[other]:
            said = DONE.format(f"with `{one}` and `{other}` exchanged")
            yield said, mistaking(reference, **{one: other, other: one})
            yield f"{said} where they have one shape", _exchanged(reference, one, other)


def _scaled(reference: Answer, inputs: Inputs) -> Slips:
    for name, value in inputs.items():
        if not isinstance(value, Tensor):
            continue
        for axis, words in list(AXES.items())[: value.ndim]:
            for power, done in _POWERS.items():
                said = f"{done} the length of {words} of `{name}`"
                yield SCALED.format(said), _times(reference, name, axis, power)
                if value.is_floating_point():
                    times = _by_length(axis, power)
                    yield GIVEN.format(f"`{name}` {said}"), given(reference, **{name: times})


def _exchanged(answer: Answer, one: str, other: str) -> Altered:
    def how(answer: Answer, **inputs: Any) -> Any:
        first, second = inputs[one], inputs[other]
        if getattr(first, "shape", None) == getattr(second, "shape", None):
            inputs |= {one: second, other: first}
        return answer(**inputs)

    return Altered(answer, how)


def _by_length(axis: int, power: float) -> Change:
    return lambda x: x * x.shape[axis] ** power


def _times(answer: Answer, name: str, axis: int, power: float) -> Altered:
    def how(answer: Answer, **inputs: Any) -> Any:
        times = inputs[name].shape[axis] ** power
        return map_leaves(lambda x: x * times if is_floating(x) else x, answer(**inputs))

    return Altered(answer, how)


def _made(reference: Answer, output: Plain) -> Slips:
    leaf = output
    while isinstance(leaf, list | tuple) and leaf:
        leaf = leaf[-1]
    if isinstance(output, Tensor | list):
        for change in _FIRST:
            yield FIRST, then(reference, change)
    for words, change in changes(leaf):
        yield MADE.format(words), leafwise(reference, _where(type(leaf), change))
    if isinstance(output, list):
        for words, change in _LISTS.items():
            yield MADE.format(words), then(reference, change)


def _where(kind: type, change: Change) -> Change:
    return lambda x: change(x) if isinstance(x, kind) else x
