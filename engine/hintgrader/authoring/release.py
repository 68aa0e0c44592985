"""Refusing to release a problem set that grading would refuse, before students have it."""

from pathlib import Path
from typing import cast

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.converters.base import NbGraderException

from hintgrader import __version__
from hintgrader.authoring.faults import faults_of_set
from hintgrader.nbgrader.course import Course
from hintgrader.nbgrader.one_source import second_sources
from hintgrader.nbgrader.set_checks import unchangeable


class OnlyGradable(NotebookExporter):
    """The exporter of `nbgrader generate_assignment`; it refuses to be made for a faulty set.

    nbgrader makes it before it touches the gradebook and what was released before. A released
    notebook says which version of the engine gave it out, and so does what comes back.

    Raises:
        NbGraderException: A set cannot be graded as it is; the log says why, a line for each fault.
    """

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        converter = self.parent  # nbgrader's converters pass themselves
        assert converter is not None
        course = Course(Path(converter.coursedir.root))
        faults = list(second_sources(course))
        for folder in converter.assignments:
            assignment = Path(folder).name
            faults += faults_of_set(course, assignment)
            faults += [] if converter.no_database else unchangeable(course, assignment)
        for fault in faults:
            self.log.error(fault)
        if faults:
            raise NbGraderException("Nothing was released, for the reasons above.")

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own types name no text
        self, nb: NotebookNode, resources: ResourcesDict | None = None, **settings: object
    ) -> tuple[str, ResourcesDict]:
        nb.metadata["hintgrader"] = {"version": __version__}
        return cast(
            "tuple[str, ResourcesDict]", super().from_notebook_node(nb, resources, **settings)
        )
