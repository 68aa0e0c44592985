"""The captioners that come with the course: as good as their record says, and made as it says."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from attn_course.captioning import Captioner
from attn_course.captions.exact_expectation import (
    best_baseline,
    every_path,
    exact_expected_log_likelihood,
    reinforce_variance,
)
from attn_course.data.captions import (
    DIGITS_OF,
    NAMES,
    NO_CELL,
    VOCABULARY,
    CaptionBatch,
    caption_batch,
    captioned_images,
    compose,
)
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import PAD
from attn_course.trained import record
from attn_course.trained.captions import load_captioner, make, recipes, store
from attn_course.trained.captions.make import moved, run_recipe
from attn_course.trained.captions.measure import (
    caption_variance,
    exactly_right,
    follows,
    measure,
    one_word_variance,
    read_right,
    unseen,
    varied,
    words_one_by_one,
)
from attn_course.trained.captions.recipes import (
    EMPTY,
    RECIPES,
    CellReader,
    build,
    cell_batches,
    train_captioner,
    train_reader,
)
from attn_course.trained.captions.store import save_captioner
from attn_course.trained.captions.twins import sees, twins
from attn_course.trained.store import round_to_half, shipped_weights
from attn_course.training import train
from tests.sampling import left_to_proofs, parameters

SHIPPED = [name for name, recipe in RECIPES.items() if recipe.ship]
RUNS = record("captions")["runs"]
MAX_BYTES = 1_000_000


def runs(name: str) -> list[dict]:
    """Return the runs of a trial, in the order of their seeds."""
    return [run for run in RUNS if run["trial"] == name]


# --- the record ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_every_trial_is_recorded_for_every_seed_of_its_own(name: str) -> None:
    assert record("captions")["command"] == "python -m attn_course.trained captions"
    assert [run["seed"] for run in runs(name)] == list(RECIPES[name].seeds)
    assert {run["steps"] for run in runs(name)} == {RECIPES[name].steps}
    parameters = sum(weight.numel() for weight in build(name).parameters())
    assert {run["parameters"] for run in runs(name)} == {parameters}
    for run in runs(name):
        assert run["losses"][0] > run["losses"][-1]
        shares = [run[key] for key in ("exact", "words", "digits", "pointing", "weight")]
        assert all(0 <= share <= 1 for share in shares)
        assert 0 <= run["entropy"] <= torch.tensor(9.0).log()


def test_nothing_is_recorded_that_no_trial_makes() -> None:
    assert {run["trial"] for run in RUNS} == set(RECIPES)


@pytest.mark.parametrize("name", parameters(SHIPPED, 2))
def test_stored_weights_are_small_and_as_good_as_their_record_says(name: str) -> None:
    assert shipped_weights(name).stat().st_size < MAX_BYTES
    found, stored = measure(load_captioner(name)), runs(name)[0]
    for key in ("exact", "words", "digits", "pointing", "weight"):
        assert found[key] == pytest.approx(stored[key], abs=0.01), key
    assert found["entropy"] == pytest.approx(stored["entropy"], abs=0.02)


def test_trained_attention_finds_the_digit_and_uniform_attention_cannot() -> None:
    for name in ("soft", "hard"):
        assert all(run["pointing"] > 0.9 for run in runs(name))
    for run in runs("uniform"):
        assert run["pointing"] < 0.2  # one cell in nine
        assert run["weight"] == pytest.approx(1 / 9, abs=1e-3)
        others = [other for name in ("soft", "hard") for other in runs(name)]
        assert run["exact"] < min(other["exact"] for other in others) / 2


def test_baseline_takes_variance_away_at_every_stage_that_was_measured() -> None:
    for run in runs("hard"):
        steps = [found["steps"] for found in run["variance"]]
        assert steps == [0, 300, 600, 900, 1200]
        for found in run["variance"]:
            word, caption = found["word"], found["caption"]
            assert word["best"] <= word["expected"]
            assert word["best"] <= min(word["none"], word["one"])
            assert caption["one"] < caption["none"]
        first = run["variance"][0]
        assert first["caption"]["none"] > 10 * first["caption"]["own"]


# --- one thing less ----------------------------------------------------------------------------


@torch.no_grad()
def test_side_by_side_the_context_is_every_cell_times_its_weight() -> None:
    model, batch = build("soft_side_by_side").eval(), unseen()
    contexts: list[torch.Tensor] = []
    model.cell.register_forward_pre_hook(lambda _, given: contexts.append(given[0][:, 32:]))
    model.gate.weight.zero_()
    model.gate.bias.fill_(50.0)  # wide open
    state = model.start(batch.image[:4])
    weights = model.trace(batch.target_input[:4, :1], state).weights[:, 0]
    features = model.vision(batch.image[:4]) + model.places
    assert_close(contexts[0], (weights.unsqueeze(-1) * features).flatten(1))


def test_captioner_without_places_cannot_tell_twins_apart() -> None:
    for run in runs("soft_placeless"):
        equal = run["twins"]["equal"]
        assert equal["own"] == pytest.approx(equal["twin"], abs=0.01)


def test_hard_captioner_without_a_baseline_takes_its_rewards_as_they_are() -> None:
    model = build("hard_no_baseline")
    for reward in (-4.0, -2.0):
        assert model.baseline(torch.tensor([reward])) == 0


def test_reinforce_has_the_weight_that_the_trial_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def noted(model: Captioner, batch: CaptionBatch, reinforce: float) -> torch.Tensor:
        given.append(reinforce)
        return model.embedding.weight.square().sum()

    monkeypatch.setattr(recipes, "train_reader", hurried_reader)
    monkeypatch.setattr(recipes, "hard_loss", noted)
    for name in ("hard", "hard_no_baseline", "hard_no_reinforce"):
        train_captioner(name, 1, steps=1)
    assert given == [recipes.REINFORCE, recipes.REINFORCE, 0]


def test_twins_are_the_same_ink_and_lie_apart_and_the_others_differ() -> None:
    for what, batch in twins().items():
        cells = batch.image.unfold(2, 8, 8).unfold(3, 8, 8).flatten(1, 3).flatten(2)
        for inked, cell in zip(cells, batch.cell, strict=True):
            first, last = cell[cell != NO_CELL].tolist()
            assert torch.equal(inked[first], inked[last]) == (what == "equal")
            rows = abs(first // 3 - last // 3), abs(first % 3 - last % 3)
            assert max(rows) > 1


@torch.no_grad()
def test_stored_weights_see_twins_as_their_record_says() -> None:
    found = {what: sees(load_captioner("soft"), batch) for what, batch in twins().items()}
    for what, stored in runs("soft")[0]["twins"].items():
        assert found[what] == pytest.approx(stored, abs=0.01)


# --- made again ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def short() -> dict[str, tuple[Captioner, list[float]]]:
    """Begin what is recorded from the second seed: its first hundred steps, and their losses."""
    made = {}
    train_reader(1)  # all of it; it is kept
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipes, "train", a_hundred_steps)
        for name in ("soft", "hard"):
            made[name] = train_captioner(name, 1)
    return made


def a_hundred_steps(
    model: Captioner, stream: Iterator, loss: Callable, steps: int, **settings: object
) -> list[float]:
    """Train as `train` does, until a hundred batches have been seen."""
    losses = []

    def noted(model: Captioner, batch: CaptionBatch) -> torch.Tensor:
        losses.append(loss(model, batch))
        return losses[-1]

    with pytest.raises(ValueError, match="batches ended after 100, but 1200 steps"):
        train(model, islice(stream, 100), noted, steps, **settings)
    return [value.item() for value in losses]


def hurried_reader(seed: int) -> CellReader:
    """A reader of cells that has learned for some steps only."""
    return train_reader(seed, 40)


@left_to_proofs
@pytest.mark.parametrize("name", ["soft", "hard"])
def test_record_begins_as_a_run_does_today(name: str, short: dict) -> None:
    first, *others = (runs(name)[seed]["losses"][0] for seed in (1, 0, 2))
    assert sum(short[name][1]) / 100 == pytest.approx(first, abs=0.01)
    assert any(abs(first - other) > 0.01 for other in others)  # so that the seed matters


def test_reader_of_cells_learns_from_its_first_steps() -> None:
    found = read_right(hurried_reader(1))
    assert found["digits"] > 0.25  # one in ten is chance
    assert found["empty"] > 0.99


@left_to_proofs
def test_reader_of_cells_learns_to_read_as_well_as_recorded() -> None:
    found = read_right(train_reader(1))
    assert found["digits"] == pytest.approx(runs("soft")[1]["eye"]["digits"], abs=0.01)
    assert found["empty"] > 0.99


def test_eye_stays_as_it_was_while_a_captioner_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "train_reader", hurried_reader)
    reader = hurried_reader(1)
    for name in ("soft", "hard"):
        model, history = train_captioner(name, 1, steps=3)
        assert len(history.losses) == 3
        for key, weight in model.vision.state_dict().items():
            assert_close(weight, reader.vision.state_dict()[key], rtol=0, atol=0)
        assert model.vision is not reader.vision


def test_run_of_a_hard_captioner_is_what_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (recipes, make):
        monkeypatch.setattr(module, "train_reader", hurried_reader)
    monkeypatch.setattr(make, "variances", lambda model: {"training": model.training})
    monkeypatch.setitem(RECIPES, "hard", dataclasses.replace(RECIPES["hard"], steps=2))
    model, run = run_recipe("hard", 1)
    assert run.keys() == runs("hard")[1].keys()
    assert [found["steps"] for found in run["variance"]] == [0, 2]
    assert all(torch.equal(weight, weight.half().float()) for weight in model.parameters())


@left_to_proofs
def test_run_of_a_hard_captioner_measures_variance_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick = dataclasses.replace(RECIPES["hard"], steps=3)
    monkeypatch.setitem(RECIPES, "hard", quick)
    model, run = run_recipe("hard", 1)
    assert [found["steps"] for found in run["variance"]] == [0, 3]
    assert run["steps"] == 3
    first, stored = run["variance"][0], runs("hard")[1]["variance"][0]
    for what in ("word", "caption"):
        assert first[what] == pytest.approx(stored[what], rel=0.05)
    assert all(torch.equal(weight, weight.half().float()) for weight in model.parameters())


# --- the measures -------------------------------------------------------------------------------


class Scripted(Captioner):
    """Says the right words, given the images of `unseen`, but not for some captions."""

    def __init__(self, wrong: int) -> None:
        super().__init__(build("soft").vision, 9, len(VOCABULARY))
        self.batch, self.wrong = unseen(), wrong

    def trace(self, tokens: torch.Tensor, state: tuple, use: object = None) -> object:
        """Give logits of one for the right word, and all weight to its cell."""
        trace = super().trace(tokens, (*state[0],), use)
        count, length = int(state[1][0]), tokens.shape[1]
        batch = self.batch.target_output
        padded = functional.pad(batch, (0, 40), value=PAD)[:, count : count + length].clone()
        padded[: self.wrong] = 3
        cells = functional.pad(self.batch.cell, (0, 40), value=0)[:, count : count + length]
        return trace._replace(
            logits=functional.one_hot(padded, len(VOCABULARY)).float(),
            weights=functional.one_hot(cells.clamp(min=0), 9).float(),
            state=(trace.state, state[1] + length),
        )

    def start(self, image: torch.Tensor, mask: object = None) -> tuple:
        """Count the words."""
        return super().start(image), torch.zeros(len(image), dtype=torch.long)


@torch.no_grad()
def test_measures_of_a_captioner_that_is_wrong_in_a_tenth_of_the_captions() -> None:
    model = Scripted(100)
    assert exactly_right(model, unseen()).tolist() == [False] * 100 + [True] * 900
    found = measure(model)
    assert (found["exact"], found["pointing"], found["weight"]) == (0.9, 1.0, 1.0)
    words = unseen().target_output != PAD
    assert found["words"] == pytest.approx(
        1 - words[:100].sum().item() / words.sum().item(), abs=1e-3
    )
    names = unseen().cell != NO_CELL
    assert found["digits"] == pytest.approx(
        1 - names[:100].sum().item() / names.sum().item(), abs=1e-3
    )
    assert found["entropy"] == 0


def test_cells_show_what_the_image_was_composed_of() -> None:
    image, shown = next(cell_batches(0, "test", 50))
    blank = image.unfold(2, 8, 8).unfold(3, 8, 8).amax((-2, -1)).flatten(1) == 0
    assert torch.equal(blank, shown == EMPTY)
    assert CellReader()(image).shape == (50, 9, EMPTY + 1)


def test_tested_and_varied_images_are_of_digits_that_nothing_is_learned_from() -> None:
    assert not set(DIGITS_OF["training"]) & {*DIGITS_OF["test"], *DIGITS_OF["validation"]}
    for batch, (seed, split) in ((unseen(), (10_000, "test")), (varied(), (20_000, "validation"))):
        stream = captioned_images(seed, split)
        first = caption_batch([next(stream)])
        assert_close(batch.image[:1], first.image, rtol=0, atol=0)


@torch.no_grad()
def test_variance_of_one_word_is_that_of_its_parts() -> None:
    model, batch = build("hard", seed=3).eval(), varied()
    found = one_word_variance(model)
    parts = list(words_one_by_one(model, batch))
    number = sum(int(names.sum()) for names, *_ in parts)
    assert number == int((batch.cell != NO_CELL).sum())
    none = best = 0.0
    for names, weights, reward in parts:
        assert_close(weights.sum(-1), torch.ones(len(weights)))
        none += reinforce_variance(weights, reward)[names].sum() / number
        least = reinforce_variance(weights, reward, best_baseline(weights, reward))
        best += least[names].sum() / number
    assert found["none"] == pytest.approx(float(none), rel=1e-3)
    assert found["best"] == pytest.approx(float(best), rel=1e-2)


@left_to_proofs
@torch.no_grad()
def test_estimated_variance_of_a_caption_is_steady_from_one_number_of_draws_to_another() -> None:
    model = build("hard", seed=3).eval()
    some, more = caption_variance(model, 40), caption_variance(model, 80)
    for key in some:
        assert some[key] == pytest.approx(more[key], rel=0.2)
    assert more["own"] <= more["one"] < more["none"]


# --- what the shipped ones are good for ---------------------------------------------------------


@torch.no_grad()
def test_bound_of_a_trained_captioner_is_below_its_marginal() -> None:
    model, batch = load_captioner("hard"), unseen()
    some = batch.target_input[:20, :2], batch.target_output[:20, :2]
    paths = every_path(model, model.start(batch.image[:20]), *some)
    marginal = torch.logsumexp(sum(paths), -1)
    assert (exact_expected_log_likelihood(*paths) <= marginal + 1e-5).all()


@pytest.mark.parametrize("name", parameters(["soft", "hard"], 1))
def test_stored_weights_follow_a_moved_weight_as_their_record_says(name: str) -> None:
    found, stored = moved(load_captioner(name)), runs(name)[0]["moved"]
    for what in ("word", "with_article"):
        assert found[what] == pytest.approx(stored[what], abs=0.02)


def test_weight_moved_with_its_article_makes_a_captioner_name_the_other_digit() -> None:
    for name in ("soft", "hard"):
        for run in runs(name):
            found = run["moved"]["with_article"]
            assert found["other"] > 0.95 > 0.05 > found["own"]


@torch.no_grad()
def test_weight_moved_by_hand_gives_what_follows_counts() -> None:
    model, batch = load_captioner("soft"), caption_batch([compose({0: 5, 8: 17}, 3)])
    _, (first, last), differ = batch, batch.cell[0][batch.cell[0] >= 0].tolist(), []
    place = int((batch.cell[0] == first).nonzero())

    def use(weights: torch.Tensor) -> torch.Tensor:
        differ.append(len(differ) == place)
        moved = functional.one_hot(torch.tensor([last]), 9).float()
        return moved if differ[-1] else weights

    trace = model.trace(batch.target_input, model.start(batch.image), use)
    said = int(trace.logits[0, place].argmax())
    own, other = (
        int(batch.target_output[0, (batch.cell[0] == cell).int().argmax()])
        for cell in (first, last)
    )
    found = follows(model, batch)
    assert (found["own"], found["other"]) == (said == own, said == other)
    eights = compose({0: 8, 8: 17}, 3), compose({0: 5, 8: 8}, 3)
    assert follows(model, caption_batch([compose({0: 5, 8: 17}, 3), *eights])) == found


@torch.no_grad()
def test_shipped_captioner_writes_english(capsys: pytest.CaptureFixture) -> None:
    model, batch = load_captioner("soft"), unseen()
    written = [VOCABULARY.decode(row) for row in greedy_decode(model, batch.image[:200], 30)]
    begins = sum(words[0] in ("a", "an") and words[1] in NAMES for words in written)
    assert begins > 190


def test_saving_and_loading_keeps_the_rounded_captioner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attn_course.trained.store.FOLDER", tmp_path)
    monkeypatch.setattr(store, "__file__", str(tmp_path / "store.py"))
    model = build("hard", seed=5)
    model.baseline(torch.tensor([-4.0]))
    round_to_half(model)
    save_captioner("hard", model)
    state = torch.get_rng_state()
    loaded = load_captioner("hard")
    assert torch.equal(state, torch.get_rng_state())
    assert not loaded.training
    for key, weight in model.state_dict().items():
        assert_close(loaded.state_dict()[key], weight, rtol=0, atol=0)


def test_unknown_names_are_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no captioner 'loud'; choose from soft, hard, uniform"):
        load_captioner("loud")
    with pytest.raises(ValueError, match=r"'soft_penalty' do not come .* hard,.* soft,.* uniform"):
        load_captioner("soft_penalty")


def test_record_is_json_without_nan() -> None:
    text = json.dumps(record("captions"))
    assert "NaN" not in text
    assert "Infinity" not in text
