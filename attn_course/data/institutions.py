"""Names of institutions in a row: a language small enough to learn in seconds.

The African Monetary Council and the French Bank are le Conseil monétaire africain et la Banque
française. French reverses each name, and its article and adjectives agree with a noun that English
puts last. So a translator has to look for it: the words are few, but their order is hard.
"""

from collections.abc import Iterator

from attn_course.data.draw import Draw
from attn_course.data.translation import SentencePair
from attn_course.data.translation.lexicon import Lexicon, lexicon
from attn_course.data.translation.nouns import AND, NounRules
from attn_course.data.translation.phrases import Phrase, definite, join


def institution_pairs(seed: int, names: tuple[int, int] = (1, 3)) -> Iterator[SentencePair]:
    """Yield rows of institutions in English and French, without end, from about 90 words in all.

    Args:
        seed: The same seed gives the same rows on every machine.
        names: Smallest and largest number of names in a row, all numbers equally likely. There are
            eight nouns, and no row has the same noun twice. A name has three or four English words.

    Raises:
        ValueError: The numbers of names are not in order within 1 to 8, or the seed is negative.
    """
    least, most = names
    small = lexicon(small=True)
    if not 1 <= least <= most <= len(small.bodies):
        raise ValueError(f"{names=} must be two numbers in order, from 1 to {len(small.bodies)}")
    return _pairs(small, Draw(seed), least, most)


def _pairs(words: Lexicon, draw: Draw, least: int, most: int) -> Iterator[SentencePair]:
    while True:
        row = _row(NounRules(words, draw), draw.between(least, most))
        sure = frozenset((i, j) for i, j, is_sure in row.links if is_sure)
        possible = frozenset((i, j) for i, j, _ in row.links)
        yield SentencePair(row.source, row.target, sure, possible)


def _row(rules: NounRules, names: int) -> Phrase:
    parts = [definite(rules.body())]
    for _ in range(names - 1):
        parts += [AND, definite(rules.body())]
    return join(*parts)
