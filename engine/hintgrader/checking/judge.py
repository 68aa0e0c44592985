"""Holding an answer to the checks of its exercise."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace

from torch import Tensor

from hintgrader.checking.case import Case, Submission, draw_cases, tensor_of
from hintgrader.checking.compare import difference, wrong_form
from hintgrader.checking.findings import Fault, Finding, Findings
from hintgrader.checking.invariant import MOST_NUMBERS, check_invariant, failure, numbers_in
from hintgrader.checking.probes import probe
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mutation.reference import CHANGED, MARKED
from hintgrader.values.equality import as_number, identical
from hintgrader.worker.plain import NONE, Foreign, Plain, name_kind
from hintgrader.worker.submission import Outcome, copy_of

AS_WELL = "the output has to be right as well: "
NO_MEMORY = "its output takes more memory than the grader has"


def examine(exercise: Exercise, submission: Submission, secret: str | None) -> Findings:
    """The failures of each check of the exercise; none where the answer is right.

    There is nothing either for a slow check that comes after a failed one: it is not tried. With a
    secret the answer is tried on the hidden inputs too, once it has been on all public ones. A
    call that does not come back ends the check that it was made for, and no other.
    """
    public = examine_public(exercise, submission, slow=secret is None)
    return public if secret is None else examine_hidden(exercise, submission, secret, public)


def examine_public(exercise: Exercise, submission: Submission, slow: bool = True) -> Findings:
    """The first round: the inputs that a student may see.

    Args:
        slow: Whether slow checks are tried as well; if not, there is nothing against them.
    """
    findings: list[list[Finding]] = []
    for check in exercise.checks:
        untried = check.slow and (any(findings) or not slow)
        cases = [] if untried else draw_cases(exercise, check, None)
        findings.append(_examine_all(enumerate(cases), submission, _looks_at_inputs(exercise)))
    findings = _with_changes_in_one_row(exercise, findings)
    probe(exercise, findings, submission)
    return findings


def examine_hidden(
    exercise: Exercise, submission: Submission, secret: str, public: Findings
) -> Findings:
    """The second round, which may come later: the hidden inputs, after what was `public`."""
    findings: list[list[Finding]] = []
    for check, before in zip(exercise.checks, public, strict=True):
        untried = (check.slow and any(findings)) or any(found.late for found in before)
        cases = [] if untried else draw_cases(exercise, check, secret)
        hidden = [(number, case) for number, case in enumerate(cases) if case.hidden]
        found = _examine_all(hidden, submission, _looks_at_inputs(exercise))
        findings.append([*before, *found])
    return _with_changes_in_one_row(exercise, findings)


def _looks_at_inputs(exercise: Exercise) -> bool:
    """True if no row of the exercise may change its inputs.

    The row of the contract, which is about that, may draw what leaves a change without effect: a
    factor of 1, or no padding. A slow check is tried if no other has failed, and so must not hang
    on a finding that another row may take over.
    """
    checks = exercise.checks
    return any(c.untouched for c in checks) and not any(c.slow for c in checks)


def _with_changes_in_one_row(
    exercise: Exercise, findings: list[list[Finding]]
) -> list[list[Finding]]:
    """The findings; where the row of the contract has some, no other says that inputs change."""
    rows = [*zip(exercise.checks, findings, strict=True)]
    if not any(check.untouched and found for check, found in rows):
        return findings
    return [
        found if check.untouched else [each for each in found if not _is_change(each)]
        for check, found in rows
    ]


def _examine_all(
    cases: Iterable[tuple[int, Case]], submission: Submission, look_at_inputs: bool
) -> list[Finding]:
    findings: list[Finding] = []
    for number, case in cases:
        if found := examine_one(case, submission, look_at_inputs):
            findings.append(replace(found, draw=number))
            if found.late:  # the row is lost, and waiting for each of its calls takes too long
                break
    return findings


def examine_one(case: Case, submission: Submission, look_at_inputs: bool = False) -> Finding | None:
    """The failure of an answer on one draw, or None.

    Args:
        look_at_inputs: Whether to look, where outputs are compared and right, for changes of the
            inputs too, even if the check is about something else.
    """
    check = case.check
    try:
        wrong = _wrong(case, submission, look_at_inputs)
    except MemoryError:
        wrong = Fault(NO_MEMORY, NO_MEMORY)
    if not wrong:
        return None
    evidence = wrong.evidence
    if numbers_in(evidence) > MOST_NUMBERS:  # it is kept until all parts are done
        evidence = name_kind(evidence)
    # copies: what a student does with the inputs of a score must not change the case
    shown = {n: copy_of(value) for n, value in case.given.items() if n not in check.withheld}
    said = vars(replace(wrong, evidence=evidence))
    return Finding(inputs=shown, hidden=case.hidden, **said)


def _wrong(case: Case, submission: Submission, look_at_inputs: bool) -> Fault | None:
    check = case.check
    wrong: Fault | None
    latest: Outcome | None = None
    if check.invariant:
        wrong = check_invariant(check.invariant, case, submission)
    elif check.gradient:
        wrong = _compare_gradients(case, submission)
    else:
        wrong, latest = _compare(case, submission)
    if wrong:
        # the inputs of a function that does nothing stay untouched too: no points for that
        as_well = check.untouched and not wrong.late
        return replace(wrong, reason=f"{AS_WELL}{wrong.reason}") if as_well else wrong
    if check.untouched:
        return _compare_inputs(case, latest or submission.call(case.given))
    return _compare_inputs(case, latest) if look_at_inputs and latest else None


def _compare(case: Case, submission: Submission) -> tuple[Fault | None, Outcome | None]:
    """The failure, or None; and the outcome of the latest call with the inputs on the processor."""
    exact, latest = case.exact.output, None
    for device, plain in case.plain.items():
        if not submission.supports(device):
            continue
        there = case.given_on(device)
        outcome = submission.call(there)
        if failed := failure(outcome):
            return failed, None
        if reason := difference(outcome.output, plain.output, exact, case.check):
            where = "" if device == "cpu" else f"on {device}, where the inputs are: "
            if NONE in reason and _may_be_none(case.reference):
                reason = reason.replace(NONE, "None")
            is_number = isinstance(exact, int | float)  # which may come as a tensor just as well
            given = as_number(outcome.output) if is_number else outcome.output
            return Fault(where + reason, given, plain.output), None
        again = submission.call(there)
        if reason := difference(again.output, plain.output, exact, case.check):
            said = f"wrong when called a second time with the same inputs: {reason}"
            return Fault(said, "twice"), None
        latest = again if device == "cpu" else latest
    return None, latest


def _may_be_none(reference: Callable[..., Plain]) -> bool:
    """True if nothing is an answer, and no sign of a forgotten `return`."""
    return "None" in str(inspect.signature(reference).return_annotation)


def _compare_gradients(case: Case, submission: Submission) -> Fault | None:
    check, exact, plain = case.check, case.exact, case.plain["cpu"]
    expected = tensor_of(plain)
    upstream = case.upstream.to(expected.dtype)
    outcome = submission.call(case.given, upstream, check.gradient)
    if failed := failure(outcome):
        return failed
    if wrong := wrong_form(outcome.output, expected):
        return Fault(wrong, [*getattr(outcome.output, "shape", ()), wrong.split()[1]])
    for name in check.gradient:
        if (found := outcome.gradients.get(name)) is None:
            cut = f"no gradient reaches {name}: something cuts the output off from it"
            return Fault(cut, f"cut: {name}")
        if wrong := difference(found, plain.gradients[name], exact.gradients[name], check):
            said = f"the gradient that reaches {name}: {wrong}"
            return Fault(said, found, plain.gradients[name])
    return None


def _compare_inputs(case: Case, outcome: Outcome) -> Fault | None:
    if failed := failure(outcome):
        return failed
    for name, before in case.given.items():
        after = outcome.inputs_after[name]
        if not identical(after, before):
            marked = isinstance(after, Foreign) and isinstance(before, Tensor)
            made = f", and makes it {name_kind(after)}" if marked else ""
            said = f"it changes {name}, which belongs to the caller{made}"
            return Fault(said, f"{MARKED if marked else CHANGED}{name}")
    return None


def _is_change(finding: Finding) -> bool:
    said = finding.evidence
    return isinstance(said, str) and said.startswith((MARKED, CHANGED))
