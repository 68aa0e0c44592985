"""The time of handing in: the zones that are known, and those that are not."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from dateutil.parser import parse
from traitlets.config import Config

from hintgrader.nbgrader.times import UnknownZoneError, read_time
from hintgrader.pipeline.locate import read_timestamp

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
        (f"{MARCH} utc", 18),
        ("Mon Mar 1 18:00:00 CET 2027", 17),  # as `date` writes it
    ],
)
def test_time_is_that_of_the_zone_that_is_named(text, hour):
    hours, minutes = divmod(int(hour * 60), 60)
    assert read_time(text) == datetime(2027, 3, 1, hours, minutes)


@pytest.mark.parametrize(
    ("text", "home", "ahead"),
    [
        ("2027-06-08 18:00:00.000000 CEST", "Europe/Berlin", 2),  # as nbgrader writes it
        ("2027-06-08 18:00:00 BST", "Europe/London", 1),
        ("2027-06-08 18:00:00 IST", "Asia/Kolkata", 5.5),
        ("2027-03-01 18:00:00 PST", "America/Los_Angeles", -8),
        ("Tue Jun 8 18:00:00 CEST 2027", "Europe/Berlin", 2),
        ("2027-11-07 01:30:00 PDT", "America/Los_Angeles", -7),
        ("2027-11-07 01:30:00 PST", "America/Los_Angeles", -8),  # an hour after the last one
        ("2027-06-08 18:00:00 UTC", "Europe/Berlin", 0),
        ("2027-06-08 18:00:00", "Europe/Berlin", 0),
    ],
)
def test_abbreviation_is_that_of_the_zone_at_home(text, home, ahead):
    written = parse(text, ignoretz=True)
    assert read_time(text, home) == written - timedelta(hours=ahead)


@pytest.mark.parametrize("home", ["UTC", "Europe/Berlin", "Europe/Nowhere", ""])
@pytest.mark.parametrize("zone", ["CEST", "PST", "BST", "IST"])
def test_zone_that_is_not_known_is_no_zone(zone, home):
    with pytest.raises(UnknownZoneError, match=zone) as error:
        read_time(f"{MARCH} {zone}", home)  # in March it is not CEST in Berlin either
    assert error.value.earliest == datetime(2027, 3, 1, 4)


@pytest.mark.parametrize("text", ["03.01.2027 18:00", "1.3.2027, 18:00:00 UTC", "3/1/2027 6:00 PM"])
def test_of_two_dates_it_is_the_earlier_one_in_favour_of_the_student(text):
    assert read_time(text) == datetime(2027, 1, 3, 18)


NO_DATES = ["18:00", "Monday 18:00", "March 2027", "1 March", "2027"]


@pytest.mark.parametrize(
    "text", ["", "yesterday, about nine", f"{MARCH} Europe", f"{MARCH} a/b", *NO_DATES]
)
def test_no_time(text):
    with pytest.raises(ValueError):  # noqa: PT011 - dateutil's
        read_time(text)


@pytest.mark.parametrize(
    ("zone", "hour", "notes"),
    [
        ("UTC", 18, 0),
        ("CEST", 16, 0),  # the settings say where the exchange is
        ("PDT", 4, 1),
    ],
)
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig"])  # the latter is usual on Windows
def test_file_is_read_as_the_settings_say(tmp_path, zone, hour, notes, coding):
    (tmp_path / "timestamp.txt").write_text(f"2027-06-08 18:00:00 {zone}", encoding=coding)
    config = Config({"Exchange": {"timezone": "Europe/Berlin"}})
    found, said = read_timestamp(tmp_path, config)
    assert (found, len(said)) == (datetime(2027, 6, 8, hour), notes)


@pytest.mark.parametrize("config", [Config(), Config({"Exchange": {"root": "/srv"}})])
def test_without_a_setting_the_exchange_is_in_utc(tmp_path, config):
    (tmp_path / "timestamp.txt").write_text("2027-06-08 18:00:00 CEST", encoding="utf-8")
    found, said = read_timestamp(tmp_path, config)
    assert found == datetime(2027, 6, 8, 4)
    assert said == [
        "timestamp.txt names a zone that is not known, 'CEST':"
        " read as the earliest time that it can mean"
    ]


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_said_and_nobody_waits_for_it(tmp_path, make):
    make(tmp_path / "timestamp.txt")
    said = "timestamp.txt is no file: counted as handed in on time"
    assert read_timestamp(tmp_path, Config()) == (None, [said])
