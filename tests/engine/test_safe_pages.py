"""Whatever a student hands in, no script of his runs on the page of a grader or of feedback."""

from __future__ import annotations

import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unicodedata
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from bs4 import BeautifulSoup
from hintgrader.nbgrader.pages.clean import markdown_to_html
from hintgrader.nbgrader.pages.shorten import Shorten
from hintgrader.testing.commands import type_command
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_markdown_cell, new_notebook, new_output

from tests.book.test_pages import look_with_axe
from tests.conftest import ROOT
from tests.engine import hostile
from tests.sampling import left_to_proofs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

GRADE = """
import sys
from pathlib import Path
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.write_gradebook import enter_nothing
from hintgrader.pipeline.locate import find_hand_in
from hintgrader.pipeline.load import Unreadable
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import PyFileConfigLoader

course = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", ".").load_config())

def do(step, *arguments):
    done = getattr(course, step)(*arguments)
    if not done["success"]:
        sys.exit(f"{step}: {done.get('error')} {done.get('log')}")

do("generate_assignment", "01_a")
for student in sys.argv[2:]:
    do("autograde", "01_a", student)
mallory = find_hand_in(Course(Path(".").resolve()), "01_a", "mallory")
enter_nothing(mallory, Unreadable(sys.argv[1]))
with Gradebook(course.coursedir.db_url) as gradebook:
    comment = gradebook.find_comment("words", "01_a", "01_a", sys.argv[2])
    comment.manual_comment = sys.argv[1]
    student = gradebook.find_student(sys.argv[2])  # in a learning system people write their names
    student.first_name = student.last_name = sys.argv[1]
    gradebook.db.commit()
for student in (*sys.argv[2:], "mallory"):
    do("generate_feedback", "01_a", student)
"""


