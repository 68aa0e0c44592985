"""Rubric items: made once, given by a click, and changed for everybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener, urlopen

import pytest

from hintgrader.authoring.faults import faults_of_set
from hintgrader.nbgrader.course import Course, CourseError
from hintgrader.nbgrader.rubric.command import apply_rubric
from hintgrader.nbgrader.rubric.comments import applied, with_lines
from hintgrader.nbgrader.rubric.items import (
    MAX_SENTENCE,
    RUBRIC,
    Item,
    edited,
    find_item,
    read_items,
    write_items,
)
from hintgrader.nbgrader.rubric.marks import give
from hintgrader.report.page import render_report
from hintgrader.testing.answers import hand_in_words
from hintgrader.testing.commands import type_command
from hintgrader.testing.formgraders import formgrader as running_formgrader
from tests.example import lay_out
from tests.gradebooks import SET, book, record

# nbgrader makes what belongs to a submission before the submission itself is kept.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type <Submitted:Warning")

CLASS = ("ada", "eve", "kim")
TOKEN = "of-this-class"
CELLS = {"words": 3.0, "proof": 2.0}
HEAD = "cell,item,points,sentence\n"
SMOOTH = Item("words", "smooth", 1.0, "Says that the output moves *smoothly*.")
PRICE = Item("words", "price", 2.0, "Names the price, <b>all keys</b> $\\alpha_j > 0$.")
LATE = Item("words", "thin", -0.5, "Says it without a reason.")
ITEMS = [SMOOTH, PRICE, LATE]


def table(folder: Path, text: str) -> Path:
    path = folder / RUBRIC
    path.write_text(text, encoding="utf-8")
    return path


def test_items_are_read_as_they_were_written(tmp_path: Path) -> None:
    odd = Item("words", "größe-2", 0.25, 'He said "a, b; c|d".')
    write_items(tmp_path / RUBRIC, [*ITEMS, odd])
    assert read_items(tmp_path / RUBRIC, CELLS) == [*ITEMS, odd]
    assert read_items(tmp_path / "none.csv", CELLS) == []


def test_table_of_a_spreadsheet_with_decimal_commas_is_read(tmp_path: Path) -> None:
    path = table(tmp_path, "Item;Cell;Sentence;Points\nprice;words;Names it.;−0,5\n\n")
    assert read_items(path, CELLS) == [Item("words", "price", -0.5, "Names it.")]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("words,a,1,A.\nwrods,b,1,B.", "row 3: 'wrods' is no cell that a person grades; .* words"),
        ("words,a,1,A.\n\nwords,a,2,B.", "row 4: words has an item 'a' already"),
        ("words,a,one,A.", "row 2: points 'one' is no number, such as 1, 0.5 or -1"),
        ("words,a,nan,A.", "row 2: points 'nan' is no number"),
        ("words,a,0.12345678,A.", "row 2: points '0.12345678' is no number"),
        ("words,a,3.5,A.", "row 2: 3.5 points are more than the cell gives, which is 3"),
        ("words,a,-4,A.", "row 2: -4 points are more than the cell gives, which is 3"),
        ("words,a,1,", f"row 2: a sentence has 1 to {MAX_SENTENCE} characters"),
        ("words,a,1,A <!-- b -->", "and no <!--"),
        ("words,a--b,1,A.", "row 2: 'a--b' is no name of an item"),
        ("words,,1,A.", "row 2: '' is no name of an item"),
        ('words,a,1,"A', "row 2: .* look for a quotation mark"),
    ],
)
def test_bad_row_is_named_with_what_is_wrong(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(CourseError, match=f"{RUBRIC}, {said}" if said[0] == "r" else said):
        read_items(table(tmp_path, HEAD + rows), CELLS)


@pytest.mark.parametrize("head", ["", "cell,item,points", "cell,item,points,sentence,by"])
def test_other_columns_are_refused_because_the_page_would_lose_them(
    tmp_path: Path, head: str
) -> None:
    with pytest.raises(CourseError, match=r"the first row must be cell,item,points,sentence\."):
        read_items(table(tmp_path, f"{head}\nwords,a,1,A."), CELLS)


def test_new_item_is_called_by_its_first_words_and_a_changed_one_keeps_name_and_place() -> None:
    items, first = edited([], "words", "", "1", "Names the price, all of it.", cells=CELLS)
    items, second = edited(items, "words", "", "+2", " Names  the\nprice too.", cells=CELLS)
    items, third = edited(items, "words", "", "0", "???", cells=CELLS)
    assert [one.name for one in items] == ["names-the-price", "names-the-price-2", "item"]
    assert second.sentence == "Names the price too."
    items, changed = edited(items, "words", first.name, "0,5", "Names it.", cells=CELLS)
    assert items == [Item("words", first.name, 0.5, "Names it."), second, third]
    assert changed == items[0]
    with pytest.raises(ValueError, match="words has no item 'gone' any more: load the page again"):
        edited(items, "words", "gone", "1", "A.", cells=CELLS)
    with pytest.raises(ValueError, match="has no item"):
        find_item(items, "proof", first.name)


def test_own_words_of_a_comment_stay_whatever_the_items() -> None:
    own = "Well argued.\n\n- [ ] read chapter 2\n- [x] a list of mine <!-- mine"
    first = with_lines(own, ITEMS)
    assert list(applied(first)) == ["smooth", "price", "thin"]
    assert with_lines(first, [PRICE]) == f"{own}\n\n- [+2] {PRICE.sentence} <!-- price -->"
    assert with_lines(first, []) == own
    assert with_lines(with_lines(None, ITEMS), []) is None
    assert applied(with_lines("", [Item("words", "a", 0.0, "A."), LATE])) == {"a": 0, "thin": -0.5}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(lay_out_written(tmp_path / "course"))


def lay_out_written(course: Path) -> Path:
    """Make a course in which a class has answered a part in words that nobody has read."""
    hand_in_words(Course(lay_out(course)), SET, {one: f"The answer of {one}." for one in CLASS})
    return course


def give_to(course: Course, student: str, *items: Item, has: bool = True) -> None:
    with book(course.root) as gradebook:
        (notebook,) = gradebook.find_submission(SET, student).notebooks
        for item in items:
            give(notebook, ITEMS, item, has)
        gradebook.db.commit()


def marks(course: Path, student: str) -> tuple[float | None, str | None, bool]:
    """Points, comment, and whether the answer waits to be read."""
    with book(course) as gradebook:
        grade = gradebook.find_grade("words", SET, SET, student)
        comment = gradebook.find_comment("words", SET, SET, student)
        return grade.manual_score, comment.manual_comment, bool(grade.needs_manual_grade)


def type_marks(course: Path, student: str, points: float, comment: str) -> None:
    with book(course) as gradebook:
        gradebook.find_grade("words", SET, SET, student).manual_score = points
        gradebook.find_comment("words", SET, SET, student).manual_comment = comment
        gradebook.db.commit()


def test_points_are_the_sum_of_the_items_within_what_the_cell_gives(course: Course) -> None:
    give_to(course, "ada", SMOOTH, LATE)
    assert marks(course.root, "ada")[0] == 0.5
    give_to(course, "ada", SMOOTH, has=False)
    assert marks(course.root, "ada")[0] == 0
    give_to(course, "eve", SMOOTH, PRICE)
    assert marks(course.root, "eve")[0] == 3
    give_to(course, "eve", LATE)
    assert marks(course.root, "eve")[0] == 2.5


def test_answer_without_an_item_waits_to_be_read(course: Course) -> None:
    assert marks(course.root, "ada") == (None, None, True)
    give_to(course, "ada", SMOOTH)
    assert marks(course.root, "ada")[2] is False
    give_to(course, "ada", SMOOTH, has=False)
    assert marks(course.root, "ada") == (None, None, True)


def test_command_lets_everybody_follow_the_table(course: Course) -> None:
    path = course.source(SET).parent / RUBRIC
    write_items(path, ITEMS)
    give_to(course, "ada", SMOOTH, PRICE)
    give_to(course, "eve", PRICE)
    comment = marks(course.root, "eve")[1]
    type_marks(course.root, "kim", 1.0, "mine")
    type_marks(course.root, "eve", 1.75, f"{comment}")
    write_items(path, [Item("words", "price", 1.5, "Names <i>it</i>."), LATE])
    *items, changed, kept, then = apply_rubric(course, SET)
    assert items == ["words  price  +1.5: given 2 times", "words  thin  -0.5: given 0 times"]
    assert changed == "Comments or points changed: ada, eve."
    assert kept == "Points that were typed stay: eve."
    assert then == f"Make the pages anew: nbgrader generate_feedback {SET} --force"
    line = "- [+1.5] Names <i>it</i>. <!-- price -->"
    assert marks(course.root, "ada") == (1.5, line, False)
    assert marks(course.root, "eve")[:2] == (1.75, line)
    assert marks(course.root, "kim")[:2] == (1.0, "mine")
    assert list(apply_rubric(course, SET))[2:] == ["Comments or points changed: nobody."]
    write_items(path, [])
    list(apply_rubric(course, SET))
    assert marks(course.root, "ada") == (None, None, True)


def test_command_without_a_table_or_a_set_says_so(course: Course) -> None:
    with pytest.raises(CourseError, match=rf"{RUBRIC} is missing\. Make one in the formgrader"):
        list(apply_rubric(course, SET))
    said = type_command("hintgrader", "rubric", "02_edit_distance", folder=course.root)
    assert said.status == 2
    assert "There are no items" in said.stdout
    write_items(course.source("02_edit_distance").parent / RUBRIC, [])
    with pytest.raises(CourseError, match="Nobody's work on 02_edit_distance is in the gradebook"):
        list(apply_rubric(course, "02_edit_distance"))


def test_author_hears_of_a_bad_table_before_the_release(course: Course) -> None:
    table(course.source(SET).parent, f"{HEAD}fit-check,a,1,A.\n")
    assert [one for one in faults_of_set(course, SET) if "row 2: 'fit-check' is no cell" in one]


def test_students_get_no_table(tmp_path: Path) -> None:
    course = lay_out(tmp_path / "course")
    write_items(course / "solutions" / SET / RUBRIC, [])
    said = type_command("nbgrader", "generate_assignment", SET, "--force", folder=course)
    assert said.status == 0, said.stdout
    assert [path.name for path in (course / "exercises" / SET).iterdir()] == [f"{SET}.ipynb"]


def test_student_reads_points_and_sentences_and_no_name_of_an_item(course: Course) -> None:
    give_to(course, "ada", SMOOTH, PRICE, LATE)
    options = (SET, "--student", "ada", "--force")
    said = type_command("nbgrader", "generate_feedback", *options, folder=course.root)
    assert said.status == 0, said.stdout
    page = course.root / "grading" / "feedback" / "ada" / SET / f"{SET}.html"
    html = page.read_text(encoding="utf-8").partition("Comment.</strong>")[2]
    assert "<li>[+1] Says that the output moves <em>smoothly</em>." in html
    assert "<b>all keys</b> <math" in html
    assert "[-0.5]" in html
    assert "<!--" not in html
    assert "price -->" not in html


def test_report_says_to_how_many_each_item_was_given() -> None:
    page = render_report(SET, [record("ada", 4.0)], rubric=[(PRICE, 1), (LATE, 0)])
    assert "words: Names the price, &lt;b&gt;all keys&lt;/b&gt;" in page
    assert '+2<span> points</span></td><td class="number">1 (100%)' in page
    assert "Graded by hand" not in render_report(SET, [record("ada", 4.0)])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A course, and the address of its formgrader, which asks who comes."""
    course = lay_out_written(tmp_path_factory.mktemp("rubric") / "course")
    with running_formgrader(course, TOKEN) as address:
        yield course, address


