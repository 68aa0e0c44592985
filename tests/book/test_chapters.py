"""Every chapter of the table of contents has all that is demanded of one, and a fault is named."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attn_course.interactive.figure import STORED
from tests.conftest import ROOT, chapters

sys.path.insert(0, str(ROOT / "tools"))
import build_road
import check_chapters
from check_chapters import (
    DEEPER,
    LABORATORY,
    PLAN,
    faults_of_chapter,
    faults_of_core,
    faults_of_course,
    faults_of_figures,
    faults_of_live_figures,
    faults_of_minutes,
    faults_of_tables,
    minutes,
    wide_lines,
    words,
)

NAME = "05_luong"
TEXT = f"book/text/{NAME}.md"


def test_chapters_lack_nothing() -> None:
    assert list(faults_of_course()) == []


def test_road_is_drawn_from_its_stops(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert build_road.main(["--check"]) == 0
    (tmp_path / "book").mkdir()
    for source in (build_road.STOPS, build_road.TOC):
        shutil.copy(ROOT / source, tmp_path / source)
    assert build_road.main(["--check", "--root", str(tmp_path)]) == 1
    assert "run: python tools/build_road.py" in capsys.readouterr().err
    assert build_road.main(["--root", str(tmp_path)]) == 0
    page = build_road.PAGE
    assert (tmp_path / page).read_bytes() == (ROOT / page).read_bytes()


def test_one_more_stop_is_laid_out_below_the_others() -> None:
    stops = build_road.read_stops(ROOT / build_road.STOPS)
    one_more = {"99_more": {"name": "A & B", "what": "w", "drawing": "<p/>"}}
    longer = build_road.draw(stops | one_more, {})
    assert longer.count('class="stop"') == len(stops) + 1
    assert "A &amp; B" in longer
    assert f'viewBox="0 0 360 {66 + 72 * len(stops) + 44}"' in longer


def test_the_name_of_a_part_stands_above_its_first_stop() -> None:
    stops = build_road.read_stops(ROOT / build_road.STOPS)
    parts = build_road.read_parts(ROOT / build_road.TOC)
    chapters_of_parts = [chapter for chapter in stops if chapter in parts]
    assert chapters_of_parts == ["01_retrieval", "11_transformer"]
    drawn = build_road.draw(stops, parts)
    for chapter in chapters_of_parts:
        assert f'{parts[chapter]}</text>\n<a class="stop" href="{chapter}.html">' in drawn
    assert f'viewBox="0 0 360 {66 + 72 * (len(stops) - 1) + 2 * 30 + 44}"' in drawn


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A course that has one chapter alone."""
    text = f"parts:\n- chapters:\n  - file: book/notation\n  - file: book/{NAME}\n"
    (tmp_path / "_toc.yml").write_text(text, encoding="utf-8")
    stop = f"{NAME}:\n  name: a\n  what: b\n  drawing: c\n"
    shown = "[machine-luong: a, scores: b]"
    told = f"chapters:\n  {NAME}: {{figures: {shown}, ask: c, wrong: d}}\n"
    written = {
        build_road.STOPS: stop,
        PLAN: f"paths:\n  all:\n    - {{{NAME}: all}}\n{told}",
        "attn_bank/luong/one.py": "",
    }
    for place, content in written.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(content, encoding="utf-8")
    for place in (
        TEXT,
        f"book/{NAME}.ipynb",
        "attn_course/luong.py",
        f"solutions/{NAME}/{NAME}.ipynb",
        f"solutions/{NAME}/instructor_rubric.csv",
        f"exercises/{NAME}/{NAME}.ipynb",
        "tests/course/test_luong.py",
        "docs/coverage.md",
        LABORATORY,
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / place, tmp_path / place)
    assert list(faults_of_course(tmp_path)) == []
    return tmp_path


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("tests/course/test_luong.py", "tests/course/test_luong.py is missing"),
        (f"book/{NAME}.ipynb", f"book/{NAME}.ipynb is missing; run: make notebooks"),
        ("attn_bank/luong/one.py", "attn_bank/luong is missing"),
        (
            f"solutions/{NAME}/instructor_rubric.csv",
            f"solutions/{NAME}/instructor_rubric.csv is missing",
        ),
    ],
)
def test_what_a_chapter_lacks_is_named(copy: Path, place: str, said: str) -> None:
    (copy / place).unlink()
    assert list(faults_of_chapter(NAME, copy)) == [said]


@pytest.mark.parametrize(
    ("place", "old", "new", "said"),
    [
        ("_toc.yml", "book/05_luong", "book/04_bahdanau", "is of no chapter: add book/05_luong"),
        (build_road.STOPS, "05_luong", "06_luong", "has the stops 06_luong; _toc.yml has 05_luong"),
        ("_toc.yml", "05_luong", "05_luong\n  - file: book/05_a", "not numbered in reading order"),
        (
            TEXT,
            'number: "05"',
            'number: "06"',
            "its header says of `course` othe",
        ),
        (TEXT, "minutes: ", "minutes: -", "how long it takes"),
        (
            TEXT,
            "slug: luong",
            "slug: luong\n  texts: [S1]",
            "nobody reads: texts",
        ),
        (
            TEXT,
            "slug: luong",
            "slug: luong\n  beyond: more",
            "either rows of docs",
        ),
        (
            PLAN,
            "    - {05_luong: all}",
            "    - {}",
            "no path has a week with 05_luong",
        ),
        (PLAN, "  05_luong: {", "  04_bahdanau: {", "to say of 05_luong: figures, ask, wrong"),
        (PLAN, "ask: c, ", "", "to say of 05_luong: figures, ask, wrong"),
        (PLAN, ", scores: b", "", "fewer than 2 states of the live figures of 05_luong"),
        (PLAN, "{05_luong: all}", "{05_luong: all, 05_a: all}", "names what is no chapter: 05_a"),
        (LABORATORY, "{lab-picture} scores", "", "its live figure scores has no place on"),
    ],
)
def test_what_a_chapter_says_wrongly_is_named(
    copy: Path, place: str, old: str, new: str, said: str
) -> None:
    text = (copy / place).read_text(encoding="utf-8")
    assert old in text
    (copy / place).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert any(said in fault for fault in faults_of_course(copy))


