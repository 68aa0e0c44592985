"""Greedy decoding and beam search: by hand, by their laws, and against every possible sentence.

The models are small tables of probabilities, so that the best sentence can be found by trying all,
and untrained translators of every kind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from attn_course.bahdanau import BahdanauTranslator
from attn_course.decoding import Hypotheses, beam_search, greedy_decode, search
from attn_course.luong import LuongTranslator
from attn_course.retrieval import masked_softmax
from attn_course.seq2seq import BOS, EOS, PAD, Encoder, FixedVectorTranslator, Translator
from attn_course.shapes import unchecked
from attn_course.shapes.switch import shapes_are_checked
from tests.tensors import CLOSELY, EXACTLY

A, B, C = 3, 4, 5  # the words of the toys
VOCAB = 6
SOURCE_VOCAB, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN = 13, 11, 3, 5
some_law = settings(max_examples=40, deadline=None, derandomize=True)
KINDS = ["fixed", "bahdanau", "luong", "feeding"]


class Table:
    """A model whose next word depends on the source and the last two words, by a table."""

    def __init__(self, logits: Tensor) -> None:
        """Take logits for (source, word before the last, last word, next word)."""
        self.logits = logits
        self.steps = 0

    def start(self, source: Tensor) -> tuple[Tensor, ...]:
        """Remember the source's number and that nothing came before the first word."""
        return source[:, 0], torch.full_like(source[:, 0], PAD)

    def step(self, token: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Look the next word up."""
        self.steps += 1
        source, before = state
        return self.logits[source, before, token], (source, token)


class Nested:
    """A table whose state is hidden in tuples, beside what must not be lost."""

    def __init__(self, table: Table) -> None:
        """Take the table."""
        self.table = table

    def start(self, source: Tensor) -> tuple[Any, ...]:
        """Hide the state."""
        number, before = self.table.start(source)
        return ((number,), torch.zeros(len(source), 2, 3)), (((before,),),)

    def step(self, token: Tensor, state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        """Find the state again, hide the next."""
        ((number,), zeros), (((before,),),) = state
        assert zeros.shape == (len(token), 2, 3)
        logits, (number, before) = self.table.step(token, (number, before))
        return logits, (((number,), zeros), (((before,),),))


def table(seed: int, sources: int = 1, sharpness: float = 1.5) -> Table:
    """Draw a table."""
    generator = torch.Generator().manual_seed(seed)
    shape = (sources, VOCAB, VOCAB, VOCAB)
    return Table(sharpness * torch.randn(shape, generator=generator, dtype=torch.float64))


def chain(**next_words: dict[int, float]) -> Table:
    """Make a table from the probabilities of the next word after each last word, by its name."""
    names = {"BOS": BOS, "A": A, "B": B, "C": C}
    probabilities = torch.full((1, VOCAB, VOCAB, VOCAB), 1e-9, dtype=torch.float64)
    for name, words in next_words.items():
        for word, probability in words.items():
            probabilities[:, :, names[name], word] = probability
    return Table((probabilities / probabilities.sum(-1, keepdim=True)).log())


def sources(number: int) -> Tensor:
    """Number the sources of a table."""
    return torch.arange(number).unsqueeze(1)


def all_sentences(max_len: int) -> Iterator[tuple[int, ...]]:
    """Give every sentence that has ended by `max_len`, and every one that is cut off there."""
    for length in range(max_len):
        for words in itertools.product([A, B, C], repeat=length):
            yield (*words, EOS)
    yield from itertools.product([A, B, C], repeat=max_len)


def log_probability_of(model: Table, sentence: tuple[int, ...], source: int = 0) -> float:
    """Add up the table's logarithms along a sentence."""
    total, before, last = 0.0, PAD, BOS
    for word in sentence:
        total += model.logits[source, before, last].log_softmax(-1)[word].item()
        before, last = last, word
    return total


def ranked(model: Table, max_len: int, power: float, source: int = 0) -> list[tuple]:
    """Return (score, sentence) of every possible sentence, the best first."""
    scored = [
        (log_probability_of(model, sentence, source) / len(sentence) ** power, sentence)
        for sentence in all_sentences(max_len)
    ]
    return sorted(scored, reverse=True)


def sentence_of(tokens: Tensor) -> tuple[int, ...]:
    """Return a row of tokens without its padding."""
    return tuple(token for token in tokens.tolist() if token != PAD)


def never_decided(beam: Hypotheses, *_: object) -> Tensor:
    """Say of each source that its search goes on."""
    return torch.zeros(len(beam.tokens), dtype=torch.bool)


def make_translator(kind: str, seed: int = 0) -> Translator:
    """Make an untrained translator in float64, with weights large enough to have opinions."""
    torch.manual_seed(seed)
    encoder = Encoder(SOURCE_VOCAB, D_EMBEDDING, D_HIDDEN)
    sizes = (encoder, TARGET_VOCAB, D_EMBEDDING, D_HIDDEN)
    models = {
        "fixed": lambda: FixedVectorTranslator(*sizes, cell="lstm", num_layers=2),
        "bahdanau": lambda: BahdanauTranslator(*sizes, 7),
        "luong": lambda: LuongTranslator(*sizes, cell="lstm"),
        "feeding": lambda: LuongTranslator(*sizes, input_feeding=True, num_layers=2),
    }
    model = models[kind]().double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4)
        last = [layer for layer in model.readout.modules() if isinstance(layer, nn.Linear)][-1]
        last.bias[EOS] += 3  # or few sentences would end
    return model


