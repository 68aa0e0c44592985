"""The report on a class: what it counts, and its page in a browser, for classes of any size."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import Result
from hintgrader.__main__ import app
from hintgrader.bank.grade import grade
from hintgrader.nbgrader.course import Course
from hintgrader.pipeline.digest import digest_of
from hintgrader.records.records import (
    PartRecord,
    RowRecord,
    SubmissionRecord,
    record_path,
    worst_state,
    write_record,
)
from hintgrader.report import figures
from hintgrader.report.page import render_report, write_report
from hintgrader.report.tally import Tally
from hintgrader.worker.submission import LocalSubmission
from typer.testing import CliRunner

from attn_bank import exercise_names, find_exercise
from tests.book.test_pages import look_with_axe
from tests.conftest import ROOT
from tests.sampling import left_to_proofs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SET = "01_retrieval"
EVIL = "<script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"


@cache
def graded(exercise: str, mistake: str | None) -> PartRecord:
    """Grade a mistake of the bank, or the reference, as a part."""
    spec = find_exercise(exercise)
    answers = {each.name: each.answer for each in spec.mistakes} | {None: spec.reference}
    earned = grade(spec, LocalSubmission(answers[mistake]), "of this class")
    rows = tuple(RowRecord(row.label, row.points, row.problem) for row in earned.rows)
    fields = (f"{exercise.partition('/')[2]}-check", exercise, float(earned), earned.of, "graded")
    return PartRecord(*fields, rows, earned.hint, earned.mistake, float(earned), float(earned))


def unwritten(exercise: str) -> PartRecord:
    """A part that was left as it was given out."""
    part = graded(exercise, None)
    rows = tuple(replace(row, problem="not written yet") for row in part.rows)
    return replace(part, points=0.0, state="missing", rows=rows, claimed=None, public=0.0)


def submission(student: str, *parts: PartRecord, **others: object) -> SubmissionRecord:
    """A record of these parts."""
    state = worst_state([part.state for part in parts])
    usual = {"state": state, "level": "sandbox", "digest": "0" * 64, "seconds": 2.5}
    return SubmissionRecord(SET, student, **(usual | others), parts=parts)


def exercises(number: int) -> list[str]:
    return [name for name in exercise_names() if name.startswith(SET)][:number]


def a_class(number: int, of_set: int = 2) -> list[SubmissionRecord]:
    """So many students: most right, some with each mistake, and a few with worse."""
    draw, records = random.Random(number), []
    for student in range(number):
        parts = []
        for name in exercises(of_set):
            bank = [each.name for each in find_exercise(name).mistakes]
            part = graded(name, draw.choice([None, *draw.choices(bank, range(1, len(bank) + 1))]))
            part = draw.choices([part, unwritten(name)], (12, 1))[0]
            parts.append(_with_trouble(part, draw))
        if draw.random() < 0.1:
            parts = [unwritten(name) for name in exercises(of_set)]
        name, seconds = f"student{student:04}", draw.gammavariate(4, 0.6)
        records.append(submission(name, *parts, seconds=seconds))
    return records


def _with_trouble(part: PartRecord, draw: random.Random) -> PartRecord:
    state = draw.choices(["", "crashed", "timed out", "cheated?"], (60, 1, 1, 1))[0]
    notes = {
        "crashed": ("it ended its process with exit code 1",),
        "timed out": ("a call did not come back within 10 s",),
        "cheated?": ("the notebook shows 4 of 4 points, and its code earns 0 on the same inputs",),
    }
    if not state or part.state == "missing":
        return part
    return replace(part, points=0.0, state=state, notes=notes[state], mistake=None, hint=None)


def test_tally_counts_who_has_all_some_and_no_points() -> None:
    one, two = exercises(2)
    right, wrong = graded(one, None), replace(graded(one, None), points=0.0)
    half = replace(graded(one, None), points=0.5)
    others = [unwritten(two)] * 4
    parts = [right, right, half, wrong]
    records = [submission(f"s{i}", *pair) for i, pair in enumerate(zip(parts, others, strict=True))]
    first, second = Tally(records).exercises
    assert (first.full, first.some, first.none, first.unwritten) == (2, 1, 1, 0)
    assert (second.full, second.some, second.none, second.unwritten) == (0, 0, 0, 4)
    assert first.mean == (2 * right.of + 0.5) / 4
    assert Tally(records).of == right.of + unwritten(two).of


def test_tally_finds_the_hardest_check_and_the_most_common_mistake() -> None:
    name = exercises(5)[3]
    assert name == "01_retrieval/softmax"
    made = ["overflows", "overflows", "cuts_off_scores", None]
    records = [submission(f"s{i}", graded(name, mistake)) for i, mistake in enumerate(made)]
    tally = Tally([*records, submission("absent", unwritten(name))])
    hints = {mistake.name: mistake.whole_hint for mistake in find_exercise(name).mistakes}
    assert [(each.name, each.students, each.hint) for each in tally.mistakes] == [
        ("overflows", 2, hints["overflows"]),
        ("cuts_off_scores", 1, hints["cuts_off_scores"]),
    ]
    hardest = tally.checks[0]
    assert (hardest.label, hardest.right, hardest.written) == (
        "scores in the thousands, positive or negative, give the right weights, and no `nan`",
        *(2, 4),
    )
    assert tally.unrecognised == 0


def test_tally_puts_what_a_person_should_look_at_in_the_order_of_its_weight() -> None:
    part = graded(exercises(1)[0], None)
    states = ["graded", "timed out", "cheated?", "crashed"]
    records = [submission(state, replace(part, state=state)) for state in states]
    noted = submission("noted", part, notes=("left 3 processes behind",))
    tally = Tally([*records, noted])
    found = [(each.student, each.state) for each in tally.concerns]
    assert found == [
        *((state, state) for state in ("cheated?", "crashed", "timed out")),
        ("noted", "graded"),
    ]
    assert tally.states == [("cheated?", 1), ("crashed", 1), ("timed out", 1), ("graded", 2)]
    assert tally.levels == [("sandbox", 5)]
    assert tally.seconds == 2.5


def test_absent_students_are_named_and_do_not_count_as_wrong() -> None:
    name = exercises(1)[0]
    absent = submission("Nobody", unwritten(name), notes=("nothing was handed in",))
    tally = Tally([submission("there", graded(name, None)), absent])
    assert tally.points == [graded(name, None).of]
    assert [record.student for record in tally.absent] == ["Nobody"]
    assert tally.exercises[0].unwritten == 0
    assert "Nobody: nothing was handed in" in render_report(SET, tally.records)


@pytest.mark.parametrize("number", [0, 1, 100, pytest.param(2000, marks=left_to_proofs)])
def test_page_is_sensible_for_any_size(number: int) -> None:
    records = a_class(number)
    page = render_report(SET, records)
    present = len(Tally(records).handed_in)
    word = "student" if number == 1 else "students"
    assert f"{present:,} of {number:,} {word}" in page
    assert page.count("<svg") == (3 if present else 0)
    assert "nan%" not in page
    assert len(page) < 1_000_000


def test_half_a_point_less_than_all_is_not_drawn_with_them() -> None:
    figure = figures.points([9.0, 9.0, 8.5, 8.0, 0.0], 9)
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == [1, 0, 0, 0, 0, 0, 0, 0, 2, 2]


def test_page_of_one_student_shows_what_this_one_did() -> None:
    name = exercises(4)[3]
    page = render_report(SET, [submission("ann", graded(name, "overflows"))])
    assert page.count("<svg") == 3
    assert "median 3 of 4" in page
    assert '<td class="number">1<span> student</span></td>' in page


def test_long_lists_are_folded_with_the_worst_in_sight() -> None:
    part = graded(exercises(1)[0], None)
    states = ["timed out"] * 60 + ["cheated?"] * 3
    tally = [submission(f"s{i:02}", replace(part, state=s)) for i, s in enumerate(states)]
    sight = render_report(SET, tally).partition("To look at</h2>")[2].partition("<details")
    assert sight[0].count("<td>cheated?</td>") == 3
    assert sight[0].count("<td>timed out</td>") == 47
    assert sight[2].count("<td>timed out</td>") == 13


def test_page_of_a_class_that_handed_in_nothing_says_so() -> None:
    page = render_report(SET, [submission("a", unwritten(exercises(1)[0]))])
    assert "0 of 1 student<" in page
    assert "1 student with nothing to grade" in page


def hostile() -> list[SubmissionRecord]:
    """A class in which everything that a student can write is markup."""
    name = exercises(1)[0]
    rows = (RowRecord(EVIL, 1.0, EVIL), RowRecord("a `b` c $x$ &", 1.0))
    part = replace(graded(name, None), state="crashed", notes=(EVIL,), rows=rows)
    part = replace(part, hint=f"`{EVIL}`", mistake=EVIL, exercise=f"01/{EVIL}", points=0.0)
    evil = submission(EVIL, part, notes=(EVIL,), level=EVIL)
    return [evil, submission(f"{EVIL}2", unwritten(name), notes=(EVIL,)), *a_class(20)]


@pytest.fixture(scope="module", params=["light", "dark"])
def page(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Page, list[str]]]:
    """The page of a hostile class, and what it asked for."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(EVIL, hostile(), path, [EVIL], [EVIL])
    window = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=request.param)
    page, asked = window.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page, asked[1:]
    window.close()


