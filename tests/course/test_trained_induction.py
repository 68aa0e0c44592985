"""Models of heads alone: their record holds for the weights that come with the course."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch.testing import assert_close

from attn_course.data.repeats import RepeatBatch
from attn_course.induction import AttentionOnly, by_hand, weights_of_heads
from attn_course.recurrence import count_parameters
from attn_course.trained import induction, record
from tests.course.first_steps import first_steps
from tests.sampling import parameters

INDUCTION = record("induction")
NAMES = [recipe.name for recipe in induction.RECIPES]


def test_all_recipes_are_recorded_with_all_seeds() -> None:
    wanted = [(recipe.name, seed) for recipe in induction.RECIPES for seed in recipe.seeds]
    assert [(run["name"], run["seed"]) for run in INDUCTION["runs"]] == wanted
    for run in INDUCTION["runs"]:
        recipe = induction.RECIPES[NAMES.index(run["name"])]
        assert run["parameters"] == count_parameters(induction.build(recipe, run["seed"]))
        assert run["steps"] == recipe.steps
        for curve in ("again", "elsewhere", "previous", "induction"):
            assert len(run[curve]) == 1 + recipe.steps / induction.EVERY
        assert ("read_without" in run) == (recipe.num_layers == 2)


@pytest.mark.parametrize("name", parameters(NAMES, 2))
def test_record_of_a_model_begins_as_a_run_does_today(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = induction.RECIPES[NAMES.index(name)]
    monkeypatch.setattr(induction, "train", partial(first_steps, 2 * induction.EVERY))
    stored = next(run for run in INDUCTION["runs"] if (run["name"], run["seed"]) == (name, 1))
    _, run, kept = induction.learn(recipe, 1)
    for curve in ("again", "elsewhere", "previous", "induction"):
        assert run[curve] == pytest.approx(stored[curve][:3], abs=5e-3)
    assert {key.partition("/")[0] for key in kept} == {"0"}


def test_stored_weights_are_those_of_the_record() -> None:
    run, model = INDUCTION["runs"][0], induction.load_induction()
    found = induction.measured(model)
    for name in ("loss", "right", "shuffled", "one_back", "mean_pattern"):
        assert found[name] == pytest.approx(run[name], abs=2e-3), name
    for name in ("silenced", "previous_scores", "induction_scores", "lags", "by_distance"):
        close = {"rtol": 0, "atol": 2e-3}
        assert_close(torch.tensor(found[name]), torch.tensor(run[name]), **close, msg=name)
    assert found["read_without"] == pytest.approx(run["read_without"], abs=2e-3)


def test_weights_on_the_way_are_those_of_their_steps() -> None:
    for step in induction.KEPT:
        loss = induction.repeat_loss(induction.load_induction(step), induction.unseen())
        recorded = INDUCTION["runs"][0]["again"][step // induction.EVERY]
        assert loss.item() == pytest.approx(recorded, abs=0.01)
    with pytest.raises(ValueError, match="the weights of step=7 are not here"):
        induction.load_induction(7)


def test_one_who_counts_is_right_by_hand() -> None:
    tokens = torch.tensor([[3, 5, 3, 4, 3, 5]])  # after 3 came 5 and 4: the last 5 costs log 2
    again = torch.tensor([[False] * 5 + [True]])
    batch = RepeatBatch(tokens, again, torch.tensor([4]))
    assert induction.counted(batch) == pytest.approx(0.693, abs=1e-3)


def test_pattern_of_the_head_that_looks_one_back_is_that_of_the_model_by_hand() -> None:
    model, tokens = by_hand(27), induction.unseen().tokens[:2, :9]
    found = weights_of_heads(model, tokens)[0, :, 0]
    assert_close(found, induction.one_back(9).expand(2, -1, -1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("num_heads", [1, 3])
def test_cut_role_reads_nothing_of_layer_0_whatever_its_heads_are(num_heads: int) -> None:
    torch.manual_seed(0)
    model, tokens = AttentionOnly(27, 12, num_heads), induction.unseen().tokens[:2, :9]
    edit, given = induction.without_layer_0(model, tokens, "key"), torch.ones(2, 9, 12)
    bare = model.blocks[1].norm_attention(model.embedding(tokens))
    assert_close(edit(1, "key", given), bare, rtol=0, atol=1e-6)
    for layer, part in ((0, "key"), (1, "query"), (1, "value")):
        assert edit(layer, part, given) is given


def test_losses_apart_are_those_of_the_models_with_two_heads_alone() -> None:
    found = induction.losses_apart(INDUCTION["runs"])
    assert all(losses.shape == (5,) for losses in found.values())
    first = INDUCTION["runs"][0]
    assert found["as it is"][0].item() == pytest.approx(first["loss"])
    assert found["queries cut"][0].item() == pytest.approx(first["read_without"]["query"])
    assert found["layer 1 silent"][0].item() == pytest.approx(first["silenced"][1][0])
    assert found["layer 0 frozen"][0].item() == pytest.approx(first["mean_pattern"])