def some_sources(lengths: tuple[int, ...] = (5, 2, 7), seed: int = 0) -> Tensor:
    """Draw sources of these lengths, EOS included, padded."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(A, SOURCE_VOCAB, (len(lengths), max(lengths)), generator=generator)
    for row, length in zip(tokens, lengths, strict=True):
        row[length - 1] = EOS
        row[length:] = PAD
    return tokens


def by_teacher_forcing(model: nn.Module, source: Tensor, sentence: tuple[int, ...]) -> float:
    """Return the logarithm of the sentence's probability, all words given at once."""
    given = torch.tensor([[BOS, *sentence[:-1]]])
    log_probability = model(source.unsqueeze(0), given).log_softmax(-1)[0]
    return sum(row[word].item() for row, word in zip(log_probability, sentence, strict=True))


# --- greedy decoding ----------------------------------------------------------------------------


def test_greedy_takes_the_best_word_at_each_step_by_hand() -> None:
    model = chain(BOS={A: 0.4, B: 0.6}, B={A: 0.7, EOS: 0.3}, A={EOS: 0.9, B: 0.1})
    assert greedy_decode(model, sources(1), 9).tolist() == [[B, A, EOS]]


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_agrees_with_asking_again_from_the_beginning_for_each_word(kind: str) -> None:
    model, source = make_translator(kind), some_sources()
    tokens = greedy_decode(model, source, 6)
    for row, words in zip(source, tokens, strict=True):
        sentence: list[int] = []
        while len(sentence) < 6 and EOS not in sentence:
            given = torch.tensor([[BOS, *sentence]])
            logits = model(row[row != PAD].unsqueeze(0), given)[0, -1]
            sentence.append(max(range(EOS, TARGET_VOCAB), key=logits.tolist().__getitem__))
        assert sentence_of(words) == tuple(sentence)


def test_greedy_pads_sentences_that_have_ended_while_others_go_on() -> None:
    short, long = chain(BOS={EOS: 1.0}), chain(BOS={A: 1.0}, A={B: 1.0}, B={EOS: 1.0})
    model = Table(torch.cat([short.logits, long.logits]))
    tokens = greedy_decode(model, sources(2), 9)
    assert tokens.tolist() == [[EOS, PAD, PAD], [A, B, EOS]]
    assert model.steps == 3


