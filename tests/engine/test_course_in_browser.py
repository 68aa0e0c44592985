"""A problem set's whole way, in the programs that people use, by what they see in a browser.

The instructor releases the first set; a student fetches it, writes a wrong answer, then a right
one, and hands it in. It is collected, graded, read by a person, given back, and read again. Every
set's marks are for `test_nbgrader.py` and its neighbours, which need no browser, and each step of
the way has a test of its own; that one leads to the next is for `make proofs`.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nbgrader.utils import get_username
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from tests.conftest import ROOT
from tests.engine.classroom import KILL_GRACE, Desk, Person, desk, seat, wait_for
from tests.problem_sets import SOLUTIONS
from tests.sampling import left_to_proofs

pytestmark = [
    pytest.mark.browser,
    left_to_proofs,
    pytest.mark.skipif(sys.platform == "win32", reason="nbgrader has no exchange on Windows"),
]

SET = "01_retrieval"
STUDENT = get_username()  # so nbgrader calls the one who hands in
OVERFLOWING = """def softmax(scores: Tensor) -> Tensor:
    power = scores.exp()
    return power / power.sum(-1, keepdim=True)
"""
RIGHT = OVERFLOWING.replace("scores.exp()", "(scores - scores.amax(-1, keepdim=True)).exp()")
# Part B is handed in so: the temperature is forgotten.
LUKEWARM = """def soft_lookup(query, key, value, temperature):
    return softmax(query @ key.mT) @ value
"""
WORDS = "When a key moves a little, each output of a soft lookup moves a little."
COMMENT = "The first question is answered; say more about the price."
POINTS = {"softmax-check": "4", "soft-lookup-check": "3", "default-check": "0"}
POINTS |= {"slip-check": "0", "colours-check": "0"}
POINTS_OF_WORDS = "1.5"
TOTAL, OF = 8.5, 24


def autograde(instructor: Person) -> None:
    """Grade what was collected."""
    instructor.command("hintgrader", "autograde", SET)


@pytest.fixture(scope="module")
def instructor(browser: Browser, classroom: Path) -> Iterator[Desk]:
    """Sit down in a course that has one problem set, of which nobody knows yet."""
    person = seat(classroom, "instructor")
    shutil.copy(ROOT / "nbgrader_config.py", person.folder)
    shutil.copytree(SOLUTIONS / SET, person.folder / "solutions" / SET)
    with desk(browser, person) as started:
        yield started


@pytest.fixture(scope="module")
def student(browser: Browser, classroom: Path) -> Iterator[Desk]:
    """Sit down before a folder that has nothing in it."""
    with desk(browser, seat(classroom, "student")) as started:
        yield started


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the class."""
    return tmp_path_factory.mktemp("classroom")


@pytest.fixture(scope="module")
def formgrader(instructor: Desk) -> FrameLocator:
    """Open the formgrader, generate the students' version of the set, and release it."""
    with instructor.pictured():
        instructor.choose("Formgrader")
        frame = instructor.page.frame_locator("iframe")
        press(frame, "assign", "Successfully created")
        press(frame, "release", "Successfully released")
        return frame


def press(frame: FrameLocator, column: str, said: str) -> None:
    """Press the icon in a column of Manage Assignments; read what it says, and close that."""
    frame.locator("#main-table tr").filter(has_text=SET).locator(f".{column} a").click()
    dialog = frame.locator("#success-modal")
    wait_for(dialog, said)
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="detached")


@dataclass(frozen=True)
class Work:
    """The texts that the student read: below the first check cell, and when validating."""

    wrong: str
    right: str
    validation: str
    refused: list[str]  # grows while the window is open


@pytest.fixture(scope="module")
def work(student: Desk, formgrader: FrameLocator) -> Work:
    """Fetch the set, answer two parts and the one in words, validate it and hand it in."""
    page = student.page
    with student.pictured():
        open_assignment(student)
        write(page, "def soft_lookup(", LUKEWARM)
        answer_in_words(page)
        run(page, "from attn_bank import check")
        wrong = try_out(page, OVERFLOWING, "3 of 4 points")
        right = try_out(page, RIGHT, "4 of 4 points")
        validation = validate(page)
        page.get_by_role("tab", name="Assignments").click()
        page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        wait_for(page.locator("#submitted_assignments_list"), " UTC")
    return Work(wrong, right, validation, student.refused)


def open_assignment(student: Desk) -> None:
    """Fetch the problem set from the list of assignments, and open its notebook there."""
    student.choose("Assignment List")
    student.page.get_by_role("button", name="Fetch", exact=True).click()
    fetched = student.page.locator("#fetched_assignments_list")
    fetched.get_by_role("button", name=SET).click()  # unfolds its notebooks
    fetched.get_by_role("link", name=SET).click()
    wait_for(student.page.locator("#jp-main-statusbar"), "| Idle")


def cell(page: Page, words: str) -> Locator:
    """The code cell that has these words in it."""
    return page.locator(".jp-NotebookPanel .jp-CodeCell").filter(has_text=words)


def write(page: Page, words: str, answer: str) -> None:
    """Replace all that stands in a code cell."""
    cell(page, words).get_by_role("textbox").fill(answer)


def run(page: Page, words: str) -> None:
    """Run a code cell by the keyboard."""
    cell(page, words).get_by_role("textbox").press("Control+Enter")


def answer_in_words(page: Page) -> None:
    """Write into the cell that a person will read."""
    cells = page.locator(".jp-NotebookPanel .jp-MarkdownCell")
    cells.filter(has_text="YOUR ANSWER HERE").dblclick()
    cells.get_by_role("textbox").fill(WORDS)
    cells.get_by_role("textbox").press("Control+Enter")
    cells.get_by_role("paragraph").filter(has_text=WORDS).wait_for()


