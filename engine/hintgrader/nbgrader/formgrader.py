"""Reading for `nbgrader autograde`, and keeping the formgrader from running what is read.

The formgrader's icon *Autograde* runs a submission in the server's name: with the rights of the
instructor.
"""

import shlex
import sys
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode

from hintgrader.nbgrader.rebuild_notebook import rebuild


class NotInTheFormgraderError(Exception):
    """A submission was to be run within a server; the message says how it is graded instead."""


REFUSAL = """Nothing was run.

From here, the student's code would run with your rights.
Type in a terminal, in the folder of the course:

{command}"""


class OutsideTheFormgrader(NotebookExporter):
    """The exporter of `nbgrader autograde`; within a server it refuses to be constructed.

    nbgrader makes it before it touches a submission: what was graded before stays as it is.

    Raises:
        NotInTheFormgraderError: There is a Jupyter server in this process.
    """

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        if is_server():
            assert self.parent is not None  # nbgrader's converters pass themselves
            directory = self.parent.coursedir
            words = ("hintgrader", "autograde", directory.assignment_id)
            message = REFUSAL.format(
                command=shlex.join([*words, "--student", directory.student_id])
            )
            self.log.error(message)  # the page shows it above the traceback
            raise NotInTheFormgraderError(message)

    def from_filename(
        self, filename: str, resources: Any = None, **settings: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Read what was handed in as `hintgrader` does; then what nbgrader has made of it."""
        if not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources, **settings)
        found = rebuild(Path(filename).read_bytes())
        return self.from_notebook_node(found.notebook, resources, **settings)


def is_server() -> bool:
    """True if a Jupyter server of any kind runs in this process."""
    module = sys.modules.get("jupyter_server.serverapp")  # to import it would take a second
    return module is not None and module.ServerApp.initialized()
