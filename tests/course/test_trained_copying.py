"""The experiment on copying: what it measures, and whether its record is what it would make."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from attn_course.data.copying import FIRST_SYMBOL, copy_pairs
from attn_course.data.tokens import make_batch
from attn_course.seq2seq import EOS, PAD, State
from attn_course.trained import record
from attn_course.trained.translators import copying
from attn_course.trained.translators.copying import (
    LOOKED_INTO,
    NUM_SYMBOLS,
    RECIPES,
    SEEDS,
    TEST_LENGTHS,
    Recipe,
    measure,
    right_when_forced,
    right_when_writing,
    train_copier,
    unseen_pairs,
)
from tests.sampling import left_to_proofs

NUM_WORDS = FIRST_SYMBOL + NUM_SYMBOLS


class Scripted:
    """A translator without weights: it writes what a function makes of its source."""

    def __init__(self, script: object) -> None:
        self.script = script

    def start(self, source: Tensor) -> State:
        written = torch.nn.functional.pad(self.script(source), (0, 9), value=EOS)
        return written, torch.zeros(len(source), dtype=torch.long)

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        written, place = state
        said = written[torch.arange(len(token)), place]
        return torch.nn.functional.one_hot(said, NUM_WORDS).float(), (written, place + 1)

    def __call__(self, source: Tensor, target_input: Tensor) -> Tensor:
        written = self.start(source)[0][:, : target_input.shape[1]]
        return torch.nn.functional.one_hot(written, NUM_WORDS).float()


def as_it_is(source: Tensor) -> Tensor:
    return source


def turned_round(source: Tensor) -> Tensor:
    return torch.cat([source[:, :-1].flip(1), source[:, -1:]], 1)


def without_the_first(source: Tensor) -> Tensor:
    """Another symbol in place of the first one that was read."""
    other = FIRST_SYMBOL + (source[:, :1] - FIRST_SYMBOL + 1) % NUM_SYMBOLS
    return torch.cat([other, source[:, 1:]], 1)


@pytest.mark.parametrize(("task", "script"), [("copy", as_it_is), ("reversal", turned_round)])
def test_a_translator_that_loses_nothing_gets_everything_right(task: str, script: object) -> None:
    shares = measure(Scripted(script), task)
    for name in ("exact", "symbols", "forced"):
        assert shares[name] == [1.0] * len(TEST_LENGTHS)
    assert shares["by_position"] == [1.0] * LOOKED_INTO


@pytest.mark.parametrize("task", ["copy", "reversal"])
def test_what_is_lost_shows_at_its_position_in_the_source(task: str) -> None:
    def script(source: Tensor) -> Tensor:
        damaged = without_the_first(source)
        return damaged if task == "copy" else turned_round(damaged)

    shares = measure(Scripted(script), task)
    assert shares["by_position"] == [0.0] + [1.0] * (LOOKED_INTO - 1)
    assert shares["exact"] == [0.0] * len(TEST_LENGTHS)
    expected = [(length - 1) / length for length in TEST_LENGTHS]
    assert shares["symbols"] == pytest.approx(expected, abs=1e-3)
    assert shares["forced"] == pytest.approx(expected, abs=1e-3)


def test_a_sequence_without_its_end_is_not_copied_exactly() -> None:
    endless = Scripted(lambda source: torch.cat([source[:, :-1], source[:, :1]], 1))
    shares = measure(endless, "copy")
    assert shares["symbols"] == [1.0] * len(TEST_LENGTHS)
    assert shares["exact"] == [0.0] * len(TEST_LENGTHS)


def test_seed_decides_the_sequences_and_the_first_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def note(seed: int, *how: object) -> Iterator[tuple[list[int], list[int]]]:
        drawn.append(seed)
        return copy_pairs(seed, *how)

    monkeypatch.setitem(copying.TASKS, "copy", note)
    monkeypatch.setattr(copying, "NUM_PAIRS", 64)
    models = [train_copier(Recipe("copy", 32, 1), seed)[0] for seed in (0, 1, 1)]
    first, second, again = (model.embedding.weight for model in models)
    assert drawn == [0, 1, 1]
    torch.testing.assert_close(second, again, rtol=0, atol=0)
    assert (first - second).abs().max() > 0.1


def test_a_sequence_is_right_only_if_it_ends_where_it_should() -> None:
    batch = make_batch(unseen_pairs("copy", 3)[:5])
    too_long = Scripted(lambda source: torch.cat([source[:, :-1], source[:, :1]], 1))
    too_short = Scripted(lambda source: source[:, :-2])
    assert right_when_writing(too_long, batch).int().tolist() == [[1, 1, 1, 0]] * 5
    assert right_when_writing(too_short, batch).int().tolist() == [[1, 1, 0, 0]] * 5
    assert right_when_forced(too_short, batch).int().tolist() == [[1, 1, 0, 1]] * 5


@pytest.mark.parametrize("task", ["copy", "reversal"])
def test_tests_have_their_length_and_are_the_same_every_time(task: str) -> None:
    pairs = unseen_pairs(task, 7)
    assert pairs == unseen_pairs(task, 7)
    for source, target in pairs:
        assert (len(source), source[-1], target[-1]) == (8, EOS, EOS)
        assert PAD not in source
        assert target[:-1] == (source[:-1] if task == "copy" else source[-2::-1])


# --- the record -----------------------------------------------------------------------------------


def test_record_holds_every_trial_of_every_seed() -> None:
    made = record("copying")
    assert made["command"] == "python -m attn_course.trained copying"
    assert tuple(made["lengths"]) == TEST_LENGTHS
    found = [(run["seed"], Recipe(run["task"], run["width"], run["steps"])) for run in made["runs"]]
    assert found == [(seed, recipe) for seed in SEEDS for recipe in RECIPES]
    for run in made["runs"]:
        model = copying.build_copier(run["width"])
        assert run["parameters"] == sum(weight.numel() for weight in model.parameters())
        assert len(run["exact"]) == len(TEST_LENGTHS)


@left_to_proofs
def test_record_begins_as_a_run_does_today() -> None:
    # the learning rate is the same in both until half of the shorter run
    _, losses = train_copier(Recipe("reversal", 32, 200), seed=1)
    (run,) = [
        run
        for run in record("copying")["runs"]
        if (run["seed"], run["task"], run["width"]) == (1, "reversal", 32)
    ]
    assert losses[0] == pytest.approx(run["losses"][0], abs=0.01)
    (other,) = [
        run
        for run in record("copying")["runs"]
        if (run["seed"], run["task"], run["width"]) == (2, "reversal", 32)
    ]
    assert abs(other["losses"][0] - run["losses"][0]) > 0.01  # so that the seed matters
