"""The scripts of the figures: in the book once, in the output of a kernel, in no notebook."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser

from attn_course.interactive import permutation_explorer, scripts
from attn_course.interactive.figure import STORED, STORES, InteractiveFigure
from attn_course.interactive.live import WEIGHTS
from attn_course.interactive.machine import name_of
from attn_course.interactive.machine.states import STATES
from attn_course.interactive.scripts import (
    FOLDER,
    NEEDS,
    address_of,
    folder_of,
    script_of,
    write_scripts,
)
from tests.conftest import ROOT, Build, chapters
from tests.figures.interactive_laws import opened, reading, write_page

sys.path.append(str(ROOT / "book" / "_ext"))
from figures import show_figures, stored_figures

MACHINES = {name_of(state) for state in STATES}
WORDS = "florist waiter diver picks stirs steers roses rice barge".split()  # noqa: SIM905


@cache
def drawn() -> InteractiveFigure:
    return permutation_explorer(WORDS)


def notebook_of(figure: InteractiveFigure) -> str:
    """A notebook that stores the figure, as its file has it."""
    output = {"data": figure._repr_mimebundle_()}
    return json.dumps({"cells": [{"outputs": [output]}, {"source": "text"}]})


def test_stored_figure_has_all_but_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STORES, "1")
    text = notebook_of(drawn())
    assert "attnFigure" not in text
    [(stored, forms)] = stored_figures(json.loads(text))
    assert set(forms) == {STORED, "image/svg+xml", "text/plain"}
    assert "<svg" not in json.dumps(forms[STORED])
    assert stored.html == drawn().html


def test_no_chapter_stores_a_script_and_each_figure_is_in_one() -> None:
    shown = set()
    for name in chapters():
        text = (ROOT / "book" / f"{name}.ipynb").read_text(encoding="utf-8")
        assert "attnFigure" not in text, f"run `python tools/build_notebooks.py {name}`"
        shown |= {figure.name for figure, _ in stored_figures(json.loads(text))}
    assert set(NEEDS) - MACHINES <= shown <= set(NEEDS)


@pytest.mark.browser
def test_figure_of_a_kernel_is_live_on_a_page_that_has_nothing_else(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(STORES)
    alone = drawn()._repr_mimebundle_()["text/html"]
    with opened(browser, write_page(tmp_path, alone)) as page:
        figure = page.locator(".attn-figure")
        figure.get_by_role("button", name="shuffle").click()
        page.wait_for_function("document.querySelector('.attn-figure').reading")
        assert len(reading(figure)["words"]) == 9
        assert not figure.get_by_role("alert").is_visible()
    assert not (tmp_path / "_static").exists()


def test_figure_brings_the_weights_that_its_script_fetches() -> None:
    assert set(drawn().weights) < set(WEIGHTS)
    for name in set(NEEDS) - MACHINES:
        module = (folder_of(name) / "__init__.py").read_text(encoding="utf-8")
        assert ("weights" in NEEDS[name]) == (" weights=" in module), name


def test_book_holds_each_script_once_and_its_pages_none(book: Build) -> None:
    assert book.status == 0, "the book does not build: see test_book.py"
    files = {f"{name}.{kind}" for name in NEEDS for kind in ("css", "js")}
    assert {path.name for path in (book.html / "_static" / "figures").iterdir()} == files
    pages = [*(book.html / "labs").glob("*.html"), *(book.html / "book").glob("[0-9]*.html")]
    linked: list[str] = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "attnFigure" not in text, page
        linked += re.findall(r'<script defer src="\.\./(_static/figures/[^"]*)"></script>', text)
    assert set(linked) == {address_of(name, "js") for name in NEEDS}
    # by the laboratory and the chapter, which may show the attention machine twice
    assert max(Counter(linked).values()) <= 3


def test_change_of_a_script_makes_its_pages_anew_under_another_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = drawn()
    noted: list[str] = []
    app = SimpleNamespace(env=SimpleNamespace(note_dependency=noted.append))
    source = [notebook_of(figure)]
    show_figures(app, "book/08_self_attention", source)
    forms = json.loads(source[0])["cells"][0]["outputs"][0]["data"]
    assert set(forms) == {"text/html", "image/svg+xml", "text/plain"}
    assert {Path(name).name for name in noted} == {
        *("figure.py", "figure.css", "figure.js", "picture.css", "layers.js", "weights.js"),
        *("weight_table.css", "weight_table.js", "permutation.css", "permutation.js"),
        "permutation-wide.svg",
    }
    assert all(
        f"../{address_of('permutation', kind)}" in forms["text/html"] for kind in ("css", "js")
    )
    before = {kind: address_of("permutation", kind) for kind in ("css", "js")}
    monkeypatch.setattr(scripts, "FOLDER", shutil.copytree(FOLDER, tmp_path / "changed"))
    (tmp_path / "changed" / "layers.js").write_text("const changed = 1;\n", encoding="utf-8")
    assert address_of("permutation", "css") == before["css"]
    assert address_of("permutation", "js") != before["js"]


def test_page_without_a_stored_figure_is_left_as_it_is() -> None:
    source = ["# A page\n"]
    show_figures(None, "book/intro", source)
    assert source == ["# A page\n"]


def linted(folder: Path, rule: str) -> list[tuple[str, str]]:
    """The figures whose whole script breaks a rule of the linter, and the name that it quotes.

    A figure's script is several files, one after the other: none of them can be tried alone.
    """
    write_scripts(folder)
    settings = {"env": {"browser": True, "builtin": True}, "rules": {rule: "error"}}
    (folder / "rules.json").write_text(json.dumps(settings))
    command = ["oxlint", "-c", str(folder / "rules.json"), "-f", "json", str(folder)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert said["number_of_files"] == len(NEEDS)
    return [
        (Path(one["filename"]).stem, re.search(r"'(\w+)'", one["message"])[1])
        for one in said["diagnostics"]
        if one["code"] == f"eslint({rule})"
    ]


def test_whole_scripts_use_only_what_is_there(tmp_path: Path) -> None:
    assert linted(tmp_path, "no-undef") == []


def test_no_script_holds_what_no_figure_uses(tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    for figure, name in linted(tmp_path, "no-unused-vars"):
        found.setdefault(name, set()).add(figure)
    whole = {figure: script_of(figure) for figure in NEEDS}
    having = {
        name: {one for one in NEEDS if re.search(rf"\b{name}\b", whole[one])} for name in found
    }
    assert [name for name in found if found[name] == having[name]] == []


def test_unknown_figure_is_named() -> None:
    with pytest.raises(ValueError, match="no interactive figure is called 'heep'; there are al"):
        script_of("heep")


def test_every_script_and_style_belongs_to_a_figure() -> None:
    used = {path for name in NEEDS for path in scripts.files_of(name)}
    assert used == {*FOLDER.rglob("*.js"), *FOLDER.rglob("*.css")}
