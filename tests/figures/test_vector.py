"""Static figures as the chapters store them: SVG in the colours of the page, and a small PNG."""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure
from PIL import Image

from attn_course.plots import COMPARED, FAINT, INK, PAPER, ROLE, closed, ink_of, style
from attn_course.plots.steps import Steps
from attn_course.plots.vector import COMPARES, LETTERS, OF_PAGE, STORES, png_of, svg_of
from tests.conftest import ROOT
from tests.figures.figure_laws import GROUND, IN_THE_DARK, contrast

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from figures import show_vectors


def drawn(marks: int = 3) -> Figure:
    """Draw a line with a name, a box of no role, and so many marks."""
    with style():
        figure, axes = plt.subplots(figsize=(5.2, 3))
        axes.plot([0, 1], [0, 1], color=ROLE["query"], label="a line")
        axes.text(0.5, 0.2, "in a box", color=ink_of(""), bbox={"facecolor": PAPER})
        axes.text(0.5, 0.6, "on a colour", color=ink_of("query"), bbox={"color": ROLE["query"]})
        axes.scatter(np.linspace(0, 1, marks), np.linspace(1, 0, marks), color=FAINT)
        axes.set(xlabel="across", ylabel="up & down")
    return closed(figure)


def letters(svg: str) -> dict[str, str]:
    """The pieces of text in a picture, each with its fill."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    fill = re.compile(r"fill: ([^;]+)")
    return {text.text: (fill.search(text.get("style", "")) or ["", "black"])[1] for text in found}


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert svg_of(drawn()) == svg_of(drawn())
    assert png_of(drawn()) == png_of(drawn())


def test_letters_are_text_in_the_page_s_ink_and_as_large() -> None:
    svg = svg_of(drawn())
    found = letters(svg)
    assert {found[word] for word in ("across", "up & down", "in a box")} == {"currentColor"}
    assert found["on a colour"] == "#ffffff"
    assert "font-family" not in svg
    width, across = re.match(
        r'<svg style="width:([\d.]+)em".*?viewBox="0 0 ([\d.]+) ', svg
    ).groups()
    assert float(width) * LETTERS == pytest.approx(float(across), rel=0.01)


def test_ground_is_the_page_s_and_roles_keep_their_colours() -> None:
    svg = svg_of(drawn())
    assert ROLE["query"].lower() in svg
    for colour in (INK, PAPER, FAINT):
        assert colour.lower() not in svg
        assert OF_PAGE[colour.lower()] in svg
    (ground, *_) = re.findall(r'<path d="[^"]*" style="([^"]*)"', svg)
    assert ground == "fill: none"


def test_many_marks_are_pixels_and_few_are_not() -> None:
    few, many = svg_of(drawn(3)), svg_of(drawn(5_000))
    assert "<image" not in few
    assert many.count("<image") == 1
    assert len(many) < 3 * len(few) + 20_000
    figure = drawn(5_000)
    svg_of(figure)
    assert not any(one.get_rasterized() for one in figure.axes[0].collections)


def test_names_of_two_figures_on_a_page_do_not_meet() -> None:
    one, other = svg_of(drawn(3)), svg_of(drawn(4))
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for svg, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r'(?:url\(|href=")#([\w-]+)', svg)) == own


def test_png_is_a_picture_on_white() -> None:
    picture = Image.open(BytesIO(png_of(drawn()))).convert("RGB")
    assert picture.getpixel((2, 2)) == (255, 255, 255)
    assert 450 < picture.width < 650


def test_kernel_stores_both_where_it_is_asked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = InteractiveShell.instance()
    try:
        monkeypatch.delenv(STORES, raising=False)
        forms, about = shell.display_formatter.format(drawn())
        assert "svg" not in about.get("image/png", {})
        monkeypatch.setenv(STORES, "1")
        figure = drawn()
        forms, about = shell.display_formatter.format(figure)
        assert forms["image/png"] == png_of(figure)
        assert about["image/png"] == {"svg": svg_of(figure)}
        monkeypatch.setenv(STORES, COMPARES)
        forms, about = shell.display_formatter.format(drawn())
        assert forms["image/png"] == b""
        assert "image/png" not in about
        wrong = drawn()
        wrong.axes[0].set_title("$\\frac{$")
        with pytest.raises(ValueError, match="frac"):
            shell.display_formatter.formatters["image/png"].lookup(wrong)(wrong)
    finally:
        InteractiveShell.clear_instance()


def test_page_shows_the_svg_with_the_words_of_its_cell() -> None:
    cell = {"metadata": {"mystnb": {"image": {"alt": 'A "line" < a box'}}}}
    output = {"data": {"image/png": "..."}, "metadata": {"image/png": {"svg": "<svg a='1'></svg>"}}}
    plain = {"data": {"image/png": "..."}, "metadata": {}}
    show_vectors({"cells": [cell | {"outputs": [output, plain]}, {"metadata": {}}]})
    shown = ElementTree.fromstring(output["data"]["text/html"])
    assert shown[0].attrib == {"role": "img", "aria-label": 'A "line" < a box', "a": "1"}
    assert "text/html" not in plain["data"]


@pytest.mark.parametrize("scheme", GROUND)
def test_colours_stand_out_from_the_ground_of_the_page(scheme: str) -> None:
    found = IN_THE_DARK if scheme == "dark" else {}
    for colour in ("#4a1036", "#3f1670", *COMPARED):
        var = re.search(r"--[\w-]+", OF_PAGE.get(colour.lower(), ""))
        if colour != INK:
            assert contrast(found.get(var and var[0], colour), GROUND[scheme]) >= 3
    if scheme == "dark":  # on white the orange of the keys has less, and a rim or a shape
        assert all(contrast(colour, GROUND[scheme]) >= 3 for colour in ROLE.values())


def test_steps_are_one_picture_elsewhere_and_in_the_book_one_for_each_button() -> None:
    steps = Steps({"some": drawn(2), "more": drawn(3)})
    forms, stored = steps._repr_mimebundle_()
    about = json.loads(json.dumps(stored, sort_keys=True))  # as a notebook stores it
    assert forms["image/png"] == png_of(drawn(3))
    output = {"output_type": "display_data", "data": forms, "metadata": about}
    words = {"mystnb": {"image": {"alt": "Two steps of marks"}}}
    show_vectors({"cells": [{"cell_type": "code", "metadata": words, "outputs": [output]}]})
    assert "steps" not in output["metadata"]["image/png"]
    page = ElementTree.fromstring(output["data"]["text/html"].replace(" checked ", ' checked="" '))
    buttons = [one for one in page if one.tag == "label"]
    assert [button.text for button in buttons] == ["some", "more"]
    *_, stages = page
    said = [stage[0].get("aria-label") for stage in stages]
    assert said == ["Picture of step some", "Picture of step more"]
    assert page.get("aria-label") == "Two steps of marks"
