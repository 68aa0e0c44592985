"""The live readers of two readings: heads go silent in the page as they do in PyTorch."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from itertools import islice

import pytest
import torch
from playwright.sync_api import Locator, Page
from torch.testing import assert_close

from attn_course.data.phrases import phrase_batch, two_readings
from attn_course.interactive import head_ablation_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import AGREES_TO
from attn_course.trained.heads import TEST_SEED, freshly_drawn, runs_of, vocabulary
from attn_course.trained.heads.readers import without_head
from attn_course.trained.heads.two_readings import (
    READERS,
    TASK,
    load_reader,
    recipe_of,
    share_right,
    silenced,
)
from attn_course.trained.store import record
from tests.book.test_pages import PHONE
from tests.figures.interactive_laws import (
    assert_quick,
)
from tests.figures.interactive_pages import look, page_of, read_all

FIGURE = ".attn-figure[data-figure='head-ablation']"
HANG = "hang them not let them go".split()  # noqa: SIM905


@cache
def drawn() -> InteractiveFigure:
    return head_ablation_explorer(HANG)


address, window, page, figure = page_of("head-ablation", lambda: drawn().html, *READERS)


def reading(figure: Locator, part: str) -> str:
    return figure.locator(f"[data-part='{part}-reading']").inner_text()


def guess(figure: Locator, head: str) -> None:
    figure.locator(f"[name='guess'][value='{head}']").check()


@pytest.mark.browser
def test_page_reads_as_pytorch_with_any_heads_silent(figure: Locator) -> None:
    sentences = list(islice(two_readings(TEST_SEED), 22 * len(READERS)))
    settings = []
    for i, phrase in enumerate(sentences):
        name = list(READERS)[i % len(READERS)]
        choices = list(silenced(READERS[name][0]))
        settings.append((name, choices[i // 5 % len(choices)], " ".join(phrase.words)))
    states = [
        {"model": name, "sentence": sentence} | {f"off{head}": head in off for head in range(4)}
        for name, off, sentence in settings
    ]
    found = read_all(figure, states)
    readers = {name: load_reader(name).double() for name in READERS}
    for (name, off, _), phrase, got in zip(settings, sentences, found, strict=True):
        batch = phrase_batch([phrase], vocabulary(TASK))
        with ExitStack() as stack:
            for head in off:
                stack.enter_context(without_head(readers[name].attention, head))
            sure, answers = readers[name](batch)[0].softmax(-1).max(-1)
        weights = torch.tensor(got["weights"], dtype=torch.double)
        wanted = readers[name].weights(batch)[0]
        assert_close(weights, wanted, rtol=0, atol=AGREES_TO)
        assert tuple(got["answers"]) == vocabulary(TASK).decode(answers)
        assert_close(torch.tensor(got["sure"]).double(), sure, rtol=0, atol=AGREES_TO)
    assert_quick(figure)


@pytest.mark.browser
def test_measured_loss_is_shown_after_the_guess_and_goes_with_another_reader(
    figure: Locator,
) -> None:
    assert reading(figure, "first") == "not negates let (100% sure)"
    assert reading(figure, "second") == "not negates hang (100% sure)"
    left = figure.locator("[data-part='left-reading']")
    assert not left.is_visible()
    guess(figure, "1")
    left.wait_for()
    assert reading(figure, "guess").startswith("It is missed: without head 1, 92.4% are read")
    assert "without head 3, 100% are read right" in reading(figure, "guess")
    guess(figure, "3")
    figure.get_by_text("It can go: without head 3, 100% are read right; no head costs").wait_for()
    figure.locator("[name='off1']").check()
    figure.get_by_text("(wrong").or_(figure.get_by_text("right is hang")).wait_for()
    assert reading(figure, "left").startswith("without head 1: both answers right in 92.4%")
    figure.get_by_label("4 heads, seed 6").check()
    left.wait_for(state="hidden")
    assert figure.locator("[name^='off']:checked, [name='guess']:checked").count() == 0
    guess(figure, "none")
    figure.get_by_text("So it is: without head 0, 95.6%").wait_for()
    figure.get_by_label("1 head, seed 0").check()
    figure.locator("[data-cell='1,0']").wait_for(state="detached")
    assert figure.locator("[name^='off']:visible").count() == 1


@pytest.mark.browser
def test_typed_sentence_is_read_or_refused_by_name(figure: Locator) -> None:
    typed, alert = figure.get_by_label("Sentence"), figure.get_by_role("alert")
    for text, said in [
        ("Hang them, not let them go.", ""),
        ("", "Write a sentence"),
        ("hang them", "one “not”"),
        ("not hang not", "one “not”"),
        ("spare them not let them go", "“spare”"),
        ("<b>not</b> hang", "“<b>not</b>”"),
        ("not " + "hang " * 300, "room for 16 words, not 301"),
    ]:
        typed.fill(text)
        if said:
            alert.get_by_text(said).wait_for()
        else:
            figure.get_by_text("it has no word for one").wait_for()
            assert not alert.is_visible()
    typed.fill("not hang")
    alert.wait_for(state="hidden")
    figure.get_by_role("button", name="exchange the verbs").click()
    alert.get_by_text("Only verbs on both sides").wait_for()
    assert figure.locator("[data-line='0'] [data-cell]").count() == 2
    for name in ("exchange the verbs", "another sentence", "exchange the verbs"):
        figure.get_by_role("button", name=name).click()
    words = typed.input_value().split()
    figure.locator("[data-column='0']", has_text=words[0]).wait_for()
    assert words.count("not") == 1


@pytest.mark.browser
def test_keyboard_walks_and_switches_a_row_off(figure: Locator) -> None:
    figure.locator("[data-cell='0,0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        figure.page.keyboard.press(key)
    figure.locator(".attn-off[data-line='2']").wait_for()
    assert figure.page.evaluate("document.activeElement.dataset.cell") == "2,1"
    assert figure.locator("[name='off2']").is_checked()
    assert "right is let" in reading(figure, "first")


@pytest.mark.browser
def test_odd_link_does_no_harm(page: Page, address: str) -> None:
    odd = "#lab=head-ablation&model=x&guess=7&row=99&column=-3&off2=on"
    look(page, PHONE, "dark", "reduce")
    page.goto("about:blank")
    page.goto(address + odd)
    page.locator(f"{FIGURE} .attn-off[data-line='2']").wait_for()
    page.locator(f"{FIGURE} [data-cell='1,4']").tap()
    page.locator(f"{FIGURE} .attn-off[data-line='1']").wait_for()


def test_readers_are_those_of_their_record_and_of_the_record_of_heads() -> None:
    made = record("two_readings")
    assert [run["reader"] for run in made["runs"]] == list(READERS)
    for run in made["runs"]:
        recipe, seed = recipe_of(run["reader"])
        assert [*run["without"]] == [".".join(map(str, off)) for off in silenced(recipe.num_heads)]
        (among,) = (one for one in runs_of(recipe, record("heads")) if one["seed"] == seed)
        for head, found in enumerate(among["without_head"]):
            assert run["without"][str(head)][1:] == pytest.approx(found, abs=0.01)
        assert run["weights"] == [pytest.approx(row, abs=0.002) for row in among["weights"]]
    left, off = made["runs"][3]["without"], (1, 3)
    assert share_right(load_reader("two_readings_4_5"), off) == pytest.approx(left["1.3"], abs=0.01)
    assert len(freshly_drawn(TASK).words) == 2000
    with pytest.raises(ValueError, match="there is no reader 'heads'; choose from two_readings_1"):
        load_reader("heads")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*HANG, "cat"], "the readers do not know 'cat'"),
        (["hang"], "a sentence has one 'not', which asks; this one has 0"),
        (HANG[2:], "there is no verb before or after 'not'"),
        (HANG * 3, "a sentence has at most 16 words, not 18"),
    ],
)
def test_bad_input_is_refused_with_its_numbers(words: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head_ablation_explorer(words)
