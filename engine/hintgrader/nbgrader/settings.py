"""The settings of nbgrader that grading from outside needs, whatever the course.

A course's `nbgrader_config.py` calls `configure`, and then sets what it wants otherwise.
"""

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
from sqlalchemy import URL
from traitlets.config import Application, Config

from hintgrader.bank.secret import SECRET_VARIABLE
from hintgrader.nbgrader.course import GRADING, Course, CourseError
from hintgrader.nbgrader.exits import check_encoding
from hintgrader.nbgrader.formgrader import OutsideTheFormgrader
from hintgrader.nbgrader.pages.clean import clean_html, markdown_to_html
from hintgrader.nbgrader.pages.defuse import Defuse
from hintgrader.nbgrader.pages.grades import GetGradesByPart
from hintgrader.nbgrader.pages.hidden_tests import HideTracebacksOfHiddenTests
from hintgrader.nbgrader.pages.places import template_paths
from hintgrader.nbgrader.pages.shorten import Shorten
from hintgrader.nbgrader.patches import mend_nbgrader
from hintgrader.nbgrader.printable import Plainly
from hintgrader.nbgrader.private import is_shared, make_private, mask
from hintgrader.nbgrader.restore_cells import ForgetDuplicates, PutBackCells, RestoreMetadata
from hintgrader.progress.remembered import FILE

PLAINLY = Plainly()


def configure(c: Config, root: Path, course_id: str, bank: str) -> None:
    """Set what a course needs that is graded from outside.

    Problem sets are in `solutions/`, what students get in `exercises/`, and all that only the
    grader may see in `grading/`, which is made private.

    Args:
        c: The settings, as `get_config()` gives them.
        root: The folder of the course.
        course_id: What nbgrader calls it.
        bank: Name of the package of exercises; it names what a submission may import.

    Raises:
        SystemExit: `grading/` cannot be made private, nbgrader cannot work in the folder, or the
            file of the seed is empty.
    """
    grading = root / GRADING
    _close(grading)  # before anything is written into it
    mend_nbgrader()
    c.HintGrader.bank = bank
    _set_places(c.CourseDirectory, root, course_id)
    # `nbgrader collect` takes a hand-in from its owner alone, and the time from the file system.
    exchange = "hintgrader.nbgrader.exchange"
    c.ExchangeFactory.collect = f"{exchange}.collect.OwnerCollect"
    c.ExchangeFactory.list = f"{exchange}.list.OwnerList"
    c.ExchangeFactory.release_feedback = f"{exchange}.release_feedback.ReleaseFeedback"
    # Archives of learning systems, for `nbgrader zip_collect`: where they lie, how they are
    # unpacked, whose file is whose.
    c.ZipCollectApp.downloaded_directory = f"{GRADING}/downloaded"
    c.ZipCollectApp.extractor_plugin = "hintgrader.nbgrader.archives.extractor.UploadExtractor"
    c.ZipCollectApp.collector_plugin = "hintgrader.nbgrader.archives.collector.RosterCollector"
    # Marks are exported as they were graded, by whatever exporter of ours.
    c.ExportApp.plugin_class = "hintgrader.nbgrader.exports.checked.CheckedExporter"
    _set_grading(c)
    _set_pages(c)
    _read_secret(grading / "secret.txt")


def _close(grading: Path) -> None:
    """Let no other account of the machine enter the folder."""
    is_command = Application.initialized() and isinstance(Application.instance(), NbGrader)
    try:
        Course(grading.parent)
        if is_command:
            check_encoding()
        make_private(grading)
    except CourseError as error:
        # nbgrader would go on without these settings after any other error
        raise SystemExit(f"{error}") from None
    if is_command:
        os.umask(mask(grading))  # of this command; a server goes on, and makes other files as well
        Application.instance().log.addFilter(PLAINLY)  # names of files and people may hold anything


