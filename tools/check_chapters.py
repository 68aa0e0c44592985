"""Say what the chapters of `_toc.yml` lack, each fault in a sentence with its cure.

    python tools/check_chapters.py

`hintgrader check-course` asks this, and `tests/book/test_chapters.py` calls the same functions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import yaml
from build_road import STOPS, read_stops
from cells import code_cells
from nbformat import NotebookNode

from attn_course.interactive.figure import STORED, stored_figures

ROOT = Path(__file__).resolve().parent.parent
# The files and folders that belong to a chapter; {name} is NN_slug.
PLACES = (
    "book/text/{name}.md",
    "book/{name}.ipynb",
    "attn_course/{slug}.py",
    "attn_bank/{slug}",
    "solutions/{name}/{name}.ipynb",
    "solutions/{name}/instructor_rubric.csv",
    "exercises/{name}/{name}.ipynb",
    "tests/course/test_{slug}.py",
)
# What generates those of them that nobody writes.
GENERATED = {
    "book/{name}.ipynb": "make notebooks",
    "exercises/{name}/{name}.ipynb": "make exercises",
}
# The places where a number in a name means a chapter.
NUMBERED = ("book/text/*.md", "book/*.ipynb", "solutions/*", "exercises/*")
# What a teacher is told: of each chapter these, among them as many states of its live figures.
PLAN, TOLD, MIN_SHOWN = "book/teaching.yml", ("figures", "ask", "wrong"), 2
LABORATORY = "book/laboratory.md"
# Of a line of code, for a phone; of a cell; of a chapter above *Going deeper*.
MAX_WIDTH, MAX_LINES = 76, 10
MAX_WORDS, MAX_CELLS, MAX_FORMULAS = 2_200, 14, 12
# Of the same: cells whose code is folded away, how many of them without a word between, and by how
# many minutes what it announces may differ from what it takes.
MAX_FOLDED, MAX_IN_A_ROW, MAX_MINUTES_OFF = 4, 1, 4
# What takes a reader how long. Two people who had never seen the book needed 45 to 75 minutes a
# core: with 200 words a minute, as in a novel, 22 more than this would say, in the mean. With 100,
# and half a minute for folded code as well, the mean distance is 7.
WORDS_A_MINUTE = 100
MINUTES = {"formulas": 0.5, "code cells": 0.5, "folded cells": 0.5}
MINUTES |= {"static figures": 1.5, "live figures": 3.0}
DEEPER = "## Going deeper"
PICTURES = {"image/png", "image/svg+xml"}
HIDDEN = {"remove-cell", "remove-input", "hide-input"}  # the last folds the code away
FORMULA = re.compile(r"\$\$.+?\$\$|^```\{math\}.*?^```|\\begin\{align", re.DOTALL | re.MULTILINE)
# Between these a reader meets no words: comments, targets, options of directives, addresses.
NO_WORDS = re.compile(
    r"<!--.*?-->|<svg.*?</svg>|<[^>]+>|^\([\w-]+\)=$|^:[\w-]+:[^\n]*$|\]\([^)]*\)",
    re.DOTALL | re.MULTILINE,
)
TAG = re.compile(r"<[^>]+>")
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def chapters(root: Path = ROOT) -> list[str]:
    """The names NN_slug of the chapters, in reading order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    names = [file.removeprefix("book/") for file in files]
    return [name for name in names if name[0].isdigit()]


def faults_of_course(root: Path = ROOT) -> Iterator[str]:
    """All that the chapters lack."""
    names = chapters(root)
    numbers = [int(name[:2]) for name in names]
    if numbers != sorted(set(numbers)):
        yield f"_toc.yml: the chapters are not numbered in reading order: {numbers}"
    for pattern in NUMBERED:
        for path in sorted(root.glob(pattern)):
            if re.match(r"\d", path.name) and path.stem not in names:
                yield f"{path.relative_to(root)} is of no chapter: add book/{path.stem} to _toc.yml"
    if list(stops := read_stops(root / STOPS)) != names:
        yield f"{STOPS} has the stops {', '.join(stops)}; _toc.yml has {', '.join(names)}"
    yield from faults_of_plan(names, root)
    for name in names:
        yield from faults_of_chapter(name, root)


def faults_of_plan(names: list[str], root: Path = ROOT) -> Iterator[str]:
    """All that the teaching plan lacks: of each chapter its weeks, what to show and what to ask."""
    plan = yaml.safe_load((root / PLAN).read_text(encoding="utf-8"))
    told, weeks = plan["chapters"], [week for path in plan["paths"].values() for week in path]
    planned = {name for week in weeks for name in week}
    for name in names:
        if name not in planned:
            yield f"{PLAN}: no path has a week with {name}"
        if {*(about := told.get(name, {}))} != {*TOLD}:
            yield f"{PLAN} has under `chapters` to say of {name}: {', '.join(TOLD)}"
        elif len(about["figures"]) < MIN_SHOWN:
            yield f"{PLAN} shows fewer than {MIN_SHOWN} states of the live figures of {name}"
    if unknown := sorted({*told, *planned} - set(names)):
        yield f"{PLAN} names what is no chapter: {', '.join(unknown)}"
    elif list(told) != [name for name in names if name in told]:
        yield f"{PLAN} has the chapters in another order than _toc.yml"


