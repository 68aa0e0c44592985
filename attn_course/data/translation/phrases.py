"""Phrases in two languages at once, with the links between their words.

A rule of the grammar makes a phrase out of smaller ones. `join` puts them side by side, in one
order for English and in another for French, and keeps the links between the words correct.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import attn_course.data.translation.french as french

Link = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class Phrase:
    """English words, French words, and links `(i, j, sure)` from English word i to French word j.

    A sure link joins words that translate each other. A link that is not sure is possible: between
    an article and its noun, or an auxiliary and its verb, an aligner is neither right nor wrong.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A phrase that takes an article, without it; its first French word is the noun.

    Args:
        phrase: The words.
        gender: The gender of the French noun, "m" or "f".
        many: True if it is plural.
        the: True if English uses an article, as in the Netherlands.
        le: True if French uses an article, as in la France, but not in Cuba.
    """

    phrase: Phrase
    gender: str
    many: bool = False
    the: bool = True
    le: bool = True

    @property
    def article(self) -> str:
        """The form of the French definite article before the noun."""
        return french.article(self.gender, self.many, self.phrase.target[0])


@cache
def words(source: str, target: str) -> Phrase:
    """Words, separated by spaces, each with a sure link to every word of the other language."""
    english, french_words = source.split(), target.split()
    return linked(english, french_words, _all_pairs(english, french_words))


def linked(
    source: Iterable[str],
    target: Iterable[str],
    sure: Iterable[tuple[int, int]],
    possible: Iterable[tuple[int, int]] = (),
) -> Phrase:
    """Words with links of both kinds."""
    links = [*((i, j, True) for i, j in sure), *((i, j, False) for i, j in possible)]
    return Phrase(tuple(source), tuple(target), tuple(links))


def join(*parts: Phrase, order: Sequence[int] | None = None) -> Phrase:
    """Phrases in a row, given in English order.

    Args:
        parts: The phrases.
        order: The French order: numbers of the parts, from 0. None keeps the English order.
    """
    offsets: list[int] = []
    source: list[str] = []
    for part in parts:
        offsets.append(len(source))
        source += part.source
    target: list[str] = []
    links: list[Link] = []
    for number in range(len(parts)) if order is None else order:
        i0, j0 = offsets[number], len(target)
        target += parts[number].target
        links += [(i0 + i, j0 + j, sure) for i, j, sure in parts[number].links]
    return Phrase(tuple(source), tuple(target), tuple(links))


def definite(noun: NounPhrase) -> Phrase:
    """The noun with its definite article, in each language that uses one."""
    english, article = ("the",) * noun.the, (noun.article,) * noun.le
    return _before(noun, linked(english, article, _all_pairs(english, article)))


def indefinite(noun: NounPhrase) -> Phrase:
    """A singular noun with its indefinite article: an agreement, un accord."""
    an = "an" if noun.phrase.source[0][0] in "aeiou" else "a"
    return _before(noun, words(an, "une" if noun.gender == "f" else "un"))


def after(preposition: str, noun: NounPhrase) -> Phrase:
    """A noun after `of` or `from` (de) or `to` (à), contracted with its article as in du and au."""
    target = {"of": "de", "from": "de", "to": "à"}[preposition]
    if noun.le:
        forms = french.contracted(target, noun.article)
    else:
        forms = (french.elided(target, noun.phrase.target[0]) if target == "de" else target,)
    return _before(noun, _function_words(preposition, noun.the, forms))


def inside(country: NounPhrase) -> Phrase:
    """Location in a country: in Japan, au Japon."""
    name = country.phrase.target[0]
    form = french.locative(country.gender, country.many, country.le, name)
    return _before(country, _function_words("in", country.the, (form,)))


def owned(owner: NounPhrase, thing: NounPhrase) -> Phrase:
    """A thing after the name of its owner, which French puts last: Japan 's law, la loi du Japon.

    The French article before the thing corresponds to nothing in English.
    """
    of = after("of", owner)
    size = len(of.source)  # of Japan becomes Japan 's: the preposition goes from first to last
    links = tuple(((i - 1) % size, j, sure) for i, j, sure in of.links)
    genitive = Phrase((*of.source[1:], "'s"), of.target, links)
    return join(genitive, _before(thing, linked([], [thing.article], [])), order=(1, 0))


def _function_words(preposition: str, the: bool, target: tuple[str, ...]) -> Phrase:
    """A preposition and an article in English; one word or two in French."""
    source = (preposition,) + ("the",) * the
    last = (1, len(target) - 1)
    if the and len(target) == 2:
        return linked(source, target, [(0, 0), last])
    return linked(source, target, [(0, 0)], [last] * the)


def _before(noun: NounPhrase, function_words: Phrase) -> Phrase:
    """Function words before a noun; the last French one agrees with it: a possible link."""
    whole = join(function_words, noun.phrase)
    last = len(function_words.target) - 1
    if last < 0 or function_words.target[last] in ("de", "d'", "à"):
        return whole
    start = len(function_words.source)
    agreeing = [(start + i, last, False) for i, j, _ in noun.phrase.links if j == 0]
    return Phrase(whole.source, whole.target, (*whole.links, *agreeing))


def _all_pairs(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(source)) for j in range(len(target))]