class Listener(http.server.BaseHTTPRequestHandler):
    """Writes down what it is asked for."""

    heard: list[str]

    def do_GET(self) -> None:
        self.heard.append(self.path)
        self.send_response(204)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def heard() -> Iterator[tuple[str, list[str]]]:
    """Listen where the attacks call; return the address, and what was asked for."""
    Listener.heard = []
    with http.server.ThreadingHTTPServer(("localhost", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}", Listener.heard
        server.shutdown()


def environment(course: Path) -> dict[str, str]:
    return os.environ | {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, heard: tuple[str, list[str]]) -> Path:
    """A course of one problem set, graded by nbgrader and given back.

    One student is hostile; of another something hostile is quoted, for nothing of his can be read.
    """
    course = tmp_path_factory.mktemp("course")
    settings = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    # its cells are for nbgrader alone to grade
    settings += 'c.GenerateAssignment.exporter_class = "nbconvert.exporters.NotebookExporter"\n'
    (course / "nbgrader_config.py").write_text(settings, encoding="utf-8")
    source = course / "solutions" / "01_a" / "01_a.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(hostile.problem_set(), source)
    target = course / "grading" / "submitted" / "eve" / "01_a"
    target.mkdir(parents=True)
    handed_in = hostile.hand_in(hostile.problem_set(), heard[0])
    (target / "01_a.ipynb").write_text(json.dumps(handed_in), encoding="utf-8")
    (target / "page.html").write_text(f"<script>{hostile.script('page', heard[0])}</script>")
    (course / "grading" / "submitted" / "mallory" / "01_a").mkdir(parents=True)
    comment = "\n\n".join(hostile.markup(heard[0]).values())
    program = course.parent / f"{course.name}.py"
    program.write_text(GRADE, encoding="utf-8")
    own = {"JUPYTER_CONFIG_DIR": str(course.parent / "no-settings")}
    run = type_command(str(program), comment, "eve", folder=course, environment=own)
    assert run.status == 0, run.stdout
    return course


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def formgrader(course: Path) -> Iterator[str]:
    """Serve the formgrader as an instructor does; return where."""
    port = free_port()
    extension = "{'nbgrader.server_extensions.formgrader': True}"
    options = [f"--port={port}", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    options += [f"--ServerApp.jpserver_extensions={extension}", "--ServerApp.port_retries=0"]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter_server", *options],
        cwd=course,
        env=environment(course),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base = f"http://localhost:{port}"
    try:
        wait_for(f"{base}/api/status", server)
        yield f"{base}/formgrader"
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers, or fail."""
    for _ in range(600):
        assert server.poll() is None, "the server has ended"
        try:
            urllib.request.urlopen(address).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"nothing answers at {address}")


def submission_of(course: Path, student: str) -> str:
    """The number under which the formgrader shows what a student handed in."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'grading' / 'gradebook.db'}") as gradebook:
        return gradebook.find_submission_notebook("01_a", "01_a", student).id


@pytest.fixture(scope="module", params=["formgrader", "feedback"])
def page(
    request: pytest.FixtureRequest, course: Path, browser: Browser, heard: tuple[str, list[str]]
) -> Iterator[Page]:
    """Open a page of the hostile student, and click whatever can be clicked on it."""
    if request.param == "formgrader":
        base = request.getfixturevalue("formgrader")
        address = f"{base}/submissions/{submission_of(course, 'eve')}/"
    else:
        address = (course / "grading" / "feedback" / "eve" / "01_a" / "01_a.html").as_uri()
    context = browser.new_context()
    elsewhere: list[str] = []
    context.route(re.compile("^https:"), lambda route: elsewhere.append(route.request.url))
    page = context.new_page()
    heard[1].clear()
    page.goto(address)
    click = "document.querySelectorAll('#notebook :is(a, button, text, summary)')"
    page.evaluate(f"{click}.forEach(one => one.dispatchEvent(new MouseEvent('click')))")
    page.wait_for_timeout(300)
    assert re.sub(r"(\?index=\d+)?(#.*)?$", "", page.url) == address  # nbgrader adds the index
    assert elsewhere == [], "the page wants something from the network"
    yield page
    context.close()


def test_no_script_of_a_student_runs(page: Page) -> None:
    assert "!" not in page.title()


def test_no_request_leaves_for_where_a_student_wants(
    page: Page, heard: tuple[str, list[str]]
) -> None:
    assert heard[1] == []


# Elements with an attribute that runs something, leads somewhere, or takes a name already taken.
ALIVE = """() => [...document.querySelectorAll('#notebook *')].flatMap(one => [...one.attributes]
  .filter(({name, value}) =>
    /^(on.*|href|xlink:href|action|srcset|srcdoc|poster|data)$/.test(name)
    || name === 'src' && !value.startsWith('data:image/')
    || name === 'id' && document.querySelectorAll(`[id="${value}"]`).length > 1)
  .map(({name, value}) => `${one.localName} ${name}=${value}`))"""
# Our own beside the points; nbgrader puts a notebook into a notebook.
OURS = {"a href=#top", "div id=notebook", "div id=notebook-container"}
ACTIVE = ":is(script, iframe, object, embed, svg, form, style, link, meta, base)"
COVERED = """one => {
  one.scrollIntoView({block: 'center'});
  const {x, y, width, height} = one.getBoundingClientRect();
  return !one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}"""
LOOK = "one => [getComputedStyle(one).textAlign, parseFloat(getComputedStyle(one).paddingLeft)]"


def test_elements_of_a_student_hold_no_address_no_handler_and_no_name_of_others(page: Page) -> None:
    assert set(page.evaluate(ALIVE)) <= OURS
    assert page.locator(f"#notebook {ACTIVE}").count() == 0


def test_marks_can_be_seen(page: Page) -> None:
    mark = page.locator("[id=softmax-check]")
    assert not mark.evaluate(COVERED)
    entered = mark.evaluate("one => one.localName === 'input'")
    shown = mark.get_attribute("placeholder") if entered else mark.inner_text()
    assert shown == "2" or "2 of 3 points" in shown


def test_table_of_a_check_is_a_table(page: Page) -> None:
    table = page.locator("table", has_text="What happened").last
    assert [text.strip() for text in table.locator("td").all_inner_texts()] == [
        *("1. is it softmax", "2 / 2", "✔ right"),
        *("2. is it stable", "0 / 1", "✘ nan < 1, given scores"),
    ]
    assert not table.evaluate(COVERED)
    alignment, padding = table.locator("td").nth(1).evaluate(LOOK)
    assert (alignment, padding > 4) == ("right", True)


def test_instructor_and_student_can_still_read_what_was_written(page: Page) -> None:
    text = page.locator("#notebook").first.inner_text()
    assert "<script>document.title" in text
    assert "open (javascript:document.title" in text
    assert "lost (attachment:lost.png)" in text
    # A browser shows the letters of a formula in Unicode's own alphabet for formulas.
    assert re.search(r"and\s+a\s*<\s*b", unicodedata.normalize("NFKC", text))


def test_feedback_sums_up_what_each_part_earned_and_why(course: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((course / "grading" / "feedback" / "eve" / "01_a" / "01_a.html").as_uri())
    rows = page.locator(".summary tbody tr").all_inner_texts()
    assert [re.split(r"\s*\n\s*", row) for row in rows] == [
        [
            *("Part A. Softmax", "2 of 3 points"),
            "1 of 2 checks met. What to look at: subtract the maximum",
        ],
        ["Part B. In words", "–", "Still to be read by a person."],
    ]
    page.get_by_role("link", name="Part A. Softmax").click()
    assert page.evaluate("document.querySelector(':target').innerText").startswith("Check")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert look_with_axe(page, few=3) == []
    page.close()


@pytest.mark.parametrize("where", ["formgrader", "feedback"])
def test_page_of_what_cannot_be_read_quotes_what_is_there_and_does_nothing(
    where: str, course: Path, formgrader: str, browser: Browser, heard: tuple[str, list[str]]
) -> None:
    page, (_, asked) = browser.new_page(), heard
    asked.clear()
    feedback = course / "grading" / "feedback" / "mallory" / "01_a" / "01_a.html"
    in_formgrader = f"{formgrader}/submissions/{submission_of(course, 'mallory')}/"
    answer = page.goto({"formgrader": in_formgrader, "feedback": feedback.as_uri()}[where])
    page.wait_for_timeout(200)
    said = page.get_by_role("heading", name="Nothing could be graded").locator("xpath=../*[2]")
    assert answer.ok
    assert said.inner_text().startswith("<script>document.title")
    assert "<noscript>" in said.inner_text()
    assert said.locator("code").locator("*").count() == 0
    assert ("!" in page.title(), asked) == (False, [])
    assert set(page.evaluate(ALIVE)) <= OURS
    page.close()


def test_icon_of_the_formgrader_runs_nothing_and_says_how_to_grade(
    course: Path, formgrader: str, browser: Browser
) -> None:
    graded = course / "grading" / "autograded" / "eve" / "01_a" / "01_a.ipynb"
    before = graded.stat().st_mtime_ns
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{formgrader}/manage_submissions/01_a")
    page.locator("tr", has_text="eve").locator(".autograde a").click()
    dialog = page.locator("#error-modal")
    dialog.wait_for()
    lines = [line.strip() for line in dialog.locator("pre").first.inner_text().splitlines()]
    assert lines[0] == "[ERROR] Nothing was run."
    assert "hintgrader autograde 01_a --student eve" in lines
    assert graded.stat().st_mtime_ns == before
    page.close()


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|:--|--:|\n| 1 | `2 < 3` |",
        "> quoted\n\n1. one\n2. two\n   - inner",
        "<details><summary>Hint</summary>\n\nTry **this**.\n\n</details>",
        f"![a dot](data:image/png;base64,{hostile.PICTURE})",
        "```python\nif a < b: pass\n```",
    ],
)
def test_honest_text_comes_through_as_nbconvert_renders_it(text: str) -> None:
    theirs = MarkdownWithMath(IPythonRenderer(escape=False)).render(text)
    ours = markdown_to_html({}, text)
    assert bare(ours) == bare(theirs)