def faults_of_chapter(name: str, root: Path = ROOT) -> Iterator[str]:
    """All that one chapter lacks: files, and what is wrong in those that are there."""
    yield from missing_places(name, root)
    page = root / "book" / "text" / f"{name}.md", root / "book" / f"{name}.ipynb"
    source = root / "solutions" / name / f"{name}.ipynb"
    found: list[str] = []
    if all(path.is_file() for path in page):
        text, built = jupytext.read(page[0]), nbformat.read(page[1], as_version=4)
        found += [*faults_of_header(name, text, root), *faults_of_tables(text)]
        found += wide_lines(text, MAX_LINES)
        found += [*faults_of_core(built), *faults_of_minutes(text, built)]
        found += [*faults_of_figures(built), *faults_of_live_figures(built, root)]
    if source.is_file():
        lines = wide_lines(nbformat.read(source, as_version=4))
        found += [f"problem set: {fault}" for fault in lines]
    yield from (f"book/text/{name}.md: {fault}" for fault in found)


def missing_places(name: str, root: Path = ROOT) -> Iterator[str]:
    """The files of a chapter that are not there."""
    for place in PLACES:
        path = root / place.format(name=name, slug=name[3:])
        if not path.exists() or (path.is_dir() and not [*path.glob("[!_]*.py")]):
            cure = f"; run: {GENERATED[place]}" if place in GENERATED else ""
            yield f"{path.relative_to(root)} is missing{cure}"


def faults_of_header(name: str, text: NotebookNode, root: Path = ROOT) -> Iterator[str]:
    """Faults of the header of a chapter."""
    course: dict[str, Any] = text.metadata.get("course", {})
    wanted = {"number": name[:2], "slug": name[3:]}
    if {key: course.get(key) for key in wanted} != wanted:
        yield f"its header says of `course` other things than {wanted}"
    if not isinstance(minutes := course.get("minutes"), int) or minutes <= 0:
        yield "its header does not say under `course: minutes` how long it takes"
    if unknown := sorted(set(course) - {"number", "slug", "minutes", "beyond"}):
        yield f"its header says of `course` what nobody reads: {', '.join(unknown)}"
    table = (root / "docs" / "coverage.md").read_text(encoding="utf-8")
    teaches = f"(../book/text/{name}.md#" in table
    if teaches == bool(course.get("beyond")):
        yield "either rows of docs/coverage.md lead to it, or `beyond` says what it adds"


def faults_of_tables(text: NotebookNode) -> Iterator[str]:
    """Heads of tables that a screen reader cannot read."""
    markdown = "\n".join(cell.source for cell in text.cells if cell.cell_type == "markdown")
    for head, rule in pairwise(markdown.splitlines()):
        if re.fullmatch(r"\|[-: |]+\|", rule):
            cells = re.sub(r"\$[^$]*\$", "", head).strip("|").split("|")
            if not all(re.search(r"\w", cell) for cell in cells):
                yield f"a column has no head in words: {head}"


def wide_lines(notebook: NotebookNode, most: int | None = None) -> Iterator[str]:
    """Code cells that do not fit a phone, or have more lines than a reader takes in at once."""
    for _, number, cell in code_cells(notebook):
        lines = cell.source.splitlines()
        for line in lines:
            if len(line) > MAX_WIDTH:
                yield f"code cell {number} has a line of more than {MAX_WIDTH} characters: {line}"
        if most and len(lines) > most:
            yield f"code cell {number} has {len(lines)} lines; at most {most}"


def faults_of_figures(notebook: NotebookNode) -> Iterator[str]:
    """Figures that do not say what they show, and captions without a picture."""
    for _, number, cell in code_cells(notebook):
        about = cell.metadata.get("mystnb", {})
        shown = [output.data for output in cell.outputs if "data" in output]
        if not any(PICTURES & set(data) for data in shown):
            if "figure" in about:
                yield f"code cell {number} has a caption and no picture; is MPLBACKEND set?"
            continue
        alt = about.get("image", {}).get("alt", "")
        is_scripted = any(STORED in data for data in shown)  # it labels itself
        if not is_scripted and len(alt.split()) < 6:
            yield f"code cell {number} has an alt text of fewer than six words: {alt!r}"


def faults_of_live_figures(notebook: NotebookNode, root: Path = ROOT) -> Iterator[str]:
    """Say that there is no live figure, or which one is not on the page of all of them."""
    page = (root / LABORATORY).read_text(encoding="utf-8")
    shown = re.findall(r"\{lab-(?:picture|figure)\} ([\w-]+)", page)
    names = [figure.name for figure, _ in stored_figures(notebook)]
    if not names:
        yield "it has no live figure, such as the attention machine in a state of its own"
    for name in names:
        if name not in shown:
            yield f"its live figure {name} has no place on {LABORATORY}"


