"""The words of the grammar: names from the CLDR, and a small dictionary written by hand."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import attn_course.data.translation.names as names
from attn_course.data.translation.phrases import NounPhrase, Phrase

Pair = tuple[str, str]
Noun = tuple[str, str, str]  # English, French, gender


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: two forms in English, and in French the participle that forms the passé composé."""

    base: str
    past: str
    participle: str


@dataclass(frozen=True, slots=True)
class Documents:
    """Nouns of one kind, and the verbs that go with them.

    A `pact` has two sides: the treaty between France and Cuba. Other texts have one author: the
    report of a commission.
    """

    pact: bool
    nouns: tuple[Noun, ...]
    verbs: tuple[Verb, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All words from which the grammar draws.

    A body acts, as a country does; others agree on an area or a work, and a work has a cost.
    Nations and fields are adjectives of these. The uses of a language are verbs such as speak and
    teach. A gift has a receiver; other payments have none. Years are the first and the last.
    """

    countries: tuple[NounPhrase, ...]
    cities: tuple[Phrase, ...]
    nations: tuple[Pair, ...]
    languages: tuple[Pair, ...]
    currencies: tuple[Phrase, ...]
    fields: tuple[Pair, ...]
    bodies: tuple[Noun, ...]
    areas: tuple[Noun, ...]
    works: tuple[Noun, ...]
    documents: tuple[Documents, ...]
    payments: tuple[Verb, ...]
    gifts: tuple[Verb, ...]
    uses: tuple[Pair, ...]
    coordinating: tuple[Pair, ...]
    subordinating: tuple[Pair, ...]
    years: tuple[int, int]
    amounts: tuple[int, ...]
    months: tuple[Phrase, ...]
    days: tuple[Phrase, ...]


CONTINENTS = """
    European européen, African africain, American américain, Asian asiatique
"""
FIELDS = """
    Economic économique, Monetary monétaire, Cultural culturel, Financial financier,
    Industrial industriel, Regional régional, Scientific scientifique, Military militaire,
    Political politique, Commercial commercial, Legal juridique, Agricultural agricole,
    Nuclear nucléaire, Social social, Technical technique, National national, Digital numérique,
    Medical médical, Maritime maritime
"""
# Bodies, which sign and pay. French capitalizes the first noun of such a name.
BODIES = """
    Council Conseil m, Commission Commission f, Bank Banque f, Agency Agence f,
    Institute Institut m, Fund Fonds m, Union Union f, Community Communauté f, Court Cour f,
    Committee Comité m, Association Association f, Alliance Alliance f, Federation Fédération f,
    Parliament Parlement m, Academy Académie f, Foundation Fondation f
"""
# Areas and works, on which others agree, in lower case in French; works cost money.
AREAS = """
    Area zone f, Market marché m
"""
WORKS = """
    Programme programme m, Plan plan m, Project projet m, Network réseau m
"""
PACTS = """
    agreement accord m, treaty traité m, convention convention f, protocol protocole m
"""
TEXTS = """
    report rapport m, law loi f, decision décision f, amendment amendement m,
    declaration déclaration f, resolution résolution f, text texte m, proposal proposition f
"""
PACT_VERBS = """
    sign signed signé, ratify ratified ratifié, suspend suspended suspendu
"""
ANY_VERBS = """
    adopt adopted adopté, publish published publié, reject rejected rejeté,
    approve approved approuvé, revise revised révisé, examine examined examiné,
    criticise criticised critiqué, defend defended défendu
"""
PAYMENTS = """
    spend spent dépensé, receive received reçu, invest invested investi
"""
GIFTS = """
    pay paid payé, lend lent prêté, promise promised promis, offer offered offert
"""
USES = """
    spoken parlé, taught enseigné, studied étudié
"""
COORDINATING = (("and", "et"), ("but", "mais"))
SUBORDINATING = (("while", "tandis que"), ("whereas", "alors que"))
SMALL_COUNTRIES = "FR DE IT ES NL GB HU PL JP CA BR MA CU IL US CN KR DZ IR IN EG CF CH GR"


def _rows(table: str) -> tuple[tuple[str, ...], ...]:
    """The entries of a table, separated by commas, as tuples of words."""
    return tuple(tuple(entry.split()) for entry in table.split(","))


def _nouns(table: str) -> tuple[Noun, ...]:
    return tuple((english, french, gender) for english, french, gender in _rows(table))


def _documents(small: bool) -> tuple[Documents, ...]:
    anything = tuple(Verb(*row) for row in _rows(ANY_VERBS))[: 5 if small else None]
    pact_verbs = tuple(Verb(*row) for row in _rows(PACT_VERBS))[: 2 if small else None]
    return (
        Documents(True, _nouns(PACTS)[: 3 if small else None], pact_verbs + anything),
        Documents(False, _nouns(TEXTS)[: 5 if small else None], anything),
    )


@cache
def lexicon(small: bool = False) -> Lexicon:
    """The words of the grammar, or fewer than half of them, for training within a minute."""
    return Lexicon(**_names(small), **_dictionary(small))


def _names(small: bool) -> dict[str, Any]:
    codes = f"{names.FEMININE} {names.MASCULINE} {names.PLURAL} {names.BARE}"
    nations = tuple(map(names.language, names.NATIONS.split()[: 12 if small else None]))
    tongues = tuple(map(names.language, names.TONGUES.split()[: 3 if small else None]))
    currencies = names.CURRENCIES.split()[: 10 if small else None]
    return {
        "countries": tuple(map(names.country, (SMALL_COUNTRIES if small else codes).split())),
        "cities": tuple(map(names.city, names.CITIES.split()[: 14 if small else None])),
        "nations": _rows(CONTINENTS) + nations,
        "languages": nations + tongues,
        "currencies": tuple(map(names.currency, currencies)),
        "months": names.calendar("months"),
        "days": names.calendar("days"),
        "years": (1985, 2004) if small else (1950, 2024),
    }


def _dictionary(small: bool) -> dict[str, Any]:
    return {
        "fields": _rows(FIELDS)[: 8 if small else None],
        "bodies": _rows(BODIES)[: 8 if small else None],
        "areas": _rows(AREAS),
        "works": _rows(WORKS)[: 2 if small else None],
        "documents": _documents(small),
        "payments": tuple(Verb(*row) for row in _rows(PAYMENTS)),
        "gifts": tuple(Verb(*row) for row in _rows(GIFTS)[: 2 if small else None]),
        "uses": _rows(USES)[: 1 if small else None],
        "coordinating": COORDINATING,
        "subordinating": SUBORDINATING[: 1 if small else None],
        "amounts": (*range(20, 100, 20 if small else 10), 100, 200, 300, 400, 500),
    }
