"""Verbs in two languages: the passé composé, active and passive, with and without "not"."""

from attn_course.data.translation.french import agree
from attn_course.data.translation.lexicon import Verb
from attn_course.data.translation.phrases import Phrase, linked


def active(verb: Verb, many: bool, negated: bool = False) -> Phrase:
    """A verb in the active: signed, a signé; did not sign, n' a pas signé.

    Args:
        verb: The verb.
        many: True if the subject is plural.
        negated: True for "did not".
    """
    auxiliary = "ont" if many else "a"
    if not negated:
        return linked([verb.past], [auxiliary, verb.participle], [(0, 1)], [(0, 0)])
    source, target = ("did", "not", verb.base), ("n'", auxiliary, "pas", verb.participle)
    return linked(source, target, [(1, 0), (1, 2), (2, 3)], [(0, 1), (0, 3), (2, 1)])


def passive(verb: Verb, gender: str, many: bool, negated: bool = False) -> Phrase:
    """A verb in the passive: was signed, a été signé, where the participle agrees.

    Args:
        verb: The verb.
        gender: The gender of the subject, "m" or "f".
        many: True if the subject is plural.
        negated: True for "was not".
    """
    source: tuple[str, ...]
    target: tuple[str, ...]
    was, auxiliary = ("were", "ont") if many else ("was", "a")
    participle = agree(verb.participle, gender, many)
    if not negated:
        source, target = (was, verb.past), (auxiliary, "été", participle)
        return linked(source, target, [(1, 2)], [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)])
    source, target = (was, "not", verb.past), ("n'", auxiliary, "pas", "été", participle)
    possible = [(0, 1), (0, 3), (0, 4), (2, 1), (2, 3)]
    return linked(source, target, [(1, 0), (1, 2), (2, 4)], possible)


def habitual(use: tuple[str, str]) -> Phrase:
    """A verb about a language, in the present passive: is spoken, est parlé."""
    auxiliaries = [(0, 0), (0, 1), (1, 0)]
    return linked(("is", use[0]), ("est", use[1]), [(1, 1)], auxiliaries)


def translated(gender: str, many: bool) -> Phrase:
    """The verb for a text put into another language: was translated, a été traduit."""
    return passive(Verb("translate", "translated", "traduit"), gender, many)


def presented(gender: str, many: bool) -> Phrase:
    """The verb for a text laid before a body: was presented, a été présenté."""
    return passive(Verb("present", "presented", "présenté"), gender, many)


def cost() -> Phrase:
    """The verb of a price: cost, a coûté."""
    return active(Verb("cost", "cost", "coûté"), many=False)
