"""Jane Austen's six novels: text from which a model learns, and text that it has not seen.

The text is in the public domain. It comes from Debian's package `r-cran-janeaustenr` 1.0.0-1, by
Julia Silge, under the MIT licence in this folder; `attn_course.data.novels.packing` says how it was
packed. A paragraph is a line. Titles are left out, and so are italics and the few paragraphs that
hold a numeral or another rare character: 64 different characters are left.
"""

import bz2
import json
from functools import cache
from pathlib import Path
from typing import Literal

from attn_course.data.pieces import Pieces

Part = Literal["training", "validation", "test"]
FOLDER = Path(__file__).parent
FILE, PIECES = FOLDER / "novels.txt.bz2", FOLDER / "pieces.json"
BETWEEN_NOVELS = "\n\n"
NUM_PIECES = 512
UNSEEN = 10_000  # characters of each novel for validation, and as many behind them for the test


def novels(part: Part) -> str:
    """The text of a part: the end of each novel is for the test, what precedes it for validation.

    Raises:
        ValueError: There is no such part.
    """
    parts = {"training": 0, "validation": 1, "test": 2}
    if part not in parts:
        raise ValueError(f"there is no part {part!r}; choose from {', '.join(parts)}")
    return "\n".join(_cut(novel)[parts[part]] for novel in _packed().split(BETWEEN_NOVELS))


def pieces() -> Pieces:
    """The pieces that `attn_course.data.pieces.learn_pieces` learned from the training text."""
    return Pieces(json.loads(PIECES.read_text(encoding="utf-8")))


@cache
def _packed() -> str:
    return bz2.decompress(FILE.read_bytes()).decode()


def _cut(novel: str) -> tuple[str, str, str]:
    """The three parts of a novel, cut between paragraphs."""
    first = novel.rindex("\n", 0, len(novel) - 2 * UNSEEN)
    second = novel.rindex("\n", 0, len(novel) - UNSEEN)
    return novel[:first], novel[first + 1 : second], novel[second + 1 :]