def test_greedy_cuts_off_at_the_longest_length_without_an_end() -> None:
    model = chain(BOS={A: 1.0}, A={A: 1.0})
    assert greedy_decode(model, sources(1), 4).tolist() == [[A, A, A, A]]
    assert model.steps == 4


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_padding_and_the_begin_of_a_sentence_are_never_chosen(search: str) -> None:
    model = chain(BOS={PAD: 0.5, BOS: 0.3, A: 0.2}, A={BOS: 0.6, EOS: 0.4})
    if search == "greedy":
        assert greedy_decode(model, sources(1), 5).tolist() == [[A, EOS]]
    else:
        found = beam_search(model, sources(1), 5, 1)
        assert found.tokens.tolist() == [[[A, EOS]]]
        assert_close(found.score.item(), math.log(0.2 * 0.4), rtol=1e-6, atol=0)


def test_greedy_gives_each_source_what_it_gives_it_alone() -> None:
    model = table(seed=0, sources=7)
    together = greedy_decode(model, sources(7), 8)
    assert len({sentence_of(row) for row in together}) > 3
    for source, words in zip(sources(7), together, strict=True):
        alone = greedy_decode(model, source.unsqueeze(0), 8)
        assert sentence_of(alone[0]) == sentence_of(words)


# --- beam search --------------------------------------------------------------------------------


def test_a_beam_of_two_finds_what_greedy_misses_by_hand() -> None:
    model = chain(
        BOS={A: 0.6, B: 0.4}, A={A: 0.4, B: 0.3, EOS: 0.3}, B={EOS: 0.9, A: 0.1}
    )  # A looks better at first, but B leads to 0.4 * 0.9 = 0.36, A to 0.6 * 0.3 = 0.18 at best
    assert greedy_decode(model, sources(1), 3)[0, 0] == A
    found = beam_search(model, sources(1), 3, 2)
    assert found.tokens[0, 0].tolist() == [B, EOS]
    assert_close(found.log_probability[0, 0].item(), math.log(0.36), rtol=1e-6, atol=0)


def test_a_narrow_beam_misses_what_looks_bad_at_first_by_hand() -> None:
    model = chain(
        BOS={A: 0.4, B: 0.35, C: 0.25},
        A={A: 0.5, B: 0.5},
        B={A: 0.5, B: 0.5},
        C={EOS: 1.0},
    )  # after C the end is certain, 0.25; every other sentence of two words has 0.2 at most
    assert sentence_of(beam_search(model, sources(1), 2, 2).tokens[0, 0]) != (C, EOS)
    assert sentence_of(beam_search(model, sources(1), 2, 3).tokens[0, 0]) == (C, EOS)


@some_law
@given(
    st.integers(0, 9999), st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.integers(1, 4), st.booleans()
)
def test_a_wide_beam_finds_the_best_of_all_sentences(
    seed: int, power: float, max_len: int, sharp: bool
) -> None:
    model = table(seed, sharpness=3.0 if sharp else 0.3)
    score, sentence = ranked(model, max_len, power)[0]
    found = beam_search(model, sources(1), max_len, 3**max_len + 40, power)
    assert sentence_of(found.tokens[0, 0]) == sentence
    assert_close(found.score[0, 0].item(), score, **CLOSELY)


