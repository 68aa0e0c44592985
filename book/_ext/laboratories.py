"""The laboratories of the book: a page of its own for each, and the weights that they fetch.

The interactive figures are outputs of the chapters; the attention machine stands here in every
state, whether or not a chapter shows it. Each figure gets a page `labs/NAME.html` that holds
it alone, in large letters, for teachers who show it to a class. `:::{lab-picture} retrieval` shows
the picture of one, which opens it, and `:::{lab-figure} retrieval` the figure itself. The role
`{lab}` links to such a page in a given state:
`` {lab}`one sentence <alignment&hands=move&row=5&column=4>` ``. A state is what the figure's own
link holds. In a chapter, the role `{state}` does so with the figure of the chapter itself.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from figures import ROOT
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.logging import getLogger

from attn_course.interactive.figure import InteractiveFigure, stored_figures
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


@cache
def laboratories(book: Path) -> dict[str, Laboratory]:
    """The attention machine in each state, and the figures of the chapters, in their order."""
    found: dict[str, Laboratory] = {}
    for name, state in STATES.items():
        figure = attention_machine(name)
        for path in book.glob(state.notebook):  # one, but in a book of parts
            found[name_of(name)] = Laboratory(figure, path.stem)
    for path in sorted(book.glob("[0-9][0-9]_*.ipynb")):
        for figure, _ in stored_figures(json.loads(path.read_text(encoding="utf-8"))):
            found.setdefault(figure.name, Laboratory(figure, path.stem))
    return found


class LabRole(ReferenceRole):
    """A link to a laboratory in a state, written `text <name&control=value>`.

    A chapter stays open where its reader left it: there the laboratory gets a tab of its own.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name = self.target.partition("&")[0]
        root = "../" * self.env.docname.count("/")
        self.env.metadata[self.env.docname].setdefault("labs", set()).add(name)
        address = f"{root}labs/{name}.html#lab={self.target}"
        tab = {} if self.env.docname.endswith("laboratory") else {"target": "_blank"}
        return [nodes.reference("", self.title, refuri=address, internal=False, **tab)], []


class StateRole(ReferenceRole):
    """A link to the figure of the same page in a state, written as for a laboratory."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        address = f"#lab={self.target}"
        return [nodes.reference("", self.title, refuri=address, internal=False)], []


class LabFigure(SphinxDirective):
    """The figure of a laboratory itself."""

    required_arguments = 1

    def found(self) -> Laboratory:
        """The laboratory of this name."""
        all_of_them = laboratories(Path(self.env.srcdir) / "book")
        if self.arguments[0] not in all_of_them:
            there = ", ".join(all_of_them)
            raise self.error(f"no laboratory {self.arguments[0]!r}; there are {there}")
        return all_of_them[self.arguments[0]]

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", self.found().figure.linked(ROOT), format="html")]


class LabPicture(LabFigure):
    """The picture of a laboratory, as a link to it."""

    def run(self) -> list[nodes.Node]:
        lab, name = self.found(), self.arguments[0]
        self.env.note_dependency(f"book/{lab.chapter}.ipynb")
        place = f"{'../' * self.env.docname.count('/')}labs/{name}"
        label = escape(f"Open the figure: {lab.figure.label}")
        return [
            nodes.raw("", f'<a class="lab-picture" href="{place}.html#lab={name}">', format="html"),
            nodes.raw("", f'<img src="{place}.svg" alt="{label}"></a>', format="html"),
        ]


def put_laboratories(app: Sphinx, error: Exception | None) -> None:
    """Write the pages, pictures and weights into the built book; a link to nothing is a warning."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    found = laboratories(Path(app.srcdir) / "book")
    (folder / "labs").mkdir(exist_ok=True)
    for name, lab in found.items():
        (folder / "labs" / f"{name}.html").write_text(lab.page, encoding="utf-8")
        (folder / "labs" / f"{name}.svg").write_text(lab.figure.drawing, encoding="utf-8")
    write_weights(folder)
    for page, facts in app.env.metadata.items():
        for name in sorted(facts.get("labs", set()) - set(found)):
            there = ", ".join(found)
            getLogger(__name__).warning(
                "%s links to the laboratory %r; there are %s", page, name, there
            )


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the role, the directive, and the pages at its end."""
    laboratories.cache_clear()
    app.add_role("lab", LabRole())
    app.add_role("state", StateRole())
    app.add_directive("lab-figure", LabFigure)
    app.add_directive("lab-picture", LabPicture)
    app.connect("build-finished", put_laboratories)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
