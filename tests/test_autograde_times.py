"""When something was handed in: the zones that are known, and those that are not."""

from datetime import datetime

import pytest

from attn_course.grading.autograde.times import UnknownZoneError, read_time

MARCH = "2027-03-01 18:00:00"


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        (f"{MARCH} UTC", 18),
        (f"{MARCH}.000000 UTC\n", 18),  # as nbgrader writes it
        (MARCH, 18),
        ("2027-03-01T18:00:00Z", 18),
        ("1 March 2027 6:00 PM", 18),
        ("March 1 18:00 2027", 18),
        (f"{MARCH} Europe/Berlin", 17),
        (f"{MARCH} CET", 17),
        (f"{MARCH} +0100", 17),
        (f"{MARCH} +01:00", 17),
        (f"{MARCH} +1", 17),
        (f"{MARCH}+01:00", 17),
        (f"{MARCH} UTC+1", 17),
        (f"{MARCH} GMT+01:00", 17),
        (f"{MARCH} -0330", 21.5),
        (f"{MARCH} America/New_York", 23),
    ],
)
def test_time_is_that_of_the_zone_that_is_named(text, hour):
    hours, minutes = divmod(int(hour * 60), 60)
    assert read_time(text) == datetime(2027, 3, 1, hours, minutes)


@pytest.mark.parametrize("zone", ["CEST", "PST", "BST", "IST"])
def test_zone_that_is_not_known_is_no_zone(zone):
    with pytest.raises(UnknownZoneError, match=zone):
        read_time(f"{MARCH} {zone}")


@pytest.mark.parametrize("text", ["", "yesterday, about nine", f"{MARCH} Europe", f"{MARCH} a/b"])
def test_no_time(text):
    with pytest.raises(ValueError):  # noqa: PT011 - dateutil's
        read_time(text)
