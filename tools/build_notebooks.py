"""Execute the chapters: `book/text/NN_slug.md` becomes `book/NN_slug.ipynb`, outputs stored.

    python tools/build_notebooks.py                 every chapter
    python tools/build_notebooks.py 01_retrieval    one of them
    python tools/build_notebooks.py --check         compare cells, execute nothing
    python tools/build_notebooks.py --first-cells   put only these anew, execute nothing

The same text gives the same bytes: cell ids are counted, metadata is reduced to the kernel, and
outputs carry no times. The kernel runs one thread on the plainest instructions of the processor;
the tests execute it on all of them, so stored outputs hold on two kinds of processor. Interactive
figures are stored without their scripts: a change of a script executes nothing again.

A chapter is replaced only when all of its cells ran without an error and without a word on stderr;
else the old notebook stays as it was. The first cell of a notebook, which gets the course where it
is not installed, is added unexecuted: see hosted.py.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import jupytext
import nbformat
from cells import KERNEL, BuildError, as_text, code_cells, first_line, put, read
from hosted import ID, with_first_cell
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {
    "timeout": 300,  # seconds a cell
    "record_timing": False,
    "coalesce_streams": True,  # else one print may be stored as two
    "extra_arguments": ["--IPKernelApp.log_level=40"],  # errors only: it warns about local sockets
}
PLAIN = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
PLAIN["ATEN_CPU_CAPABILITY"] = "default"
PLAIN["ATTN_COURSE_STORES_FIGURES"] = "1"  # by name, see attn_course/interactive/figure.py


def read_text(text: Path) -> NotebookNode:
    """Return the notebook that a chapter's text describes, without outputs."""
    if not text.is_file():
        raise BuildError(f"{text}: no such chapter")
    notebook = jupytext.read(text)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(KERNEL)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{text.stem}-{number:03d}"
    return notebook


def complaint(cell: NotebookNode) -> str | None:
    """Return what an executed cell printed that a reader must not see, if anything."""
    for output in cell.outputs:
        if output.output_type == "error":
            return f"{output.ename}: {output.evalue}"
        if output.output_type == "stream" and output.name == "stderr":
            return f"printed to stderr: {output.text.strip()}"
    return None


def execute(notebook: NotebookNode, text: Path, folder: Path) -> None:
    """Run every cell in one fresh kernel that starts in `folder`.

    Raises:
        BuildError: A cell failed, hung, killed the kernel, or printed to stderr.
    """
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, resources=resources, **SETTINGS)
    with client.setup_kernel(env=os.environ | PLAIN):
        for index, number, cell in code_cells(notebook):
            try:
                client.execute_cell(cell, index, execution_count=number)
                problem = complaint(cell)
            except CellExecutionError as error:
                problem = f"{error.ename}: {error.evalue}"
            except (CellTimeoutError, DeadKernelError) as error:
                problem = str(error).splitlines()[0]
            if problem:
                raise BuildError(f"{text}: code cell {number} ({first_line(cell)}): {problem}")


def build(text: Path, target: Path) -> None:
    """Execute a chapter's text and put the result in place of `target`, all of it or nothing."""
    print(f"{text.stem} ...", flush=True)
    notebook = read_text(text)
    execute(notebook, text, target.parent)
    notebook.metadata = nbformat.from_dict(KERNEL)
    for _, _, cell in code_cells(notebook):
        cell.metadata.pop("execution", None)
    put_first_cell(notebook, target)


def put_first_cell(notebook: NotebookNode, target: Path) -> None:
    """Put a notebook in place of `target`, with the first cell that the settings give."""
    with_first_cell(notebook, root_of(target))
    nbformat.validate(notebook)
    put(as_text(notebook).encode(), target)


def root_of(target: Path) -> Path:
    """Return the folder of the course, which has the settings, for a chapter in its `book`."""
    return target.resolve().parent.parent


def differences(text: Path, target: Path) -> Iterator[str]:
    """Yield, a line each, where a stored notebook is not what its text and the settings say."""
    if not target.is_file():
        yield f"{target}: missing"
        return
    wanted, stored = read_text(text), nbformat.read(target, as_version=4)
    first = with_first_cell(read_text(text), root_of(target)).cells[0]
    if first.id == ID and first != stored.cells[0]:
        yield f"{target}: another first cell than `_config.yml` gives; run `make hosted`"
    stored.cells = [cell for cell in stored.cells if cell.id != ID]
    if len(wanted.cells) != len(stored.cells):
        yield f"{target}: {len(stored.cells)} cells, the text has {len(wanted.cells)}"
    for number, (want, have) in enumerate(zip(wanted.cells, stored.cells, strict=False), start=1):
        for key in ("cell_type", "id", "metadata", "source"):
            if want[key] != have[key]:
                yield f"{target}: cell {number} ({first_line(want)}): another {key} than the text"
    for _, number, cell in code_cells(stored):
        if cell.execution_count != number:
            yield f"{target}: code cell {number} ({first_line(cell)}): not executed in order"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="chapters, such as 01_retrieval; default: all")
    parser.add_argument("--check", action="store_true", help="compare cells, execute nothing")
    parser.add_argument("--first-cells", action="store_true", help="put only these anew")
    parser.add_argument("--book", type=Path, default=ROOT / "book", help="default: %(default)s")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Build or check chapters; return 0, or 1 after a message for each that failed."""
    options, problems = parse(arguments), []
    names = options.names or sorted(path.stem for path in (options.book / "text").glob("*.md"))
    for name in names:
        text, target = options.book / "text" / f"{name}.md", options.book / f"{name}.ipynb"
        try:
            if options.check:
                problems += differences(text, target)
            elif options.first_cells:
                put_first_cell(read(target), target)
            else:
                build(text, target)
        except BuildError as error:
            problems.append(f"{error}; {target.name} is left as it was")
    for problem in problems:
        print(problem, file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