def faults_of_core(notebook: NotebookNode) -> Iterator[str]:
    """The core, above *Going deeper*, must be read in one sitting."""
    cells = core(notebook)
    if cells is None:
        yield f"it has no heading {DEEPER!r}, which ends its core"
        return
    found = counts(cells)
    most = {"formulas": MAX_FORMULAS, "code cells": MAX_CELLS, "words": MAX_WORDS}
    for what, bar in (most | {"folded cells": MAX_FOLDED, "folded in a row": MAX_IN_A_ROW}).items():
        if found[what] > bar:
            said = f"{found[what]} {what}, more than {bar}"
            yield f"its core has {said}: move something below {DEEPER!r}"


def faults_of_minutes(text: NotebookNode, built: NotebookNode) -> Iterator[str]:
    """The header announces as many minutes as the core takes."""
    announced, takes = text.metadata.get("course", {}).get("minutes"), minutes(core(built) or [])
    if isinstance(announced, int) and abs(announced - takes) > MAX_MINUTES_OFF:
        yield f"its header announces {announced} minutes, and its core takes {takes:.0f}"


def minutes(cells: list[NotebookNode]) -> float:
    """The minutes that cells take: so many for words, and for each thing that is no word."""
    found = counts(cells)
    return found["words"] / WORDS_A_MINUTE + sum(MINUTES[what] * found[what] for what in MINUTES)


def counts(cells: list[NotebookNode]) -> dict[str, int]:
    """Count in some cells what is read and what is looked at."""
    texts = [cell.source for cell in cells if cell.cell_type != "code"]
    code = [cell for cell in cells if cell.cell_type == "code" and "remove-cell" not in tags(cell)]
    data = [output.data for cell in code for output in cell.outputs if "data" in output]
    live = sum(STORED in forms for forms in data)
    return {
        "words": words(cells),
        "formulas": sum(len(FORMULA.findall(text)) for text in texts),
        "code cells": sum(map(is_seen, code)),
        "folded cells": sum("hide-input" in tags(cell) for cell in code),
        "folded in a row": folded_in_a_row(cells),
        "static figures": sum(bool(PICTURES & set(forms)) for forms in data) - live,
        "live figures": live,
    }


def folded_in_a_row(cells: list[NotebookNode]) -> int:
    """The most folded cells with no words, and no code that is seen, between them."""
    shown = [cell for cell in cells if "remove-cell" not in tags(cell)]
    rows = groupby(shown, key=lambda cell: cell.cell_type == "code" and "hide-input" in tags(cell))
    return max((len([*row]) for is_folded, row in rows if is_folded), default=0)


def tags(cell: NotebookNode) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", []))


def core(notebook: NotebookNode) -> list[NotebookNode] | None:
    """The cells above *Going deeper*, whose heading ends them; None without it."""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        before, heading, _ = cell.source.partition(DEEPER)
        if cell.cell_type == "markdown" and heading:
            return [*cells, nbformat.v4.new_markdown_cell(before)]
        cells.append(cell)
    return None


def is_seen(cell: NotebookNode) -> bool:
    """True of a cell whose code stands on the page."""
    return not HIDDEN & tags(cell)


def words(cells: list[NotebookNode]) -> int:
    """The words that a reader reads: text, captions, folded answers, comments, what is printed."""
    text = []
    for cell in cells:
        if cell.cell_type == "markdown":
            text.append(NO_WORDS.sub(" ", re.sub(r"\$[^$]*\$", " ", FORMULA.sub(" ", cell.source))))
        elif "remove-cell" not in tags(cell):
            if is_seen(cell):
                text += re.findall(r"#(.*)$", cell.source, re.MULTILINE)
            text += [output.text for output in cell.outputs if output.get("name") == "stdout"]
            text += [letters for output in cell.outputs for letters in in_figure(output)]
            text.append(cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))
    return len(WORD.findall("\n".join(text)))


def in_figure(output: NotebookNode) -> Iterator[str]:
    """Yield what a figure says: in its drawing, and a live one in its sentence and controls too."""
    data = output.get("data", {})
    about = output.get("metadata", {}).get("image/png", {})
    steps = about.get("steps")
    drawn = steps[-1][1] if steps else about.get("svg", "")  # the last has the words of all
    for svg in (drawn, data.get("image/svg+xml", "")):
        yield from (TAG.sub("", text) for text in re.findall(r"<text.*?</text>", svg, re.DOTALL))
    if stored := data.get(STORED):
        yield data["text/plain"].removeprefix(stored["label"])
        yield TAG.sub(" ", stored["controls"])


if __name__ == "__main__":
    sys.exit("\n".join(faults_of_course()) or None)
