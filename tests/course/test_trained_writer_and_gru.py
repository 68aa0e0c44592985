"""The writer beside a GRU: as many weights, the same windows, as the record says."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attn_course.recurrence import count_parameters
from attn_course.trained import record, writers
from attn_course.trained.writers import writer_and_gru
from tests.course.first_steps import first_steps
from tests.sampling import parameters
from tests.tensors import CLOSELY

BUDGET = record("writer_and_gru")
SHORT = [run for run in BUDGET["runs"] if run["steps"] == writer_and_gru.SHORT]
TOKENS = torch.arange(3, 23)[None]


def test_both_kinds_are_tried_at_every_rate_and_the_gru_at_length() -> None:
    wanted = [(kind, rate) for kind in writer_and_gru.KINDS for rate in writer_and_gru.RATES]
    assert [(run["kind"], run["rate"]) for run in SHORT] == wanted
    best = writer_and_gru.best_runs(SHORT, writer_and_gru.SHORT)["GRU"]["rate"]
    assert writer_and_gru.RATES[0] < best < writer_and_gru.RATES[-1]
    longer = [run for run in BUDGET["runs"] if run not in SHORT]
    tried = [("GRU", rate, 0) for rate in (best, best / 2, best / 4)]
    rates = {"Transformer": writers.RATE, "GRU": best / 2}
    again = [
        (kind, rates[kind], seed)
        for kind in writer_and_gru.KINDS
        for seed in writer_and_gru.MORE_SEEDS
    ]
    assert [(run["kind"], run["rate"], run["seed"]) for run in longer] == tried + again
    assert {run["steps"] for run in longer} == {writers.STEPS}
    assert {len(run["validation"]) for run in longer} == {writers.STEPS / writers.EVERY}


@pytest.mark.parametrize("kind", writer_and_gru.KINDS)
def test_both_kinds_have_as_many_weights_and_are_recorded(kind: str) -> None:
    size = count_parameters(writer_and_gru.build_kind(kind, 1))
    assert size == pytest.approx(count_parameters(writers.build(0)), rel=0.005)
    assert {run["parameters"] for run in BUDGET["runs"] if run["kind"] == kind} == {size}


# A GRU; the Transformer is the writer, whose first steps are made by its own tests.
@pytest.mark.parametrize("run", parameters(range(len(BUDGET["runs"])), 0, always=[6]))
def test_record_begins_as_a_run_does_today(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "train", partial(first_steps, writers.NUM_FIRST))
    stored = BUDGET["runs"][run]
    model = writer_and_gru.build_kind(stored["kind"], stored["seed"])
    found = writers.learn(model, stored["seed"], stored["rate"], stored["steps"])
    assert found["first_losses"] == pytest.approx(stored["first_losses"], abs=2e-3)


def test_a_recurrent_writer_is_a_gru_between_tied_embeddings() -> None:
    model = writer_and_gru.build_kind("GRU", 0).double()
    state, steps = None, []
    for token in TOKENS[0]:
        read = model.embedding.weight[token] * 128**0.5
        output, state = model.layer(read[None, None], state)
        steps.append(nn.functional.linear(model.narrow(output), model.embedding.weight))
    assert_close(model(TOKENS), torch.cat(steps, 1), **CLOSELY)


def test_pace_of_each_kind_is_that_of_its_steps() -> None:
    assert list(BUDGET["pace"]) == list(writer_and_gru.KINDS)
    assert all(0.01 < seconds < 1 for seconds in BUDGET["pace"].values())
