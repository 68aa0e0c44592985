"""The words that a student reads in the row of a check that failed."""

from collections.abc import Iterator, Sequence

import numpy as np
from torch import Tensor

from hintgrader.checking.findings import Finding, Findings
from hintgrader.checking.judge import AS_WELL
from hintgrader.exercise.definition import Check
from hintgrader.hints.exceptions import explain
from hintgrader.worker.plain import Input, Inputs

UNTRIED = "not tried yet: it takes long, and is tried once the rows above are right"


def problems_of(checks: tuple[Check, ...], findings: Findings) -> list[str | None]:
    """The problem of each check; None if it passed."""
    problems: list[str | None] = []
    for check, found in zip(checks, findings, strict=True):
        untried, problem = check.slow and any(problems), _problem(check, found)
        if problem and any(problems):  # said once
            problem = problem.removeprefix(AS_WELL)
        problems.append(UNTRIED if untried else problem)
    return problems


def explained(
    problems: list[str | None], findings: Findings, hint: str | None
) -> Iterator[str | None]:
    """The problems; what an exception means stands beside the first, unless the hint says it."""
    said = {"", hint}
    for problem, found in zip(problems, findings, strict=True):
        words = "" if not found or found[0].hidden else what_it_means(found[0])
        yield problem if words in said else f"{problem}. In other words: {words}"
        said.add(words)


def what_it_means(found: Finding) -> str:
    """An exception in a student's terms; empty if nothing was raised, or no more is known."""
    if not found.raised:
        return ""
    return explain(found.raised, str(found.evidence).partition(": ")[2], found.inputs)


def _problem(check: Check, found: Sequence[Finding]) -> str | None:
    """The first public finding with its numbers, or a hidden one without them."""
    public = [finding for finding in found if not finding.hidden]
    if public:
        return f"{public[0].reason.rstrip('.')}. Given: {_list_shapes(public[0].inputs)}"
    if found and found[0].late:
        return f"right on the inputs that you can see; on others {found[0].reason}"
    if found and check.slow:
        raised = f": it raised {found[0].raised}" if found[0].raised else ""
        return f"wrong on inputs that you cannot see{raised}"
    if found:
        return "right on the inputs that you can see, wrong on others with other sizes and numbers"
    return None


def _list_shapes(inputs: Inputs) -> str:
    return ", ".join(f"{name}{_show(value)}" for name, value in inputs.items())


def _show(value: Input) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f" {tuple(value.shape)}"
    if isinstance(value, list | tuple | dict):
        return f" ({len(value)} of them)"
    return f"={value:.4g}" if isinstance(value, float) else f"={value!r:.30}"
