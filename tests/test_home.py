"""The pages around the chapters keep up with them: the road, the colours, the reference."""

from __future__ import annotations

import re
from importlib.util import find_spec
from itertools import chain

from attn_course.plots import ROLE
from tests.conftest import ROOT, module_pages

# Pages of the reference that are of no single module.
OTHER_PAGES = ("book/api/grading", "book/api/peers", "book/api/transforms")
# Packages that a reader imports as one module.
ROOMS = (
    "benchmarked",
    "data",
    "data.translation",
    "interactive",
    "minilm",
    "plots",
    "shapes",
    "trained",
    "trained.captions",
    "trained.captions.measure",
    "trained.captions.recipes",
    "trained.closing",
    "trained.heads",
    "trained.heaps",
    "trained.learners",
    "trained.minilm_heads",
    "trained.readers",
    "trained.recall",
    "trained.two_readings",
    "trained.without_recurrence",
    "training",
)
ROAD = (ROOT / "book" / "road.html").read_text(encoding="utf-8")


def test_road_and_notation_page_use_the_colours_of_the_figures() -> None:
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    for role, colour in ROLE.items():
        assert f".road .{role} {{ fill: {colour}; }}" in ROAD
        assert re.search(rf"background:{colour}\"></span><strong>{role}</strong>", notation)


def test_reference_lists_every_module_that_a_reader_may_import() -> None:
    pages = {name: (ROOT / f"{name}.md").read_text(encoding="utf-8") for name in module_pages()}
    listed = {
        name
        for text in pages.values()
        for name in re.findall(r"^\.\. automodule:: (\S+)$", text, re.M)
    }
    package = ROOT / "attn_course"
    files = chain(package.glob("*.py"), package.glob("data/**/*.py"), package.glob("plots/*.py"))
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files}
    modules = {name for name in modules if not name.endswith(".__init__")}
    rooms = {f"attn_course.{room}" for room in ROOMS}
    ours = {name for name in listed if name.startswith("attn_course")}
    assert ours == modules | rooms
    # Each has a page, which bears its name, and is linked where the modules are listed.
    short = [name.removeprefix("attn_course.") for name in ours]
    assert {f"book/api/{name.replace('.', '/')}": f"# {name}" for name in short} == {
        name: text.split("\n")[0] for name, text in pages.items() if name not in OTHER_PAGES
    }
    index = (ROOT / "book" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^   (attn_course\.\S+)$", index, re.M)) == ours
    engine = {f"attn_grade.{each.parent.name}" for each in ROOT.glob("attn_grade/*/__init__.py")}
    authors = {"attn_bank", "attn_grade", "attn_grade.exercise", "attn_grade.bank"}
    assert engine | authors <= listed
    assert all(find_spec(name) for name in listed)


def test_notation_page_names_tests_that_there_are() -> None:
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/\S+\.py)`", notation)
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []
