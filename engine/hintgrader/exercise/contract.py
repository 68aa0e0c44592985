"""Consequences of the contract of an exercise: a row of its table, and its wrong answers.

The engine can break a reference in many ways, see `hintgrader.exercise.mutation`. Each is
forbidden, unless the contract exempts it: under the name of the fault, such as "squeezes" or "cuts
off mask", with a reason. "cuts off" alone exempts the gradients of all inputs that no
check asks for.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Generator

from hintgrader.exercise.definition import Check, Contract, Draw, Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.exercise.mutation.reference import CUTS_OFF, Variant, right_variants, wrong_variants
from hintgrader.worker.plain import Inputs
from hintgrader.worker.submission import LocalSubmission

# What the row says, by what can be broken.
SAID = {
    "casts to float32": "the output has the dtype of the inputs, here float64",
    "changes": "what is given stays as it was",
}
ALONE = "an axis of length 1 in front stays"


def keep_contract(exercise: Exercise) -> Exercise:
    """The exercise with the row of its promises, and with the mistakes that break them.

    A mistake that the exercise has under the name of one of these, `cuts_off_query` for example,
    stands in its place.
    """
    if exercise.contract is None:
        return exercise
    known = {mistake.name for mistake in exercise.mistakes}
    variants, mistakes, signs = wrong_answers(exercise), [], {}
    for variant in variants:
        variant.answer.__name__ = variant.name.replace(" ", "_")
        if variant.sign:
            signs[variant.answer.__name__] = variant.sign
        new = variant.answer.__name__ not in known
        if variant.hint and new and not exemption(exercise, variant):
            mistakes.append(
                Mistake(
                    variant.answer, variant.hint, None, variant.sign, (), variant.shows, slip=True
                )
            )
    return replace(
        exercise,
        checks=(*exercise.checks, *_rows(exercise, exercise.contract, variants)),
        mistakes=(*(_signed(mistake, signs) for mistake in exercise.mistakes), *mistakes),
    )


def _signed(mistake: Mistake, signs: dict[str, str]) -> Mistake:
    """The mistake, recognised by the same sign as the variant in whose place it stands."""
    sign = signs.get(mistake.name) if mistake.evidence is None else None
    return replace(mistake, evidence=sign) if sign else mistake


def wrong_answers(exercise: Exercise) -> list[Variant]:
    """Answers that break something that they could break in the exercise, forbidden or not."""
    return _variants(exercise, wrong_variants)


def right_answers(exercise: Exercise) -> list[Variant]:
    """Variants that are right because the reference is."""
    return _variants(exercise, right_variants)


def exemption(exercise: Exercise, variant: Variant) -> str | None:
    """The reason why the exercise does not forbid a wrong answer; None where it does."""
    exempts = exercise.contract.exempts if exercise.contract else {}
    if variant.name in exempts or (variant.kind == CUTS_OFF and variant.of in _promised(exercise)):
        return exempts.get(variant.name)
    return exempts.get(variant.kind)


def _promised(exercise: Exercise) -> set[str]:
    """The inputs that gradients are asked of."""
    return {name for check in exercise.checks for name in check.gradient}


def _variants(exercise: Exercise, make: Callable[..., Iterator[Variant]]) -> list[Variant]:
    if (inputs := sample_inputs(exercise)) is None:
        return []
    contract = exercise.contract or Contract()
    answer = contract.answer or exercise.reference
    with torch.device("cpu"):  # whatever default an earlier cell has set
        outcome = LocalSubmission(answer).call(inputs)
        if outcome.error:  # a reference that is not written yet
            return []
        return [*make(answer, contract, inputs, outcome.output)]


def sample_inputs(exercise: Exercise) -> Inputs | None:
    """Inputs of the row, or of the first check; None if all train."""
    quick = [check for check in exercise.checks if not check.slow]
    check = _like(exercise) or next(iter(quick), None)
    if check is None:
        return None
    inputs = check.inputs(exercise.name)[0]
    return {name: value for name, value in inputs.items() if name not in check.withheld}


def _like(exercise: Exercise) -> Check | None:
    """The check whose draws the row takes."""
    if exercise.contract and exercise.contract.like is not None:
        return exercise.checks[exercise.contract.like]
    compared = (c for c in exercise.checks if not (c.invariant or c.gradient or c.slow))
    return next(compared, None)


def _rows(exercise: Exercise, contract: Contract, variants: list[Variant]) -> Iterator[Check]:
    kinds = {variant.kind for variant in variants} or {*SAID}
    said = [words for kind, words in SAID.items() if kind in kinds]
    if not said or not contract.points or not (like := _like(exercise)):
        return
    sizes, hidden = like.sizes, like.hidden_sizes
    if contract.batch:
        said.append(ALONE)
        sizes = (*sizes, {**sizes[-1], "alone": 1})
        hidden = None if hidden is None else (*hidden, {**hidden[-1], "alone": 1})
    yield replace(
        like,
        label="; ".join(said),
        points=contract.points,
        draw=_draw_alone(like.draw, contract),
        sizes=sizes,
        hidden_sizes=hidden,
        dtype=torch.float64 if "casts to float32" in kinds else like.dtype,
        untouched=True,
        repeats=True,
    )


def _draw_alone(draw: Draw, contract: Contract) -> Draw:
    """Draw as before, or a batch of one: the first, or what has no batch yet."""
    one = None if contract.any_axes else slice(1)

    def drawn(generator: Generator, alone: int = 0, **sizes: Any) -> Inputs:
        inputs: dict[str, Any] = {**draw(generator, **sizes)}
        return inputs | {name: inputs[name][one] for name in contract.batch if alone}

    return drawn