@pytest.fixture(scope="module")
def browser(page: tuple[Path, str]) -> tuple[OpenerDirector, CookieJar]:
    """Somebody who has logged in, as a browser."""
    cookies = CookieJar()
    opener = build_opener(HTTPCookieProcessor(cookies))
    opener.open(f"{page[1]}/gradebook?token={TOKEN}", timeout=20).close()
    return opener, cookies


def place(page: tuple[Path, str], student: str) -> str:
    with book(page[0]) as gradebook:
        (notebook,) = gradebook.find_submission(SET, student).notebooks
        return f"{page[1]}/rubric/{notebook.id}"


Visitor = tuple[OpenerDirector, CookieJar]


def ask(visitor: Visitor, address: str, method: str = "GET", **body: str) -> Any:
    """The status of an answer, and what it says."""
    opener, cookies = visitor
    token = next(cookie.value for cookie in cookies if cookie.name == "_xsrf")
    data = json.dumps(body).encode() if body else None
    request = Request(address, data, {"X-XSRFToken": f"{token}"}, method=method)
    try:
        with opener.open(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_items_are_made_given_and_changed_in_the_page(
    page: tuple[Path, str], browser: Visitor
) -> None:
    course, ada, eve = page[0], place(page, "ada"), place(page, "eve")
    evil = "<script>document.title='hit'</script>"
    status, said = ask(browser, ada, "POST", cell="words", points="1", sentence=evil)
    (item,) = said["items"]["words"]
    assert (status, item["sentence"], said["grades"][0]["manual_score"]) == (200, evil, 1)
    change = {"cell": "words", "item": item["name"]}
    ask(browser, eve, "PUT", **change, applied="yes")
    assert marks(course, "eve") == (1.0, f"- [+1] {evil} <!-- {item['name']} -->", False)
    status, said = ask(browser, ada, "POST", **change, points="2", sentence="Names the price.")
    assert (status, said["message"]) == (200, "")
    assert [marks(course, one)[0] for one in CLASS] == [2.0, 2.0, None]
    type_marks(course, "eve", 0.75, f"{marks(course, 'eve')[1]}")
    _, said = ask(browser, ada, "POST", **change, points="1", sentence="Names the price.")
    assert said["message"] == "Points that were typed stay, of 1."
    assert [marks(course, one)[0] for one in CLASS] == [1.0, 0.75, None]
    status, said = ask(browser, eve, "PUT", **change, applied="no")
    assert (status, said["comments"][0]["manual_comment"]) == (200, None)
    (kept,) = read_items(course / "solutions" / SET / RUBRIC, CELLS)
    assert (kept.points, kept.sentence) == (1.0, "Names the price.")


@pytest.mark.parametrize(
    ("method", "body", "said"),
    [
        ("POST", {"cell": "words", "points": "4", "sentence": "A."}, "more than the cell gives"),
        ("POST", {"cell": "fit-check", "points": "1", "sentence": "A."}, "no cell that a person"),
        ("PUT", {"cell": "words", "item": "gone", "applied": "yes"}, "load the page again"),
    ],
)
def test_page_says_why_nothing_was_saved(
    page: tuple[Path, str], browser: Visitor, method: str, body: dict[str, str], said: str
) -> None:
    before = marks(page[0], "kim")
    status, answer = ask(browser, place(page, "kim"), method, **body)
    assert status == 400
    assert said in json.loads(answer)["message"]
    assert marks(page[0], "kim") == before


def test_page_names_the_bad_row_of_a_table(page: tuple[Path, str], browser: Visitor) -> None:
    path = page[0] / "solutions" / SET / RUBRIC
    before = path.read_bytes() if path.exists() else HEAD.encode()
    path.write_text(f"{HEAD}words,a,many,A.\n", encoding="utf-8")
    status, answer = ask(browser, place(page, "kim"))
    path.write_bytes(before)
    assert status == 400
    assert "row 2: points 'many' is no number" in json.loads(answer)["message"]


def test_strangers_and_other_pages_change_nothing(page: tuple[Path, str], browser: Visitor) -> None:
    address = place(page, "kim")
    body = json.dumps({"cell": "words", "points": "3", "sentence": "Mine."}).encode()
    forged = {"Cookie": "_xsrf=mine", "X-XSRFToken": "mine"}
    with pytest.raises(HTTPError) as stranger:
        urlopen(Request(address, body, forged, method="POST"), timeout=20)
    with pytest.raises(HTTPError) as other_page:  # it has the cookie, and cannot read it
        browser[0].open(Request(address, body, method="POST"), timeout=20)
    for refused in (stranger.value, other_page.value):
        refused.close()
        assert refused.code == 403
    assert marks(page[0], "kim")[0] is None
    assert ask(browser, f"{address}x")[0] == 404


def test_page_has_the_script_of_the_items(page: tuple[Path, str], browser: Visitor) -> None:
    address = place(page, "ada").replace("/rubric/", "/submissions/")
    with browser[0].open(f"{address}/", timeout=20) as answer:
        html = answer.read().decode()
    assert "Rubric items below each cell" in html
    assert ".rubric .items" in html
