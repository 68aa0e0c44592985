"""A notebook is run in the confined process, and its functions are held to their checks."""

from hintgrader.bank.bank import Bank
from hintgrader.nbgrader.cells import code_cells, graded_cells, to_run
from hintgrader.nbgrader.course import GradingError
from hintgrader.pipeline.load import LoadedNotebook
from hintgrader.supervisor.grade_notebook import Graded, grade_notebook
from hintgrader.supervisor.process import SandboxProcess


def run_notebook(
    notebook: LoadedNotebook, bank: Bank, process: SandboxProcess, secret: str, cell_seconds: float
) -> Graded:
    """Run a notebook, and grade its functions.

    Args:
        notebook: As it was read.
        bank: Where its exercises are.
        process: Where submissions run.
        secret: What hidden inputs are drawn from.
        cell_seconds: How long a cell may take.

    Raises:
        GradingError: A cell gives points and checks no exercise: nobody would notice a mistake.
    """
    for cell in graded_cells(notebook.cells):
        if not to_run(cell).exercise:
            raise GradingError(f"{cell.metadata.nbgrader.grade_id} checks no exercise")
    cells = [to_run(cell) for cell in code_cells(notebook.cells)]
    return grade_notebook(cells, bank, process, secret, cell_seconds)
