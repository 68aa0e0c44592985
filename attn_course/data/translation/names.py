"""Names in both languages, from the Unicode CLDR as Babel ships it, and the grammar of countries.

The CLDR knows that Germany is Allemagne. It does not know that the word is feminine, or that Cuba
has no article in French; this file adds that, country by country. Names that would be awkward in a
sentence, such as Myanmar (Burma), are left out.
"""

from functools import cache

from babel import Locale
from babel.numbers import get_currency_name

from attn_course.data.translation.phrases import NounPhrase, Phrase, linked, words

ENGLISH, FRENCH = Locale("en"), Locale("fr")
# ISO 3166 codes, by French article: la France, le Japon, les Pays-Bas, and Cuba without one.
FEMININE = """
    AL AM AR AT AU BE BG BO BY CF CH CN CO CZ DE DO DZ EE EG ES ET FI FR GE GN GQ GR HR HU ID IE IN
    IS IT JM JO KP KR LT LV LY MD MK MN MR MY NA NO NZ PL RO RS RU SA SE SI SK SL SO SY TH TN TR TZ
    UA ZA ZM
"""
MASCULINE = """
    AF AO AZ BD BF BJ BR BW CA CL CM CR DK EC GA GB GH GT HN IQ IR JP KE KH KW KZ LA LB LK LU MA ME
    ML MX MZ NE NG NI NP PA PE PK PT PY QA RW SD SN SV TD UG UY UZ VE VN YE ZW
"""
PLURAL = "AE BS MV NL PH US"
BARE = "CU CY IL MC MG MT SG"
ENGLISH_ARTICLE = {"AE", "BS", "CF", "DO", "GB", "MV", "NL", "PH", "US"}
# Time zones, whose cities the CLDR names.
CITIES = """
    Europe/Paris Europe/London Europe/Brussels Europe/Vienna Europe/Lisbon Europe/Athens
    Europe/Moscow Europe/Warsaw Africa/Algiers Asia/Beirut Europe/Berlin Europe/Rome Europe/Madrid
    Europe/Oslo Asia/Seoul Europe/Copenhagen Europe/Bucharest Asia/Baghdad Asia/Baku Asia/Damascus
    Asia/Dubai Asia/Jerusalem Asia/Kabul Asia/Manila Asia/Riyadh Asia/Tashkent Asia/Tehran
    Asia/Tokyo Asia/Yerevan Europe/Kiev Africa/Addis_Ababa Africa/Nairobi Africa/Tunis
    Europe/Belgrade Europe/Budapest Europe/Dublin Europe/Helsinki Europe/Prague Europe/Stockholm
    America/Lima
"""
# Languages whose French name is also an adjective of nationality, and the other languages.
NATIONS = """
    fr es de it nl da sv no pl el tr ru pt ja zh ko cs sk hu ro bg uk hr sr sl et lv lt sq hy ka is
    mk vi id
"""
TONGUES = "en ar he fa"
CURRENCIES = """
    EUR FRF DEM ESP DKK NOK CHF CAD JPY INR PTE SEK CZK ISK AUD BEF IDR PKR EGP LBP SYP MXN CLP ARS
    RUB TND DZD MAD IQD JOD ITL GRD PLN HUF
"""


@cache
def country(code: str) -> NounPhrase:
    """The country of an ISO 3166 code, with the facts that decide its article and preposition."""
    if code not in f"{FEMININE} {MASCULINE} {PLURAL} {BARE}".split():
        raise ValueError(f"{code!r} is in none of the lists of countries")
    phrase = name(ENGLISH.territories[code], FRENCH.territories[code])
    gender = "f" if code in FEMININE.split() else "m"
    the, le = code in ENGLISH_ARTICLE, code not in BARE.split()
    return NounPhrase(phrase, gender, code in PLURAL.split(), the, le)


@cache
def city(zone: str) -> Phrase:
    """The city of a time zone; the CLDR lists only cities whose name differs from the zone's."""
    last = zone.split("/")[-1].replace("_", " ")
    english, french = (
        locale.time_zones.get(zone, {}).get("city", last) for locale in (ENGLISH, FRENCH)
    )
    return name(english, french)


def language(code: str) -> tuple[str, str]:
    """A language of ISO 639, in both languages."""
    return ENGLISH.languages[code], FRENCH.languages[code]


def currency(code: str) -> Phrase:
    """A currency of ISO 4217, in the plural: Danish kroner, couronnes danoises."""
    return name(*(get_currency_name(code, count=5, locale=to) for to in (ENGLISH, FRENCH)))


def calendar(names: str) -> tuple[Phrase, ...]:
    """All `months` from January, or all `days` from Monday."""
    english, french = (getattr(locale, names)["format"]["wide"] for locale in (ENGLISH, FRENCH))
    return tuple(words(english[number], french[number]) for number in sorted(english))


def name(english: str, french: str) -> Phrase:
    """A name whose words may be in reverse order: South Korea, Corée du Sud.

    If the name is a single word in either language, all words are linked. Otherwise, unless the
    names are equal, the last English word is the first French one, and the rest runs backwards.
    """
    source, target = english.split(), french.split()
    if len(source) == 1 or len(target) == 1:
        return words(english, french)
    if source == target:
        return linked(source, target, [(i, i) for i in range(len(source))])
    modifiers = [j for j in range(1, len(target)) if target[j] != "du"]
    sure = [(len(source) - 1, 0)]
    for i in range(len(source) - 1):
        sure.append((i, modifiers[max(0, len(modifiers) - 1 - i)]))
    possible = [(len(source) - 2, j) for j in range(1, len(target)) if target[j] == "du"]
    return linked(source, target, sure, possible)
