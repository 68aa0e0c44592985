"""Readers with fewer projections: what is left out is gone, and the record is today's."""

from __future__ import annotations

import pytest
import torch

from attn_course.trained import record
from attn_course.trained.who_does_what import fewer_projections
from attn_course.trained.who_does_what.fewer_projections import DIVIDED, LACKING, SEEDS, SHARED
from tests.sampling import parameters

RUNS = {(run["reader"], run["seed"]): run for run in record("fewer_projections")["runs"]}
MUTUAL = ("without W_Q, W_K", SHARED, DIVIDED)


def test_all_readers_are_recorded_with_all_seeds() -> None:
    assert [*RUNS] == [(name, seed) for name in LACKING for seed in SEEDS]


@pytest.mark.parametrize("name", parameters(LACKING, 1))
def test_a_run_of_the_record_made_again_gives_what_it_says(name: str) -> None:
    again, stored = fewer_projections.run(name, 1), RUNS[name, 1]
    for share in ("right", "most"):
        assert again[share] == pytest.approx(stored[share], abs=0.02)


@pytest.mark.parametrize("name", LACKING)
def test_layer_has_a_matrix_less_for_each_that_it_lacks(name: str) -> None:
    size = sum(weight.numel() for weight in fewer_projections.build(name).parameters())
    lacking = len(LACKING[name]) + (name == SHARED)
    assert size == (3 - lacking) * 32**2


@pytest.mark.parametrize("name", LACKING)
def test_scores_are_mutual_where_no_matrix_or_one_makes_query_and_key(name: str) -> None:
    torch.manual_seed(0)
    tokens = torch.cat([torch.randn(2, 32), torch.zeros(1, 32)]).double()
    weights = fewer_projections.build(name).double().weights(tokens).detach()
    scores = (weights / weights[:, 2:]).log()  # that of a key of zeros is 0
    assert (abs(scores[0, 1] - scores[1, 0]) < 1e-9) == (name in MUTUAL)