@pytest.mark.parametrize("power", [0.0, 0.7, 1.0])
def test_a_wide_beam_that_does_not_stop_ranks_all_sentences(
    power: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_is_decided", never_decided)
    model = table(seed=3)
    expected = ranked(model, 4, power)
    found = beam_search(model, sources(1), 4, len(expected), power)
    assert [sentence_of(row) for row in found.tokens[0]] == [words for _, words in expected]
    scores = torch.tensor([score for score, _ in expected], dtype=torch.float64)
    assert_close(found.score[0], scores, **CLOSELY)
    lengths = torch.tensor([len(words) for _, words in expected], dtype=torch.float64)
    assert_close(found.log_probability[0], scores * lengths**power, **CLOSELY)


@some_law
@given(st.integers(0, 9999), st.sampled_from([0.0, 0.6, 1.0, 2.0]), st.integers(1, 4))
def test_stopping_early_never_changes_the_winner(seed: int, power: float, width: int) -> None:
    model = table(seed, sources=3)
    stopped = beam_search(model, sources(3), 9, width, power)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_is_decided", never_decided)
        complete = beam_search(model, sources(3), 9, width, power)
    for one, other in zip(stopped.tokens[:, 0], complete.tokens[:, 0], strict=True):
        assert sentence_of(one) == sentence_of(other)
    assert_close(stopped.score[:, 0], complete.score[:, 0], **CLOSELY)


def test_search_stops_as_soon_as_the_best_sentence_cannot_be_overtaken() -> None:
    model = chain(BOS={A: 0.9, B: 0.1}, A={EOS: 0.9, A: 0.1}, B={A: 1.0})
    beam_search(model, sources(1), 50, 3)
    assert model.steps == 2  # [A, EOS] has 0.81, nothing else can reach more than 0.1
    model.steps = 0
    beam_search(model, sources(1), 50, 3, 1.0)
    assert model.steps > 2  # the mean of a word may still rise: 0.81 by 2 words is 0.9 a word


def test_search_stops_when_the_model_leaves_no_way_to_go_on() -> None:
    model = chain(BOS={A: 1.0})
    model.logits[:] = model.logits.masked_fill(model.logits < -10, -math.inf)
    model.logits[:, :, A] = 0.0
    model.logits[:, :, A, EOS:] = -math.inf  # after A there is only PAD and BOS
    found = beam_search(model, sources(1), 50, 3)
    assert model.steps == 2
    assert found.tokens.count_nonzero() == 0
    assert_close(found.score, torch.full((1, 3), -math.inf).double(), **EXACTLY)


def test_dividing_by_the_length_prefers_longer_sentences_by_hand() -> None:
    model = chain(BOS={EOS: 0.3, A: 0.7}, A={B: 0.6, A: 0.4}, B={EOS: 0.6, A: 0.4})
    short, long = math.log(0.3), math.log(0.7 * 0.6 * 0.6)
    for power, sentence, score in [(0, (EOS,), short), (1, (A, B, EOS), long / 3)]:
        found = beam_search(model, sources(1), 3, 40, power)
        assert sentence_of(found.tokens[0, 0]) == sentence
        assert_close(found.score[0, 0].item(), score, rtol=1e-6, atol=0)


@some_law
@given(st.integers(0, 9999), st.integers(1, 7), st.sampled_from([0.0, 1.0]))
def test_a_beam_of_one_is_greedy_on_tables(seed: int, max_len: int, power: float) -> None:
    model = table(seed, sources=5)
    greedy = greedy_decode(model, sources(5), max_len)
    found = beam_search(model, sources(5), max_len, 1, power)
    assert torch.equal(found.tokens.squeeze(1), greedy)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_a_beam_of_one_is_greedy_on_translators(kind: str, seed: int) -> None:
    model, source = make_translator(kind, seed), some_sources((5, 2, 7, 3, 1), seed)
    for max_len in (1, 3, 11):
        greedy = greedy_decode(model, source, max_len)
        found = beam_search(model, source, max_len, 1)
        assert torch.equal(found.tokens.squeeze(1), greedy)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_scores_are_what_the_model_says_when_it_is_given_the_sentence(
    kind: str, power: float
) -> None:
    model, source = make_translator(kind), some_sources()
    found = beam_search(model, source, 6, 5, power)
    ended = 0
    for row, sentences, totals, scores in zip(source, *found, strict=True):
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)
        assert len({sentence_of(words) for words in sentences}) == 5
        for words, total, score in zip(sentences, totals, scores, strict=True):
            sentence = sentence_of(words)
            ended += sentence[-1] == EOS
            assert EOS not in sentence[:-1]
            expected = by_teacher_forcing(model, row[row != PAD], sentence)
            assert_close(total.item(), expected, **CLOSELY)
            assert_close(score.item(), expected / len(sentence) ** power, **CLOSELY)
    assert ended > 0


