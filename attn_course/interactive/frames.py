"""The first pictures of the figures, which a browser has drawn and the package stores.

`tools/draw_frames.py` takes them from the scripts, which alone draw. A page without scripts shows
them, and paper, and a program that knows no HTML. A picture belongs to the numbers and controls of
one figure; another one with the same name is drawn as soon as its script runs.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from re import sub
from typing import Any

from attn_course.interactive.scripts import files_of, folder_of
from attn_course.plots import INK, PAPER, ROLE

# The widths at which they are drawn, in pixels, by the names of their files.
WIDTHS = {"wide": 704, "narrow": 358}
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
COLOURS = ";".join(f"--attn-{role}:{colour}" for role, colour in ROLE.items())


def place_of(name: str, width: str) -> Path:
    """The file of the first picture of a figure, `wide` or `narrow`."""
    return folder_of(name) / "frames" / f"{name}-{width}.svg"


def mark_of(controls: str, data: Mapping[str, Any]) -> str:
    """The mark of a picture that was drawn from these controls and numbers."""
    drawn = controls + json.dumps(data)
    return f'data-of="{sha256(drawn.encode()).hexdigest()[:12]}"'


def frames_of(name: str, mark: str) -> list[str]:
    """The stored pictures of a figure that have this mark, the wide one first."""
    files = (place_of(name, width) for width in WIDTHS)
    stored = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return [frame for frame in stored if mark in frame]


def alone(name: str, frame: str) -> str:
    """The first drawing of a picture with its style and colours, for a program without HTML."""
    ink = f"svg{{{COLOURS};background:{PAPER};color:{INK};font-family:sans-serif}}"
    styles = (file for file in files_of(name) if file.suffix == ".css" and file.stem != "figure")
    style = ink + sub(r"/\*.*?\*/|\s+", " ", "".join(map(Path.read_text, styles)))
    drawing = frame.partition("\n")[0]
    classes = f'class="attn-figure attn-{name}'
    opened = sub(r'^<svg([^>]*?) class="', rf"<svg\1 {classes} ", drawing, count=1)
    if opened == drawing:
        opened = drawing.replace("<svg", f'<svg {classes}"', 1)
    return opened.replace(">", f"><style>{style}</style>", 1)
