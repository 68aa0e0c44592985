"""Parses the time at which a submission was handed in.

nbgrader takes a time of a zone that it does not know for one of UTC, and `+0100` for 100 seconds.
"""

import codecs
import os
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.parser import parse
from traitlets.config import Config

TIMESTAMP = "timestamp.txt"
MAX_BYTES = 1000  # of a file with a time
YEARS = range(1970, 2200)  # others are of another calendar, or a slip
OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?")
YEAR_FIRST = re.compile(r"\s*\d{4}")  # after it come month and day, in this order
DAYS = (datetime(2000, 1, 1), datetime(2001, 2, 2))  # from which a missing part is taken
MAX_UTC_OFFSET = timedelta(hours=14)  # no zone is further ahead of UTC


class UnknownZoneError(ValueError):
    """A time names a zone that is not known, or that may be one of several.

    Args:
        name: The zone.
        earliest: The earliest time that may be meant, as `read_time` returns it.
    """

    def __init__(self, name: str, earliest: datetime) -> None:
        super().__init__(name)
        self.earliest = earliest


def read_time(text: str, home: str = "UTC") -> datetime:
    """A time in UTC, as the gradebook keeps it, without a zone.

    Args:
        text: A date and a time, and a zone if it is not UTC: a name as `Europe/Berlin`, or how far
            it is ahead of UTC, as `+01:00`.
        home: The zone of the writer, for abbreviations such as `CEST`, which nbgrader's
            exchange writes.

    Raises:
        UnknownZoneError: It names another zone.
        ValueError, OverflowError: It is no time.
    """
    *words, last = text.split() or [""]
    zone = _zone(last)
    if zone is not None:
        text = " ".join(words)
    try:
        found = _parse(text, tzinfos=_zone_from_parser if zone is None else None)
    except _NoZoneError as error:
        found = _in_home_zone(_parse(text, ignoretz=True), str(error), home)
    return found.replace(tzinfo=found.tzinfo or zone).astimezone(UTC).replace(tzinfo=None)


def read_timestamp(folder: Path, config: Config) -> tuple[datetime | None, list[str]]:
    """The time in `timestamp.txt`, in favour of the student; what a person should know of it.

    Args:
        folder: What was handed in.
        config: The settings; abbreviations belong to the exchange's zone.
    """
    path = folder / TIMESTAMP
    home = str(config.get("Exchange", {}).get("timezone", "UTC"))  # nbgrader has no default for it
    if not path.is_file():
        is_there = os.path.lexists(path)
        return None, [f"{TIMESTAMP} is no file: counted as handed in on time"] * is_there
    try:
        found = read_time(_text(path), home)
        if found.year not in YEARS:
            raise ValueError(f"{found.year} is no year of a hand-in")
        return found, []
    except UnknownZoneError as error:
        when, earliest = "read as the earliest time that it can mean", error.earliest
        return earliest, [f"{TIMESTAMP} names a zone that is not known, {str(error)!r}: {when}"]
    except Exception:  # whatever is in that file
        return None, [f"{TIMESTAMP} cannot be read: counted as handed in on time"]


def _parse(text: str, **how: Any) -> datetime:
    """A whole date, with or without a time; the earlier one where day and month may be either.

    Raises:
        ValueError: A part of the date is missing, which `dateutil` takes from today.
    """
    orders = (False,) if YEAR_FIRST.match(text) else (False, True)
    found = [[parse(text, default=day, dayfirst=order, **how) for day in DAYS] for order in orders]
    if any(one != other for one, other in found):
        raise ValueError(f"{text!r} is no whole date")
    return min(one for one, _ in found)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES)
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_utf16 else "utf-8-sig")  # as Windows begins a text


def _zone(word: str) -> tzinfo | None:
    if offset := OFFSET.fullmatch(word):
        sign, hours, minutes = offset.groups(default="0")
        ahead = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-ahead if sign == "-" else ahead)
    for name in (word, word.upper()):
        with suppress(LookupError, ValueError, OSError):  # the last is for a folder of zones
            return ZoneInfo(name)
    return None


class _NoZoneError(Exception):
    """Raised when no zone has this name."""


def _zone_from_parser(name: str | None, seconds: int | None) -> tzinfo:
    """The zone that `dateutil` finds in a time, if it is not the last word."""
    if seconds is not None:
        return timezone(timedelta(seconds=seconds))
    zone = UTC if name is None else _zone(name)
    if zone is None:
        raise _NoZoneError(name)
    return zone


def _in_home_zone(clock: datetime, name: str, home: str) -> datetime:
    """A time in the zone at home, if a clock there says so under this name."""
    zone = _zone(home)
    for fold in (0, 1) if zone else ():  # when clocks are set back an hour comes twice
        found = clock.replace(tzinfo=zone, fold=fold)
        if found.tzname() == name:
            return found
    raise UnknownZoneError(name, clock - MAX_UTC_OFFSET)