def bare(page: str) -> str:
    """HTML written in one way, without classes and ids."""
    return re.sub(r' (class|id)="[^"]*"', "", str(BeautifulSoup(page, "html.parser"))).replace(
        ";", ""
    )


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("$\\href{javascript:0}{x}$", "x"),
        ("$\\style{position:fixed}{x}\\class{score}{y}$", "xy"),
        ("$\\hspace{99em}x\\!y$", "xy"),
        ("$\\newcommand{\\a}{\\a\\a}\\a$", "\\newcommand{\\a}{\\a\\a}\\a"),
        ("$\\frac{$", "\\frac{"),
        ("<math href=x><mspace width='-9em' onclick=y></mspace>x</math>", "x"),
    ],
)
def test_formula_of_a_student_does_nothing_and_covers_nothing(formula: str, shown: str) -> None:
    page = BeautifulSoup(markdown_to_html({}, formula), "html.parser")
    names = {name for element in page.find_all(True) for name in element.attrs}
    assert page.text.strip() == shown
    assert names <= {"display", "width"}
    assert not {"99em", "-9em"} & {element.get("width") for element in page.find_all("mspace")}


def test_function_and_number_in_a_formula_stand_apart() -> None:
    assert '<mi>log</mi><mspace width="0.167em"></mspace><mn>2</mn>' in markdown_to_html(
        {}, "$\\log 2$"
    )


def test_page_is_no_wider_than_the_screen_whatever_a_student_wrote(page: Page) -> None:
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == page.viewport_size["width"]
    assert page.locator("#notebook", has_text="too wide to be set").count()


def shortened(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return Shorten().preprocess(notebook, {})[0]


@left_to_proofs
def test_page_of_20_000_cells_shows_the_graded_ones_and_says_how_many_are_left_out() -> None:
    # Ids drawn for so many cells meet in one run of twenty, which is refused.
    filler = [new_markdown_cell(f"cell {n}", id=f"filler-{n}") for n in range(20_000)]
    long = [new_markdown_cell("a" * 30_000) for _ in range(6)]
    source = hostile.problem_set()
    known = [c.source for c in source.cells if c.metadata.get("nbgrader")]
    shown = shortened(new_notebook(cells=[*long, *filler, *source.cells])).cells
    assert [c.source for c in shown if c.metadata.get("nbgrader")] == known
    assert [len(c.source) for c in shown[:3]] == [20_046, 20_046, 20_046]
    assert sum(len(c.source) for c in shown) < 130_000
    left_out = "*Left out of this page: 20,005 further cells. The notebook has them.*"
    assert shown[-1].source == left_out
    shown = shortened(new_notebook(cells=[*filler, *source.cells])).cells
    assert len(shown) == 300 + len(known) + 1


def test_page_shows_the_beginning_of_a_long_text_and_says_how_much_is_left_out() -> None:
    notebook = hostile.problem_set()
    cell = next(c for c in notebook.cells if c.cell_type == "code")
    cell.source = "x" * 25_000
    cell.outputs = [new_output("stream", text="y" * 20_001) for _ in range(20)]
    shortened(notebook)
    assert cell.source == "x" * 20_000 + "\n\n... left out of this page: 5,000 characters"
    assert cell.outputs[0].text.endswith("yy\n\n... left out of this page: 1 characters")
    assert cell.outputs[-1].text == "\n\n... left out of this page: 20,001 characters"
