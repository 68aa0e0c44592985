"""Slips that can be made in any exercise: the reference with one thing done otherwise.

They are tried on an answer that no mistake of the bank explains. What is said of it is no more than
its numbers show: that they are what comes out if this one thing is done otherwise.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import chain, combinations, permutations
from typing import Any

import torch
from torch import Tensor

from attn_grade.agreement import alike, alike_at
from attn_grade.alterations import has, is_floating, is_whole
from attn_grade.equality import share_of_numbers
from attn_grade.exercise import Exercise
from attn_grade.findings import Finding, Findings
from attn_grade.inside.plain import Inputs, Plain, map_leaves
from attn_grade.inside.submission import LocalSubmission
from attn_grade.instead import with_others
from attn_grade.judge import examine, examine_one
from attn_grade.mistakes import Mistake
from attn_grade.promises import sample_inputs
from attn_grade.trial import draw_trials
from attn_grade.wrong_answers import Altered, Answer, given, leafwise, mistaking, then

Change = Callable[[Any], Any]
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
_AXES = {-1: "the last axis", -2: "the last axis but one", -3: "the last axis but two"}
_POWERS = {
    -0.5: "divided by the root of",
    -1.0: "divided by",
    0.5: "multiplied by the root of",
    1.0: "multiplied by",
}
_FLOATS: dict[str, Change] = {
    "with the sign reversed": lambda x: -x,
    "after a `tanh`": torch.tanh,
    "after a `sigmoid`": torch.sigmoid,
    "after a `relu`": torch.relu,
    "without its sign": torch.abs,
    "after an `exp`": torch.exp,
    "after a `log`": torch.log,
    "squared": torch.square,
    "under a square root": torch.sqrt,
    "doubled": lambda x: 2 * x,
    "halved": lambda x: x / 2,
    "multiplied by the root of 2": lambda x: x * 2**0.5,
    "divided by the root of 2": lambda x: x / 2**0.5,
    "rounded": torch.round,
    "rounded down": torch.floor,
    "cut to the range from 0 to 1": lambda x: x.clamp(0, 1),
    "subtracted from 1": lambda x: 1 - x,
    "turned into 1 divided by it": lambda x: 1 / x,
    "set to 1": torch.ones_like,
    "as a number of Python": lambda x: x.item(),
}
_WHOLE: dict[str, Change] = {
    "1 larger": lambda x: x + 1,
    "1 smaller": lambda x: x - 1,
    "doubled": lambda x: 2 * x,
}
_TRUTHS: dict[str, Change] = {
    "turned round, True for False": torch.logical_not,
    "True everywhere": torch.ones_like,
    "False everywhere": torch.zeros_like,
    "False at the last True of each row as well": lambda x: x & _next(x, -1),
    "True one place further in each row": lambda x: x | _next(x, 1),
}
_ANY: dict[str, Change] = {
    "0 everywhere": torch.zeros_like,
    "1 everywhere": torch.ones_like,
    "at its largest number everywhere": lambda x: x.amax().expand_as(x),
    "at its first entry everywhere": lambda x: x[:1].expand_as(x),
    "at its last entry everywhere": lambda x: x[-1:].expand_as(x),
    "transposed where it is square": lambda x: x.mT if x.shape[-1] == x.shape[-2] else x,
    "reshaped where its last two axes should change places": lambda x: x.reshape(x.mT.shape).mT,
    "reshaped after its last two axes have changed places": lambda x: x.mT.reshape(x.shape),
}
_ROWS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "after a softmax over {}": torch.softmax,
    "after a `log_softmax` over {}": torch.log_softmax,
    "less its mean over {}": lambda x, axis: x - x.mean(axis, keepdim=True),
    "less its maximum over {}": lambda x, axis: x - x.amax(axis, keepdim=True),
    "divided by its sum over {}": lambda x, axis: x / x.sum(axis, keepdim=True),
    "divided by its length along {}": lambda x, axis: x / x.norm(dim=axis, keepdim=True),
    "added up along {}": torch.cumsum,
}
_MOVED: dict[str, Callable[[Tensor, int], Tensor]] = {
    "in reverse order along {}": lambda x, axis: x.flip(axis),
    "moved on by one place along {}": lambda x, axis: x.roll(1, axis),
    "moved back by one place along {}": lambda x, axis: x.roll(-1, axis),
}
_LISTS: dict[str, Change] = {
    "in reverse order": lambda x: x[::-1],
    "without its first part": lambda x: x[1:],
    "without its last part": lambda x: x[:-1],
}


# A reference takes long to call with each: what of this is done to a tensor that is given.
_OF_GIVEN = {
    "with the sign reversed",
    "after a `tanh`",
    "without its sign",
    "squared",
    "doubled",
    "halved",
    "rounded",
    "rounded down",
    "subtracted from 1",
    "after a softmax over {}",
    "less its mean over {}",
    "divided by its length along {}",
}


def slip_of(exercise: Exercise, findings: Findings, secret: str | None) -> Mistake | None:
    """The slip that gives what was found, at all checks, or None."""
    places = [
        (row, one)
        for row, found in enumerate(findings)
        for one in found
        if share_of_numbers(one.evidence)
    ]
    if len(places) < ENOUGH or any(check.slow for check in exercise.checks):
        return None
    if len({number for _, one in places for number in _numbers(one.evidence)}) < TOLD_APART:
        return None
    row, first = places[0]
    known = [*zip(slips_of(exercise), _found_at(exercise, secret, row, first.draw), strict=True)]
    known += [(slip, first) for slip in _times_a_number(exercise, first)]
    for slip, there in known:
        if there is not None and alike_at(first, there):
            theirs = examine(exercise, LocalSubmission(slip.answer), secret)
            if all(map(alike, findings, theirs)):
                return slip
    return None


@lru_cache(maxsize=128)  # places at which the answers of a class are first found wrong
def _found_at(exercise: Exercise, secret: str | None, row: int, draw: int) -> list[Finding | None]:
    """What is found of each slip at one draw of a check."""
    trial = draw_trials(exercise, exercise.checks[row], secret)[draw]
    return [examine_one(trial, LocalSubmission(slip.answer)) for slip in slips_of(exercise)]


@cache
def slips_of(exercise: Exercise) -> list[Mistake]:
    """The slips that can be made in an exercise; none where its reference cannot be called."""
    if (inputs := sample_inputs(exercise)) is None:
        return []
    reference = (exercise.promises and exercise.promises.answer) or exercise.reference
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
    pairs = [*zip(_numbers(found.evidence), _numbers(found.expected), strict=False)]
    factors = [one / right for one, right in pairs if right]
    if not factors or not math.isfinite(factor := sum(factors) / len(factors)):
        return []
    times = leafwise(exercise.reference, lambda x: x * factor if has(_is_real, x) else x)
    hint = f"every number of your output is {factor:.4g} times what it should be"
    return [Mistake(_named(times, "times a number"), hint, None)]


def _is_real(leaf: object) -> bool:
    return isinstance(leaf, float) or is_floating(leaf)


def _numbers(value: Plain) -> list[float]:
    """The numbers in a value, up to rounding."""
    if isinstance(value, Tensor):
        value = value.flatten().tolist()
    if isinstance(value, list | tuple):
        return [number for part in value for number in _numbers(part)]
    return [float(f"{value:.5g}")] if isinstance(value, int | float) else []


def _named(answer: Answer, hint: str) -> Answer:
    said = hint.partition(":")[0]
    for words in (GIVEN, DONE, MADE):
        said = said.removeprefix(words.partition("{}")[0])
    answer.__name__ = "_".join(re.findall(r"\w+", said))
    return answer


def _next(x: Tensor, step: int) -> Tensor:
    """A table of truths, moved by a place along its rows; what comes in is False."""
    moved = x.roll(step, -1)
    moved[..., 0 if step > 0 else -1] = False
    return moved


def _of_number(change: Change) -> Change:
    return lambda x: change(torch.tensor(x, dtype=torch.float64)).item()


def _along(change: Callable[[Tensor, int], Tensor], axis: int) -> Change:
    return lambda x: change(x, axis)


def _changes(value: object, made: bool = True) -> Iterator[tuple[str, Change]]:
    """What may become of a value of this kind, and how to say that; less of a given tensor."""
    if isinstance(value, float):
        yield from ((words, _of_number(change)) for words, change in _FLOATS.items())
    elif is_floating(value):
        yield from (item for item in _FLOATS.items() if made or item[0] in _OF_GIVEN)
    elif is_whole(value):
        yield from _WHOLE.items()
    if not isinstance(value, Tensor) or not value.ndim:
        return
    if value.dtype == torch.bool:
        yield from _TRUTHS.items()
    yield from _ANY.items()
    for axis, name in list(_AXES.items())[: min(value.ndim, 3 if made else 2)]:
        for words, change in (_ROWS | _MOVED if value.is_floating_point() else _MOVED).items():
            if made or words in _OF_GIVEN or words in _MOVED:
                yield words.format(name), _along(change, axis)


def _given(reference: Answer, inputs: Inputs) -> Slips:
    for name, value in inputs.items():
        for words, change in _changes(value, made=False):
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
        for axis, words in list(_AXES.items())[: value.ndim]:
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
    for words, change in _changes(leaf):
        yield MADE.format(words), leafwise(reference, _where(type(leaf), change))
    if isinstance(output, list):
        for words, change in _LISTS.items():
            yield MADE.format(words), then(reference, change)


def _where(kind: type, change: Change) -> Change:
    return lambda x: change(x) if isinstance(x, kind) else x
