"""Holding an answer to the checks of its exercise."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from attn_course.grading.compare import cast, difference, name_kind
from attn_course.grading.spec import Check, Exercise, Inputs, Plain
from attn_course.grading.submission import LocalSubmission, Outcome


class Submission(Protocol):
    """Whatever can be asked for outcomes: a function of this process, or one behind a wall."""

    def call(
        self,
        inputs: Inputs,
        upstream: Tensor | None = None,
        wrt: tuple[str, ...] = (),
        seconds: float | None = None,
    ) -> Outcome: ...


@dataclass(frozen=True)
class Finding:
    """Why a check failed.

    Args:
        reason: For the student, with numbers.
        evidence: What the answer gave there; two answers with the same evidence erred alike.
        inputs: What the answer was given.
        hidden: Whether the inputs are among those that a student must not see.
    """

    reason: str
    evidence: Plain
    inputs: Inputs
    hidden: bool


def examine(
    exercise: Exercise, name: str, submission: Submission, secret: str | None
) -> list[list[Finding]]:
    """For each check of the exercise what is wrong with the answer; nothing where it is right.

    There is nothing either for a slow check that comes after a failed one: it is not tried.
    """
    findings: list[list[Finding]] = []
    for check in exercise.checks:
        untried = check.slow and any(findings)
        findings.append(
            [
                finding
                for hidden in ([] if untried else _rounds(check, secret))
                for inputs in check.inputs(name, secret if hidden else None)
                if (finding := _examine(exercise, check, submission, inputs, hidden))
            ]
        )
    return findings


def _rounds(check: Check, secret: str | None) -> list[bool]:
    """Whether the inputs of each round of a check are hidden."""
    if secret is None:
        return [False]
    return [True] if check.slow else [False, True]


def _examine(
    exercise: Exercise, check: Check, submission: Submission, inputs: Inputs, hidden: bool
) -> Finding | None:
    given = cast(inputs, check.dtype)
    reference = LocalSubmission(exercise.reference)
    kind: Callable[..., tuple[str, Plain] | None] = _compare
    if check.law:
        kind = _hold_to_law
    elif check.gradient:
        kind = _compare_gradients
    elif check.untouched:
        kind = _compare_inputs
    wrong = kind(check, submission, reference, given, inputs)
    shown = {name: value for name, value in given.items() if name not in check.withheld}
    return Finding(*wrong, inputs=shown, hidden=hidden) if wrong else None


def _compare(
    check: Check, submission: Submission, reference: Submission, given: Inputs, inputs: Inputs
) -> tuple[str, Plain] | None:
    exact = reference.call(inputs).output
    for device in _devices(check.dtype):
        there = {n: v.to(device) if isinstance(v, Tensor) else v for n, v in given.items()}
        outcome = submission.call(there)
        if failed := _failure(outcome):
            return failed
        plain = reference.call(there).output
        if reason := difference(outcome.output, plain, exact, check):
            where = "" if device == "cpu" else f"on {device}, where the inputs are: "
            return where + reason, outcome.output
        if reason := difference(submission.call(there).output, plain, exact, check):
            return f"called a second time with the same inputs, it is wrong: {reason}", "twice"
    return None


def _compare_gradients(
    check: Check, submission: Submission, reference: Submission, given: Inputs, inputs: Inputs
) -> tuple[str, Plain] | None:
    plain = reference.call(given).output
    steps = torch.linspace(-1, 2, plain.numel(), dtype=torch.float64, device=plain.device)
    upstream = steps.reshape(plain.shape)
    outcome = submission.call(given, upstream.to(plain.dtype), check.gradient)
    if failed := _failure(outcome):
        return failed
    shape = getattr(outcome.output, "shape", None)
    if shape != plain.shape:
        reason = f"its output is {name_kind(outcome.output)}, not {tuple(plain.shape)}"
        return reason, None if shape is None else [*shape]
    plain = reference.call(given, upstream.to(plain.dtype), check.gradient)
    exact = reference.call(inputs, upstream, check.gradient)
    for name in check.gradient:
        found = outcome.gradients.get(name)
        if found is None:
            return (
                f"no gradient reaches {name}: something cuts the output off from it",
                f"cut: {name}",
            )
        reason = difference(found, plain.gradients[name], exact.gradients[name], check)
        if reason:
            return f"the gradient that reaches {name}: {reason}", found
    return None


def _compare_inputs(
    check: Check, submission: Submission, reference: Submission, given: Inputs, inputs: Inputs
) -> tuple[str, Plain] | None:
    # the inputs of a function that does nothing stay untouched too: no points for that
    if wrong := _compare(check, submission, reference, given, inputs):
        reason, evidence = wrong
        return f"the output has to be right as well: {reason}", evidence
    outcome = submission.call(given)
    for name, before in given.items():
        after = outcome.inputs_after[name]
        if isinstance(before, Tensor) and not torch.equal(before, after):
            return f"it changes {name}, which belongs to the caller", after
    return None


def _hold_to_law(
    check: Check, submission: Submission, reference: Submission, given: Inputs, inputs: Inputs
) -> tuple[str, Plain] | None:
    class Failed(Exception):
        pass

    outputs = []

    def call(changed: Inputs) -> Plain:
        handed_over = {n: value for n, value in changed.items() if n not in check.withheld}
        outcome = submission.call(handed_over, seconds=check.seconds)
        if failed := _failure(outcome):
            raise Failed(*failed)
        outputs.append(outcome.output)
        return outcome.output

    try:
        broken = check.law(call, given)
    except Failed as failed:
        return failed.args
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
        kind = name_kind(outputs[-1])
        return f"it is {kind}, of which this cannot be said", kind
    return (broken, broken) if isinstance(broken, str) else broken


def _failure(outcome: Outcome) -> tuple[str, Plain] | None:
    if outcome.borrowed:
        names = " and ".join(dict.fromkeys(outcome.borrowed))
        return f"it calls {names}; the exercise is to write that yourself", f"borrowed {names}"
    if outcome.error:
        kind, message = outcome.error
        return f"it raised {kind}: {message}", f"{kind}: {message}"
    return None


def _devices(dtype: torch.dtype) -> list[str]:
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None or (accelerator.type == "mps" and dtype == torch.float64):
        return ["cpu"]  # Apple's GPU has no float64
    return ["cpu", accelerator.type]
