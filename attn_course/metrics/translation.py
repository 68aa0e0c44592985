"""Measures of the quality of a translation, and of the alignment that attention found.

BLEU compares a model's sentences with references; the alignment error rate compares links between
words with links that people drew. A sentence is a sequence of words. A link is a pair (i, j): word
i of the source belongs to word j of the target.
"""

from collections.abc import Sequence, Set

import torch
from jaxtyping import Float
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from attn_course.shapes import checked

Sentence = Sequence[str]
Links = Set[tuple[int, int]]
LONGEST_GROUP = 4


def corpus_bleu(hypotheses: Sequence[Sentence], references: Sequence[Sentence]) -> float:
    """BLEU of a whole corpus, from 0 to 100 for the references themselves.

    It is the geometric mean of four shares, the shares of the groups of one to four words that are
    also in the reference, times `exp(1 - reference words / hypothesis words)` if the hypotheses are
    shorter. The groups of all sentences are counted together, so BLEU is not a mean over sentences.
    Words are compared as they are, and case matters: sacreBLEU's
    `nrefs:1|case:mixed|eff:no|tok:none|smooth:exp`.

    Args:
        hypotheses: The model's sentences, each a sequence of words.
        references: The correct sentences, in the same order.

    Raises:
        TypeError: A sentence is not a sequence of words; a string is not one.
        ValueError: There are no sentences, their numbers differ, a word is empty or holds a space,
            or no reference has four words.

    Source: Papineni et al. 2002; sacreBLEU, Post 2018.
    """
    _require_pairs(hypotheses=hypotheses, references=references)
    if max(map(len, references)) < LONGEST_GROUP:
        raise ValueError("BLEU compares groups of up to 4 words, but no reference is that long")
    lines = [_line("hypotheses", n, sentence) for n, sentence in enumerate(hypotheses)]
    wanted = [_line("references", n, sentence) for n, sentence in enumerate(references)]
    return BLEU(tokenize="none", force=True).corpus_score(lines, [wanted]).score


def exact_match(hypotheses: Sequence[Sentence], references: Sequence[Sentence]) -> float:
    """Share of the sentences, from 0 to 1, that match their reference in every word.

    Raises:
        ValueError: There are no sentences, or their numbers differ.
    """
    _require_pairs(hypotheses=hypotheses, references=references)
    pairs = zip(hypotheses, references, strict=True)
    return sum(tuple(ours) == tuple(wanted) for ours, wanted in pairs) / len(hypotheses)


def alignment_error_rate(
    links: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links]
) -> float:
    """Disagreement with links that people drew: `1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)`.

    It is 0 if the links include every sure one and the rest are all possible, and 1 if no link is
    even possible. The links of all sentences are counted together.

    Args:
        links: A, the links to judge, a set for each sentence.
        sure: S, the links that must be there.
        possible: P, the links that may be there, including the sure ones.

    Raises:
        TypeError: A sentence's links are not a set.
        ValueError: There are no sentences, their numbers differ, a sure link is not possible, or
            there is neither a link nor a sure link in the whole corpus.

    Source: Och and Ney 2003.
    """
    _require_pairs(links=links, sure=sure, possible=possible)
    found = wanted = 0
    for number, (ours, must, may) in enumerate(zip(links, sure, possible, strict=True)):
        _require_links(number, ours, must, may)
        found += len(ours & must) + len(ours & may)
        wanted += len(ours) + len(must)
    if wanted == 0:
        raise ValueError("there is neither a link nor a sure link: the error rate would be 0/0")
    return 1 - found / wanted


@checked
def hard_links(
    weights: Float[Tensor, "target_len source_len"],
    source_len: int | None = None,
    target_len: int | None = None,
) -> frozenset[tuple[int, int]]:
    """Link each target word to the source word with the most weight, the first if several tie.

    A target word without any weight gets no link.

    Args:
        weights: The weight of each source word, a row for each target word.
        source_len: Number of source words; later columns, such as an end mark or padding, get no
            link. None means all columns.
        target_len: Number of target words. None means all rows.

    Returns:
        Pairs (i, j) of source word i and target word j.

    Raises:
        ValueError: The weights hold NaN, or are fewer than the words.
    """
    words = (("target_len", target_len), ("source_len", source_len))
    for (name, number), largest in zip(words, weights.shape, strict=True):
        if number is not None and not 0 <= number <= largest:
            raise ValueError(f"{name}={number}, but the weights have shape {tuple(weights.shape)}")
    weights = weights[:target_len, :source_len]
    if weights.numel() == 0:
        return frozenset()
    most, first = torch.max(weights, dim=1)  # of equal weights, it takes the first
    rows = enumerate(zip(most.tolist(), first.tolist(), strict=True))
    return frozenset((i, j) for j, (weight, i) in rows if weight > 0)


def _require_pairs(**corpora: Sequence[object]) -> None:
    """Refuse corpora without sentences, or with different numbers of sentences."""
    lengths = {name: len(corpus) for name, corpus in corpora.items()}
    listed = ", ".join(f"{length} {name}" for name, length in lengths.items())
    if len(set(lengths.values())) > 1:
        raise ValueError(f"every sentence needs a partner, but there are {listed}")
    if 0 in lengths.values():
        raise ValueError(f"there is no sentence to judge: {listed}")


def _line(name: str, number: int, sentence: Sentence) -> str:
    """Join words with spaces for sacreBLEU, which would split a word at any space inside it."""
    if isinstance(sentence, str) or not all(isinstance(word, str) for word in sentence):
        raise TypeError(f"{name}[{number}] is {sentence!r:.60}; expected a sequence of words")
    for word in sentence:
        if word.split() != [word]:
            raise ValueError(f"{name}[{number}] holds {word!r}, which is not one word")
    return " ".join(sentence)


def _require_links(number: int, ours: Links, sure: Links, possible: Links) -> None:
    for name, links in (("links", ours), ("sure", sure), ("possible", possible)):
        if not isinstance(links, Set):
            raise TypeError(f"{name}[{number}] is {links!r:.60}; expected a set of pairs (i, j)")
    if missing := sorted(set(sure) - set(possible)):
        raise ValueError(f"sure[{number}] holds {missing[0]}, which possible[{number}] does not")
