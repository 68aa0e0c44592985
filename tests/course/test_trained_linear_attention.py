"""Models of linear attention: their records hold for runs of today."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attn_course.linear_attention import all_pairs, linear_attention, one_by_one
from attn_course.recurrence import count_parameters
from attn_course.scaled_dot_product import attention
from attn_course.trained import record
from attn_course.trained.induction import mixed_layers
from attn_course.trained.recall import linear_recall, unseen
from attn_course.trained.tuning import chosen_runs
from tests.course.first_steps import first_steps
from tests.sampling import left_to_proofs, parameters
from tests.tensors import CLOSELY, draw

LOOKUPS, MIXED = record("linear_recall"), record("mixed_layers")
LAYERS = {f"{recipe.layer}, {recipe.width}": recipe for recipe in linear_recall.RECIPES}
ORDERS = {f"{recipe.layers}, {recipe.d_head}": recipe for recipe in mixed_layers.RECIPES}


@pytest.mark.parametrize(
    ("stored", "module", "names"),
    [
        (LOOKUPS, linear_recall, ("layer", "width")),
        (MIXED, mixed_layers, ("layers", "d_head")),
    ],
)
def test_all_recipes_are_recorded_at_all_rates_and_with_all_seeds(
    stored: dict, module: object, names: tuple[str, str]
) -> None:
    for recipe in module.RECIPES:
        runs = [run for run in stored["runs"]
                if all(run[name] == getattr(recipe, name) for name in names)]  # fmt: skip
        first, others = runs[: len(module.RATES)], runs[len(module.RATES) :]
        assert [run["rate"] for run in first] == [*module.RATES]
        assert {run["seed"] for run in first} == {module.SEEDS[0]}
        assert [run["seed"] for run in others] == [*module.SEEDS[1:]]
        assert len({run["rate"] for run in others}) == 1
        parameters = count_parameters(module.build(recipe, 0))
        assert {run["parameters"] for run in runs} == {parameters}
    assert len(stored["runs"]) == len(module.RECIPES) * (len(module.RATES) + 2)


@left_to_proofs  # each is trained whole
@pytest.mark.parametrize("name", LAYERS)
def test_lookups_are_as_right_as_recorded(name: str) -> None:
    recipe = LAYERS[name]
    stored = [run for run in LOOKUPS["runs"]
              if (run["layer"], run["width"]) == (recipe.layer, recipe.width)][-1]  # fmt: skip
    found = linear_recall.run_recipe(recipe, stored["rate"], stored["seed"])
    assert found["right"] == pytest.approx(stored["right"], abs=0.06)
    assert found["by_age"] == pytest.approx(stored["by_age"], abs=0.08)


@pytest.mark.parametrize("name", parameters(ORDERS, 1))
def test_record_of_an_order_of_layers_begins_as_a_run_does_today(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = ORDERS[name]
    stored = [run for run in MIXED["runs"]
              if (run["layers"], run["d_head"]) == (recipe.layers, recipe.d_head)][-1]  # fmt: skip
    monkeypatch.setattr(mixed_layers, "train", partial(first_steps, mixed_layers.EVERY))
    found = mixed_layers.run_recipe(recipe, stored["rate"], stored["seed"])
    assert found["losses"] == pytest.approx(stored["losses"][:2], abs=5e-3)


def test_what_a_query_reads_is_what_the_last_token_of_the_layer_gets() -> None:
    query, key = draw(2, 3, 5, 4)
    value, query = draw(3, 5, 4, seed=1), query[:, :1]
    queries = query.expand(-1, 5, -1)

    def last(output: Tensor) -> Tensor:
        return output[:, -1]

    decay = torch.full((5,), linear_recall.DECAY, dtype=torch.float64)
    expected = {
        "softmax": last(attention(query, key, value)),
        "linear": last(linear_attention(queries, key, value)),
        "sum": last(one_by_one(queries, key, value)),
        "decay": last(all_pairs(queries, key, value, decay)),
    }
    for layer, wanted in expected.items():
        found = linear_recall.recalled(layer, query[:, 0], key, value)
        assert_close(found, wanted, **CLOSELY, msg=layer)


def test_ages_count_the_pairs_that_came_later() -> None:
    batch, age = linear_recall._old_and_new()
    assert (age.min(), age.max()) == (0, 31)
    rows = torch.arange(len(age))
    assert torch.equal(batch.keys[rows, 31 - age], batch.keys[:, -1])
    assert torch.equal(batch.values[rows, 31 - age], batch.answer)


def test_one_who_names_the_commonest_digit_is_right_by_hand() -> None:
    found = linear_recall.commonest()
    for share, pairs in zip(found.tolist(), linear_recall.PAIRS, strict=True):
        test, right = unseen("partner", pairs), 0
        for values, answer in zip(test.values[:, :-1].tolist(), test.answer.tolist(), strict=True):
            most = max(values.count(digit) for digit in values)
            right += min(d for d in values if values.count(d) == most) == answer
        assert share == pytest.approx(right / len(test.answer))


def test_chosen_runs_are_those_at_the_rate_of_the_later_seeds() -> None:
    tried = [(1, 0, "a"), (2, 0, "a"), (3, 0, "a"), (2, 1, "a"), (2, 2, "a"), (1, 0, "b")]
    runs = [{"rate": rate, "seed": seed, "layer": layer} for rate, seed, layer in tried]
    assert chosen_runs(runs, layer="a") == [runs[1], runs[3], runs[4]]


def test_stacks_have_the_layers_of_their_names() -> None:
    model = mixed_layers.build(mixed_layers.Recipe("SRR"), 0)
    kinds = [isinstance(block, mixed_layers.RetentionBlock) for block in model.blocks]
    assert kinds == [False, True, True]
    tokens = torch.randint(27, (2, 9), generator=torch.Generator().manual_seed(0))
    other = tokens.clone()
    other[:, 5] = (other[:, 5] + 1) % 27
    moved = (model(other) - model(tokens)).abs().amax((0, 2)) > 0
    assert torch.equal(moved, torch.arange(9) >= 5)
