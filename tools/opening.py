"""Opening of every problem set: how to work, check and open hints, and a cell with progress."""

from __future__ import annotations

import re
from string import Template

from hintgrader.authoring.parts import TABLE
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

# The text as it is put in, with the blank line below it; or what was there before, to the next
# paragraph of the set's own.
OPENING = re.compile(
    r"^\*\*How to work\.\*\*.*?(?:open them one at a time\.\n*|(?=^The parts follow\b))",
    re.MULTILINE | re.DOTALL,
)
CHECKED = re.compile(r'check\("(\w+/(\w+))"\)')
IMPORTED = re.compile(r"^from (\w+) import check\b", re.MULTILINE)
ID = "progress"
CELL = """\
from {bank} import progress

progress()  # what is done, and what is next: this folder alone is read"""
TEXT = Template("""\
**How to work.** Run the cells from the top, in order. Where a cell says `YOUR CODE HERE`, write
your answer, and delete the line that raises `NotImplementedError`. Then run the cell below it: it
tries your function on many inputs and shows a table with one row for each requirement. A row that
failed says what came out and what should have. You can run it as often as you like. Grading also
tries inputs that you cannot see, of other sizes.

The last row is the same in most parts: an output keeps the dtype of the inputs, float32 or float64,
and its axes of length 1, and your function leaves its inputs as they were.

To look into a failure, add a cell of your own:

```python
score = check("$exercise")
$function(**score.inputs)
```

Here `score.inputs` holds the inputs of the first row that failed, and the second line calls your
function with them.

Where a function is off limits, so are its relatives, whatever calls them. Code that torch has
scripted, traced or compiled counts as borrowed too, since the check cannot see into it.

A part often begins *On paper first*. Answer there before you unfold what it should be.

Below each task are hints, folded: first a nudge, then the shapes, and in most parts the decisive
step. Try for ten minutes before you open one, and open them one at a time.

""")


def with_opening(notebook: NotebookNode) -> NotebookNode:
    """Put the common text in its place, below the table of parts where there is none yet.

    Args:
        notebook: A problem set; it is changed. Its first exercise is the example in the text.
    """
    checks = (CHECKED.search(cell.source) for cell in notebook.cells if cell.cell_type == "code")
    if first := next(filter(None, checks), None):
        text = TEXT.substitute(exercise=first[1], function=first[2])
        for cell in (cell for cell in notebook.cells if cell.cell_type == "markdown"):
            table, there = TABLE.search(cell.source), OPENING.search(cell.source)
            if table and not there:
                rest = cell.source[table.end() :].lstrip("\n")
                cell.source = f"{cell.source[: table.end()].rstrip()}\n\n{text}{rest}".rstrip("\n")
            elif there:
                cell.source = OPENING.sub(lambda _: text, cell.source).rstrip("\n")
    return _with_progress(notebook)


def _with_progress(notebook: NotebookNode) -> NotebookNode:
    """Put the cell that shows progress below the text; it imports for itself, so it runs alone."""
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") != ID]
    banks = (IMPORTED.search(cell.source) for cell in notebook.cells)
    bank = next(filter(None, banks), None)
    places = (n for n, cell in enumerate(notebook.cells, 1) if "**How to work.**" in cell.source)
    if bank and (place := next(places, 0)):
        notebook.cells.insert(place, new_code_cell(CELL.format(bank=bank[1]), id=ID))
    return notebook
