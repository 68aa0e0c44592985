"""The page of errata: each printed form fails, each right one passes, and the page says which."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attn_course.bahdanau import additive_scores
from attn_course.multi_head import MultiHeadAttention
from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import attention_weights
from tests.book.test_coverage import COVERAGE, ROW, page_anchors
from tests.conftest import ROOT, chapters, toc_pages
from tests.course.errata import (
    CHECKS,
    draw,
    layer,
    modules,
    recurrence,
    retrieval,
    translation,
)

# Each of these registers its slips as it is imported.
THEMES = (retrieval, translation, layer, recurrence)
PAGE = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| [")]
NAMES = [re.findall(r"\[([SP]\d[\d-]*)\]\{#[a-z\d-]+\}", row[0]) for row in ROWS]


@pytest.mark.parametrize("row", CHECKS)
def test_printed_form_fails(row: str) -> None:
    case = CHECKS[row].make()
    with pytest.raises(Exception, match=re.escape(CHECKS[row].says)):
        case.judge(case.printed())


@pytest.mark.parametrize("row", CHECKS)
def test_right_form_passes(row: str) -> None:
    case = CHECKS[row].make()
    case.judge(case.right())


def test_page_says_which_rows_are_checked_and_how_many() -> None:
    marked = [names for names, row in zip(NAMES, ROWS, strict=True) if "checked" in row[0]]
    assert set(chain(*marked)) == set(CHECKS)
    assert f"Of {len([*chain(*NAMES)])} slips, {len(CHECKS)} are checked." in PAGE


def test_rows_have_names_of_their_own_and_no_empty_cell() -> None:
    assert all(NAMES)
    assert [name for name, count in Counter(chain(*NAMES)).items() if count > 1] == []
    assert [row for row in ROWS if len(row) != 4 or not all(map(str.strip, row))] == []
    anchors = re.findall(r"\[([SP]\d[\d-]*)\]\{#([\w-]+)\}", PAGE)
    assert [pair for pair in anchors if pair[0].lower() != pair[1]] == []


def test_every_slip_of_the_five_texts_is_on_the_page() -> None:
    lines = COVERAGE.read_text(encoding="utf-8").splitlines()
    slips = {row[1] for row in map(ROW.fullmatch, lines) if row and row[2].startswith("slip: ")}
    assert len(slips) > 40
    assert slips - set(chain(*NAMES)) == set()


def test_published_additive_module_is_the_softmax_of_additive_scores() -> None:
    state, annotations = draw((2, 5), (7, 2, 6))  # as printed, the batch is the second axis
    torch.manual_seed(0)
    printed = modules.Attention(enc_hid_dim=3, dec_hid_dim=5).double()
    w, u = printed.attn.weight[:, :5], printed.attn.weight[:, 5:]
    query, key = state[:, None] @ w.T, annotations.transpose(0, 1) @ u.T + printed.attn.bias
    ours = masked_softmax(additive_scores(query, key, printed.v.weight[0]))
    assert_close(printed(state, annotations), ours[:, 0])


@pytest.mark.parametrize(
    ("mask", "missing"), [(None, "scaled_dot_product"), (torch.ones(5, 5), "expand_mask")]
)
def test_published_heads_miss_two_functions(mask: Tensor | None, missing: str) -> None:
    printed = modules.MultiheadAttention(6, 6, 2)
    with pytest.raises(NameError, match=f"name '{missing}' is not defined"):
        printed(torch.zeros(3, 5, 6), mask)


@torch.no_grad()
def test_published_heads_are_ours_once_their_rows_are_sorted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def scaled_dot_product(q: Tensor, k: Tensor, v: Tensor, mask: None) -> tuple[Tensor, Tensor]:
        weights = attention_weights(q, k, mask)
        return weights @ v, weights

    monkeypatch.setattr(modules, "scaled_dot_product", scaled_dot_product, raising=False)
    (x,) = draw((3, 5, 6))
    torch.manual_seed(0)
    printed, ours = modules.MultiheadAttention(6, 6, 2).double(), MultiHeadAttention(6, 2).double()
    projections = ours.project_query, ours.project_key, ours.project_value
    for name in ("weight", "bias"):
        rows = getattr(printed.qkv_proj, name).unflatten(0, (2, 3, 3))  # head, role, feature
        for role, projection in enumerate(projections):
            getattr(projection, name).copy_(rows[:, role].flatten(0, 1))
    ours.project_output.load_state_dict(printed.o_proj.state_dict())
    for asked in (False, True):  # and the pair comes back unasked
        output, weights = printed(x, return_attention=asked)
        assert_close(output, ours(x))
        assert_close(weights, ours.weights(x))


def places(page: str) -> dict[str, str]:
    """Return the headings of a chapter, or of another page, by anchor."""
    text = ROOT / "book" / "text" / f"{page}.md"
    return page_anchors(text if text.exists() else ROOT / "book" / f"{page}.md")


def test_every_row_leads_to_the_place_that_shows_it() -> None:
    pages = {f"Chapter {name[:2]}": name for name in chapters()}
    pages |= {"History": "history"} if "book/history" in toc_pages() else {}
    for *_, where in ROWS:
        named = re.findall(r"Chapter \d\d|History", where)
        assert named, where
        links = re.findall(r"\]\((\w+)\.(?:ipynb|md)#([\w-]+)\)", where)
        assert {pages[name] for name in named if name in pages} == {page for page, _ in links}, (
            where
        )
        assert [link for link in links if link[1] not in places(link[0])] == []
