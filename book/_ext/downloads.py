"""The files that a reader can take along, linked where they were made beside the book.

`make release` lays the book on paper and as an archive into `dist/`. `:::{downloads}` lists those
that lie there when the book is built, each with its size; where none does, it shows its content,
which says how to get them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

KINDS = {
    "dist/attention.pdf": "the book as one PDF, laid out for paper",
    "dist/attention-book.zip": "these pages as an archive, which opens without a network",
}


class Downloads(SphinxDirective):
    """List what lies in `dist/`, or show the content."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        for name in KINDS:  # one that is missing has the page read again, until it is there
            self.env.note_dependency(name)
        root = Path(self.env.srcdir)
        sizes = {name: (root / name).stat().st_size for name in KINDS if (root / name).is_file()}
        if not sizes:
            return self.parse_content_to_nodes()
        lines = [f"- {{download}}`{KINDS[n]} </{n}>`, {s / 1e6:.0f} MB" for n, s in sizes.items()]
        return self.parse_text_to_nodes("\n".join(["To take the book along:", "", *lines]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the directive."""
    app.add_directive("downloads", Downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
