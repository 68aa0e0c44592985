"""Rules for clauses and sentences, in English and French at once.

A rule is a method that draws its parts and returns a `Phrase`. To add one, write it with the
functions of `phrases` and `verbs`, and let `clause` draw it.
"""

import attn_course.data.translation.verbs as verbs
from attn_course.data.translation.french import elided
from attn_course.data.translation.lexicon import Pair
from attn_course.data.translation.nouns import AND, NounRules
from attn_course.data.translation.phrases import (
    NounPhrase,
    Phrase,
    after,
    definite,
    inside,
    join,
    words,
)
from attn_course.data.translation.times import in_year, time

COMMA, STOP = words(",", ","), words(".", ".")


class Grammar(NounRules):
    """All rules, with the words from which they draw and the source of randomness."""

    def sentence(self, clauses: int) -> Phrase:
        """A sentence of this many clauses, with a capital at the beginning and a full stop."""
        parts, last = [self.clause(first=True)], None
        for _ in range(clauses - 1):
            last = self.conjunction(last)
            clause = self.clause()
            parts += [connective(*last, before=clause), clause]
        return with_capital(join(*parts, STOP))

    def conjunction(self, last: Pair | None) -> Pair:
        """A conjunction: never the last one again, nor two subordinate clauses in a row."""
        subordinating = self.lexicon.subordinating
        if last not in subordinating and self.draw.chance(0.3):
            return self.draw.one_of(subordinating)
        return self.draw.one_of([pair for pair in self.lexicon.coordinating if pair != last])

    def clause(self, first: bool = False) -> Phrase:
        """One clause, with at most one place and at most one time.

        Args:
            first: True if it begins the sentence; only there does a comma follow an initial time.
        """
        self._drawn.clear()
        kind = self.draw.below(20)
        if kind < 3:
            return self.language_used() if kind < 2 else self.it_cost()
        statement = self.statement()
        if not self.draw.chance(0.65):
            return statement
        when = time(self.draw, self.lexicon)
        if not self.draw.chance(0.15):
            return join(statement, when)
        return join(when, COMMA, statement) if first else join(when, statement)

    def statement(self) -> Phrase:
        """An event, sometimes with its place."""
        # these may end in a country or a language: a country after that would be hard to read
        in_cities = (self.paid, self.was_translated) * 2
        rule = self.draw.one_of(in_cities + (self.was_done,) * 7 + (self.did,) * 5)
        said = rule()
        if not self.draw.chance(0.2):
            return said
        return join(said, self.place(city=rule in in_cities))

    def was_done(self) -> Phrase:
        """The treaty was signed; sometimes by whom, or to whom it was presented."""
        kind = self.draw.one_of(self.lexicon.documents)
        subject = self.document(kind)
        if self.draw.chance(0.12):
            verb = verbs.presented(subject.gender, subject.many)
            return join(subject.phrase, verb, after("to", self.body()))
        negated = self.draw.chance(0.12)
        verb = verbs.passive(self.draw.one_of(kind.verbs), subject.gender, subject.many, negated)
        if negated or not self.draw.chance(0.35):
            return join(subject.phrase, verb)
        return join(subject.phrase, verb, words("by", "par"), definite(self.actor()))

    def did(self) -> Phrase:
        """France and Japan signed the treaty."""
        subject, many = self.actors()
        kind = self.draw.one_of(self.lexicon.documents)
        negated = self.draw.chance(0.12)
        verb = verbs.active(self.draw.one_of(kind.verbs), many, negated)
        return join(subject, verb, self.document(kind, indefinite_too=not negated).phrase)

    def actors(self) -> tuple[Phrase, bool]:
        """An actor, or two countries; and True if the verb is plural."""
        if self.draw.chance(0.3):
            return join(definite(self.country()), AND, definite(self.country())), True
        actor = self.actor()
        return definite(actor), actor.many

    def paid(self) -> Phrase:
        """France and Japan spent 40 million euros, or gave them to somebody."""
        subject, many = self.actors()
        if self.draw.chance(0.4):
            verb = verbs.active(self.draw.one_of(self.lexicon.payments), many)
            return join(subject, verb, self.money())
        verb = verbs.active(self.draw.one_of(self.lexicon.gifts), many)
        return join(subject, verb, self.money(), after("to", self.actor()))

    def was_translated(self) -> Phrase:
        """The text was translated from French into Danish, du français en danois."""
        subject = self.document(self.draw.one_of(self.lexicon.documents))
        origin, goal = self.language(), self.language().phrase
        verb = verbs.translated(subject.gender, subject.many)
        source = after("from", origin)
        return join(subject.phrase, verb, source, words("into", "en"), goal)

    def language_used(self) -> Phrase:
        """French is spoken in Canada and in Algeria."""
        language = self.language()
        verb = verbs.habitual(self.draw.one_of(self.lexicon.uses))
        places = [inside(self.country())]
        if self.draw.chance(0.4):
            places += [AND, inside(self.country())]
        return join(definite(language), verb, *places)

    def it_cost(self) -> Phrase:
        """The programme cost 40 million euros in 1992."""
        parts = [definite(self.named(self.lexicon.works)), verbs.cost(), self.money()]
        if self.draw.chance(0.6):
            parts.append(in_year(self.draw.between(*self.lexicon.years)))
        return join(*parts)

    def language(self) -> NounPhrase:
        """A language, whose name has an article only in French."""
        return NounPhrase(words(*self.other(self.lexicon.languages)), "m", the=False)


def connective(english: str, french: str, before: Phrase) -> Phrase:
    """A comma and a conjunction; tandis que is elided if the next clause begins with a vowel."""
    *first, last = french.split()
    if last == "que":
        last = elided(last, before.target[0])
    return join(COMMA, words(english, " ".join((*first, last))))


def with_capital(sentence: Phrase) -> Phrase:
    """The sentence with a capital at its beginning, in both languages."""
    source, target = (
        (first[0].upper() + first[1:], *rest) for first, *rest in (sentence.source, sentence.target)
    )
    return Phrase(source, target, sentence.links)