def padded(tokens: Tensor, length: int) -> Tensor:
    """Add padding behind sentences up to a length."""
    return nn.functional.pad(tokens, (0, length - tokens.shape[-1]), value=PAD)


@pytest.mark.parametrize("power", [0.0, 1.0])
@pytest.mark.parametrize("width", [2, 4])
def test_a_source_gets_the_same_hypotheses_alone_and_in_company(width: int, power: float) -> None:
    model = table(seed=1, sources=11)
    together = beam_search(model, sources(11), 8, width, power)
    lengths = set()
    for row, source in enumerate(sources(11)):
        alone = beam_search(model, source.unsqueeze(0), 8, width, power)
        lengths.add(alone.tokens.shape[-1])
        tokens = padded(alone.tokens[0], together.tokens.shape[-1])
        assert torch.equal(tokens, together.tokens[row])
        assert_close(alone.score[0], together.score[row], **EXACTLY)
        assert_close(alone.log_probability[0], together.log_probability[row], **EXACTLY)
    assert len(lengths) > 1  # some are decided before others


def test_a_translator_does_not_mix_the_sources_of_a_batch() -> None:
    model, source = make_translator("bahdanau"), some_sources()
    together = beam_search(model, source, 6, 3)
    for row in range(3):
        tokens = source[row][source[row] != PAD].unsqueeze(0)
        alone = beam_search(model, tokens, 6, 3)
        assert torch.equal(padded(alone.tokens[0], 6), padded(together.tokens[row], 6))
        assert_close(alone.score[0], together.score[row], **CLOSELY)


def test_a_state_of_nested_tuples_follows_its_sentence() -> None:
    plain = table(seed=2, sources=3)
    expected = beam_search(plain, sources(3), 6, 4, 1.0)
    found = beam_search(Nested(plain), sources(3), 6, 4, 1.0)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other, **EXACTLY)
    greedy = greedy_decode(plain, sources(3), 6)
    assert torch.equal(greedy_decode(Nested(plain), sources(3), 6), greedy)


@pytest.mark.parametrize("max_len", [1, 2])
def test_places_of_a_beam_wider_than_there_are_sentences_stay_empty(
    max_len: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_is_decided", never_decided)
    number = len(list(all_sentences(max_len)))
    found = beam_search(table(seed=0), sources(1), max_len, number + 17)
    assert len({sentence_of(words) for words in found.tokens[0, :number]}) == number
    assert found.score[0, :number].isfinite().all()
    assert found.tokens[0, number:].count_nonzero() == 0
    for numbers in (found.log_probability, found.score):
        assert_close(numbers[0, number:], torch.full((17,), -math.inf).double(), **EXACTLY)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_probabilities_of_half_precision_logits_are_added_in_single_precision(
    dtype: torch.dtype,
) -> None:
    model = chain(BOS={A: 1.0}, A={A: 0.75, B: 0.25})
    model.logits = model.logits.to(dtype)
    found = beam_search(model, sources(1), 200, 1)
    assert found.score.dtype == torch.float32
    one_word = model.logits[0, A, A].float().log_softmax(-1)[A].item()
    assert_close(found.score.item(), 199 * one_word, rtol=1e-5, atol=1e-5)


def test_decoding_leaves_no_gradients_and_the_mode_of_the_model() -> None:
    model, source = make_translator("bahdanau"), some_sources()
    model.train()
    remembered = []
    model.readout.register_forward_hook(lambda *_: remembered.append(torch.is_grad_enabled()))
    assert not beam_search(model, source, 3, 2).score.requires_grad
    greedy_decode(model, source, 3)
    assert model.training
    assert len(remembered) >= 2  # at least one step each
    assert not any(remembered)


# --- bad arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_len": 0}, "max_len=0 must be at least 1"),
        ({"max_len": -3}, "max_len=-3 must be at least 1"),
        ({"beam_width": 0}, "beam_width=0 must be at least 1"),
        ({"length_power": -0.5}, "length_power=-0.5 must be finite and not negative"),
        ({"length_power": math.nan}, "length_power=nan must be finite and not negative"),
        ({"length_power": math.inf}, "length_power=inf must be finite and not negative"),
        ({"source": torch.zeros(0, 1).long()}, "sentences=0 must be at least 1"),
        ({"source": torch.zeros(3).long()}, r"source has shape \(3,\); expected"),
    ],
)
def test_bad_arguments_are_refused_with_their_numbers(change: dict, message: str) -> None:
    good = {"source": sources(1), "max_len": 3, "beam_width": 2}
    with pytest.raises(ValueError, match=message):
        beam_search(table(seed=0), **good | change)
    shared = {key: value for key, value in (good | change).items() if key in ("source", "max_len")}
    if change.keys() & shared.keys():
        with pytest.raises(ValueError, match=message):
            greedy_decode(table(seed=0), **shared)


