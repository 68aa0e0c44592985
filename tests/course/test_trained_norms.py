"""Few blocks and many, with their norms and without: that differs, and no more."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor

from attn_course.recurrence import count_parameters
from attn_course.trained import record
from attn_course.trained.writers import ablations, norms
from tests.course.first_steps import first_steps
from tests.sampling import parameters
from tests.tensors import draw

NORMS = record("norms")
CASES = {f"{without}, {depth}": (without, depth) for depth in norms.DEPTHS
         for without in norms.KINDS}  # fmt: skip


def test_each_rate_is_recorded_and_each_seed_at_the_best_one() -> None:
    first = norms.SEEDS[0]
    wanted = [(*case, rate, first) for case in CASES.values() for rate in norms.RATES]
    for case in CASES.values():
        best = norms.best_rate(NORMS["runs"], *case)
        wanted += [(*case, best, seed) for seed in norms.SEEDS[1:]]
    for run, (without, depth, rate, seed) in zip(NORMS["runs"], wanted, strict=True):
        named = {"without": without, "depth": depth, "rate": rate, "seed": seed}
        assert run.items() >= named.items()
        assert run["parameters"] == count_parameters(ablations.build(without, seed, depth))
        assert len(run["losses"]) in {0, ablations.STEPS / ablations.EVERY}
        assert ("error" in run) == (run["losses"] == []) == (run["validation"] is None)


def test_loud_tokens_are_recorded_with_all_seeds_and_begin_with_a_deviation_of_1() -> None:
    rate = norms.best_rate(NORMS["runs"], "nothing", 8)
    for seed, run in zip(norms.SEEDS, NORMS["loud"], strict=True):
        named = {"without": "nothing", "depth": 8, "rate": rate, "seed": seed}
        assert run.items() >= named.items()
    begins = ablations.build("nothing", 0, 8).embedding.weight.std().item()
    assert norms.LOUD * begins == pytest.approx(1, abs=0.02)


def test_two_blocks_at_the_rate_of_the_parts_are_those_of_the_parts() -> None:
    theirs = {(run["without"], run["seed"]): run for run in record("ablations")["runs"]}
    same_sizes = ablations.SIZES["num_layers"], ablations.RATE
    for run in NORMS["runs"]:
        if (run["depth"], run["rate"]) == same_sizes:
            same = theirs[run["without"], run["seed"]]
            assert run["validation"] == pytest.approx(same["validation"], abs=5e-3)


# Deeper ones take long, and have more of the same blocks; those with all parts are made elsewhere.
@pytest.mark.parametrize("case", parameters(CASES, 0, always=["norm, 2"]))
def test_record_begins_as_a_run_does_today(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablations, "train", partial(first_steps, ablations.EVERY))
    monkeypatch.setattr(ablations, "bits", lambda *_: 0.0)
    without, depth = CASES[case]
    stored = next(run for run in NORMS["runs"] if (run["without"], run["depth"]) == CASES[case])
    found = norms.run(without, depth, stored["rate"], stored["seed"])
    assert found["losses"] == pytest.approx(stored["losses"][:1], abs=5e-3)


def test_training_that_breaks_is_recorded_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise FloatingPointError("step 18: the length of the gradient is inf; the losses before: 9")

    monkeypatch.setattr(ablations, "train", broken)
    found = norms.run("norm", 2, 1.0, 0)
    assert found["error"] == "step 18: the length of the gradient is inf"
    ended = found | {"rate": 0.1, "validation": 9.0}
    assert norms.best_rate([found, ended], "norm", 2) == 0.1


def looked_up(without: str, stream: Tensor) -> Tensor:
    """Return what the attention of the last of eight blocks takes from a stream that it reads."""
    block = ablations.build(without, 0, 8).blocks[-1]
    return block.look(block.norm_attention(stream)).detach()


def test_a_norm_before_hides_the_size_of_the_stream_and_one_after_undoes_it() -> None:
    stream = 5 * draw(2, 7, ablations.SIZES["d_model"]).float()
    for without, hidden in (("nothing", True), ("norm", False)):
        apart = (looked_up(without, 10 * stream) - looked_up(without, stream)).abs().max()
        assert (apart < 1e-4) == hidden
    for without, is_one in (("norm before", True), ("norm", False)):
        size = ablations.build(without, 0, 8).blocks[-1](stream).std(-1, correction=0)
        assert bool((size - 1).abs().max() < 1e-2) == is_one


def test_deeper_models_have_more_of_the_same_blocks() -> None:
    few, many = (ablations.build("nothing", 0, depth) for depth in norms.DEPTHS)
    assert (len(few.blocks), len(many.blocks)) == norms.DEPTHS
    block = count_parameters(few.blocks[0])
    assert count_parameters(many) - count_parameters(few) == 6 * block
    assert torch.equal(few.embedding.weight, many.embedding.weight)
