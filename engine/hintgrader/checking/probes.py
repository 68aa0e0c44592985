"""Probes of a wrong answer: what becomes of its output if it is called again, or with other inputs.

What they show are effects, which are true whatever the cause is. A probe that the reference itself
would not stand, as where random numbers are asked for, says nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import torch
from torch import Tensor

from hintgrader.checking.case import Case, Submission, axes_of, draw_cases
from hintgrader.checking.causes import causes_of
from hintgrader.checking.findings import Finding, Sign
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mutation.answer import has, is_floating
from hintgrader.values.equality import same, share_of_numbers
from hintgrader.worker.plain import Inputs, Plain
from hintgrader.worker.submission import LocalSubmission
from hintgrader.worker.time_limits import PROBE_SECONDS

OTHER_NUMBERS = Sign(
    "returns_other_numbers_each_time",
    "every call returns other numbers, though the inputs are the same: something in it is random,"
    " such as dropout, and nothing random is asked for",
)
MIXED = (
    "what you return for the first of a batch changes if it comes alone{}: something runs over the"
    " axis in front too (a softmax, a sum, a maximum), or a mask is laid along it. Each of a batch"
    " by itself"
)
IGNORED = (
    "your output stays the same with other numbers in `{}`: is it used nowhere, does it cancel on"
    " the way, or do few of its numbers count?"
)
Call = Callable[..., Plain]


def probe(exercise: Exercise, findings: list[list[Finding]], submission: Submission) -> None:
    """Write into the first finding in numbers what calls of an answer show.

    What its source shows is written into the first finding of all.
    """
    causes = causes_of(exercise, findings, submission)
    for row, found in enumerate(findings):
        check = exercise.checks[row]
        if check.gradient or check.slow or not found or found[0].raised:
            continue
        case, signs = draw_cases(exercise, check, None)[found[0].draw], list[Sign]()
        with suppress(_NoOutput, MemoryError):
            signs.extend(_signs(exercise, case, submission))
        found[0] = replace(found[0], signs=tuple(signs))
        break
    for found in filter(None, findings):
        found[0] = replace(found[0], signs=(*found[0].signs, *causes))
        break


class _NoOutput(Exception):
    """A call failed or took long, so nothing can be said."""


def _caller(submission: Submission) -> Call:
    def call(inputs: Inputs, seed: int = 0) -> Plain:
        outcome = submission.call(inputs, seconds=PROBE_SECONDS, seed=seed)
        if outcome.error:
            raise _NoOutput
        return outcome.output

    return call


def _signs(exercise: Exercise, case: Case, submission: Submission) -> Iterator[Sign]:
    call = _caller(submission)
    right = _caller(LocalSubmission(case.reference, may_use=None))

    given = {n: value for n, value in case.given.items() if n not in case.check.withheld}
    output, expected = call(given), right(given)
    if not _has_numbers(output):
        return
    if not same(output, call(given, 1)):
        if same(expected, right(given, 1)):
            yield OTHER_NUMBERS
        return
    if (first := _first_alone(exercise, given)) and same(_first(expected), right(first)):
        alone = call(first)
        if _has_numbers(alone) and not same(_first(output), alone):
            said = ", and alone it is right" if same(alone, right(first)) else ""
            yield Sign("mixes_the_batch", MIXED.format(said))
    for name, value in given.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            others = [
                {**given, name: _other(one)} for one in (value, value.flip(*range(value.ndim)))
            ]
            if same(expected, right(others[0])):
                continue
            if all(same(output, call(other)) for other in others):
                yield Sign(f"ignores_{name}", IGNORED.format(name), name)


def _has_numbers(output: Plain) -> bool:
    """True for finite floating-point numbers, which are there to be looked at."""
    if has(lambda leaf: isinstance(leaf, Tensor) and leaf.is_meta, output):
        return False
    return share_of_numbers(output) == 1 and has(is_floating, output)


def _first_alone(exercise: Exercise, given: Inputs) -> Inputs | None:
    """The inputs with the first of the batch alone; None if there is no other, or no batch."""
    names = exercise.contract.batch if exercise.contract else ()
    batch = [value for name in names if isinstance(value := given[name], Tensor)]
    if not batch or len(batch) != len(names) or any(value.ndim < 1 for value in batch):
        return None
    # where any number of axes may come before, the first one may be none of these
    least = min(axes_of(exercise, None).values(), default=0)
    if any(len(value) < 2 for value in batch) or batch[0].ndim <= least:
        return None
    return {**given, **{name: value[:1] for name, value in zip(names, batch, strict=True)}}


def _first(output: Plain) -> Plain:
    if isinstance(output, list | tuple):
        return type(output)(map(_first, output))
    return output[:1] if isinstance(output, Tensor) and output.ndim else output


def _other(value: Tensor) -> Tensor:
    """Other numbers of the same kind, unlike these even where a constant cancels."""
    steps = torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype, device=value.device)
    return value * steps.reshape(value.shape)
