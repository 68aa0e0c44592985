"""The writer that comes with the course, and what it writes: as their records say."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.data.windows import all_windows
from attn_course.recurrence import count_parameters
from attn_course.trained import record, writers
from attn_course.trained.eight_bits import from_eight_bits, to_eight_bits
from attn_course.trained.store import shipped_weights
from attn_course.trained.writers import written
from attn_course.transformer import LanguageModel, next_token_loss
from tests.course.first_steps import first_steps
from tests.sampling import sampled, takes_all
from tests.tensors import draw

MAX_BYTES = 1_100_000
WRITERS, WRITTEN = record("writers"), record("written")
CONTEXT = writers.CONTEXT


# --- the record of the writers ------------------------------------------------------------------


def test_all_seeds_are_recorded_with_the_whole_run() -> None:
    assert [run["seed"] for run in WRITERS["runs"]] == list(writers.SEEDS)
    settings = {"rate": writers.RATE, "steps": writers.STEPS, "every": writers.EVERY}
    assert {name: WRITERS[name] for name in settings} == settings
    for run in WRITERS["runs"]:
        assert run["parameters"] == count_parameters(writers.build(0))
        assert len(run["validation"]) == writers.STEPS / writers.EVERY == len(run["cpu_seconds"])
        assert run["validation"][-1] == min(run["validation"])
        assert list(run["by_position"])[-1] == "65-128"


def test_eight_bits_cost_nothing() -> None:
    for run in WRITERS["runs"]:
        assert run["test_in_8_bits"] == pytest.approx(run["test"], abs=0.002)


def test_writer_knows_more_than_counting_does() -> None:
    counted = min(run["test"] for run in record("kneser_ney")["runs"])
    assert all(run["test"] < counted - 0.05 for run in WRITERS["runs"])


def test_record_begins_as_a_run_does_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "train", partial(first_steps, writers.NUM_FIRST))
    stored = WRITERS["runs"][0]
    run = writers.learn(writers.build(stored["seed"]), stored["seed"])
    assert run["first_losses"] == pytest.approx(stored["first_losses"], abs=2e-3)


def test_stored_writer_is_small_and_as_good_as_its_record_says() -> None:
    assert shipped_weights(writers.NAME).stat().st_size < MAX_BYTES
    found = writers.bits(writers.load_writer(), "test")
    assert found == pytest.approx(WRITERS["runs"][0]["test_in_8_bits"], abs=1e-3)


def test_loading_leaves_the_dice_alone() -> None:
    state = torch.get_rng_state()
    assert not writers.load_writer().training
    assert torch.equal(state, torch.get_rng_state())


# --- eight bits ---------------------------------------------------------------------------------


def test_eight_bits_are_off_by_half_a_factor_and_keep_the_greatest() -> None:
    weights = {"matrix": draw(5, 7), "vector": draw(7), "nothing": torch.zeros(2, 3).double()}
    stored = to_eight_bits(weights)
    assert stored["matrix"].dtype == torch.int8
    assert stored["matrix"].abs().amax(1).tolist() == [127] * 5
    found = from_eight_bits(stored)
    assert set(found) == set(weights)
    half = weights["matrix"].abs().amax(1, keepdim=True) / 127 / 2
    assert ((found["matrix"] - weights["matrix"]).abs() <= half * 1.0001).all()
    assert (found["matrix"] != weights["matrix"]).any()
    for name in ("vector", "nothing"):
        assert torch.equal(found[name], weights[name])


def test_file_holds_whole_numbers_and_factors() -> None:
    stored = load_file(shipped_weights(writers.NAME))
    whole = [name for name, weight in stored.items() if weight.dtype == torch.int8]
    assert {f"{name}.factor" for name in whole} <= stored.keys()
    assert sum(stored[name].numel() for name in whole) > 450_000


# --- the measures of what is written ------------------------------------------------------------


class Knows(nn.Module):
    """A model of eight tokens that gives the next of 0, 1, 2, ... half of the probability."""

    def forward(self, tokens: Tensor) -> Tensor:
        """The logits of the token that follows each token."""
        p = torch.full((*tokens.shape, 8), 0.5 / 7)
        return p.scatter(-1, ((tokens + 1) % 8)[..., None], 0.5).log()


def test_losses_are_those_of_the_next_token() -> None:
    windows = torch.tensor([[0, 1, 2, 4]] * 65)
    found = writers.losses(Knows(), windows).exp()
    assert_close(found, torch.tensor([[2.0, 2.0, 14.0]] * 65), rtol=1e-5, atol=0)
    model, tokens = LanguageModel(11, 8, 2, 5, 1, 4), torch.randint(11, (3, 7))
    assert_close(writers.losses(model, tokens).mean(), next_token_loss(model(tokens), tokens))


def test_positions_are_counted_in_powers_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "numbers_of", lambda _: torch.arange(800) % 8)
    monkeypatch.setattr(writers, "novels", lambda _: "x" * 1600)
    found = writers.by_position(Knows(), 16)
    assert found == {"1-1": 0.5, "2-2": 0.5, "3-4": 0.5, "5-8": 0.5, "9-16": 0.5}


def test_repetition_and_copying_by_hand() -> None:
    assert written.repeated("a b c d a b c a b c d") == pytest.approx(3 / 9)
    assert written.repeated("a b c d e") == 0
    assert written.words_of('"Who\'s he?" said Mr. Darcy-') == [
        "Who's",
        "he",
        "said",
        "Mr",
        "Darcy",
    ]
    assert written.known("zzz Emma qqqq was so xjj") == pytest.approx(3 / 4)
    assert written.longest_copied(["xxabcdxx", "bcd"], "zzabcdezz") == 4
    assert written.longest_copied(["abc"], "xyz") == 0
    assert written.longest_copied(["abc", "b"], "zabcz") == 3


def test_stages_of_the_training_are_recorded_and_begin_as_today() -> None:
    stored = WRITTEN["stages"]
    assert [one["steps"] for one in stored] == [*written.STAGES, writers.STEPS]
    found = written.stage(writers.build(writers.SEEDS[0]), 0)
    assert found["text"] == stored[0]["text"]
    assert found["bits"] == pytest.approx(stored[0]["bits"], abs=5e-3)


def test_every_law_is_recorded() -> None:
    laws = [run["law"] for run in WRITTEN["runs"]]
    assert laws[0] == "Jane Austen"
    assert [law for law in written.LAWS if law in laws] == list(written.LAWS)
    drawn = [law for law in written.LAWS if law["temperature"]]
    assert len(laws) == 1 + len(drawn) * len(written.SEEDS) + 1


@pytest.mark.parametrize("law", [{"temperature": 0}, {"temperature": 1.0}])
def test_text_is_as_surprising_as_its_record_says(law: dict) -> None:
    model, (begun, _) = writers.load_writer(), written.beginnings()
    stored = next(run for run in WRITTEN["runs"] if run["law"] == law)
    found = written.measured(model, begun, written.told(model, law, stored["seed"]))
    assert found["bits"] == pytest.approx(stored["bits"], abs=0.05)
    for name in ("repeated", "known"):
        assert found[name] == pytest.approx(stored[name], abs=0.05)


def test_cache_writes_what_reading_all_again_writes() -> None:
    model, begun = writers.load_writer(), written.beginnings()[0][:1]
    again = written.write_without_cache(model, begun, 150)
    assert torch.equal(written.write(model, begun, 150, temperature=0), again)


@sampled
def test_beyond_its_context_the_model_is_as_it_was_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over some of the windows the bits of many tokens are near the record's, those of few not."""
    taken, close, least = (1, 1e-3, 1) if takes_all() else (4, 0.05, CONTEXT + 1)
    monkeypatch.setattr(writers, "all_windows", lambda *given: all_windows(*given)[::taken])
    model = writers.load_writer()
    moving, recorded = written.far(model, CONTEXT), WRITTEN["far"]["moving"]
    assert {block.context for block in model.blocks} == {model.context} == {CONTEXT}
    assert list(moving) == list(recorded)
    for span, bits in moving.items():
        if int(span.partition("-")[0]) >= least:
            assert bits == pytest.approx(recorded[span], abs=close), span
