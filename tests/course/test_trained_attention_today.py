"""Writers with shared keys, or with normalized queries and keys: that is changed, and no more."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from attn_course.recurrence import count_parameters
from attn_course.trained import record
from attn_course.trained.writers import ablations, attention_today
from attn_course.trained.writers.attention_today import RECIPES, Recipe, build
from attn_course.transformer import Block
from tests.course.first_steps import first_steps
from tests.sampling import parameters
from tests.tensors import CLOSELY, draw

TODAY = record("attention_today")
CASES = {f"{question}, {recipe}": (question, recipe) for question in RECIPES
         for recipe in RECIPES[question]}  # fmt: skip


def test_all_recipes_are_recorded_with_all_seeds() -> None:
    wanted = [(question, recipe, seed) for seed in attention_today.SEEDS
              for question, recipe in CASES.values()]  # fmt: skip
    for run, (question, recipe, seed) in zip(TODAY["runs"], wanted, strict=True):
        assert run.items() >= {"question": question, "seed": seed, **asdict(recipe)}.items()
        assert run["parameters"] == count_parameters(build(recipe, seed))
        steps = attention_today.STEPS[question]
        assert len(run["losses"]) == steps / attention_today.EVERY


@pytest.mark.parametrize("case", parameters(CASES, 2))
def test_record_begins_as_a_run_does_today(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question, recipe = CASES[case]
    monkeypatch.setattr(ablations, "train", partial(first_steps, attention_today.EVERY))
    monkeypatch.setattr(ablations, "bits", lambda *_: 0.0)
    found = attention_today.run(question, recipe, 1)
    wanted = {"question": question, "seed": 1, **asdict(recipe)}
    stored = next(run for run in TODAY["runs"] if wanted.items() <= run.items())
    assert found["losses"] == pytest.approx(stored["losses"][:1], abs=5e-3)


def test_with_a_head_of_keys_for_each_of_queries_a_block_is_that_of_the_writer() -> None:
    (block, _), sizes = build(Recipe(), 0).blocks, attention_today.SIZES
    own = Block(*(sizes[name] for name in ("d_model", "num_heads", "d_hidden", "context")))
    own.load_state_dict(block.state_dict())
    stream = draw(2, 7, sizes["d_model"]).float()
    assert_close(block(stream), own(stream), **CLOSELY)


def test_shared_heads_have_so_many_keys_and_normed_ones_do_not_mind_their_length() -> None:
    assert build(Recipe(num_kv_heads=1), 0).blocks[0].attention.project_key.out_features == 16
    stream = draw(1, 5, 64).float()
    for is_normed in (False, True):
        layer = build(Recipe(is_normed=is_normed), 0).blocks[0].attention
        before = layer(stream, is_causal=True)
        with torch.no_grad():
            for part in layer.project_key.parameters():
                part.mul_(100)
        moved = (layer(stream, is_causal=True) - before).abs().max()
        assert (moved < 1e-4) == is_normed
