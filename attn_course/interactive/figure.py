"""The common parts of the interactive figures: their display, and the HTML around their pictures.

A figure is a picture in SVG that Python draws in its first state, controls that stay hidden until a
script runs, a line of readings, and numbers in JSON. The script only moves parts of the drawing, so
print and readers without scripts keep the picture. `figure.js` starts it and announces changes to
screen readers; a figure adds one script of its own, which calls `attnFigure(name, start)`, and a
style if it needs one.

In a live figure a trained model runs in the page, on the weights that `weights.js` fetches when the
reader first acts. It says where its weights come from, and shows the code that has just run.
"""

import json
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from attn_course.plots import ROLE

FOLDER = resources.files(__package__)


@dataclass(frozen=True)
class InteractiveFigure:
    """A figure for Jupyter: HTML, with a PNG and a sentence where there is no browser.

    Args:
        name: The script of the figure is `<name>.js`, its style `<name>.css`, with underscores; a
            figure and a script may do without a style.
        label: A description in a few words, for screen readers.
        sentence: The first state in words.
        picture: The picture, in SVG.
        controls: The controls, in HTML; hidden until the script runs.
        readings: The numbers of the picture, in HTML.
        data: The input of the script, ready for JSON.
        png: The picture for print.
        scripts: Scripts of this folder that come before the figure's own, without their ending.
        live: For a live figure, where its weights come from and how exact it is; else empty.
    """

    name: str
    label: str
    sentence: str
    picture: str
    controls: str
    readings: str
    data: dict[str, Any]
    png: bytes
    scripts: Sequence[str] = ()
    live: str = ""

    @property
    def html(self) -> str:
        """The figure with its style, numbers and script, which is all that it needs on any page."""
        roles = ";".join(f"--attn-{role}:{colour}" for role, colour in ROLE.items())
        # a "</script>" in a label must not end the block of numbers
        data = json.dumps(self.data, separators=(",", ":"), ensure_ascii=True).replace(
            "<", "\\u003c"
        )
        files = ("figure", *self.scripts, self.name.replace("-", "_"))
        style, script = (
            "".join(_read(f"{name}.{kind}") for name in files) for kind in ("css", "js")
        )
        return "\n".join(
            [
                f'<figure class="attn-figure attn-{self.name}" data-figure="{self.name}" '
                f'role="group" aria-label="{escape(self.label)}" style="{roles}">',
                f"<style>\n{style}</style>",
                f'<div class="attn-picture">{self.picture}</div>',
                f'<p class="attn-sentence">{escape(self.sentence)}</p>',
                f'<form class="attn-controls" autocomplete="off" hidden>'
                f"{self._trouble}{self.controls}</form>",
                f'<dl class="attn-readings">{self.readings}</dl>',
                *self._live(),
                '<p class="attn-unseen" role="status"></p>',
                f'<script type="application/json">{data}</script>',
                f'<script>\n(() => {{\n"use strict";\n{script}}})();\n</script>',
                "</figure>",
            ]
        )

    @property
    def _trouble(self) -> str:
        """Return the line in which a live figure says what went wrong; nothing for others."""
        line = '<p class="attn-trouble" data-part="trouble" role="alert" hidden=""></p>'
        return line if self.live else ""

    def _live(self) -> list[str]:
        """Return a live figure's line on its weights, and a place for the code that just ran."""
        if not self.live:
            return []
        code = '<pre tabindex="0" data-part="code"></pre>'
        return [
            f'<p class="attn-live">{self.live}</p>',
            f'<details class="attn-code" hidden><summary>The code that just ran</summary>{code}'
            "</details>",
        ]

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        bundle = {
            "text/html": self.html,
            "image/png": b64encode(self.png).decode(),
            "text/plain": f"{self.label}. {self.sentence}",
        }
        wanted = set(bundle if include is None else include) - set(exclude or ())
        return {kind: content for kind, content in bundle.items() if kind in wanted}


def png_of(figure: Figure, dpi: float | str = "figure") -> bytes:
    """A drawn figure for print, the same bytes for the same figure."""
    file = BytesIO()
    figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
    return file.getvalue()


def _read(name: str) -> str:
    """A file of this folder; a style that is not there is empty."""
    file = FOLDER.joinpath(name)
    return "" if name.endswith("css") and not file.is_file() else file.read_text(encoding="utf-8")
