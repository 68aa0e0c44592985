"""Measurements of a trained translator: BLEU by the length of the source, alignment, the paper's
sentence."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import cycle

import torch

from attn_course.bahdanau import AttentionTranslator
from attn_course.data.tokens import Vocabulary, pad
from attn_course.data.translation import (
    MIN_CLAUSE_LEN,
    SentencePair,
    paper_sentence,
    sentence_pairs,
)
from attn_course.decoding import greedy_decode
from attn_course.metrics import alignment_error_rate, corpus_bleu, exact_match, hard_links
from attn_course.seq2seq import BOS, Translator

# Lengths of the source in English words: at least the first number, below the second.
BUCKETS = ((5, 10), (10, 15), (15, 20), (20, 30), (30, 40), (40, 50), (50, 60), (60, 80), (80, 100))
ALIGNED = (15, 30)  # lengths of the sentences whose alignment is measured
NUM_SENTENCES = 100  # in each bucket
TEST_SEED = 10_000
MOST_CLAUSES = 9


def name_of(bucket: tuple[int, int]) -> str:
    """`5-10` for sentences of 5 to 9 words."""
    return f"{bucket[0]}-{bucket[1]}"


@lru_cache
def unseen_pairs(
    bucket: tuple[int, int],
    number: int = NUM_SENTENCES,
    clauses: Sequence[int] = range(1, MOST_CLAUSES + 1),
) -> tuple[SentencePair, ...]:
    """Sentences of a length, of these numbers of clauses, drawn apart from all training.

    A short one may have been drawn there too by chance; of those in `BUCKETS` none was.
    """
    found: list[SentencePair] = []
    # Sentences of more clauses are all too long: to draw them would take most of the time.
    for pair in _in_turn([most for most in clauses if MIN_CLAUSE_LEN * most < bucket[1]]):
        if bucket[0] <= len(pair.source) < bucket[1]:
            found.append(pair)
            if len(found) == number:
                return tuple(found)
    raise AssertionError("the grammar never ends")


def _in_turn(clauses: Sequence[int]) -> Iterator[SentencePair]:
    streams = [sentence_pairs(TEST_SEED + most, clauses=(most, most)) for most in clauses]
    for stream in cycle(streams):
        yield next(stream)


@torch.no_grad()
def translate(
    model: Translator,
    source_words: Vocabulary,
    target_words: Vocabulary,
    sentences: Sequence[Sequence[str]],
) -> list[tuple[str, ...]]:
    """Translate sentences, a sequence of words each, greedily.

    A translation is cut off when it is half as long again as the longest source.
    """
    source = pad([source_words.encode(sentence) for sentence in sentences])
    max_len = int(1.5 * source.shape[1]) + 5
    return [target_words.decode(row) for row in greedy_decode(model, source, max_len).tolist()]


@torch.no_grad()
def align(
    model: AttentionTranslator,
    source_words: Vocabulary,
    target_words: Vocabulary,
    pairs: Sequence[SentencePair],
) -> list[torch.Tensor]:
    """Weights of each pair under teacher forcing, (target words, source words and EOS)."""
    source = pad([source_words.encode(pair.source) for pair in pairs])
    target = pad([[BOS, *target_words.encode(pair.target)] for pair in pairs])[:, :-1]
    weights = model.alignment(source, target)
    return [
        rows[: len(pair.target), : len(pair.source) + 1]
        for rows, pair in zip(weights, pairs, strict=True)
    ]


def bleu_of(
    model: Translator,
    source_words: Vocabulary,
    target_words: Vocabulary,
    pairs: Sequence[SentencePair],
) -> tuple[float, float]:
    """BLEU, and the share of translations that are correct in every word."""
    ours = translate(model, source_words, target_words, [pair.source for pair in pairs])
    references = [pair.target for pair in pairs]
    return corpus_bleu(ours, references), exact_match(ours, references)


def error_rate_of(weights: Sequence[torch.Tensor], pairs: Sequence[SentencePair]) -> float:
    """Alignment error rate, where each target word is linked to the word with the most weight."""
    links = [hard_links(rows) for rows in weights]
    return alignment_error_rate(
        links, [pair.sure for pair in pairs], [pair.possible for pair in pairs]
    )


def measure(
    model: Translator, source_words: Vocabulary, target_words: Vocabulary
) -> dict[str, object]:
    """All measurements of a trained translator in the book, ready for JSON."""
    known = (model.eval(), source_words, target_words)
    by_length = {name_of(bucket): bleu_of(*known, unseen_pairs(bucket)) for bucket in BUCKETS}
    paper = paper_sentence()
    (translated,) = translate(*known, [paper.source])
    measured = {
        "bleu": {bucket: round(bleu, 1) for bucket, (bleu, _) in by_length.items()},
        "exact": {bucket: round(exact, 2) for bucket, (_, exact) in by_length.items()},
        "held_out": " ".join(translated),
        "held_out_is_right": translated == paper.target,
    }
    if isinstance(model, AttentionTranslator):
        pairs = unseen_pairs(ALIGNED)
        measured["aer"] = round(error_rate_of(align(*known, pairs), pairs), 3)
        measured["held_out_aer"] = round(error_rate_of(align(*known, [paper]), [paper]), 3)
    return measured
