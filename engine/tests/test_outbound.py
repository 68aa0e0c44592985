"""`nbgrader release_feedback` by the course's settings: pages reach those who can fetch them."""

from __future__ import annotations

import io
import logging
import shutil
from pathlib import Path

import pytest
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import notebook_hash

from hintgrader.nbgrader.course import Course
from tests.example import SETTINGS

SET = "01_retrieval"
# nbgrader leaves the file of a time open.
pytestmark = pytest.mark.filterwarnings("ignore:Exception ignored in")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in which the feedback of three students is made; ada's came by the exchange."""
    course = tmp_path / "course"
    (course / "grading").mkdir(parents=True, mode=0o700)
    shutil.copy(SETTINGS, course)
    (tmp_path / "exchange").mkdir(mode=0o777)
    (tmp_path / "exchange").chmod(0o777)
    for student in ("ada", "alan", "eve"):
        for kind in ("submitted", "feedback"):
            (course / "grading" / kind / student / SET).mkdir(parents=True)
        page = course / "grading" / "feedback" / student / SET / f"{SET}.html"
        page.write_text(f"of {student}")
    submitted = course / "grading" / "submitted"
    (submitted / "ada" / SET / "timestamp.txt").write_text("2027-02-28 21:05:00 UTC")
    (submitted / "ada" / SET / "submission_secret.txt").write_text("hers")
    (submitted / "eve" / SET / "timestamp.txt").write_text("2027-02-28 21:05:00 UTC")
    secret = course / "grading" / "secret.txt"
    secret.write_text("of the instructor")
    (submitted / "eve" / SET / "submission_secret.txt").symlink_to(secret)
    return course


def test_feedback_is_returned_to_those_who_handed_in_through_the_exchange(course: Path) -> None:
    found = Course(course)
    found.config.Exchange.root = str(course.parent / "exchange")
    directory = found.directory
    directory.assignment_id = SET
    release = ExchangeFactory(config=found.config).ReleaseFeedback(coursedir=directory)
    said = io.StringIO()
    release.log = logging.Logger("release")
    release.log.addHandler(logging.StreamHandler(said))
    release.start()
    assert "return these pages otherwise: alan, eve" in said.getvalue()
    released = course.parent / "exchange" / "methods" / "feedback"
    (page,) = released.glob("*.html")
    assert page.read_text() == "of ada"
    assert page.stem == notebook_hash(secret="hers", notebook_id=SET)
