"""Extensions in a table: read as spreadsheets write it, or refused with the row."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.extensions import check_extensions, read_extensions
from tests.example import FIRST, SECOND, lay_out

HEAD = "id,assignment,until"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = Course(lay_out(tmp_path / "course"))
    (course.root / "grading").mkdir(mode=0o700)
    with course.gradebook() as book:
        book.add_assignment(FIRST)
        book.add_student("ada")
    return course


def write(course: Course, *rows: str) -> None:
    (course.root / "grading" / "extensions.csv").write_text("\n".join(rows), encoding="utf-8")


def test_without_a_table_nobody_has_an_extension(course: Course) -> None:
    assert read_extensions(course) == {}
    check_extensions(course, FIRST, [])


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_extension_is_in_utc_whatever_zone_it_names(course: Course, sign: str) -> None:
    rows = HEAD, f"ada,{FIRST},2027-03-08 18:00 Europe/Berlin", f"ada,{SECOND},2027-03-08 18:00"
    write(course, *(row.replace(",", sign) for row in rows))
    assert read_extensions(course) == {
        (FIRST, "ada"): datetime(2027, 3, 8, 17),
        (SECOND, "ada"): datetime(2027, 3, 8, 18),
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["id,until", "ada,2027-03-08"], "must have one column 'assignment'"),
        ([HEAD, f"ada,{FIRST},soon"], "row 2: until 'soon' is no time: write a date and a time"),
        ([HEAD, f"ada,{FIRST}"], "row 2: until '' is no time"),
        ([HEAD, f"ada,{FIRST},2027-03-08 18:00 PST"], "row 2: the zone 'PST' is not known"),
        ([HEAD, *[f"ada,{FIRST},2027-03-08"] * 2], "row 3: 'ada' has an extension of"),
        ([HEAD, f"adda,{FIRST},2027-03-08"], "'adda' is not a student .* Did you mean: ada"),
        ([HEAD, f"ada,{FIRST[:-1]},2027-03-08"], f"is not a problem set .* mean: {FIRST}"),
    ],
)
def test_slip_in_the_table_is_named_with_what_mends_it(
    course: Course, rows: list[str], said: str
) -> None:
    write(course, *rows)
    with pytest.raises(CourseError, match=said):
        check_extensions(course, FIRST, [])


def test_somebody_who_is_not_on_the_roster_has_handed_in(course: Course) -> None:
    write(course, HEAD, f"alan,{FIRST},2027-03-08")
    check_extensions(course, FIRST, ["alan"])
