"""Words that can replace one another, for experiments that replace a word."""

from functools import cache

from attn_course.data.translation.lexicon import lexicon


def same_kind(word: str) -> tuple[str, ...]:
    """The other single English words of the grammar that fit wherever this one does, in order.

    *African* for *European*, *Market* for *Area*: the grammar could write the resulting sentence,
    which has just as many words. A word of two kinds, such as *Danish*, an adjective and a
    language, gets only words of both kinds. Words such as *the*, and words that are not in the
    grammar, get none.
    """
    kinds = [kind for kind in _kinds() if word in kind]
    return tuple(sorted(frozenset.intersection(*kinds) - {word})) if kinds else ()


@cache
def _kinds() -> tuple[frozenset[str], ...]:
    """Yield sets of English words that fit in the same places."""
    known = lexicon()
    nouns = [noun for kind in known.documents for noun, *_ in kind.nouns]
    phrases = (known.cities, known.months, known.days, [c.phrase for c in known.countries])
    kinds = [
        [nation for nation, _ in known.nations],
        [language for language, _ in known.languages],
        [field for field, _ in known.fields],
        [noun for noun, *_ in (*known.areas, *known.works, *known.bodies)],
        nouns,
        [verb.past for kind in known.documents for verb in kind.verbs],
        [str(amount) for amount in known.amounts],
        [str(year) for year in range(known.years[0], known.years[1] + 1)],
        *([p.source[0] for p in some if len(p.source) == 1] for some in phrases),
    ]
    return tuple(frozenset(kind) for kind in kinds)
