"""French word forms: agreement, elision, contraction, and the prepositions of countries.

Everything here works on single words, knows no English, and draws nothing at random.
A gender is "m" or "f".
"""

import unicodedata
from functools import cache

# Before an h aspiré the article stays whole: le Honduras, but l'hébreu. Beginnings of our words.
ASPIRATED = ("Honduras", "Hongrie", "hongrois")
# Endings of the masculine and of the feminine; with any other ending, the feminine adds an e.
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
    """True if le, la, de and que lose their vowel before this word."""
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
    """The plural of a noun or adjective, given in the singular."""
    if word.endswith(("s", "x")):
        return word
    return word.removesuffix("al") + "aux" if word.endswith("al") else word + "s"


@cache
def agree(adjective: str, gender: str, many: bool = False) -> str:
    """An adjective or participle, given in the masculine singular, in agreement with its noun."""
    form = feminine(adjective) if gender == "f" else adjective
    return plural(form) if many else form


def elided(word: str, following: str) -> str:
    """The form of `le`, `la`, `de`, `ne` or `que` before the word that follows."""
    return word[:-1] + "'" if elides(following) else word


def article(gender: str, many: bool, following: str) -> str:
    """The definite article before the word that follows: le, la, l' or les."""
    if many:
        return "les"
    return elided("la" if gender == "f" else "le", following)


def contracted(preposition: str, definite: str) -> tuple[str, ...]:
    """`de` or `à` with a definite article: contracted where French does so, else two words."""
    forms = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}
    both = f"{preposition} {definite}"
    return tuple(forms.get(both, both).split())


def locative(gender: str, many: bool, has_article: bool, name: str) -> str:
    """The preposition for being in a country.

    Examples: aux Pays-Bas, a plural; à Cuba, a name that never has an article, but en Israël, since
    à would meet a vowel; en France and en Iran, a feminine and a vowel; otherwise au Japon.
    """
    if many:
        return "aux"
    if elides(name):
        return "en"
    if not has_article:
        return "à"
    return "en" if gender == "f" else "au"
