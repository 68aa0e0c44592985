"""Phrases with questions, and memories: what is asked for is there, once, and nowhere else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
import torch
from torch.testing import assert_close

from attn_course.data import phrases
from attn_course.data.memory import D_CONTENT, NUM_ROLES, memory_batches
from attn_course.data.phrases import (
    Phrase,
    phrase_batch,
    phrase_batches,
    three_facts,
    two_distances,
    two_readings,
)
from attn_course.data.tokens import PAD, Vocabulary


def far_apart(seed: int) -> Iterator[Phrase]:
    """Yield lists whose last word asks for its neighbour and for the farthest in the shortest."""
    return two_distances(seed, (1, 13))


def own_verbs(seed: int) -> Iterator[Phrase]:
    """Yield sentences in which half of the verbs stand before "not" only, and half after it."""
    return two_readings(seed, phrases.VERBS[::2], phrases.VERBS[1::2])


KINDS = pytest.mark.parametrize(
    "kind", [two_readings, three_facts, far_apart, own_verbs], ids=lambda kind: kind.__name__
)
Kind = Callable[[int], Iterator[Phrase]]


def some(kind: Kind, number: int = 2000, seed: int = 0) -> list[Phrase]:
    """Return the first phrases of a seed."""
    return list(islice(kind(seed), number))


@KINDS
def test_seed_decides_the_phrases(kind: Kind) -> None:
    assert some(kind, 20) == some(kind, 20)
    assert some(kind, 20) != some(kind, 20, seed=1)


@KINDS
def test_every_answer_stands_in_the_sentence_once_and_is_not_the_word_that_asks(kind: Kind) -> None:
    for words, asking, answers in some(kind):
        assert all(words.count(answer) == 1 for answer in answers)
        assert words[asking] not in answers


def test_not_asks_and_the_answers_are_the_verb_behind_it_and_the_one_before() -> None:
    for words, asking, (after, before) in some(two_readings):
        assert words[asking] == "not"
        assert (words[asking + 1], words[asking - 2]) == (after, before)
        assert {after, before} <= set(phrases.VERBS)
        assert words[asking - 1] == words[asking + 2]  # let *them* go: the same ones


def test_noun_asks_for_name_adjective_and_pronoun_in_this_order() -> None:
    for words, asking, (name, adjective, pronoun) in some(three_facts):
        assert asking == len(words) - 1
        assert words[asking] in phrases.NOUNS
        assert words.index(name) < words.index(adjective) < words.index(pronoun)
        assert name in phrases.NAMES
        assert adjective in phrases.ADJECTIVES
        assert pronoun in phrases.PRONOUNS


def test_last_word_asks_for_words_so_many_places_before_it() -> None:
    for words, asking, answers in some(far_apart):
        assert asking == len(words) - 1
        assert answers == (words[-2], words[-14])
        assert len({*words}) == len(words)


def test_verbs_are_sixty_different_ones_all_used_equally_often_on_both_sides() -> None:
    assert len(set(phrases.VERBS)) == 60
    for side in range(2):
        counts = Counter(phrase.answers[side] for phrase in some(two_readings, 12_000))
        assert set(counts) == set(phrases.VERBS)
        assert max(counts.values()) < 1.5 * min(counts.values())


def test_verbs_must_leave_one_for_the_other_side() -> None:
    with pytest.raises(ValueError, match="two verbs or more"):
        next(two_readings(0, second=["hang"]))


def test_verbs_may_be_chosen_for_each_side() -> None:
    for side, verbs in enumerate((phrases.VERBS[1::2], phrases.VERBS[::2])):
        assert {phrase.answers[side] for phrase in some(own_verbs)} == set(verbs)


@KINDS
def test_word_that_asks_is_not_always_at_the_same_place(kind: Kind) -> None:
    places = Counter(phrase.asking for phrase in some(kind))
    assert min(places.values()) > 200
    assert len(places) > 1


@KINDS
def test_batch_holds_the_phrases_with_padding_behind_them(kind: Kind) -> None:
    chosen = some(kind, 50)
    vocabulary = Vocabulary.of(phrase.words for phrase in chosen)
    batch = phrase_batch(chosen, vocabulary)
    rows = zip(chosen, batch.words, batch.length, batch.asking, batch.answers, strict=True)
    for phrase, words, length, asking, answers in rows:
        assert length == len(phrase.words)  # nor does an EOS count
        assert vocabulary.decode(words[:length]) == phrase.words
        assert (words[length:] == PAD).all()
        assert vocabulary.decode(words[asking : asking + 1]) == (phrase.words[phrase.asking],)
        assert vocabulary.decode(answers) == phrase.answers
    assert len(set(batch.length.tolist())) > 1


def test_batches_go_on_with_new_phrases() -> None:
    vocabulary = Vocabulary.of(phrase.words for phrase in some(two_readings))
    stream = phrase_batches(two_readings(0), vocabulary, 8)
    first, second = next(stream), next(stream)
    assert len(first.words) == len(second.words) == 8
    assert first.answers.tolist() != second.answers.tolist()
    twenty = phrase_batch(some(two_readings, 16)[8:], vocabulary)
    assert second.answers.tolist() == twenty.answers.tolist()


def test_to_moves_every_part() -> None:
    vocabulary = Vocabulary.of(phrase.words for phrase in some(two_readings))
    batch = phrase_batch(some(two_readings, 4), vocabulary)
    for moved in (batch.to("meta"), next(memory_batches(0, 2)).to("meta")):
        assert {part.device.type for part in moved} == {"meta"}


# --- memories -------------------------------------------------------------------------------------


def test_difference_is_that_of_the_contents_of_the_first_two_roles() -> None:
    batch = next(memory_batches(3, 64))
    for roles, contents, difference in zip(*batch, strict=True):
        assert sorted(roles.tolist()) == list(range(NUM_ROLES))
        slot = {role: place for place, role in enumerate(roles.tolist())}
        assert_close(contents[slot[0]] - contents[slot[1]], difference, rtol=0, atol=0)


def test_contents_are_independent_normal_numbers_and_roles_in_any_order() -> None:
    roles, contents, _ = next(memory_batches(0, 20_000))
    assert contents.shape == (20_000, NUM_ROLES, D_CONTENT)
    covariance = torch.cov(contents.flatten(1).T)
    assert_close(covariance, torch.eye(NUM_ROLES * D_CONTENT), rtol=0, atol=0.05)
    share = (roles == 0).float().mean(0)
    assert_close(share, torch.full((NUM_ROLES,), 1 / NUM_ROLES), rtol=0, atol=0.015)


def test_memories_depend_on_the_seed_alone() -> None:
    torch.manual_seed(0)
    one = next(memory_batches(5, 4))
    torch.manual_seed(1)
    again, other = next(memory_batches(5, 4)), next(memory_batches(6, 4))
    assert_close(one.contents, again.contents, rtol=0, atol=0)
    assert (one.contents - other.contents).abs().max() > 0.1
    stream = memory_batches(5, 4)
    assert (next(stream).contents - next(stream).contents).abs().max() > 0.1
