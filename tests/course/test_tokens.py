"""Vocabularies, batches and sequences to copy: what a model reads is what was written."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice, pairwise
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attn_course.data.copying import FIRST_SYMBOL, copy_pairs, reversal_pairs
from attn_course.data.draw import Draw
from attn_course.data.tokens import CHUNK, UNK, Batch, Vocabulary, batches, make_batch, pad
from attn_course.data.translation import sentence_pairs
from attn_course.seq2seq import BOS, EOS, PAD

SENTENCES = [("a", "b", "c"), ("c", "a"), ("d",)]


def numbered(count: int, seed: int = 0) -> list[tuple[list[int], list[int]]]:
    """Return pairs of sentences of different lengths; the source starts with the pair's number."""
    pairs = islice(reversal_pairs(seed, num_symbols=5, lengths=(1, 30)), count)
    return [([100 + number, *source], target) for number, (source, target) in enumerate(pairs)]


def rows(batch: Batch) -> list[list[int]]:
    """Return the sources of a batch without their padding."""
    return [[number for number in row if number != PAD] for row in batch.source.tolist()]


# Vocabularies


def test_numbers_of_words_follow_the_special_ones() -> None:
    vocabulary = Vocabulary(["b", "a"])
    assert vocabulary.encode(["a", "b", "b"]) == [5, 4, 4, EOS]
    assert len(vocabulary) == 6
    assert vocabulary.words == ("b", "a")
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)


def test_vocabulary_of_sentences_holds_each_word_once_in_order() -> None:
    vocabulary = Vocabulary.of(iter(SENTENCES))
    assert vocabulary.words == ("a", "b", "c", "d")
    assert len(vocabulary) == 8


def test_decoding_undoes_encoding() -> None:
    vocabulary = Vocabulary.of(SENTENCES)
    for sentence in SENTENCES:
        ids = vocabulary.encode(sentence)
        assert vocabulary.decode(ids) == sentence
        assert vocabulary.decode(torch.tensor([*ids, PAD, PAD])) == sentence
    assert vocabulary.encode([]) == [EOS]
    assert vocabulary.decode([EOS]) == vocabulary.decode([]) == ()


def test_decoding_undoes_encoding_on_real_sentences() -> None:
    pairs = list(islice(sentence_pairs(0), 500))
    vocabulary = Vocabulary.of(pair.target for pair in pairs)
    for pair in pairs:
        assert vocabulary.decode(vocabulary.encode(pair.target)) == pair.target


def test_unknown_word_has_a_number_of_its_own_and_shows() -> None:
    vocabulary = Vocabulary.of(SENTENCES)
    assert vocabulary.encode(["a", "zebra", "d"]) == [4, UNK, 7, EOS]
    assert vocabulary.decode([4, UNK, 7, EOS]) == ("a", "<unk>", "d")


def test_special_numbers_before_the_end_show_and_after_it_do_not() -> None:
    vocabulary = Vocabulary.of(SENTENCES)
    assert vocabulary.decode([BOS, PAD, 4]) == ("<bos>", "<pad>", "a")
    assert vocabulary.decode([4, EOS, 5, 99]) == ("a",)


@pytest.mark.parametrize("number", [8, -1, 1000])
def test_number_without_a_word_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"no word has number {number}: there are 8"):
        Vocabulary.of(SENTENCES).decode([4, number])


