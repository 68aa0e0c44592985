"""A Transformer without one of its parts: that part is gone, and nothing else."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.recurrence import count_parameters
from attn_course.trained import record
from attn_course.trained.writers import ablations
from attn_course.transformer import next_token_loss
from tests.course.first_steps import first_steps
from tests.sampling import parameters
from tests.tensors import CLOSELY, draw

PARTS = record("ablations")


def test_all_parts_are_recorded_with_all_seeds() -> None:
    wanted = [(without, seed) for seed in ablations.SEEDS for without in ablations.WITHOUT]
    assert [(run["without"], run["seed"]) for run in PARTS["runs"]] == wanted
    for run in PARTS["runs"]:
        size = count_parameters(ablations.build(run["without"], run["seed"]))
        assert run["parameters"] == size
        assert len(run["losses"]) == ablations.STEPS / ablations.EVERY
    later = [(without, seed) for seed in ablations.SEEDS for without in ablations.OF_THE_LONGER]
    assert [(run["without"], run["seed"]) for run in PARTS["longer"]] == later
    assert {len(run["losses"]) for run in PARTS["longer"]} == {ablations.LONGER / ablations.EVERY}


@pytest.mark.parametrize("without", parameters(ablations.WITHOUT, 2))
def test_record_of_a_part_begins_as_a_run_does_today(
    without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = partial(first_steps, ablations.EVERY)
    monkeypatch.setattr(ablations, "train", few)
    monkeypatch.setattr(ablations, "bits", lambda *_: 0.0)
    stored = next(run for run in PARTS["runs"] if (run["without"], run["seed"]) == (without, 1))
    assert ablations.run(without, 1)["losses"] == pytest.approx(stored["losses"][:1], abs=5e-3)


def logits(without: str, tokens: Tensor, training: bool = False) -> Tensor:
    """Return what a model without a part says, before it has learned anything."""
    return ablations.build(without, 0).train(training)(tokens).detach()


TOKENS = torch.arange(3, 23)[None]
OTHER = torch.cat([TOKENS[:, :-1], TOKENS[:, -1:] + 1], 1)
SWAPPED = TOKENS[:, [1, 0, *range(2, 20)]]


def changes(without: str, other: Tensor, training: bool = False) -> Tensor:
    """Tell at which positions another text has other logits."""
    apart = logits(without, TOKENS, training) - logits(without, other, training)
    return apart.abs().amax((0, 2)) > 1e-6


def test_without_the_mask_a_model_looks_ahead_while_it_is_trained() -> None:
    assert changes("mask", OTHER, training=True).all()
    for without in ablations.WITHOUT:
        assert changes(without, OTHER).tolist() == [False] * 19 + [True]


def test_without_attention_a_token_knows_of_no_other() -> None:
    assert changes("attention", SWAPPED).tolist() == [True] * 2 + [False] * 18
    assert changes("nothing", SWAPPED).all()


def test_without_positions_one_block_does_not_notice_the_order() -> None:
    noticed = {}
    for without in ("nothing", "positions"):
        model = ablations.build(without, 0)
        del model.blocks[1]
        noticed[without] = (model(TOKENS) - model(SWAPPED))[0, 2:].abs().max()
    assert noticed["positions"] < 1e-6 < 1e-4 < noticed["nothing"]


@pytest.mark.parametrize(("without", "first"), [("nothing", True), ("norm before", False)])
def test_norms_stand_where_pytorch_has_them(without: str, first: bool) -> None:
    sizes = ablations.SIZES["d_model"], ablations.SIZES["num_heads"], ablations.SIZES["d_hidden"]
    block = ablations.build(without, 0).blocks[0].double()
    theirs = nn.TransformerEncoderLayer(
        *sizes, batch_first=True, norm_first=first, dtype=torch.float64
    ).eval()
    theirs.self_attn = block.attention.to_torch()
    pairs = {"linear1": "widen", "linear2": "narrow"}
    pairs |= {"norm1": "norm_attention", "norm2": "norm_maps"}
    for name, own in pairs.items():
        getattr(theirs, name).load_state_dict(getattr(block, own).state_dict())
    tokens = draw(3, 1, sizes[0])  # at the first position nothing is turned
    assert_close(block(tokens), theirs(tokens), **CLOSELY)


def test_without_residual_the_last_part_alone_is_left() -> None:
    model = ablations.build("residual", 0)
    with torch.no_grad():
        model.blocks[1].narrow.weight.zero_()
    assert_close(model(TOKENS)[0, 0], model(TOKENS)[0, 7])


def test_with_one_head_all_coordinates_of_a_value_are_blended_alike() -> None:
    apart = {}
    for without in ("nothing", "heads"):
        block = ablations.build(without, 0).blocks[0]
        layer, one = block.attention, ablations.SIZES["d_model"]
        with torch.no_grad():
            layer.project_value.weight.copy_(layer.project_value.weight[:1].expand(one, one))
            layer.project_output.weight.copy_(torch.eye(one))
            for of in (layer.project_value, layer.project_output):
                if of.bias is not None:
                    of.bias.zero_()
        apart[without] = block.look(draw(1, 7, one).float()).std(-1).max()
    assert apart["heads"] < 1e-5 < 1e-3 < apart["nothing"]


def test_without_tying_only_the_rows_that_are_looked_up_learn_on_the_way_in() -> None:
    learn = {}
    for without in ("nothing", "tying", "tying, narrower"):
        model = ablations.build(without, 0)
        next_token_loss(model(TOKENS), TOKENS).backward()
        learn[without] = (model.embedding.weight.grad.abs().amax(1) > 0).sum().item()
    looked_up = TOKENS.unique().numel() - 1  # nothing is asked of the last one
    assert learn == {"nothing": 512, "tying": looked_up, "tying, narrower": looked_up}


def test_second_table_costs_weights_unless_the_model_is_narrower() -> None:
    whole, tying, narrower = (
        count_parameters(ablations.build(without, 0))
        for without in ("nothing", "tying", "tying, narrower")
    )
    assert tying == whole + 512 * ablations.SIZES["d_model"]
    assert narrower == pytest.approx(whole, rel=0.02)


def test_what_is_left_begins_with_the_weights_of_the_whole_model() -> None:
    whole = ablations.build("nothing", 1).state_dict()
    for without in ablations.WITHOUT.keys() - {"tying, narrower"}:
        left = ablations.build(without, 1).state_dict()
        assert (left.pop("readout", None) is not None) == (without == "tying")
        assert left.keys() <= whole.keys()
        assert all(torch.equal(whole[name], weight) for name, weight in left.items())
    one = ablations.SIZES["d_model"]
    maps = 2 * one * 4 * one + 4 * one + one + 2 * one
    assert (
        count_parameters(ablations.build("maps", 0))
        == count_parameters(ablations.build("nothing", 0)) - 2 * maps
    )
