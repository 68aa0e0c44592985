"""When a submission was handed in, as a line of text says it.

nbgrader takes a time of a zone that it does not know for one of UTC, and `+0100` for 100 seconds.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from dateutil.parser import parse

OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2}):?(\d\d)?")


class UnknownZoneError(ValueError):
    """A time names a zone that is not known, or that may be one of several."""


def read_time(text: str) -> datetime:
    """A time in UTC, as the gradebook keeps it, without a zone.

    Args:
        text: A date and a time, and a zone if it is not UTC: a name as `Europe/Berlin`, or how far
            it is ahead of UTC, as `+01:00`.

    Raises:
        UnknownZoneError: It names another zone.
        ValueError, OverflowError: It is no time.
    """
    *words, last = text.split() or [""]
    zone = _zone(last)
    if zone is not None:
        text = " ".join(words)
    found = parse(text, tzinfos=_within if zone is None else None)
    return found.replace(tzinfo=found.tzinfo or zone).astimezone(UTC).replace(tzinfo=None)


def _zone(word: str) -> tzinfo | None:
    if offset := OFFSET.fullmatch(word):
        sign, hours, minutes = offset.groups(default="0")
        ahead = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-ahead if sign == "-" else ahead)
    try:
        return ZoneInfo(word)
    except (LookupError, ValueError, OSError):  # as it also is for a folder of zones
        return None


def _within(name: str | None, seconds: int | None) -> tzinfo:
    """The zone that `dateutil` finds in a time, if it is not the last word."""
    if seconds is not None:
        return timezone(timedelta(seconds=seconds))
    if name is None:
        return UTC
    raise UnknownZoneError(name)