@pytest.mark.parametrize(("words", "twice"), [(["a", "b", "a"], "a"), (["a", "<eos>"], "<eos>")])
def test_word_that_comes_twice_is_refused(words: list[str], twice: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{twice!r} comes twice")):
        Vocabulary(words)


def test_vocabulary_can_be_stored_by_its_words() -> None:
    vocabulary = Vocabulary.of(SENTENCES)
    again = Vocabulary(vocabulary.words)
    assert again.encode(["d", "a"]) == vocabulary.encode(["d", "a"])
    assert len(again) == len(vocabulary)


# Padding and batches


def test_padding_fills_up_at_the_end() -> None:
    padded = pad([[5, 6, 2], [7, 2], [2]])
    assert_close(padded, torch.tensor([[5, 6, 2], [7, 2, 0], [2, 0, 0]]))
    assert padded.dtype == torch.int64


@pytest.mark.parametrize(
    ("sequences", "message"),
    [([], "there is no sequence"), ([[4, 2], []], "sequence 1 is empty")],
)
def test_nothing_to_pad_is_refused(sequences: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pad(sequences)


def test_batch_shifts_the_target_by_one() -> None:
    batch = make_batch([([5, 6, EOS], [7, EOS]), ([8, EOS], [9, 10, 11, EOS])])
    assert_close(batch.source, torch.tensor([[5, 6, EOS], [8, EOS, PAD]]))
    assert_close(batch.target_input, torch.tensor([[BOS, 7, PAD, PAD], [BOS, 9, 10, 11]]))
    assert_close(batch.target_output, torch.tensor([[7, EOS, PAD, PAD], [9, 10, 11, EOS]]))


def test_batch_moves_to_another_device_whole() -> None:
    moved = make_batch([([5, EOS], [7, EOS])]).to("meta")
    assert isinstance(moved, Batch)
    assert {tensor.device.type for tensor in moved} == {"meta"}


@pytest.mark.parametrize(("count", "size"), [(103, 8), (16, 16), (5, 7), (CHUNK + 70, 16)])
def test_each_epoch_holds_each_pair_once(count: int, size: int) -> None:
    pairs = numbered(count)
    stream = batches(pairs, size, seed=3)
    orders = []
    for _ in range(2):
        seen: list[list[int]] = []
        while len(seen) < count:
            batch = next(stream)
            assert 1 <= len(batch.source) <= size
            seen += rows(batch)
        assert sorted(seen) == sorted(source for source, _ in pairs)
        orders.append(seen)
    assert orders[0] != orders[1] or count <= size


def test_source_and_target_stay_together() -> None:
    pairs = numbered(50)
    answer = {source[0]: target for source, target in pairs}
    for batch in islice(batches(pairs, 4, seed=0), 30):
        for source, output in zip(batch.source.tolist(), batch.target_output.tolist(), strict=True):
            assert [number for number in output if number != PAD] == answer[source[0]]


def test_sentences_of_a_batch_are_nearly_equally_long() -> None:
    pairs = numbered(3000)
    padding = tokens = 0
    for batch in islice(batches(pairs, 16, seed=0), 180):
        padding += int((batch.target_output == PAD).sum())
        tokens += batch.target_output.numel()
    assert padding / tokens < 0.02
    # in the order they came, more than a third would be padding
    plain = make_batch(pairs[:16]).target_output
    assert (plain == PAD).float().mean() > 0.3


def test_epoch_does_not_go_from_short_to_long() -> None:
    lengths = [b.target_output.shape[1] for b in islice(batches(numbered(1600), 16, seed=0), 100)]
    rises = sum(other > one for one, other in pairwise(lengths))
    assert 30 < rises < 70


def test_sentences_meet_others_in_the_next_epoch() -> None:
    stream = batches(numbered(320), 16, seed=0)
    first, second = (
        {frozenset(row[0] for row in rows(batch)) for batch in islice(stream, 20)} for _ in range(2)
    )
    assert len(first) == len(second) == 20
    assert not first & second


def test_seed_alone_decides_the_batches() -> None:
    pairs = numbered(200)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = list(islice(batches(pairs, 16, seed=5), 40))
    assert torch.equal(torch.get_rng_state(), state), "the global generator was touched"
    torch.rand(3)
    for one, other in zip(first, islice(batches(pairs, 16, seed=5), 40), strict=True):
        for ours, again in zip(one, other, strict=True):
            assert_close(ours, again, rtol=0, atol=0)
    other_seed = next(batches(pairs, 16, seed=6))
    assert not torch.equal(first[0].source, other_seed.source)


def test_first_batch_is_the_same_on_every_machine() -> None:
    numbers = [row[0] for row in rows(next(batches(numbered(12), 3, seed=0)))]
    assert numbers == [110, 100, 105]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 4, 0), "there is no pair"),
        (([([4, 2], [4, 2])], 0, 0), "batch_size=0 must be at least 1"),
        (([([4, 2], [4, 2])], -2, 0), "batch_size=-2"),
        (([([4, 2], [4, 2]), ([4], [4, 2])], 4, 0), "source 1 does not end in EOS = 2: [4]"),
        (([([4, 2], [])], 4, 0), "target 0 does not end in EOS = 2: []"),
        (([([4, 2], [4, 2])], 4, -1), "seed=-1 is negative"),
    ],
)
def test_impossible_batches_are_refused_at_once(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        batches(*arguments)


# Sequences to copy and to turn round


def test_copy_task_asks_for_the_sequence_itself() -> None:
    for source, target in islice(copy_pairs(0, num_symbols=3, lengths=(2, 6)), 500):
        assert source == target
        assert source is not target
        assert source[-1] == EOS
        assert 2 <= len(source) - 1 <= 6
        assert set(source[:-1]) <= {FIRST_SYMBOL, FIRST_SYMBOL + 1, FIRST_SYMBOL + 2}


def test_reversal_task_asks_for_it_backwards_with_the_end_last() -> None:
    pairs = list(islice(reversal_pairs(0), 300))
    assert all([*reversed(target[:-1]), EOS] == source for source, target in pairs)
    assert all(target[-1] == EOS for _, target in pairs)
    assert [source for source, _ in pairs] == [s for s, _ in islice(copy_pairs(0), 300)]


def test_lengths_and_symbols_are_each_as_likely() -> None:
    lengths: Counter[int] = Counter()
    symbols: Counter[int] = Counter()
    for source, _ in islice(copy_pairs(1, num_symbols=5, lengths=(1, 4)), 8000):
        lengths[len(source) - 1] += 1
        symbols.update(source[:-1])
    assert set(lengths) == {1, 2, 3, 4}
    assert all(abs(count - 2000) < 5 * 1500**0.5 for count in lengths.values())
    assert set(symbols) == set(range(4, 9))
    assert all(abs(count - 4000) < 5 * 3200**0.5 * 1.2 for count in symbols.values())


def test_seed_alone_decides_the_sequences() -> None:
    first = list(islice(copy_pairs(2), 50))
    assert first == list(islice(copy_pairs(2), 50))
    assert first != list(islice(copy_pairs(3), 50))


def test_first_sequences_are_the_same_on_every_machine() -> None:
    sources = [source for source, _ in islice(copy_pairs(0, num_symbols=9, lengths=(1, 4)), 3)]
    assert sources == [[10, 7, 6, 8, 2], [11, 6, 2], [9, 12, 2]]


@pytest.mark.parametrize("task", [copy_pairs, reversal_pairs])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_symbols": 0}, "num_symbols=0"),
        ({"lengths": (0, 3)}, "lengths=(0, 3)"),
        ({"lengths": (4, 3)}, "lengths=(4, 3)"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_impossible_tasks_are_refused_at_once(
    task: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        task(**{"seed": 0, **options})


# Chance


def test_draws_stay_within_their_limits_and_reach_them() -> None:
    draw = Draw(0)
    assert {draw.below(3) for _ in range(200)} == {0, 1, 2}
    assert {draw.between(5, 7) for _ in range(200)} == {5, 6, 7}
    assert {draw.one_of("xyz") for _ in range(200)} == set("xyz")
    assert not any(draw.chance(0) for _ in range(200))
    assert all(draw.chance(1) for _ in range(200))
    assert abs(sum(draw.chance(0.3) for _ in range(10_000)) - 3000) < 5 * 2100**0.5


def test_shuffling_keeps_what_it_shuffles_and_reaches_every_order() -> None:
    draw = Draw(0)
    orders = Counter(tuple(draw.shuffled("abc")) for _ in range(6000))
    assert len(orders) == 6
    assert all(abs(count - 1000) < 5 * 833**0.5 for count in orders.values())


def test_draws_are_those_that_python_promises() -> None:
    """`random()` after a seed is the one thing that Python's documentation says will not change."""
    draw = Draw(42)
    assert [draw.below(1000) for _ in range(4)] == [639, 25, 275, 223]
