"""Writing points into the gradebook, and the notebook to give back into the autograded folder."""

from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import AssignLatePenalties, ClearOutput, LimitOutput
from nbgrader.utils import is_grade

from hintgrader.nbgrader.cells import code_cells
from hintgrader.nbgrader.extensions import ApplyExtension, read_extensions
from hintgrader.nbgrader.restore_cells import PutBackCells, RestoreMetadata
from hintgrader.nbgrader.save_marks import ReviewState, SaveMarks
from hintgrader.nbgrader.steps import Directory, Steps, SubmissionConverter
from hintgrader.nbgrader.unreadable import EnterNothing, placeholder_notebook
from hintgrader.pipeline.load import LoadedNotebook, Unreadable
from hintgrader.pipeline.locate import HandIn
from hintgrader.supervisor.results import Graded
from hintgrader.worker.points import Points
from hintgrader.worker.wire import Message


def enter_points(hand_in: HandIn, notebook: LoadedNotebook, graded: Graded) -> None:
    """Enter what a notebook has earned.

    Raises:
        DBAPIError, InvalidEntry: The gradebook refuses; it may do so no more when asked again.
        GradingError: nbgrader gives up, for a setting.
        Exception: Of whatever kind, at which it gives up.
    """
    steps = [
        ClearMetadataPreprocessor,
        LimitOutput,
        SaveMarks(_review_state(hand_in)),
        _extension(hand_in),
        AssignLatePenalties,  # and no second look at the metadata: they are as they were
    ]
    _convert(hand_in, fill_outputs(notebook.cells, graded), steps)


def enter_nothing(hand_in: HandIn, unreadable: Unreadable) -> None:
    """Enter no points for what cannot be read, with a notebook that says why.

    Raises:
        Exception: As `enter_points` does.
    """
    nothing = EnterNothing(unreadable.reason, _review_state(hand_in))
    late = [_extension(hand_in), AssignLatePenalties]
    steps = [RestoreMetadata, ClearOutput, PutBackCells, nothing, *late]
    what = unreadable.reason, bool(unreadable.details)
    _convert(hand_in, placeholder_notebook(hand_in.course, hand_in.assignment, *what), steps)


def _review_state(hand_in: HandIn) -> ReviewState:
    """The review state of a submission at its last grading."""
    return ReviewState(hand_in.record_path.with_suffix(".read"))


def _extension(hand_in: HandIn) -> ApplyExtension:
    found = read_extensions(hand_in.course)
    return ApplyExtension(found.get((hand_in.assignment, hand_in.student)))


def _convert(hand_in: HandIn, notebook: NotebookNode, steps: Steps) -> None:
    directory = Directory(config=hand_in.course.config)
    directory.assignment_id, directory.student_id = hand_in.assignment, hand_in.student
    directory.time = hand_in.time
    converter = SubmissionConverter(coursedir=directory, config=hand_in.course.config)
    converter.force = True
    converter.exporter_class = NotebookExporter  # a server may do this: nothing runs in its name
    converter.notebook, converter.steps, converter.files = notebook, steps, hand_in.files
    converter.start()


def fill_outputs(notebook: NotebookNode, graded: Graded) -> NotebookNode:
    """A notebook with what its cells showed and earned."""
    for count, (cell, shown) in enumerate(zip(code_cells(notebook), graded.shown, strict=True), 1):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        part = graded.parts.get(name) if is_grade(cell) else None
        cell.execution_count = count
        if part is None:
            cell.outputs = _outputs(shown)
            continue
        counts = bool(cell.metadata.nbgrader.points)  # or its part was dropped
        points = part.points if counts else part.points.uncounted()
        cell.outputs = [_points_output(points, count)]
    return notebook


def _points_output(points: Points, count: int) -> NotebookNode:
    """The output with the points, for nbgrader and for people."""
    shown = {"text/plain": repr(float(points)), "text/html": points._repr_html_()}
    return new_output("execute_result", data=shown, execution_count=count)


def _outputs(shown: Message) -> list[NotebookNode]:
    """The outputs of a student's cell; `read_shown` has kept only words and pictures."""
    outputs = []
    if shown["printed"]:
        outputs.append(new_output("stream", name="stdout", text=shown["printed"]))
    outputs += [new_output("display_data", data=data) for data in shown["shown"]]
    if shown["error"]:
        name, message = shown["error"]
        outputs.append(
            new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])
        )
    return outputs
