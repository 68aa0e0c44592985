"""The laboratories of the book: a page of its own for each, and the weights that they fetch.

The interactive figures are outputs of the chapters; the attention machine stands here in every
state, whether or not a chapter shows it. Each figure gets a page `labs/NAME.html` that holds
it alone, in large letters, for teachers who show it to a class. The role `{lab}` links to such a
page in a given state: `` {lab}`one sentence <alignment&hands=move&row=5&column=4>` ``. A state is
what the figure's own link holds.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from figures import ROOT, stored_figures
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole
from sphinx.util.logging import getLogger

from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import write_weights
from attn_course.interactive.machine import attention_machine, name_of
from attn_course.interactive.machine.states import STATES

PAGE = """<!doctype html>
<html lang="en" data-content_root="../">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="../_static/fonts.css">
<link rel="stylesheet" href="../_static/laboratory.css">
</head>
<body>
<header><a href="../book/laboratory.html">All laboratories</a>
<a href="../book/{chapter}.html">Chapter {number}</a></header>
<main>
<h1>{title}</h1>
{figure}
</main>
</body>
</html>
"""


class Laboratory(NamedTuple):
    """An interactive figure, and the chapter that shows it first."""

    figure: InteractiveFigure
    chapter: str

    @property
    def page(self) -> str:
        title, number = escape(self.figure.label.partition(",")[0]), self.chapter[:2]
        shown = self.figure.linked(ROOT)
        return PAGE.format(title=title, number=number, chapter=self.chapter, figure=shown)


def laboratories(book: Path) -> dict[str, Laboratory]:
    """The attention machine in each state, and the figures of the chapters, in their order."""
    found = {
        name_of(name): Laboratory(attention_machine(name), next(book.glob(state.notebook)).stem)
        for name, state in STATES.items()
    }
    for path in sorted(book.glob("[0-9][0-9]_*.ipynb")):
        for figure, _ in stored_figures(json.loads(path.read_text(encoding="utf-8"))):
            found.setdefault(figure.name, Laboratory(figure, path.stem))
    return found


class LabRole(ReferenceRole):
    """A link to a laboratory in a state, written `text <name&control=value>`."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name = self.target.partition("&")[0]
        root = "../" * self.env.docname.count("/")
        self.env.metadata[self.env.docname].setdefault("labs", set()).add(name)
        address = f"{root}labs/{name}.html#lab={self.target}"
        return [nodes.reference("", self.title, refuri=address, internal=False)], []


def put_laboratories(app: Sphinx, error: Exception | None) -> None:
    """Write the pages and the weights into the built book; a link to none of them is a warning."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    found = laboratories(Path(app.srcdir) / "book")
    (folder / "labs").mkdir(exist_ok=True)
    for name, lab in found.items():
        (folder / "labs" / f"{name}.html").write_text(lab.page, encoding="utf-8")
    write_weights(folder)
    for page, facts in app.env.metadata.items():
        for name in sorted(facts.get("labs", set()) - set(found)):
            there = ", ".join(found)
            getLogger(__name__).warning(
                "%s links to the laboratory %r; there are %s", page, name, there
            )


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the role, and the pages at its end."""
    app.add_role("lab", LabRole())
    app.connect("build-finished", put_laboratories)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