def test_an_empty_source_is_refused_by_its_encoder() -> None:
    source = torch.tensor([[A, EOS], [PAD, PAD]])
    for decode in (lambda m: greedy_decode(m, source, 3), lambda m: beam_search(m, source, 3, 2)):
        with pytest.raises(ValueError, match="1 of 2 sentences are empty, the first in row 1"):
            decode(make_translator("fixed"))


def test_a_model_that_gives_nan_is_refused_before_it_is_believed() -> None:
    model = table(seed=0)
    model.logits[0, PAD, BOS, A] = math.nan
    with pytest.raises(ValueError, match="the model gives NaN for 6 of 6 next words"):
        greedy_decode(model, sources(1), 3)
    with pytest.raises(ValueError, match="the model gives NaN for 12 of 12 next words"):
        beam_search(model, sources(1), 3, 2)


class Watched(Table):
    """A table that notes its state, whether shapes are checked, and looks at numbers of its own."""

    def __init__(self, logits: Tensor) -> None:
        """Take the logits of a table."""
        super().__init__(logits)
        self.sources: list[Tensor] = []
        self.checked: list[bool] = []
        self.look: Callable[[int], object] = lambda step: None

    def step(self, token: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Note, look, and look the next word up."""
        self.sources.append(state[0])
        self.checked.append(shapes_are_checked.get())
        self.look(self.steps)
        return super().step(token, state)


def test_what_no_step_has_changed_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_is_decided", never_decided)
    model = Watched(table(5, 3).logits)
    beam_search(model, sources(3), 6, 4)
    assert all(each is model.sources[0] for each in model.sources)
    assert len(model.sources) == 6
    assert model.sources[0].tolist() == [0] * 4 + [1] * 4 + [2] * 4


@pytest.mark.parametrize("search", [greedy_decode, partial(beam_search, beam_width=2)])
def test_steps_are_held_to_their_shapes_twice_and_to_their_values_always(search: Callable) -> None:
    endless = chain(BOS={A: 0.9}, A={A: 0.9}).logits
    model = Watched(endless)
    search(model, sources(1), 4)
    assert model.checked == [True, True, False, False]
    assert shapes_are_checked.get()
    narrow, wrong = torch.zeros(2, 3), torch.tensor([[math.inf, 0.0]])
    for at, scores, message in [
        (0, narrow[0], "scores has shape"),
        (1, narrow[0], "scores has shape"),
        (3, wrong, "1 of 2 scores are NaN or plus infinity"),
    ]:
        model = Watched(endless)
        model.look = lambda step, at=at, scores=scores: step == at and masked_softmax(scores)
        with pytest.raises(ValueError, match=message):
            search(model, sources(1), 4)
        assert shapes_are_checked.get()


def test_query_without_a_key_is_cared_for_at_every_step_without_looks_at_values() -> None:
    """As `unchecked` promises: that shapes are known does not make scores finite."""
    model, found = Watched(chain(BOS={A: 0.9}, A={A: 0.9}).logits), []
    model.look = lambda step: found.append(masked_softmax(torch.full((1, 2), -math.inf)))
    with unchecked():
        greedy_decode(model, sources(1), 4)
    assert len(found) == 4
    assert all(weights.eq(0).all() for weights in found)
