"""The live translators of chapter 05: each says and looks as in PyTorch, in every window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
import torch
from playwright.sync_api import Locator
from torch import Tensor
from torch.testing import assert_close

from attn_course import luong
from attn_course.data.tokens import pad
from attn_course.data.translation import detokenise, paper_sentence
from attn_course.interactive import score_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.interactive.scores import MODELS, MOST_WORDS
from attn_course.luong import window_mask
from attn_course.seq2seq import BOS, EOS
from attn_course.trained import TrainedTranslator, load
from tests.figures.interactive_laws import (
    assert_quick,
    assert_refused_beside,
    reading,
)
from tests.figures.interactive_pages import page_of, read_all, unseen
from tests.sampling import sampled

FIGURE = ".attn-figure[data-figure='scores']"
WEIGHTS = [recipe for recipe, _ in MODELS.values()]
PAPER = paper_sentence()


@cache
def drawn() -> InteractiveFigure:
    return score_explorer([(PAPER.source, PAPER.target)])


address, window, page, figure = page_of("scores", lambda: drawn().html, *WEIGHTS)


def said(figure: Locator, name: str) -> str:
    return figure.locator(f"[data-part='{name}-reading']").inner_text()


@torch.no_grad()
def translated(known: TrainedTranslator, source: Sequence[str]) -> tuple[list[str], Tensor, Tensor]:
    """The words, their weights and probabilities, step by step."""
    model, read = known.model, pad([known.source_words.encode(source)])
    most = int(1.5 * read.shape[1]) + 5
    state, word, ids, weights, sure = model.start(read), BOS, [], [], []
    while word != EOS and len(ids) < most:
        logits, looks, state = model.trace(torch.tensor([[word]]), state)
        best = logits[0, 0].softmax(-1).max(-1)
        word = int(best.indices)
        ids.append(word)
        weights.append(looks[0, 0])
        sure.append(best.values)
    words = ["EOS" if one == EOS else known.target_words.decode([one])[0] for one in ids]
    return words, torch.stack(weights), torch.stack(sure)


@sampled
@pytest.mark.browser
def test_page_translates_as_pytorch_in_every_window(figure: Locator) -> None:
    pairs = unseen(8, (5, 10), (10, 15))
    settings = [(pair.source, (10.0, 5.0, 2.0, 0.5)[i % 4]) for i, pair in enumerate(pairs)]
    states = [{"source": detokenise(one), "window": wide} for one, wide in settings]
    found = read_all(figure, [dict.fromkeys(MODELS, True) | state for state in states])
    models = {name: load(recipe) for name, (recipe, _) in MODELS.items()}
    for (source, window), got in zip(settings, found, strict=True):
        for name, known in models.items():
            known.model.window = window
            words, weights, sure = translated(known, source)
            assert [one["word"] for one in got["said"][name]] == words, (name, source, window)
            close = {"rtol": 0, "atol": AGREES_TO}
            for what, wanted in (("weights", weights), ("probability", sure)):
                numbers = torch.tensor([one[what] for one in got["said"][name]]).float()
                assert_close(numbers, wanted, **close)
    assert_quick(figure)


@pytest.mark.browser
def test_window_and_its_centre_are_drawn_where_the_package_looks(
    figure: Locator, monkeypatch: pytest.MonkeyPatch
) -> None:
    centres: list[Tensor] = []

    def seen(centre: Tensor, key_len: int, half_width: float) -> Tensor:
        centres.append(centre[0, 0])
        return window_mask(centre, key_len, half_width)

    monkeypatch.setattr(luong, "window_mask", seen)
    first = figure.locator("[data-model=local-m] [data-cell='0,0']")
    left, wide = (float(first.get_attribute(name)) for name in ("x", "width"))
    source = drawn().data["pairs"][0][0]
    state = {"window": 2, "row": 0} | dict.fromkeys(MODELS, True)
    (got,) = read_all(figure, [state])
    for name in ("local-m", "local-p"):
        known = load(MODELS[name][0])
        known.model.window = 2.0
        centres.clear()
        translated(known, source)
        wanted = torch.stack(centres).double()
        found = torch.tensor([one["centre"] for one in got["said"][name]], dtype=torch.float64)
        assert_close(found, wanted, rtol=0, atol=1e-3)
        table = figure.locator(f"[data-model={name}]")
        marks = "nodes => nodes.map(one => Number(one.getAttribute('cx')))"
        dots = torch.tensor(table.locator(".attn-circle").evaluate_all(marks)).double()
        inside = wanted[wanted < len(source) + 1]  # one beyond the last word has no dot
        there = (left + wide * (inside + 0.5)).clamp(left, left + wide * (len(source) + 1))
        assert_close(dots.sort().values, there.sort().values, rtol=0, atol=0.05)
        grey = (
            "nodes => nodes.map(one => Number(one.getAttribute('width'))).reduce((a, b) => a + b)"
        )
        cells = table.locator(".attn-rect").evaluate_all(grey) / wide
        seen_cells = window_mask(wanted[None, :], len(source) + 1, 2.0).sum()
        assert abs(cells - (wanted.numel() * (len(source) + 1) - int(seen_cells))) < 1e-6
    assert figure.locator("[data-model=dot] .attn-circle").count() == 0


@pytest.mark.browser
def test_only_what_is_shown_is_fetched_and_a_narrow_window_breaks(figure: Locator) -> None:
    loaded = "() => Object.keys(window.attnWeights ?? {}).sort()"
    assert figure.page.evaluate(loaded) == []
    assert not figure.locator("dt", has_text="general").is_visible()
    figure.get_by_role("checkbox", name="dot").check(force=True)
    figure.locator("[data-model=dot]").wait_for()
    figure.get_by_role("checkbox", name="local-p").uncheck(force=True)
    figure.locator("[data-model=local-p]").wait_for(state="hidden")
    loaded_now = figure.page.evaluate(loaded)
    assert loaded_now == ["luong_dot", "luong_local_m", "luong_local_p"]
    figure.get_by_label("window").fill("1.5")
    figure.get_by_text("underlined: 2 wrong").wait_for()
    assert said(figure, "local-m").count("économique") == 3
    assert figure.locator("[data-model=local-m] .attn-changed").all_text_contents() == [
        "économique",
        "économique",
    ]
    figure.get_by_role("checkbox", name="local-m").uncheck(force=True)
    figure.locator("[data-part=window]:disabled").wait_for()  # no table has a window
    figure.get_by_role("checkbox", name="dot").uncheck(force=True)
    figure.get_by_text("Choose a model.").wait_for()


@pytest.mark.browser
def test_keyboard_and_pointer_frame_a_row(figure: Locator) -> None:
    assert said(figure, "looks").startswith("local-m writes 1992: 100% at 1992; local-p")
    cell = figure.locator("[data-model=local-m] [data-cell='5,4']")
    cell.click()
    assert said(figure, "looks").startswith("local-m writes économique: 100% at Economic; local-p")
    figure.page.keyboard.press("ArrowDown")
    assert said(figure, "looks").startswith("local-m writes européenne: 100% at European")
    figure.get_by_label("English").fill("The cat sat.")
    assert_refused_beside(figure, "English", "It has never met “cat”, “sat”.")
    figure.get_by_label("English").fill("armenia ratified Romania’s law")
    figure.get_by_text("roumaine").or_(figure.get_by_text("Roumanie")).first.wait_for()
    assert reading(figure)["source"] == ["Armenia", "ratified", "Romania", "'s", "law", "."]
    assert figure.get_attribute("data-stale") is None


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "needs a pair of sentences to show first; there is none"),
        ([([], ["."])], f"a sentence has 1 to {MOST_WORDS} words, not 0"),
        ([(["law"] * 17, ["."])], f"a sentence has 1 to {MOST_WORDS} words, not 17"),
        ([(["The", "cat", "sat"], ["."])], "do not know 'cat', 'sat'"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(
    pairs: list[tuple[list[str], list[str]]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        score_explorer(pairs)
