"""Each line of code in an element of its own, so that a line which wraps hangs below its beginning.

CSS can indent what wraps only in a block, and needs to know how far the line itself is indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

INDENT = re.compile(r"(?:<span></span>|<span class=\"\w+\">)*( *)")


class LineFormatter(HtmlFormatter):
    """Writes `<span class="line">` around each line, with its indentation as `--indent`."""

    def wrap(self, source: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        yield from super().wrap(in_elements(source))


def in_elements(source: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Put each line into an element, without its end, which stays between the elements."""
    for is_code, line in source:
        found = INDENT.match(line)
        depth = len(found[1]) if found else 0
        style = f' style="--indent:{depth}"' if depth else ""
        text = line.removesuffix("\n")
        whole = (
            f"{text}</span>\n" if text else "\n</span>"
        )  # a line without words is high all the same
        yield is_code, f'<span class="line"{style}>{whole}' if is_code else line


def setup(app: Sphinx) -> dict[str, Any]:
    """Let Sphinx write code so."""
    PygmentsBridge.html_formatter = LineFormatter
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
