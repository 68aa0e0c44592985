"""Positions of six kinds: each model knows of places what its kind says, and learns as recorded."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from attn_course.recurrence import count_parameters
from attn_course.trained import record
from attn_course.trained.induction import positions
from tests.course.first_steps import first_steps
from tests.sampling import parameters

RECORD = record("positions")
TOKENS = torch.randint(27, (1, 20), generator=torch.Generator().manual_seed(0))


def test_all_kinds_are_recorded_with_all_seeds() -> None:
    wanted = [(kind, seed) for seed in positions.SEEDS for kind in positions.KINDS]
    assert [(run["kind"], run["seed"]) for run in RECORD["runs"]] == wanted
    for run in RECORD["runs"]:
        assert run["parameters"] == count_parameters(positions.build(run["kind"], run["seed"]))
        assert len(run["losses"]) == positions.STEPS / positions.EVERY
        assert ("ways" in run) == (run["kind"] == "rotary")


@pytest.mark.parametrize("kind", parameters(positions.KINDS, 2))
def test_record_of_a_kind_begins_as_a_run_does_today(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "train", partial(first_steps, positions.EVERY))
    monkeypatch.setattr(positions, "measured", lambda _: {})
    monkeypatch.setattr(positions, "stretched", lambda *_: {})
    stored = next(run for run in RECORD["runs"] if (run["kind"], run["seed"]) == (kind, 1))
    assert positions.run(kind, 1)["losses"] == pytest.approx(stored["losses"][:1], abs=5e-3)


def logits(kind: str, tokens: Tensor) -> Tensor:
    """Return what a model says before it has learned anything."""
    with torch.no_grad():
        return positions.build(kind, 0)(tokens)


@pytest.mark.parametrize("kind", positions.KINDS)
def test_only_added_vectors_tell_a_beginning_from_the_middle(kind: str) -> None:
    """The same token again and again: what is said of it differs only where its place is added."""
    said = logits(kind, TOKENS[:, :1].expand(1, 20))
    apart = (said - said[:, :1]).abs().max() > 1e-4
    assert bool(apart) == (kind in ("sinusoids", "learned"))


@pytest.mark.parametrize("kind", positions.KINDS)
def test_only_a_model_without_positions_does_not_mind_the_order(kind: str) -> None:
    swapped = TOKENS[:, [1, 0, *range(2, 20)]]
    apart = (logits(kind, TOKENS) - logits(kind, swapped))[:, 2:].abs().max() > 1e-5
    # with two blocks the first tokens differ by what each of them has heard
    assert apart
    one = positions.build(kind, 0)
    one.blocks = one.blocks[:1]
    with torch.no_grad():
        moved = (one(TOKENS) - one(swapped))[:, 2:].abs().max() > 1e-5
    assert bool(moved) == (kind != "none")


def test_no_model_looks_ahead() -> None:
    changed = torch.cat([TOKENS[:, :-1], (TOKENS[:, -1:] + 1) % 27], 1)
    for kind in positions.KINDS:
        apart = (logits(kind, TOKENS) - logits(kind, changed)).abs().amax((0, 2)) > 1e-6
        assert not apart[:-1].any()
        assert apart[-1]


def test_sequences_of_the_tests_are_as_far_apart_as_they_say() -> None:
    near, far = positions.tests()["longer"], positions.tests()["farther apart"]
    assert near.distance.max() <= positions.FARTHEST < far.distance.min()
    assert near.tokens.shape == far.tokens.shape == (positions.NUM_TESTS, positions.LONG)
