"""A class is graded by rubric items in a browser: by letters, by clicks, and beside own words."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.rubric.items import RUBRIC
from hintgrader.testing.answers import WORDS, hand_in_words
from hintgrader.testing.commands import type_command
from hintgrader.testing.formgraders import formgrader

from tests.conftest import ROOT
from tests.sampling import sampled, takes_all

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.browser,
    # nbgrader makes what belongs to a submission before the submission itself is kept.
    pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning"),
]

SET = "01_retrieval"
CLASS = [f"student-{number:02}" for number in range(12 if takes_all() else 4)]
SENTENCES = ("Says that it moves *smoothly*.", "Names the price: <b>all</b> keys.", "Has numbers.")
LETTERS = "abc"
COUNTER = """const count = () => { sessionStorage.keys = 1 + Number(sessionStorage.keys || 0); };
addEventListener("keydown", count, true);"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course in which a class has answered a part in words."""
    root = tmp_path_factory.mktemp("rubric") / "course"
    (root / "solutions" / SET).mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    found = Course(root)
    hand_in_words(found, SET, {one: f"An answer, {one}" for one in CLASS})
    return found


@pytest.fixture(scope="module")
def address(course: Course) -> Iterator[str]:
    with formgrader(course.root) as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Page:
    window = browser.new_context(viewport={"width": 1280, "height": 900})
    window.add_init_script(COUNTER)
    page = window.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"{error}"))
    return page


def marks(course: Course, student: str) -> tuple[float | None, str | None]:
    with course.gradebook() as gradebook:
        points = gradebook.find_grade(WORDS, SET, SET, student).manual_score
        return points, gradebook.find_comment(WORDS, SET, SET, student).manual_comment


def open_page(page: Page, course: Course, address: str, student: str | None = None) -> str:
    """Open somebody's submission, by default the first; return whose it is."""
    with course.gradebook() as gradebook:
        found = {s.notebooks[0].id: s.student.id for s in gradebook.assignment_submissions(SET)}
    first = next(one for one in sorted(found) if student in (None, found[one]))
    page.goto(f"{address}/submissions/{first}/")
    wait_for_items(page)
    return found[first]


def wait_for_items(page: Page) -> None:
    """Wait for what the page asks the server: items, comments, and points."""
    page.get_by_role("button", name="New item").wait_for()
    page.locator(".comment[placeholder]").wait_for()
    page.locator(".extra-credit[placeholder]").wait_for()


def wait_for_quiet(page: Page) -> None:
    """Wait until all that was clicked is saved."""
    page.wait_for_load_state("networkidle")


def make_items(page: Page) -> None:
    for sentence in SENTENCES:
        page.get_by_role("button", name="New item").click()
        page.keyboard.type("1")
        page.keyboard.press("Tab")
        page.keyboard.type(sentence)
        page.keyboard.press("Enter")
        page.locator(".rubric .fields").wait_for(state="hidden")


def test_page_opens_at_the_first_answer_that_a_person_reads(
    course: Course, address: str, page: Page
) -> None:
    open_page(page, course, address)
    page.locator(f"#{WORDS}:focus").wait_for()
    page.set_viewport_size({"width": 950, "height": 700})  # as in a tab of JupyterLab
    for way in ("Prev", "Next"):
        page.get_by_role("link", name=way).click(trial=True, timeout=5000)


def is_given(page: Page, place: int) -> bool:
    pressed = page.locator(".rubric [aria-pressed]").nth(place).get_attribute("aria-pressed")
    return pressed == "true"


