"""Rules for the parts of a clause that answer who, what and where.

The parts of a clause are drawn with `other`, which does not repeat itself within a clause, so
France never signs with France.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from attn_course.data.draw import Draw
from attn_course.data.translation.french import agree, elided, plural
from attn_course.data.translation.lexicon import Documents, Lexicon, Noun, Pair
from attn_course.data.translation.phrases import (
    NounPhrase,
    Phrase,
    after,
    definite,
    indefinite,
    inside,
    join,
    linked,
    owned,
    words,
)

T = TypeVar("T")
AND = words("and", "et")


def institution(noun: Noun, field: Pair | None, nation: Pair | None) -> NounPhrase:
    """A noun with adjectives, whose order French reverses: zone économique européenne."""
    english, french, gender = noun
    adjectives = [words(pair[0], agree(pair[1], gender)) for pair in (nation, field) if pair]
    parts = (*adjectives, words(english, french))
    return NounPhrase(join(*parts, order=range(len(parts) - 1, -1, -1)), gender)


def counted(noun: Noun, many: bool) -> NounPhrase:
    """A common noun in the singular or plural: treaty, traité; treaties, traités."""
    english, french, gender = noun
    if many:
        english = english.removesuffix("y") + "ies" if english.endswith("ty") else english + "s"
        french = plural(french)
    return NounPhrase(words(english, french), gender, many)


class Subject(NamedTuple):
    """A phrase with its article, and with the gender and number that a verb has to match."""

    phrase: Phrase
    gender: str
    many: bool


class NounRules:
    """The rules, with the words from which they draw and the source of randomness.

    Args:
        lexicon: The words.
        draw: The source of randomness.
    """

    def __init__(self, lexicon: Lexicon, draw: Draw) -> None:
        self.lexicon, self.draw = lexicon, draw
        self._drawn: list[object] = []

    def other(self, items: Sequence[T]) -> T:
        """One of the items that this clause has not used yet."""
        while True:
            item = self.draw.one_of(items)
            if not any(item is earlier for earlier in self._drawn):
                self._drawn.append(item)
                return item

    # Who and what

    def country(self) -> NounPhrase:
        """A country."""
        return self.other(self.lexicon.countries)

    def named(self, nouns: tuple[Noun, ...]) -> NounPhrase:
        """An institution or project with a field, a nation, or both."""
        kind = self.draw.below(8)
        field = self.draw.one_of(self.lexicon.fields) if kind != 0 else None
        nation = self.draw.one_of(self.lexicon.nations) if kind != 1 else None
        return institution(self.other(nouns), field, nation)

    def body(self) -> NounPhrase:
        """An institution, which can act."""
        return self.named(self.lexicon.bodies)

    def actor(self) -> NounPhrase:
        """An actor that signs and pays: a country or an institution."""
        return self.country() if self.draw.chance(0.6) else self.body()

    def topic(self) -> NounPhrase:
        """The subject of a text: a project or an institution."""
        if self.draw.chance(0.4):
            return self.body()
        return self.named(self.lexicon.areas + self.lexicon.works)

    def money(self) -> Phrase:
        """40 million Danish kroner, 40 millions de couronnes danoises."""
        amount = str(self.draw.one_of(self.lexicon.amounts))
        currency = self.draw.one_of(self.lexicon.currencies)
        de = elided("de", currency.target[0])
        millions = linked(["million"], ["millions", de], [(0, 0)], [(0, 1)])
        return join(words(amount, amount), millions, currency)

    def document(self, kind: Documents, indefinite_too: bool = False) -> Subject:
        """A text, or several; most have a complement.

        Args:
            kind: The nouns from which to draw.
            indefinite_too: If True, the article may be indefinite too: a treaty.
        """
        noun = counted(self.other(kind.nouns), many=self.draw.chance(0.2))
        if not kind.pact and self.draw.chance(0.15):
            parts = [owned(self.owner(), noun)]
        elif indefinite_too and not noun.many and self.draw.chance(0.4):
            parts = [indefinite(noun), *self.complement(kind.pact)]
        else:
            parts = [definite(noun), *self.complement(kind.pact, of_city=not noun.many)]
        return Subject(join(*parts), noun.gender, noun.many)

    def complement(self, pact: bool, of_city: bool = False) -> list[Phrase]:
        """The complement after the noun of a text, or None.

        Args:
            pact: True for a text between two sides.
            of_city: True if a city may name it, as in the treaty of Rome, but not in a treaty.
        """
        if self.draw.chance(0.45):
            return [self.about()]
        if self.draw.chance(0.3):
            return []
        return [self.parties(of_city) if pact else after("of", self.actor())]

    def owner(self) -> NounPhrase:
        """An owner, with a name that takes 's in English."""
        while True:
            owner = self.country()
            if not owner.phrase.source[-1].endswith("s"):
                return owner

    def about(self) -> Phrase:
        """On the European Economic Area, sur la zone économique européenne."""
        return join(words("on", "sur"), definite(self.topic()))

    def parties(self, of_city: bool) -> Phrase:
        """The partners of a pact, or the place where it was made."""
        kind = self.draw.below(10)
        if kind < 2 and of_city:
            city = self.other(self.lexicon.cities)
            return join(words("of", elided("de", city.target[0])), city)
        if kind < 4:
            return join(words("with", "avec"), definite(self.country()))
        sides = definite(self.country()), definite(self.country())
        return join(words("between", "entre"), sides[0], AND, sides[1])

    # Where

    def place(self, city: bool = False) -> Phrase:
        """In a city or, unless `city` is true, in a country."""
        if city or self.draw.chance(0.7):
            return join(words("in", "à"), self.other(self.lexicon.cities))
        return inside(self.country())
