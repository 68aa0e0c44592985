"""Settings of nbgrader for this course, read when it is called from the root of the repository."""

import os
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.apps import NbGrader
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    OverwriteKernelspec,
)
from traitlets.config import Application

from attn_grade.nbgrader.course import CourseError
from attn_grade.nbgrader.formgrader import OutsideTheFormgrader
from attn_grade.nbgrader.pages.clean import clean_html, markdown_to_html
from attn_grade.nbgrader.pages.defuse import Defuse
from attn_grade.nbgrader.pages.grades import GetGradesByPart
from attn_grade.nbgrader.pages.hidden_tests import HideTracebacksOfHiddenTests
from attn_grade.nbgrader.pages.places import template_paths
from attn_grade.nbgrader.preprocessors import ForgetDuplicates, PutBackCells, RestoreMetadata
from attn_grade.nbgrader.private import is_shared, make_private, mask

root = Path(__file__).resolve().parent
grading = root / "grading"
try:
    make_private(grading)  # before anything is written into it
except CourseError as error:
    # nbgrader would go on without these settings after any other error
    raise SystemExit(f"{error}") from None
if Application.initialized() and isinstance(Application.instance(), NbGrader):
    os.umask(mask(grading))  # of this command; a server goes on, and makes other files as well

c = get_config()
c.AttnGrade.bank = "attn_bank"  # where the exercises are; it names what a submission may import
c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.groupshared = is_shared(grading)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.solution_directory = "grading/solution"
# 60 s: parallel graders wait for each other instead of failing with "database is locked". Where
# several machines grade, the variable names a database of PostgreSQL that all of them reach.
sqlite = f"sqlite:///{grading / 'gradebook.db'}?timeout=60"
c.CourseDirectory.db_url = os.environ.get("ATTN_GRADE_DB_URL") or sqlite
# What may lie beside a problem set's source and never reaches a student.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "__pycache__",
    "*.pyc",
    ".DS_Store",
    "instructor*",
    "*.private.*",
]
# `nbgrader collect` takes a hand-in from its owner alone, and the time from the file system.
c.ExchangeFactory.collect = "attn_grade.nbgrader.inbound.OwnerCollect"
# Archives of learning systems, for `nbgrader zip_collect`: where they lie, and whose file is whose.
c.ZipCollectApp.downloaded_directory = "grading/downloaded"
c.ZipCollectApp.collector_plugin = "attn_grade.nbgrader.collect.RosterCollector"

# Any output on stderr in a graded cell would cost all of its points; a warning is no wrong answer.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s).*"
# A deleted, copied or garbled cell would leave the whole submission ungraded: a deleted one is put
# back, of several copies the last counts, and what nbgrader wrote into a cell is written anew.
c.OverwriteCells.add_missing_cells = True
c.Autograde.sanitize_preprocessors = [
    RestoreMetadata,
    ClearOutput,
    ForgetDuplicates,
    OverwriteKernelspec,
    PutBackCells,
    CheckCellMetadata,
]
# The formgrader's icon Autograde would run students' code with the rights of whoever clicks it.
c.Autograde.exporter_class = OutsideTheFormgrader
# An endless loop costs the points of its cell, after this many seconds. Checks stop the calls that
# they make much earlier; an answer that trains may take two minutes, and is called four times.
c.ExecutePreprocessor.timeout = 600
# nbgrader's own list shows the hidden tests in its feedback, in the cell and in the traceback.
c.GenerateFeedback.preprocessors = [
    GetGradesByPart,
    HideTracebacksOfHiddenTests,
    ClearHiddenTests,
    CSSHTMLHeaderPreprocessor,
]

# What a student wrote must not run in the browser of who reads it: nbgrader's templates leave all
# that to the filters, and nbconvert's own filter would take the tables of checks apart.
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {"clean_html": clean_html, "markdown2html": markdown_to_html}
c.HTMLExporter.preprocessors = [Defuse]
c.HTMLExporter.template_paths = template_paths()
c.CSSHTMLHeaderPreprocessor.style = "a11y-high-contrast-light"  # nbconvert's own is too pale

# Hidden cases are drawn from this seed. Kernels inherit the environment; without the file, the
# package's documented default holds. An empty file is a seed that somebody meant to have.
secret = grading / "secret.txt"
if secret.is_file() and not os.environ.get("ATTN_GRADE_SECRET"):
    os.environ["ATTN_GRADE_SECRET"] = secret.read_text(encoding="utf-8").strip()
    if not os.environ["ATTN_GRADE_SECRET"]:
        raise SystemExit(f"{secret} is empty. Write a seed into it, or remove it.")
