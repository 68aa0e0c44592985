"""French word forms: agreement, elision, contraction, and the prepositions of countries.

Everything here works on single words, knows nothing of English, and draws nothing at random.
A gender is "m" or "f".
"""

import unicodedata
from functools import cache

# An h aspiré keeps the article whole: le Honduras, but l'hébreu. Beginnings of the words we have.
ASPIRATED = ("Honduras", "Hongrie", "hongrois")
# Endings of the masculine, and what the feminine makes of them; any other takes an e.
FEMININE = (
    ("en", "enne"),  # européen, italien
    ("on", "onne"),  # letton
    ("el", "elle"),  # industriel
    ("er", "ère"),  # financier
    ("grec", "grecque"),
    ("turc", "turque"),
    ("e", "e"),  # politique
)


@cache
def elides(word: str) -> bool:
    """Whether le, la, de and que lose their vowel before this word."""
    if word.startswith(ASPIRATED):
        return False
    return unicodedata.normalize("NFD", word)[0].lower() in "aeiouh"


def feminine(adjective: str) -> str:
    """The feminine singular of an adjective or participle given in the masculine singular."""
    for ending, becomes in FEMININE:
        if adjective.endswith(ending):
            return adjective.removesuffix(ending) + becomes
    return adjective + "e"


def plural(word: str) -> str:
    """The plural of a noun or adjective, of one gender, given in the singular."""
    if word.endswith(("s", "x")):
        return word
    return word.removesuffix("al") + "aux" if word.endswith("al") else word + "s"


@cache
def agree(adjective: str, gender: str, many: bool = False) -> str:
    """An adjective or participle, given in the masculine singular, as its noun demands."""
    form = feminine(adjective) if gender == "f" else adjective
    return plural(form) if many else form


def elided(word: str, following: str) -> str:
    """`le`, `la`, `de`, `ne` or `que` as it stands before the word that follows."""
    return word[:-1] + "'" if elides(following) else word


def article(gender: str, many: bool, following: str) -> str:
    """The definite article before the word that follows: le, la, l' or les."""
    if many:
        return "les"
    return elided("la" if gender == "f" else "le", following)


def contracted(preposition: str, definite: str) -> tuple[str, ...]:
    """`de` or `à` with a definite article: one word where French has one, else both."""
    forms = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}
    both = f"{preposition} {definite}"
    return tuple(forms.get(both, both).split())


def locative(gender: str, many: bool, has_article: bool, name: str) -> str:
    """The preposition for being in a country.

    aux Pays-Bas for the plural; à Cuba for a name that never has an article, but en Israël, since
    à would meet a vowel; en France, en Iran for the feminine and before a vowel; au Japon.
    """
    if many:
        return "aux"
    if elides(name):
        return "en"
    if not has_article:
        return "à"
    return "en" if gender == "f" else "au"
