"""The colours of the five roles stand for roles: a list says which role each figure paints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from attn_course.interactive.figure import stored_figures
from attn_course.interactive.scripts import FOLDER
from attn_course.plots import ROLE
from tests.conftest import ROOT

ALL = "query key value weight output"
# Of what a static figure paints in each colour; its caption, its letters or the text say so.
PAINTED = {
    ALL: """fig-layer fig-one-estimate fig-steps fig-captioner fig-crossing fig-crossing-values
        fig-one-word fig-three-roles fig-heads fig-compartments fig-two-looks""",
    "query key value output": "fig-two-decoders fig-feeding",
    "query key value": "fig-sharing fig-two-letters",
    "query key output": "fig-encoder-decoder",
    "query key": "fig-unit fig-turned fig-one-step-back fig-maps",
    # parts of fig-steps, each in the section of its step; without a name they go by their cells
    "query weight output": "04_bahdanau-019 04_bahdanau-023",
    "key value": "fig-cache",
    "key weight": "fig-comma",
    "value weight": "fig-blocks",
    "value output": "fig-widths fig-nile fig-hull",
    "key": "fig-deaf",
    "output": "fig-factors fig-grid-axis",
    "weight": """fig-kernels fig-weight-and-need fig-circles fig-learners fig-beside fig-window
        fig-blend fig-he fig-he-first fig-block-parameters fig-two-keys fig-one-head-fails fig-verbs
        fig-head-reach fig-forms fig-closed""",
}
# The sliders of live figures that move a query, a key or a value, by figure and name.
MOVED = {
    ("retrieval", "step"): "query",
    ("learned-keys", "after"): "key",
    ("sinusoids", "one"): "query",
    ("sinusoids", "other"): "key",
    ("rotary", "m"): "query",
    ("rotary", "n"): "key",
    ("associative-memory", "d"): "key",
    ("machine-multi-head", "stretch"): "key",
}
# What the first pictures of live figures paint, by the pen or by a style of their own.
DRAWN = {
    ALL: """digits machine-basic-self-attention machine-general
        machine-kernel-regression machine-luong machine-multi-head machine-retrieval
        machine-self-attention machine-temperature tiles""",
    "query key weight": "associative-memory induction machine-bahdanau",
    "query key": "rotary sinusoids",
    "key": "learned-keys",
    "weight": "machine-baseline machine-reinforce machine-scaled-dot-product writer",
}
STYLED = {
    "heads/heads.css": "weight",
    "machine/pen.css": ALL,
    "retrieval/retrieval.css": "query",
    "captioning/captioning.css": "weight",
    "scaled_dot_product/scaled_dot_product.css": "weight",
    "weight_table.css": "weight",
}
ROLES = "|".join(ROLE)
PAINTS = re.compile(rf'(?:class="[fst] |var\(--attn-)({ROLES})\b')
SLIDER = re.compile(r'<label class="attn-row"(?: style="--attn-colour:(#\w+)")?[^>]*>.*?</label>')
BY_HUE = {hue.lower(): role for role, hue in ROLE.items()}


def notebooks() -> Iterator[dict[str, Any]]:
    """Yield the notebooks of all chapters."""
    for path in sorted((ROOT / "book").glob("[0-9][0-9]_*.ipynb")):
        yield json.loads(path.read_text(encoding="utf-8"))


def static_figures() -> Iterator[tuple[str, str]]:
    """Yield the name of each static figure, and its drawings."""
    for notebook in notebooks():
        for cell in notebook["cells"]:
            name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", "")
            for output in cell.get("outputs", ()):
                if drawn := output.get("metadata", {}).get("image/png"):
                    yield name or cell["id"], json.dumps(drawn)


def by_name(listed: dict[str, str]) -> dict[str, str]:
    """Return the roles by the names that are listed under them."""
    return {name: roles for roles, names in listed.items() for name in names.split()}


def test_a_static_figure_paints_only_the_roles_that_it_shows() -> None:
    found = {
        name: " ".join(role for role, hue in ROLE.items() if hue.lower() in drawn.lower())
        for name, drawn in static_figures()
    }
    assert {name: roles for name, roles in found.items() if roles} == by_name(PAINTED)


def test_a_slider_has_the_colour_of_what_it_moves_or_none() -> None:
    found, neutral = {}, 0
    for notebook in notebooks():
        for figure, _ in stored_figures(notebook):
            for slider in SLIDER.finditer(figure.controls):
                (name,) = re.findall(r'name="([^"]*)"', slider[0])
                if slider[1]:
                    found[figure.name, name] = BY_HUE[slider[1].lower()]
                neutral += not slider[1]
    assert found == MOVED
    assert neutral > 10


def of_files(files: Iterable[Path]) -> dict[Path, str]:
    """Return which roles are painted in each file that paints some, in their order."""
    found = {}
    for file in files:
        painted = set(PAINTS.findall(file.read_text(encoding="utf-8")))
        if painted:
            found[file] = " ".join(role for role in ROLE if role in painted)
    return found


def test_a_live_figure_paints_only_the_roles_that_it_shows() -> None:
    drawn = of_files(FOLDER.rglob("frames/*-wide.svg"))
    assert {file.stem.removesuffix("-wide"): roles for file, roles in drawn.items()} == by_name(
        DRAWN
    )
    styled = of_files(FOLDER.rglob("*.css"))
    assert {str(file.relative_to(FOLDER)): roles for file, roles in styled.items()} == STYLED