def try_out(page: Page, answer: str, total: str) -> str:
    """Write an answer to part A, run it and its check cell; return the table that it shows."""
    write(page, "def softmax(", answer)
    run(page, "def softmax(")
    run(page, f'check("{SET}/softmax")')
    output = cell(page, f'check("{SET}/softmax")').locator(".jp-OutputArea-output")
    wait_for(output, total)
    return output.inner_text()


def validate(page: Page) -> str:
    """Press Validate above the notebook, which saves it as well; return what it says."""
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    wait_for(dialog, "Validation Results")
    said = dialog.inner_text()
    dialog.get_by_role("button", name="Ok").click()
    return said


@dataclass(frozen=True)
class Grading:
    """The formgrader's page: points by part, the table of part B, the words, the total."""

    points: dict[str, str]
    table: str
    words: str
    line: str
    refused: list[str]


@pytest.fixture(scope="module")
def grading(instructor: Desk, formgrader: FrameLocator, work: Work) -> Grading:
    """Collect and grade, read what is written in words, and give back."""
    with instructor.pictured():
        press(formgrader, "collect", "Successfully collected")
        autograde(instructor.person)
        open_submission(formgrader)
        points = {part: points_in(formgrader, part) for part in POINTS}
        table = formgrader.locator("table").filter(has_text="temperature divides").inner_text()
        words = formgrader.locator(".nbgrader_cell").filter(has_text=WORDS).inner_text()
        mark_words(instructor.page, formgrader)
        line = read_total(formgrader)
        formgrader.get_by_role("link", name="Manage Assignments").click()
        press(formgrader, "generate-feedback", "Successfully generated feedback")
        press(formgrader, "release-feedback", "Successfully released feedback")
    return Grading(points, table, words, line, instructor.refused)


def open_submission(frame: FrameLocator) -> None:
    """Follow the links to the one submission."""
    frame.get_by_role("link", name="Manual Grading").click()
    frame.locator("#main-table").get_by_role("link", name=SET).click()
    frame.get_by_text("Needs Manual Grade?").wait_for()
    frame.locator("#main-table").get_by_role("link", name=SET).click()
    frame.get_by_role("link", name="Submission #1").click()


def points_in(frame: FrameLocator, part: str) -> str:
    """Return the points that a field shows in grey, which the computer gave."""
    field = frame.locator(f"#{part}")
    expect(field).to_have_attribute("placeholder", re.compile(r"\d"), timeout=1000 * KILL_GRACE)
    return field.get_attribute("placeholder") or ""


def mark_words(page: Page, frame: FrameLocator) -> None:
    """Give points and a comment to the part in words; each is saved when its field is left."""
    for field, text in {"words": POINTS_OF_WORDS, "words-comment": COMMENT}.items():
        frame.locator(f"#{field}").fill(text)
        with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
            frame.locator(f"#{field}").press("Tab")
        assert saved.value.ok


def read_total(frame: FrameLocator) -> str:
    """Go back to the list of submissions, and return its line."""
    frame.get_by_role("link", name=SET).last.click()
    line = frame.locator("#main-table tr")
    wait_for(line, "Submission #1")
    return line.inner_text()


@pytest.fixture(scope="module")
def feedback(student: Desk, grading: Grading) -> str:
    """Return what the student reads who fetches the feedback and opens it."""
    with student.pictured():
        student.page.get_by_role("button", name="Fetch Feedback").click()
        student.page.get_by_text("(view feedback)").click()
        student.page.locator(".jp-DirListing-item").filter(has_text=f"{SET}.html").dblclick()
        page = student.page.frame_locator(".jp-HTMLViewer iframe").locator("body")
        wait_for(page, COMMENT)
        return page.inner_text()


def test_student_reads_what_is_wrong_and_then_that_nothing_is(work: Work) -> None:
    assert "0.5 / 1.5\t✘ 11 of its 15 numbers are NaN. Given: scores (3, 5)" in work.wrong
    assert "What to look at: your formula is right, but exp of a score above 88" in work.wrong
    assert (work.right.count("✔ right"), work.right.count("✘")) == (5, 0)


def test_student_who_validates_reads_which_parts_lack_points(work: Work) -> None:
    assert f'check("{SET}/softmax")' not in work.validation
    assert work.validation.count("The following cell failed") == 4
    assert f'check("{SET}/soft_lookup")' in work.validation


def test_student_needs_no_network(work: Work, feedback: str) -> None:
    assert work.refused == []


def test_formgrader_shows_the_points_of_each_part_and_where_they_come_from(
    grading: Grading,
) -> None:
    assert grading.points == POINTS
    assert "the temperature divides the scores\t0 / 1\t✘" in grading.table
    assert WORDS in grading.words


def test_instructor_needs_no_network(grading: Grading) -> None:
    assert grading.refused == []


def test_points_given_by_hand_count(grading: Grading) -> None:
    assert f"{TOTAL} / {OF}" in grading.line
    assert f"{POINTS_OF_WORDS} / 3" in grading.line


def test_student_reads_points_and_comment_and_no_hidden_test(feedback: str) -> None:
    assert f"{TOTAL} of {OF} points" in feedback
    assert "the temperature divides the scores" in feedback
    assert COMMENT in feedback
    assert "HIDDEN TESTS" not in feedback
    assert "hidden=True" not in feedback


def test_mark_is_exported(instructor: Desk, grading: Grading) -> None:
    instructor.person.command("nbgrader", "export", "--to", "grades.csv")
    with (instructor.person.folder / "grades.csv").open(newline="", encoding="utf-8") as file:
        lines = [(line["student_id"], float(line["score"])) for line in csv.DictReader(file)]
    assert lines == [(STUDENT, TOTAL)]
