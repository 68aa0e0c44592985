"""English sentences with their French translations and word alignments, made here without end.

A small grammar writes both languages at once, with real names of countries, cities, languages and
currencies from the Unicode CLDR. So the French is the translation, and the links between words are
known, not guessed. The sentences are about treaties and money, in the style of the corpora of the
European Union on which these models grew up, but they are not true.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_course.data.draw import Draw
from attn_course.data.translation import verbs
from attn_course.data.translation.grammar import STOP, Grammar, with_capital
from attn_course.data.translation.lexicon import Lexicon
from attn_course.data.translation.lexicon import lexicon as all_words  # else it hides its module
from attn_course.data.translation.nouns import counted, institution
from attn_course.data.translation.phrases import Phrase, definite, join, words

# The noun phrase of the paper's sentence: no training sentence contains it.
HELD_OUT = ("European", "Economic", "Area"), ("zone", "économique", "européenne")
# No clause has fewer English words.
MIN_CLAUSE_LEN = 4


@dataclass(frozen=True)
class SentencePair:
    """A sentence in English and French, cut into words and punctuation, with its alignment.

    An elided article is a separate word that ends in an apostrophe.

    Attributes:
        source: The English words.
        target: The French words.
        sure: Links `(i, j)` from English word i to French word j that any translator would draw.
        possible: The sure links, and optional ones: from an article to its noun, from an auxiliary
            to its verb. Every word has at least one.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


def sentence_pairs(
    seed: int, clauses: tuple[int, int] = (1, 3), small: bool = False
) -> Iterator[SentencePair]:
    """Yield sentences without end, but never a held-out one.

    Args:
        seed: The same seed gives the same sentences on every machine. With other numbers of clauses
            it may give the same clauses again, so train and test on different seeds. Even then a
            short sentence may appear in both.
        clauses: Smallest and largest number of clauses, all equally likely; a clause has about
            twelve English words, at least `MIN_CLAUSE_LEN`.
        small: If True, draw from fewer than half of the words, which is faster to learn.

    Raises:
        ValueError: The numbers of clauses are not in order from 1 on, or the seed is negative.
    """
    least, most = clauses
    if not 1 <= least <= most:
        raise ValueError(f"{clauses=} must be two numbers in order, from 1 on")
    return _pairs(Draw(seed), all_words(small), least, most)


def _pairs(draw: Draw, words_to_use: Lexicon, least: int, most: int) -> Iterator[SentencePair]:
    grammar = Grammar(words_to_use, draw)
    while True:
        pair = _finished(grammar.sentence(draw.between(least, most)))
        if not is_held_out(pair):
            yield pair


def paper_sentence() -> SentencePair:
    """The sentence of Bahdanau, Cho and Bengio 2015, figure 3a, from the rules of the grammar.

    The agreement on the European Economic Area was signed in August 1992. The French is the
    figure's.
    """
    known = all_words()
    economic, european = known.fields[0], known.nations[0]
    area = institution(known.areas[0], economic, european)
    agreement = counted(known.documents[0].nouns[0], many=False)
    signed = verbs.passive(known.documents[0].verbs[0], agreement.gender, agreement.many)
    parts = [definite(agreement), words("on", "sur"), definite(area), signed]
    parts += [words("in", "en"), known.months[7], words("1992", "1992"), STOP]
    return _finished(with_capital(join(*parts)))


def is_held_out(pair: SentencePair) -> bool:
    """True if a pair contains the noun phrase European Economic Area, in either language."""
    english, french = HELD_OUT
    return _holds(pair.source, english) or _holds(pair.target, french)


def detokenise(tokens: Sequence[str]) -> str:
    """The words as usually written: no space before a comma or 's, or after an apostrophe."""
    text = re.sub(r" ([.,]|'s\b)", r"\1", " ".join(tokens))
    return re.sub(r"(\w') ", r"\1", text)


def _finished(phrase: Phrase) -> SentencePair:
    sure = frozenset((i, j) for i, j, is_sure in phrase.links if is_sure)
    possible = frozenset((i, j) for i, j, _ in phrase.links)
    return SentencePair(phrase.source, phrase.target, sure, possible)


def _holds(tokens: tuple[str, ...], part: tuple[str, ...]) -> bool:
    size = len(part)
    return any(tokens[k : k + size] == part for k in range(len(tokens) - size + 1))
