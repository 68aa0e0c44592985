"""An answer whose numbers are right, and their form alone is not."""

from collections.abc import Set

from torch import Tensor

from hintgrader.checking.findings import Findings
from hintgrader.hints.recognised import ENOUGH, Recognised, by_place
from hintgrader.hints.same_mistake import in_form, other_forms


def form_alone(findings: Findings, repeats: Set[int]) -> Recognised | None:
    """Advice on the form of the output alone, if its numbers are right wherever there are some."""
    mine = by_place(findings)
    forms = {place: form for place, found in mine.items() if (form := other_forms(found))}
    elsewhere = {place: found for place, found in mine.items() if place not in forms}
    if len(forms) < ENOUGH or any(in_form(mine[place]) for place in forms):
        return None
    if any(isinstance(found.evidence, Tensor) for found in elsewhere.values()):
        return None
    others = {row for row, _ in elsewhere} - {row for row, _ in forms} - repeats
    said = sorted({form for several in forms.values() for form in several})
    said += sorted(  # what the row does not show, which shows the form
        {
            f"find out why other inputs of row {row + 1} raise {found.raised}"
            for (row, _), found in elsewhere.items()
            if found.raised and row not in {*repeats, *others}
        }
    )
    return Recognised(None, others=tuple(sorted(others)), forms=tuple(said))
