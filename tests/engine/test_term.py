"""A term as a lecturer lives it, command by command, and what each takes.

    python -m tests.engine.test_term        # prints the table of commands that the guide has

Four students hand in in four ways: Ada through the exchange, Grace in an archive of Moodle's, Alan
by mail and late with an extension, Mary by mail and late without one.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from pwd import getpwuid
from zipfile import ZipFile

import pytest
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.rubric.items import RUBRIC, find_item, read_items
from hintgrader.nbgrader.rubric.marks import give
from hintgrader.testing.courses import SECRET, hand_in, seed_of_no_other_course

from tests.conftest import ROOT
from tests.engine.classroom import Person, seat
from tests.engine.test_nbgrader import FIRST as SET
from tests.engine.test_nbgrader import lay_out

EXPORTERS = ("Moodle", "Canvas", "Brightspace", "Blackboard")
ADA = getpwuid(os.getuid()).pw_name  # the exchange knows her by the account that hands in
ROSTER = f"""id,first_name,last_name,email,lms_user_id
{ADA},Ada,Lovelace,ada@example.org,11
grace,Grace,Hopper,grace@example.org,12
alan,Alan,Turing,alan@example.org,13
mary,Mary,Jackson,mary@example.org,14
"""
EXTENSIONS = f"id,assignment,until\nalan,{SET},2027-03-08 18:00 UTC\n"
RULE = 'c.LateSubmissionPlugin.penalty_method = "zero"\n'


@dataclass
class Term:
    """A lecturer at work.

    Attributes:
        lecturer: In the folder of the course.
        student: Who uses the exchange.
        took: Seconds of a processor by command, in their order, when each was first typed.
    """

    lecturer: Person
    student: Person
    took: dict[str, float] = field(default_factory=dict)

    @property
    def course(self) -> Path:
        return self.lecturer.folder

    def type(self, command: str) -> str:
        """Type a command of the guide; return what it says."""
        before = _processor_seconds()
        said = self.lecturer.command(*command.split())
        self.took.setdefault(command, _processor_seconds() - before)
        return said

    def scores(self) -> dict[str, float]:
        """The score of each student in the exported table."""
        self.type("nbgrader export --to grading/grades.csv")
        with (self.course / "grading" / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def begin(classroom: Path) -> Term:
    """A course with a seed, a roster and a rule for who is late; and a student's folder."""
    term = Term(seat(classroom, "lecturer"), seat(classroom, "ada"))
    lay_out(term.course, SET)
    with (term.course / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(RULE)
    grading = term.course / "grading"
    grading.mkdir(mode=0o700)
    for name, text in {"roster": ROSTER, "extensions": EXTENSIONS}.items():
        (grading / f"{name}.csv").write_text(text, encoding="utf-8")
    (grading / "secret.txt").write_text(f"{SECRET}\n", encoding="utf-8")
    return term


def release(term: Term) -> None:
    """The class is entered, and gets its problem set."""
    assert "mary" in term.type("nbgrader db student import grading/roster.csv")
    term.type(f"nbgrader generate_assignment {SET} --force")
    due = "--duedate=2027-03-01T18:00:00"  # UTC
    term.type(f"nbgrader db assignment add {SET} {due}")
    term.type(f"nbgrader release_assignment {SET}")


def hand_in_everything(term: Term) -> None:
    """Each in their own way; Grace leaves the set as it was given out."""
    submitted = term.course / "grading" / "submitted"
    for student, when in {"alan": "2027-03-08 17:00 UTC", "mary": "2027-03-08 17:00 UTC"}.items():
        hand_in(term.course, SET, student, {})
        (submitted / student / SET / "timestamp.txt").write_text(when, encoding="utf-8")
    exchange = "--course attention"
    term.student.command(*f"nbgrader fetch_assignment {SET} {exchange}".split())
    shutil.copy(submitted / "alan" / SET / f"{SET}.ipynb", term.student.folder / SET)
    term.student.command(*f"nbgrader submit {SET} {exchange}".split())
    archive = term.course / "grading" / "downloaded" / SET / "archive"
    archive.mkdir(parents=True)
    with ZipFile(archive / "all.zip", "w") as packed:
        given_out = term.course / "exercises" / SET / f"{SET}.ipynb"
        packed.write(given_out, f"Grace Hopper_4711_assignsubmission_file/{SET}.ipynb")


def collect(term: Term) -> None:
    """Fetch what came through the exchange, and what the learning system has."""
    assert f" {ADA} {SET}" in term.type("nbgrader list --inbound")
    term.type(f"nbgrader collect {SET} --update")
    term.type(f"nbgrader zip_collect {SET}")
    there = {path.name for path in (term.course / "grading" / "submitted").iterdir()}
    assert there == {ADA, "grace", "alan", "mary"}


def grade(term: Term) -> None:
    """Mary was late, and Alan was allowed to be."""
    assert "4 submissions" in term.type(f"hintgrader autograde {SET}")
    term.type(f"hintgrader report {SET}")
    term.type(f"hintgrader similar {SET}")
    assert "sum-is-0  +0.5: given 0 times" in term.type(f"hintgrader rubric {SET}")
    scores = term.scores()
    assert scores["alan"] > 10
    assert (scores["mary"], scores["grace"]) == (0, 0)


def return_feedback(term: Term) -> None:
    """Through the exchange, and in one zip."""
    term.type(f"nbgrader generate_feedback {SET} --force")
    term.type(f"nbgrader release_feedback {SET}")
    assert "the pages of 4" in term.type(f"hintgrader pack-feedback {SET}")
    with ZipFile(term.course / "grading" / "results" / f"{SET}-feedback.zip") as packed:
        assert f"Grace Hopper_4711_assignsubmission_file/{SET}.html" in packed.namelist()


def hear_an_appeal(term: Term) -> None:
    """Points that a person gives, typed or by a rubric item, stay when all is graded again."""
    with seed_of_no_other_course(), Course(term.course).gradebook() as book:
        (notebook,) = book.find_submission(SET, "grace").notebooks
        grade = next(one for one in notebook.grades if one.auto_score == 0)
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        items = read_items(term.course / "solutions" / SET / RUBRIC, {"words": 3.0})
        give(notebook, items, find_item(items, "words", "sum-is-0"), has=True)
        book.db.commit()
    assert term.scores()["grace"] == 1.5
    term.type(f"hintgrader autograde {SET} --force")
    assert term.scores()["grace"] == 1.5
    assert "sum-is-0  +0.5: given 1 time\n" in term.type(f"hintgrader rubric {SET}")
    said = term.type(f"hintgrader history {SET} grace --note=granted")
    assert re.search(r"0 points.*granted.*by hand: .* 1, and the grader 0", said, re.S)


def drop_a_part(term: Term) -> None:
    """A part is worth nothing any more, and all else what it was."""
    before = term.scores()["alan"]
    term.type(f"hintgrader drop {SET}/softmax")
    term.type(f"nbgrader generate_assignment {SET} --force")
    term.type(f"hintgrader autograde {SET}")
    assert 0 < term.scores()["alan"] < before


def export(term: Term) -> None:
    """The tables of four learning systems."""
    for system in EXPORTERS:
        exporter = f"hintgrader.nbgrader.exports.learning_systems.{system}Exporter"
        path = f"grading/{system.lower()}.csv"
        term.type(f"nbgrader export --to {path} --exporter={exporter}")
        assert ADA in (term.course / path).read_text("utf-8")


def end(term: Term) -> None:
    """Everything is kept elsewhere; one person is deleted; and all is as it was after a loss."""
    scores = term.scores()
    term.type("hintgrader data backup ../term.tar.gz")
    term.type(f"hintgrader data export {ADA} ../ada.zip")
    term.type(f"hintgrader data delete {ADA} --yes")
    assert "Lovelace" not in term.type("nbgrader db student list")
    shutil.rmtree(term.course / "grading")
    term.type("hintgrader data restore ../term.tar.gz")
    assert term.scores() == scores
    term.type(f"hintgrader data take-back {SET} mary")


STEPS: tuple[Callable[[Term], None], ...] = (
    *(release, hand_in_everything, collect, grade, return_feedback),
    *(hear_an_appeal, drop_a_part, export, end),
)


def table(term: Term) -> str:
    """The commands with what they took of a processor, as a table in Markdown."""
    rows = [f"| `{command}` | {seconds:.1f} s |" for command, seconds in term.took.items()]
    return "\n".join(["| command | processor |", "|---|---|", *rows])


@pytest.mark.left_to_proofs
def test_term_from_the_roster_to_the_last_deletion(tmp_path: Path) -> None:
    term = begin(tmp_path)
    for step in STEPS:
        step(term)


def test_guide_has_the_times_of_these_commands() -> None:
    """The table is this module's own: `python -m tests.engine.test_term`."""
    guide = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    timed = re.findall(r"^\| `((?:nbgrader|hintgrader) [^`]+)` \| [\d.]+ s \|", guide, re.M)
    source = Path(__file__).read_text(encoding="utf-8")
    typed = re.findall(r'term\.type\(f?"([^"]+)"', source)
    assert len(typed) > 20
    assert {_verbs(one) for one in timed} == {_verbs(one) for one in typed}


def _verbs(command: str) -> str:
    """The program and what it is to do, as in `nbgrader db student list`."""
    found = re.match(r"(?:nbgrader|hintgrader) (?:db \w+ |data )?[\w-]+", command)
    assert found, command
    return found[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        lived = begin(Path(folder))
        for step in STEPS:
            step(lived)
        print(table(lived))
