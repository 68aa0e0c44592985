"""What every interactive figure shares: how it is shown, and the page of HTML around its picture.

A figure is a picture in SVG that Python draws in its first state, controls that stay hidden until a
script comes alive, a line of readings, and numbers in JSON. The script only moves what is drawn, so
that print and readers without scripts keep the picture. `figure.js` starts it and says changes to
screen readers; a figure adds one script of its own, which calls `attnFigure(name, start)`, and a
style if it needs one.
"""

import json
from base64 import b64encode
from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from attn_course.plots import ROLE

FOLDER = resources.files(__package__)


@dataclass(frozen=True)
class InteractiveFigure:
    """A figure as Jupyter asks for it: HTML, with a PNG and a sentence where there is no browser.

    Args:
        name: The script of the figure is `<name>.js`, its style `<name>.css`, with underscores.
        label: What the figure is, in a few words, for screen readers.
        sentence: What it shows in its first state.
        picture: The picture, in SVG.
        controls: The controls, in HTML; hidden until the script is alive.
        readings: What the picture says in numbers, in HTML.
        data: What the script needs, as JSON can hold it.
        png: The picture for print.
    """

    name: str
    label: str
    sentence: str
    picture: str
    controls: str
    readings: str
    data: dict[str, Any]
    png: bytes

    @property
    def html(self) -> str:
        """The figure with its style, numbers and script: all it needs wherever it is put."""
        roles = ";".join(f"--attn-{role}:{colour}" for role, colour in ROLE.items())
        # a "</script>" in a label must not end the block of numbers
        data = json.dumps(self.data, separators=(",", ":"), ensure_ascii=True).replace(
            "<", "\\u003c"
        )
        return "\n".join(
            [
                f'<figure class="attn-figure attn-{self.name}" data-figure="{self.name}" '
                f'role="group" aria-label="{escape(self.label)}" style="{roles}">',
                f"<style>\n{_read('figure.css')}{self._own('css', '')}</style>",
                self.picture,
                f'<p class="attn-sentence">{escape(self.sentence)}</p>',
                f'<form class="attn-controls" autocomplete="off" hidden>{self.controls}</form>',
                f'<dl class="attn-readings">{self.readings}</dl>',
                '<p class="attn-unseen" role="status"></p>',
                f'<script type="application/json">{data}</script>',
                f'<script>\n(() => {{\n"use strict";\n{_read("figure.js")}'
                f"{self._own('js')}}})();\n</script>",
                "</figure>",
            ]
        )

    def _own(self, kind: str, otherwise: str | None = None) -> str:
        """The file of this figure alone, or what stands in if a figure may be without it.

        Before it comes what it builds on, if there is such a file: `<name>_parts.js`.
        """
        name = self.name.replace("-", "_")
        file, parts = (FOLDER.joinpath(f"{name}{end}.{kind}") for end in ("", "_parts"))
        if otherwise is not None and not file.is_file():
            return otherwise
        before = parts.read_text(encoding="utf-8") if parts.is_file() else ""
        return before + file.read_text(encoding="utf-8")

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


def _read(name: str) -> str:
    return FOLDER.joinpath(name).read_text(encoding="utf-8")
