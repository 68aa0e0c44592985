"""The common parts of the interactive figures: their display, and the HTML around their pictures.

A figure has numbers in JSON, controls that stay hidden until a script runs, and a line of readings.
Its script draws the picture; the first one is stored, see `frames.py`, so print and readers without
scripts have it too. `figure.js` starts it and announces changes to screen readers; a figure adds
one script of its own, which calls `attnFigure(name, start)`, and a style if it needs one.

A kernel shows a figure with its script, style and weights inside, so that it is live wherever the
course is installed. A chapter stores its name, its numbers and its controls; the book adds the
rest.

In a live figure a trained model runs in the page, on weights that `weights.js` fetches from the
book when the reader first acts. It says where they come from, and shows the code that has just run.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape, unescape
from re import search
from typing import Any, Self

from attn_course.interactive.frames import COLOURS, EMPTY, alone, frames_of, mark_of
from attn_course.interactive.live import weights_script
from attn_course.interactive.scripts import address_of, script_of, style_of
from attn_course.plots.vector import STORES

# What a chapter stores; other programs know no such type, and show the drawing beside it.
STORED = "application/vnd.attn-course.figure+json"


@dataclass(frozen=True)
class InteractiveFigure:
    """A figure for Jupyter: HTML, with a drawing and a sentence where there is no browser.

    Args:
        name: The name of its script and its style; see `scripts.py`.
        label: A description in a few words, for screen readers.
        controls: The controls, in HTML; hidden until the script runs.
        data: The input of the script, ready for JSON.
        readings: Places for numbers of the picture, in HTML; the script fills them.
        live: For a live figure, where its weights come from and how exact it is; else empty.
        weights: The names of the weights that a live figure reads.
    """

    name: str
    label: str
    controls: str
    data: dict[str, Any]
    readings: str = ""
    live: str = ""
    weights: Sequence[str] = ()

    @cached_property
    def mark(self) -> str:
        """The mark of the pictures that were drawn of this figure."""
        return mark_of(self.controls, self.data)

    @cached_property
    def frames(self) -> list[str]:
        """Its first pictures in SVG, if the package has some."""
        return frames_of(self.name, self.mark)

    @property
    def sentence(self) -> str:
        """The first state in words."""
        said = search('aria-label="([^"]*)"', "".join(self.frames))
        return unescape(said[1]) if said else ""

    @property
    def words(self) -> str:
        """The figure for a program that shows letters alone."""
        return f"{self.label}. {self.sentence}".strip()

    @property
    def drawing(self) -> str:
        """The first picture as SVG that stands alone; empty if there is none."""
        return alone(self.name, self.frames[0]) if self.frames else ""

    @property
    def html(self) -> str:
        """The figure with its style, numbers and script, which is all that it needs on any page."""
        style, script = style_of(self.name), script_of(self.name)
        return self._page(f"<style>\n{style}</style>", f"<script>\n{script}</script>")

    def linked(self, root: str) -> str:
        """The figure for a page of the book, which is at `root`: its style and script are there."""
        style, script = (f"{root}{address_of(self.name, kind)}" for kind in ("css", "js"))
        return self._page(
            f'<link rel="stylesheet" href="{style}">', f'<script defer src="{script}"></script>'
        )

    @property
    def stored(self) -> dict[str, str]:
        """The fields that the book needs, for JSON; numbers as text, else each fills a line."""
        names = [one.name for one in fields(self) if one.name != "weights"]
        kept = {name: getattr(self, name) for name in names}
        return kept | {"data": json.dumps(self.data, separators=(",", ":"))}

    @classmethod
    def from_stored(cls, stored: dict[str, str]) -> Self:
        """The figure that a chapter stores, as far as the book needs it."""
        return cls(**stored | {"data": json.loads(stored["data"])})

    @property
    def _alone(self) -> str:
        """The figure with its weights as well, for a page that finds no file of the book."""
        weights = [f"<script>{weights_script(name)}</script>" for name in self.weights]
        return "\n".join([*weights, self.html])

    def _page(self, style: str, script: str) -> str:
        # a "</script>" in a label must not end the block of numbers
        data = json.dumps(self.data, separators=(",", ":")).replace("<", "\\u003c")
        return "\n".join(
            [
                f'<figure class="attn-figure attn-{self.name}" data-figure="{self.name}" '
                f'role="group" aria-label="{escape(self.label)}" style="{COLOURS}">',
                style,
                f'<div class="attn-picture">{"".join(self.frames) or EMPTY}</div>',
                f'<p class="attn-sentence">{escape(self.sentence)}</p>',
                f'<form class="attn-controls" autocomplete="off" hidden>'
                f"{self._trouble}{self.controls}</form>",
                f'<dl class="attn-readings">{self.readings}</dl>',
                *self._live(),
                '<p class="attn-unseen" role="status"></p>',
                f'<script type="application/json">{data}</script>',
                script,
                "</figure>",
            ]
        )

    @property
    def _trouble(self) -> str:
        """Return the line in which a live figure says what went wrong; nothing for others."""
        line = '<p class="attn-trouble" data-part="trouble" role="alert" hidden=""></p>'
        return line if self.live else ""

    def _live(self) -> list[str]:
        """Return a fold with a live figure's line on its weights, and the code that just ran."""
        if not self.live:
            return []
        code = '<pre tabindex="0" data-part="code"></pre>'
        return [
            '<details class="attn-code"><summary>What runs here</summary>'
            f'<p class="attn-live">{self.live}</p>{code}</details>',
        ]

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, Any]:
        shown = {STORED: self.stored} if os.environ.get(STORES) else {"text/html": self._alone}
        still = {"image/svg+xml": self.drawing} if self.frames else {}
        bundle = shown | still | {"text/plain": self.words}
        wanted = set(bundle if include is None else include) - set(exclude or ())
        return {kind: content for kind, content in bundle.items() if kind in wanted}


def stored_figures(notebook: dict[str, Any]) -> Iterator[tuple[InteractiveFigure, dict[str, Any]]]:
    """Yield each figure of a notebook, and the output that stores it, in all its forms."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            forms = output.get("data", {})
            if STORED in forms:
                yield InteractiveFigure.from_stored(forms[STORED]), forms
