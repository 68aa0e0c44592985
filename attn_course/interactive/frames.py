"""The first states of figures that scripts alone draw, as pages without scripts show them.

Each is drawn once, in a browser, by `tools/draw_frames.py`, wide and narrow, and stored beside the
scripts of its figure.
"""

from html import unescape
from pathlib import Path
from re import search

from attn_course.plots import INK, PAPER, ROLE

# The widths at which the first states are drawn, in pixels, by the names of their files.
WIDTHS = {"wide": 704, "narrow": 358}
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" class="attn-machine"></svg>'
PEN = Path(__file__).parent / "machine" / "pen.css"


def stored_frames(folder: Path, name: str) -> list[str]:
    """The pictures of a first state, one for each width."""
    return [(folder / f"{name}-{width}.svg").read_text(encoding="utf-8") for width in WIDTHS]


def said_by(frame: str) -> str:
    """The words in which a picture says what it shows."""
    said = search('aria-label="([^"]*)"', frame)
    return unescape(said[1]) if said else ""


def alone(frame: str) -> str:
    """A picture with its colours, for programs that show it without a page."""
    colours = "".join(f"--attn-{role}:{colour};" for role, colour in ROLE.items())
    ink = f".attn-machine{{{colours}background:{PAPER};color:{INK}}}"
    style = PEN.read_text(encoding="utf-8")
    return frame.replace(">", f"><style>{ink}{style}</style>", 1)