@pytest.mark.browser
def test_nothing_of_a_student_runs_and_nothing_is_fetched(page: tuple[Page, list[str]]) -> None:
    window, asked = page
    assert window.title() == f"{EVIL}: report on the class"
    assert window.locator("script, img, link, iframe").count() == 0
    assert asked == []


@pytest.mark.browser
def test_page_fits_a_phone_and_axe_finds_nothing(page: tuple[Page, list[str]]) -> None:
    window, _ = page
    window.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert window.evaluate("document.documentElement.scrollWidth") == 390
    assert look_with_axe(window, few=3) == []


@pytest.mark.browser
def test_pictures_have_the_colour_of_the_text_and_say_what_they_show(
    page: tuple[Page, list[str]],
) -> None:
    window, _ = page
    pictures = window.locator("figure svg[role=img][aria-label]")
    assert pictures.count() == 3
    colour = "one => [getComputedStyle(one).fill, getComputedStyle(document.body).color]"
    for picture in pictures.all():
        fill, ink = picture.locator("text").first.evaluate(colour)
        assert fill == ink
    ids = window.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))


def test_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "results" / "report.html"
    write_report(SET, a_class(1), path)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(AttributeError):
        write_report(SET, [None], path)
    assert path.read_text(encoding="utf-8") == before
    assert [found.name for found in path.parent.iterdir()] == ["report.html"]


