"""Settings of nbgrader for this course, read when it is called from the root of the repository."""

import os
import re
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor, Preprocessor
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearOutput,
    GetGrades,
    OverwriteCells,
    OverwriteKernelspec,
)

from attn_course.grading.duplicates import ForgetDuplicates


class HideTracebacksOfHiddenTests(Preprocessor):
    """Say only that a hidden test failed: its traceback quotes the test, and its neighbours."""

    enabled = True

    def preprocess_cell(self, cell, resources, cell_index):
        """Replace the tracebacks of a cell that holds hidden tests by one sentence."""
        if cell.cell_type == "code" and "### BEGIN HIDDEN TESTS" in cell.source:
            hidden = cell.source.partition("### BEGIN HIDDEN TESTS")[0].count("\n") + 1
            for output in cell.outputs:
                if output.output_type == "error":
                    plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
                    failed = re.search(r"^-+> (\d+)", plain, re.MULTILINE)
                    seen = failed and int(failed[1]) < hidden
                    said = f"{output.ename}: {output.evalue}" if seen else "A hidden test failed."
                    output.traceback = [said]
        return cell, resources


root = Path(__file__).resolve().parent
grading = root / "grading"
grading.mkdir(exist_ok=True)  # sqlite makes its file, but not the folder around it

c = get_config()
c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.solution_directory = "grading/solution"
# 60 s: parallel graders wait for each other instead of failing with "database is locked".
c.CourseDirectory.db_url = f"sqlite:///{grading / 'gradebook.db'}?timeout=60"
# What may lie beside a problem set's source and never reaches a student.
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints",
    "__pycache__",
    "*.pyc",
    ".DS_Store",
    "instructor*",
    "*.private.*",
]
# Archives of learning systems, for `nbgrader zip_collect`: where they lie, and whose file is whose.
c.ZipCollectApp.downloaded_directory = "grading/downloaded"
c.ZipCollectApp.collector_plugin = "attn_course.grading.autograde.collect.RosterCollector"

# Any output on stderr in a graded cell would cost all of its points; a warning is no wrong answer.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(?s).*"
# A deleted or copied cell would leave the whole submission ungraded: a deleted one is put back, of
# several copies the last counts.
c.OverwriteCells.add_missing_cells = True
c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    ForgetDuplicates,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
# An endless loop costs the points of its cell, after this many seconds. Checks stop the calls that
# they make much earlier; an answer that trains may take two minutes, and is called four times.
c.ExecutePreprocessor.timeout = 600
# nbgrader's own list shows the hidden tests in its feedback, in the cell and in the traceback.
c.GenerateFeedback.preprocessors = [
    GetGrades,
    HideTracebacksOfHiddenTests,
    ClearHiddenTests,
    CSSHTMLHeaderPreprocessor,
]

# Hidden cases are drawn from this seed. Kernels inherit the environment; without the file, the
# package's documented default holds.
secret = grading / "secret.txt"
if secret.is_file():
    os.environ.setdefault("ATTN_COURSE_SECRET", secret.read_text(encoding="utf-8").strip())
