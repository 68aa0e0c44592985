"""One head and several: the models look where their weights say, and the record is a run's."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from attn_course.data.memory import memory_batches
from attn_course.multi_head import MultiHeadAttention
from attn_course.trained import heads, record
from attn_course.trained.heads import SEEDS, Recipe, looks, measure_memory, measure_reader, runs_of
from attn_course.trained.heads.readers import Memory, Reader, without_head
from tests.sampling import sample, sampled

TWO = Recipe("two readings", 64, 2, 800)


def reader(num_heads: int = 2, seed: int = 0) -> Reader:
    """Return a reader of two readings that has learned nothing."""
    torch.manual_seed(seed)
    return Reader(len(heads.vocabulary("two readings")), 64, num_heads, 2).requires_grad_(False)


# --- the models -----------------------------------------------------------------------------------


def test_reader_reads_from_one_word_what_its_weights_let_it_see() -> None:
    model, batch = reader(), heads.freshly_drawn("two readings", 5)
    tokens = model.embedding(batch.words) + model.positions(batch.words.shape[1])
    logits, weights = model(batch), model.weights(batch)
    for row, (length, asking) in enumerate(zip(batch.length, batch.asking, strict=True)):
        words = tokens[row, :length]
        seen = model.attention(words)[asking]
        assert_close(logits[row].flatten(), model.read_out(seen))
        assert_close(weights[row, :, :length], model.attention.weights(words)[:, asking])
        assert weights[row, :, length:].abs().max() == 0 if length < weights.shape[-1] else True


def test_padding_changes_nothing() -> None:
    model, batch = reader(), heads.freshly_drawn("two readings", 9)
    longer = batch._replace(words=torch.nn.functional.pad(batch.words, (0, 3), value=0))
    assert_close(model(longer), model(batch))


def test_memory_reads_the_same_in_whatever_order_the_slots_are() -> None:
    torch.manual_seed(0)
    model = Memory(6, 8, 16, 2).requires_grad_(False)
    roles, contents, _ = next(memory_batches(0, 7))
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    assert_close(model(roles[:, order], contents[:, order]), model(roles, contents))


def test_memory_is_a_mean_of_the_contents_by_role_that_no_content_can_change() -> None:
    torch.manual_seed(0)
    model = Memory(6, 8, 16, 1).requires_grad_(False)
    roles, contents, _ = next(memory_batches(0, 7))
    layer, (weights,) = model.attention, model.weights()
    assert_close(weights.sum(), torch.tensor(1.0))
    seen = torch.einsum("br, brd -> bd", weights[roles], contents)
    by_hand = model.read_out(layer.project_output(layer.project_value(seen)))
    assert_close(model(roles, contents), by_hand)


@pytest.mark.parametrize("head", [0, 1, 3])
def test_without_head_leaves_out_what_one_head_gives_and_puts_it_back(head: int) -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(8, 4).requires_grad_(False)
    tokens = torch.randn(2, 5, 8)
    whole, weights = layer(tokens), layer.weights(tokens)
    with without_head(layer, head):
        rest, same = layer(tokens), layer.weights(tokens)
    value = layer.project_value(tokens)[..., 2 * head : 2 * head + 2]
    given = weights[:, head] @ value @ layer.project_output.weight[:, 2 * head : 2 * head + 2].T
    assert_close(whole - rest, given)
    assert given.abs().max() > 0.01
    assert_close(same, weights)
    assert_close(layer(tokens), whole)
    with pytest.raises(KeyError), without_head(layer, head):
        raise KeyError
    assert_close(layer(tokens), whole)


# --- the measures ---------------------------------------------------------------------------------


def test_looks_finds_the_weight_of_a_head_that_looks_at_the_verb_behind_not() -> None:
    batch = heads.freshly_drawn("two readings", 200)
    model = reader()

    def weights(given: object) -> torch.Tensor:
        table = torch.zeros(len(batch.words), 2, batch.words.shape[1])
        rows = torch.arange(len(table))
        table[rows, 0, batch.asking + 1] = 1.0
        table[rows, 1, batch.asking - 2] = 0.25
        return table

    model.weights = weights
    assert_close(looks(model, batch), torch.tensor([[1.0, 0.0], [0.0, 0.25]]))


class Scripted(Reader):
    """Answers the first question always right, the second one in every other phrase."""

    def forward(self, batch: object) -> torch.Tensor:
        """Logits of the words for each question."""
        logits = torch.zeros(*batch.answers.shape, len(heads.vocabulary("two readings")))
        logits.scatter_(-1, batch.answers[..., None], 1.0)
        logits[::2, 1] = 0
        return logits


def test_measure_counts_a_phrase_as_right_if_all_its_questions_are() -> None:
    model = Scripted(len(heads.vocabulary("two readings")), 64, 2, 2)
    measured = measure_reader(model.eval(), TWO)
    assert measured["right"] == 0.5
    assert measured["by_question"] == [1.0, 0.5]
    assert measured["without_head"] == [[1.0, 0.5]] * 2


def test_explained_is_one_for_the_truth_and_a_half_for_half_of_it() -> None:
    class Known(Memory):
        def forward(self, roles: torch.Tensor, contents: torch.Tensor) -> torch.Tensor:
            slot = roles.argsort(1)[..., None].expand_as(contents)
            by_role = contents.gather(1, slot)
            return by_role[:, 0] - self.told * by_role[:, 1]

    model = Known(6, 8, 16, 2)
    for told, explained in ((1.0, 1.0), (0.0, 0.5), (-1.0, -1.0)):
        model.told = told
        found = measure_memory(model, Recipe("difference", 16, 2, 1))["explained"]
        assert found == pytest.approx(explained, abs=0.02)


# --- the record -----------------------------------------------------------------------------------


def test_record_holds_every_trial_of_every_seed() -> None:
    made = record("heads")
    assert made["command"] == "python -m attn_course.trained heads"
    for recipe, num_seeds in SEEDS.items():
        assert [run["seed"] for run in runs_of(recipe, made)] == list(range(num_seeds))
        for run in runs_of(recipe, made):
            assert len(run["weights"]) == recipe.num_heads
            assert len(run["losses"]) == recipe.steps // 100
    assert len(made["runs"]) == sum(SEEDS.values())


def test_numbers_of_heads_cost_no_parameter() -> None:
    counted = {(run["task"], run["d_model"], run["parameters"]) for run in record("heads")["runs"]}
    assert len(counted) == len({(recipe.task, recipe.d_model) for recipe in SEEDS})


@pytest.mark.parametrize(
    ("recipe", "seed", "to"),
    [(TWO, 3, 200), (Recipe("difference", 16, 4, 600), 1, 200)],
    ids=["readings", "difference"],
)
def test_record_begins_as_a_run_does_today(recipe: Recipe, seed: int, to: int) -> None:
    # the learning rate is the same in both until half of the longer run
    short = Recipe(recipe.task, recipe.d_model, recipe.num_heads, to)
    make = heads.train_memory if recipe.task == "difference" else heads.train_reader
    _, losses = make(short, seed)
    runs = list(runs_of(recipe, record("heads")))
    assert losses[0] == pytest.approx(runs[seed]["losses"][0], abs=0.01)
    others = [run["losses"][0] for run in runs if run["seed"] != seed]
    assert any(abs(losses[0] - other) > 0.01 for other in others)  # so that the seed matters


@sampled
def test_a_run_of_the_record_made_again_gives_what_it_says() -> None:
    recipe = Recipe("difference", 16, 2, 600)
    for seed in sample((0, 5), 1):
        (stored,) = (run for run in runs_of(recipe, record("heads")) if run["seed"] == seed)
        made = heads.run(recipe, seed)
        assert made["explained"] == pytest.approx(stored["explained"], abs=0.01)
        assert_close(
            torch.tensor(made["weights"]), torch.tensor(stored["weights"]), atol=0.05, rtol=0
        )