@sampled
def test_a_class_is_graded_by_letters_and_follows_a_changed_item(
    course: Course, address: str, page: Page
) -> None:
    draw = random.Random(4)
    wanted = {one: [place for place in range(3) if draw.random() < 0.6] for one in CLASS}
    student = open_page(page, course, address)
    make_items(page)
    made = int(page.evaluate("sessionStorage.keys"))
    for number, _ in enumerate(CLASS, 1):
        shown = page.get_by_text("An answer, ").inner_text().removeprefix("An answer, ")
        assert number > 1 or shown == student
        for place in range(3):
            if is_given(page, place) != (place in wanted[shown]):
                page.keyboard.press(LETTERS[place])
        if number < len(CLASS):
            with page.expect_navigation():
                page.keyboard.press("Control+.")
            wait_for_items(page)
    wait_for_quiet(page)
    pressed = int(page.evaluate("sessionStorage.keys")) - made
    # a key for each item at most, and two that go on to the next answer
    assert pressed <= 3 * len(CLASS) + 2 * (len(CLASS) - 1)
    page.get_by_role("button", name="Change for everybody: Names").click()
    page.get_by_label("Points").fill("0.5")
    page.keyboard.press("Enter")
    page.locator(".rubric .fields").wait_for(state="hidden")
    for one in CLASS:
        points, comment = marks(course, one)
        of_items = [(1, 0.5, 1)[place] for place in wanted[one]]
        assert points == (sum(of_items) if of_items else None)
        assert (comment or "").count("- [") == len(of_items)
    said = type_command("nbgrader", "generate_feedback", SET, "--force", folder=course.root)
    assert said.status == 0, said.stdout
    one = next(one for one in CLASS if wanted[one] == [0, 1, 2])
    page.goto((course.root / "grading" / "feedback" / one / SET / f"{SET}.html").as_uri())
    given = page.locator(".comment").inner_text()
    assert "[+0.5] Names the price: all keys.\n" in given
    assert "<!--" not in given


def test_own_words_and_typed_points_stand_beside_the_items(
    course: Course, address: str, page: Page
) -> None:
    rows = "words,first,1,<img src=x onerror=alert(1)>\nwords,second,-0.5,Has no example.\n"
    table = course.source(SET).parent / RUBRIC
    table.write_text(f"cell,item,points,sentence\n{rows}", encoding="utf-8")
    student = open_page(page, course, address, CLASS[0])
    page.locator(".comment").fill("Well argued.")
    page.get_by_role("button", name="onerror").first.click()  # the words are saved on the way
    page.locator("[aria-pressed=true]").wait_for()
    page.keyboard.press("b")
    here = page.url
    page.get_by_role("link", name="Next").click()  # at once: what was pressed is saved first
    page.wait_for_url(lambda url: url != here)  # the last one's next page is the list
    wait_for_quiet(page)
    points, comment = marks(course, student)
    own, *lines = f"{comment}".split("\n")
    assert (points, own, lines[1:]) == (0.5, "Well argued.", lines_of(rows))
    open_page(page, course, address, student)
    assert page.locator(".rubric img").count() == 0
    page.locator(".score").fill("0.75")
    page.keyboard.press("Escape")
    wait_for_quiet(page)
    table.write_text(f"cell,item,points,sentence\n{rows}".replace("-0.5", "-0.25"), "utf-8")
    said = type_command("hintgrader", "rubric", SET, folder=course.root)
    assert f"Points that were typed stay: {student}." in said.stdout
    assert marks(course, student)[0] == 0.75


def lines_of(rows: str) -> list[str]:
    cells = [row.split(",", 3) for row in rows.splitlines()]
    return [f"- [{float(p):+g}] {said} <!-- {name} -->" for _, name, p, said in cells]


def test_letters_and_enter_mean_themselves_where_words_are_written(
    course: Course, address: str, page: Page
) -> None:
    open_page(page, course, address, CLASS[1])
    before = marks(course, CLASS[1])
    page.locator(".comment").click()
    page.keyboard.type("abc")
    page.get_by_role("button", name="New item").click()
    page.keyboard.type("1")
    page.keyboard.press("Escape")
    assert page.locator(".rubric .fields").is_hidden()
    page.get_by_role("button", name="New item").press("Enter")
    assert page.locator(".rubric .fields").is_visible()
    page.get_by_label("What the student reads").fill("Too many.")
    page.get_by_label("Points").fill("9")
    page.keyboard.press("Enter")
    page.get_by_text("9 points are more than the cell gives, which is 3").wait_for()
    wait_for_quiet(page)
    points, comment = marks(course, CLASS[1])
    assert points == before[0]
    assert "abc" in f"{comment}"  # wherever the click has put it


def test_page_says_which_row_of_the_table_is_wrong(
    course: Course, address: str, page: Page
) -> None:
    table = course.source(SET).parent / RUBRIC
    table.write_text("cell,item,points,sentence\nwords,a,many,A.\n", encoding="utf-8")
    with course.gradebook() as gradebook:
        (notebook,) = gradebook.find_submission(SET, CLASS[0]).notebooks
        page.goto(f"{address}/submissions/{notebook.id}/")
    alert = page.get_by_role("alert")
    assert "row 2: points 'many' is no number" in alert.inner_text()
