"""The words with which every problem set opens: how to work, to check, and to open hints."""

from __future__ import annotations

import re
from string import Template

from hintgrader.authoring.parts import TABLE
from nbformat import NotebookNode

# The text as it is put in, with the blank line below it; or what was there before, to the next
# paragraph of the set's own.
OPENING = re.compile(
    r"^\*\*How to work\.\*\*.*?(?:open them one at a time\.\n*|(?=^The parts follow\b))",
    re.MULTILINE | re.DOTALL,
)
CHECKED = re.compile(r'check\("(\w+/(\w+))"\)')
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
    return notebook