def _set_places(directory: Config, root: Path, course_id: str) -> None:
    """Say where what is."""
    grading = root / GRADING
    directory.root, directory.course_id = str(root), course_id
    directory.groupshared = is_shared(grading)
    directory.source_directory = "solutions"
    directory.release_directory = "exercises"
    for name in ("submitted", "autograded", "feedback", "solution"):
        directory[f"{name}_directory"] = f"{GRADING}/{name}"
    # 60 s: parallel graders wait for each other instead of failing with "database is locked". Where
    # several machines grade, the variable names a database of PostgreSQL that all of them reach.
    file, wait = f"{grading / 'gradebook.db'}", {"timeout": "60"}
    sqlite = URL.create("sqlite", database=file, query=wait).render_as_string()
    directory.db_url = os.environ.get("HINTGRADER_DB_URL") or sqlite
    # What may lie beside a problem set's source and never reaches a student; and what checks have
    # kept for one, which no grade depends on.
    ours = ["instructor*", "*.private.*", f"{FILE}*"]
    directory.ignore = [".ipynb_checkpoints", "__pycache__", "*.pyc", ".DS_Store", *ours]


def _set_grading(c: Config) -> None:
    """Let nothing that a student does to a notebook leave it ungraded."""
    # Any output on stderr in a graded cell would cost all of its points; a warning is no wrong
    # answer.
    c.IgnorePattern.enabled = True
    c.IgnorePattern.pattern = r"(?s).*"
    # A deleted, copied or garbled cell would leave the whole submission ungraded: a deleted one is
    # put back, of several copies the last counts, and what nbgrader wrote into a cell is written
    # anew.
    c.OverwriteCells.add_missing_cells = True
    c.Autograde.sanitize_preprocessors = [
        RestoreMetadata,
        ClearOutput,
        ForgetDuplicates,
        OverwriteKernelspec,
        PutBackCells,
        CheckCellMetadata,
    ]
    # What grading would refuse is not released in the first place.
    c.GenerateAssignment.exporter_class = "hintgrader.authoring.release.OnlyGradable"
    # The formgrader's icon Autograde would run students' code with the instructor's rights.
    c.Autograde.exporter_class = OutsideTheFormgrader
    # An endless loop costs the points of its cell, after this many seconds. Checks stop the calls
    # that they make much earlier; an answer that trains may take two minutes, and is called four
    # times.
    c.ExecutePreprocessor.timeout = 600


def _set_pages(c: Config) -> None:
    """Show no hidden test in feedback, and run nothing of a student's in a browser."""
    # nbgrader's own list shows hidden tests in its feedback, in the cell and in the traceback.
    c.GenerateFeedback.preprocessors = [
        GetGradesByPart,
        HideTracebacksOfHiddenTests,
        ClearHiddenTests,
        CSSHTMLHeaderPreprocessor,
    ]
    # No file of a student's is put beside the page.
    c.GenerateFeedbackApp.CourseDirectory.ignore = ["*"]
    # What a student wrote must not run in a reader's browser: nbgrader's templates leave
    # all that to the filters, and nbconvert's own filter would take the tables of checks apart.
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {"clean_html": clean_html, "markdown2html": markdown_to_html}
    c.HTMLExporter.preprocessors = [Shorten, Defuse]
    c.HTMLExporter.template_paths = template_paths()
    c.CSSHTMLHeaderPreprocessor.style = "a11y-high-contrast-light"  # nbconvert's own is too pale


def _read_secret(path: Path) -> None:
    """Put the seed of hidden inputs into the environment, which kernels inherit.

    Without the file, the package's documented default holds. An empty one is a seed that somebody
    meant to have.
    """
    if path.is_file() and not os.environ.get(SECRET_VARIABLE):
        os.environ[SECRET_VARIABLE] = path.read_text(encoding="utf-8").strip()
        if not os.environ[SECRET_VARIABLE]:
            raise SystemExit(f"{path} is empty. Write a seed into it, or remove it.")
