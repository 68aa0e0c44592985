"""Times: months, days and years, which both languages put in the same order."""

from calendar import monthrange, weekday

from attn_course.data.draw import Draw
from attn_course.data.translation.lexicon import Lexicon
from attn_course.data.translation.phrases import Phrase, join, linked, words

BEGINNINGS = (("in", "en"), ("in", "en"), ("in", "en"), ("before", "avant"), ("after", "après"))


def time(draw: Draw, lexicon: Lexicon) -> Phrase:
    """A month, a year, a day of the week or a date, with its preposition."""
    year = draw.between(*lexicon.years)
    month = draw.between(1, 12)
    kind = draw.below(20)
    if kind < 3:
        return on_weekday(lexicon.days[draw.below(7)])
    if kind < 7:
        day = draw.between(1, monthrange(year, month)[1])
        return on_date(lexicon, year, month, day, with_weekday=draw.chance(0.3))
    beginning = words(*draw.one_of(BEGINNINGS))
    months = () if kind < 11 else (lexicon.months[month - 1],)
    return join(beginning, *months, words(str(year), str(year)))


def in_year(year: int) -> Phrase:
    """In 1992, en 1992."""
    return join(words("in", "en"), words(str(year), str(year)))


def on_weekday(day: Phrase) -> Phrase:
    """On Monday, lundi: French uses no preposition."""
    return linked(("on", *day.source), day.target, [(1, 0)], [(0, 0)])


def on_date(
    lexicon: Lexicon, year: int, month: int, day: int, with_weekday: bool = False
) -> Phrase:
    """On 5 August 1992, le 5 août 1992; only the first of a month is an ordinal, le 1er août.

    Args:
        lexicon: The names of the months and days.
        year: All four digits.
        month: From 1 to 12.
        day: From 1.
        with_weekday: If True, the day of the week is named; it is the right one.
    """
    days = (lexicon.days[weekday(year, month, day)],) if with_weekday else ()
    ordinal = words(str(day), "1er" if day == 1 else str(day))
    name = lexicon.months[month - 1]
    return join(words("on", "le"), *days, ordinal, name, words(str(year), str(year)))
