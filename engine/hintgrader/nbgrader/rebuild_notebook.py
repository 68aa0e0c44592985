"""Rebuilding a notebook that was handed in from what counts of it.

Editors and services write notebooks that the format forbids and Jupyter opens all the same: with
keys of their own, with keys left out, with half a character. So nothing is taken over but the text
and kind of each cell, its name, its pictures, the results that it shows, and the order of the runs.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

MAKE = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
KINDS = {"heading": "markdown", "html": "markdown", "text": "markdown"}  # until version 3
RESULTS = ("execute_result", "pyout")
MAX_CELLS = 25_000
MAX_LEVEL = 6  # of a heading
MAX_DIGITS = 15  # of a whole number; Python refuses to read one of 5000
STAMP = ("metadata", "hintgrader", "version")  # `OnlyGradable` puts it there
VERSION = re.compile(r"\d+(\.\w+){0,4}")
HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Rebuilt:
    """A notebook that is as the format wants it, and what a person should know of its making."""

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    released_by: str = ""  # version of the engine that gave it out; empty if it does not say


def rebuild(content: bytes) -> Rebuilt:
    """The notebook in a file.

    Args:
        content: Of the file, in any encoding of Unicode.

    Raises:
        ValueError: It is no notebook; the message says why.
    """
    encoding, notes = json.detect_encoding(content), []
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        text = content.decode(encoding, errors="replace")
        notes.append(f"the file is not {encoding}, and what cannot be read is \ufffd now: {error}")
    found = _parse(text.removeprefix("\ufeff"))
    listed = _listed_cells(found)
    if len(listed) > MAX_CELLS:
        raise ValueError(f"it has {len(listed):,} cells, above {MAX_CELLS:,}")
    cells = [cell for cell in listed if isinstance(cell, dict)]
    if without := len(listed) - sum(map(_has_text, cells)):
        notes.append(f"cells whose text is no text: {without} of {len(listed)}")
    made = new_notebook(cells=[_cell(cell, f"cell-{n}") for n, cell in enumerate(cells, 1)])
    written = json.dumps(made, ensure_ascii=False)
    if halves := len(HALF.findall(written)):
        notes.append(f"halves of characters, which are joined or \ufffd now: {halves}")
        made = from_dict(json.loads(whole_characters(written)))
    return Rebuilt(made, tuple(notes), _released_by(found))


def whole_characters(text: str) -> str:
    """A text that can be written in UTF-8: halves of characters are joined, or replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except MemoryError:
        raise ValueError("it holds too many values") from None


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def _listed_cells(found: Any) -> list[Any]:
    """The cells of a notebook of any version, whatever they are."""
    if isinstance(found, dict):
        if isinstance(cells := found.get("cells"), list):
            return cells
        if isinstance(sheets := found.get("worksheets"), list):  # until version 3
            held = (sheet.get("cells") for sheet in sheets if isinstance(sheet, dict))
            return [cell for cells in held if isinstance(cells, list) for cell in cells]
    raise ValueError("it has no list of cells")


def _released_by(stamp: object) -> str:
    """The version in the stamp of a release, if a notebook bears one that is none of a joker's."""
    for name in STAMP:
        stamp = stamp.get(name) if isinstance(stamp, dict) else None
    return stamp if isinstance(stamp, str) and VERSION.fullmatch(stamp) else ""


def _cell(found: dict[str, Any], name: str) -> NotebookNode:
    kind, source = _kind(found), _joined(_source(found))
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if found.get("cell_type") == "heading" and source.strip():
        source = f"{'#' * _level(found)} {' '.join(source.split())}"
    cell = MAKE[kind](source, id=name)
    about = found.get("metadata")
    if isinstance(about, dict) and isinstance(about.get("nbgrader"), dict):
        cell.metadata.nbgrader = _plain_values(about["nbgrader"])
    if kind == "code":
        cell.execution_count = _count(found)
        cell.outputs = _results(found.get("outputs"))
    elif attachments := _attachments(found.get("attachments")):
        cell.attachments = attachments
    return cell


def _kind(found: dict[str, Any]) -> str:
    """The kind of a cell; one of unknown kind is code if it ran, and else raw, as in JupyterLab."""
    kind = found.get("cell_type")
    kind = KINDS.get(kind, kind) if isinstance(kind, str) else None
    if kind in MAKE:
        return str(kind)
    return "code" if "outputs" in found or "execution_count" in found else "raw"


def _source(found: dict[str, Any]) -> Any:
    return found["source"] if "source" in found else found.get("input")


def _has_text(found: dict[str, Any]) -> bool:
    source = _source(found)
    lines = source if isinstance(source, list) else [source]
    return source is None or all(isinstance(line, str) for line in lines)


def _joined(text: Any) -> str:
    """A text that may be written as a list of its lines; empty for what is no text."""
    lines = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))


def _level(found: dict[str, Any]) -> int:
    level = found.get("level")
    return min(max(level, 1), MAX_LEVEL) if isinstance(level, int) else 1


def _results(found: Any) -> list[NotebookNode]:
    """The results that a cell shows, as text."""
    outputs = found if isinstance(found, list) else []
    kept = [one for one in outputs if isinstance(one, dict) and one.get("output_type") in RESULTS]
    data = [one["data"] if isinstance(one.get("data"), dict) else one for one in kept]
    texts = [_joined(one.get("text/plain", one.get("text"))) for one in data]
    counts = map(_count, kept)
    return [
        new_output("execute_result", data={"text/plain": text}, execution_count=count)
        for text, count in zip(texts, counts, strict=True)
        if text
    ]


def _count(found: dict[str, Any]) -> int | None:
    """The number of its run, which says in which order the cells ran; None for anything else."""
    count = found.get("execution_count", found.get("prompt_number"))
    is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    return count if is_count else None


def _attachments(found: Any) -> NotebookNode:
    """The pictures in a cell of words, by name and kind."""
    held = found.items() if isinstance(found, dict) else ()
    return NotebookNode(
        {
            name: NotebookNode({kind: _joined(data) for kind, data in files.items()})
            for name, files in held
            if isinstance(files, dict)
        }
    )


def _plain_values(about: dict[str, Any]) -> NotebookNode:
    """Values that are not nested: nbgrader writes no others."""
    return NotebookNode(
        {name: value for name, value in about.items() if not isinstance(value, dict | list)}
    )