def course_with(tmp_path: Path, records: list[SubmissionRecord], *roster: str) -> Path:
    """A folder of a course that knows the first problem set and these students."""
    from nbgrader.api import Gradebook

    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions" / SET, tmp_path / "solutions" / SET)
    (tmp_path / "grading").mkdir(mode=0o700)
    with Gradebook(f"sqlite:///{tmp_path / 'grading' / 'gradebook.db'}", "attention") as gradebook:
        gradebook.add_assignment(SET)
        for student in roster:
            gradebook.add_student(student)
    results = tmp_path / "grading" / "results"
    for record in records:
        write_record(record_path(results, SET, record.student), record)
    return results


def run_report(course: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", *arguments, "--course", str(course)])


def test_command_writes_the_page_with_those_of_the_roster_who_handed_in_nothing(
    tmp_path: Path,
) -> None:
    records = [submission("ann", graded(exercises(1)[0], None))]
    results = course_with(tmp_path, records, "ann", "bob", "cid")
    (tmp_path / "grading" / "submitted" / "cid" / SET).mkdir(parents=True)
    run = run_report(tmp_path, SET)
    assert (run.exit_code, run.stdout.strip()) == (0, str(results / f"{SET}.html"))
    assert run.stderr == "cid has no mark, and counts nowhere: it has not been graded.\n"
    page = (results / f"{SET}.html").read_text(encoding="utf-8")
    assert "1 of 2 students" in page
    assert "bob: nothing was handed in" in page
    assert "1 submission lies there and counts nowhere above: cid." in page


def test_command_names_those_who_would_be_graded_otherwise_now(tmp_path: Path) -> None:
    part = graded(exercises(1)[0], None)
    results = course_with(tmp_path, [], "ann", "bob", "cid")
    for student in ("ann", "bob", "cid"):
        digest = digest_of(Course(tmp_path), SET, student)
        record = submission(student, part, digest=digest)
        write_record(record_path(results, SET, student), record)
    run_report(tmp_path, SET)
    page = results / f"{SET}.html"
    assert "Grade again" not in page.read_text(encoding="utf-8")
    handed_in = tmp_path / "grading" / "submitted" / "bob" / SET
    handed_in.mkdir(parents=True)
    (handed_in / f"{SET}.ipynb").write_text("{}", encoding="utf-8")
    run_report(tmp_path, SET)
    said = re.search(r'"warning">(.*?)</p>', page.read_text(encoding="utf-8"))[1]
    assert said.startswith("1 submission has changed since it was graded, or the checks have.")
    assert said.endswith(": bob.")


def test_command_says_which_file_is_no_record_and_which_set_is_not_known(tmp_path: Path) -> None:
    results = course_with(tmp_path, [])
    (results / SET).mkdir(parents=True)
    (results / SET / "eve.json").write_text("{}", encoding="utf-8")
    foreign, unknown = run_report(tmp_path, SET), run_report(tmp_path, "77_none")
    assert (foreign.exit_code, unknown.exit_code) == (2, 2)
    assert "eve.json is not the record of a submission" in foreign.output
    assert "77_none" in unknown.output
    assert "Traceback" not in foreign.output + unknown.output