def test_chapter_without_a_live_figure_is_named() -> None:
    (said,) = faults_of_live_figures(new_notebook())
    assert "no live figure" in said


def test_core_ends_at_a_heading_and_is_short() -> None:
    deeper = new_markdown_cell(f"Words.\n\n{DEEPER}\n\n$$a$$")
    assert list(faults_of_core(new_notebook(cells=[deeper]))) == []
    (said,) = faults_of_core(new_notebook(cells=[new_markdown_cell("Words.")]))
    assert "has no heading '## Going deeper'" in said
    long = [
        new_markdown_cell("$$a$$\n\n" * 13),
        new_markdown_cell("word " * 2_201),
        *(new_code_cell("x = 1") for _ in range(15)),
        new_code_cell("y = 2", metadata={"tags": ["remove-input"]}),
        deeper,
    ]
    found = [said.partition(":")[0] for said in faults_of_core(new_notebook(cells=long))]
    assert found == [
        "its core has 13 formulas, more than 12",
        "its core has 15 code cells, more than 14",
        "its core has 2202 words, more than 2200",
    ]


FOLDED = {"tags": ["hide-input"]}


def test_core_folds_little_code_and_no_two_cells_without_a_word_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check_chapters, "MAX_FOLDED", 2)
    monkeypatch.setattr(check_chapters, "MAX_IN_A_ROW", 1)
    make = {
        "fold": lambda: new_code_cell("x", metadata=FOLDED),
        "unseen": lambda: new_code_cell("x", metadata={"tags": ["remove-cell"]}),
        "word": lambda: new_markdown_cell("Word."),
        "end": lambda: new_markdown_cell(DEEPER),
    }

    def faults(kinds: str) -> list[str]:
        return [*faults_of_core(new_notebook(cells=[make[kind]() for kind in kinds.split()]))]

    assert faults("fold word unseen fold end") == []
    (row,) = faults("fold unseen fold end")
    assert "has 2 folded in a row, more than 1" in row
    (many,) = faults("fold word fold word fold end")
    assert "has 3 folded cells, more than 2" in many


def test_minutes_are_those_of_words_formulas_cells_and_figures() -> None:
    still = nbformat.v4.new_output("display_data", {"image/png": ""})
    live = nbformat.v4.new_output("display_data", {"image/png": "", STORED: {}})
    assert minutes([]) == 0
    assert minutes([new_markdown_cell("word " * 300)]) == 3
    assert minutes([new_markdown_cell("$$a$$\n\n$$b$$")]) == 1
    assert minutes([new_code_cell("x"), new_code_cell("x", metadata=FOLDED)]) == 1
    unseen = {"tags": ["remove-input"]}
    assert minutes([new_code_cell("x", outputs=[still], metadata=unseen)]) == 1.5
    assert minutes([new_code_cell("x", outputs=[live], metadata=unseen)]) == 3


def test_words_in_figures_count() -> None:
    about = {"image/png": {"svg": "<svg><text>three <tspan>words</tspan></text><g>here</g></svg>"}}
    still = nbformat.v4.new_output("display_data", {"image/png": ""}, metadata=about)
    assert words([new_code_cell("x", outputs=[still])]) == 2
    forms = {"image/svg+xml": "<svg><text>one</text></svg>", "text/plain": "A name. Two three."}
    forms[STORED] = {"label": "A name", "controls": '<label for="a">four</label>'}
    live = nbformat.v4.new_output("display_data", forms)
    assert words([new_code_cell("x", outputs=[live])]) == 4


def test_header_announces_what_the_core_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_chapters, "MAX_MINUTES_OFF", 5)
    built = new_notebook(cells=[new_markdown_cell("word " * 4_000), new_markdown_cell(DEEPER)])
    for announced, wrong in ((34, True), (36, False), (45, False), (46, True)):
        text = new_notebook(metadata={"course": {"minutes": announced}})
        assert bool([*faults_of_minutes(text, built)]) == wrong
    (said,) = faults_of_minutes(text, built)
    assert said == "its header announces 46 minutes, and its core takes 40"


PICTURE = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"})


@pytest.mark.parametrize(
    ("find", "cell", "said"),
    [
        (lambda book: wide_lines(book, 10), new_code_cell("x" * 77), "more than 76 characters"),
        (lambda book: wide_lines(book, 10), new_code_cell("x\n" * 11), "has 11 lines"),
        (faults_of_tables, new_markdown_cell("| $a$ | b |\n|---|---|"), "no head in words"),
        (faults_of_figures, new_code_cell("x", outputs=[PICTURE]), "fewer than six words"),
        (
            faults_of_figures,
            new_code_cell("x", metadata={"mystnb": {"figure": {"caption": "c"}}}),
            "a caption and no picture",
        ),
    ],
)
def test_cell_that_does_not_fit_is_named(find: Callable, cell, said: str) -> None:
    (fault,) = find(new_notebook(cells=[cell]))
    assert said in fault


def test_table_of_contents_is_read_as_the_other_tests_read_it() -> None:
    from check_chapters import chapters as read

    assert read() == chapters()
