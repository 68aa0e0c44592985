"""The figure of captions: the captioners of chapter 06 at work in the page.

The reader draws digits into the cells of an image, chooses the attention, looks at the weights of
each word and moves them, and sees what the captioner then says. Python draws the first state; every
other one is computed by `captioners.js`, on the weights of `attn_course.trained.captions`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attn_course.data.captions import DIGITS_OF, NAMES, CaptionedImage
from attn_course.data.regression import load_digits
from attn_course.data.translation import detokenise
from attn_course.interactive.captioning_picture import (
    EDGE,
    GRID,
    LEFT,
    SIDE,
    STAGE,
    ink_of,
    squares_of,
    svg,
)
from attn_course.interactive.captioning_said import (
    CANDIDATES,
    MOST_WORDS,
    WORDS,
    Word,
    say,
    sentence,
)
from attn_course.interactive.controls import button, choice, hint, kept, option, readings, select
from attn_course.interactive.figure import InteractiveFigure, png_of
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.plots.captioning import word_by_word
from attn_course.trained.captions import load_captioner

MOST_IMAGES = 8
RECIPES = ("soft", "hard", "uniform")
WAYS = 3  # samples of each digit, which the number keys put into a cell
FIRST_WORD = 1  # the name of the first digit
TOOLS = {"draw": "draw", "empty": "empty a cell", "move": "move the weight"}


def caption_explorer(images: Sequence[CaptionedImage]) -> InteractiveFigure:
    """The captioners of chapter 06, whose image and whose weights the reader can change.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the captioners themselves run in the built book, and in JupyterLab beside a built book.

    Args:
        images: Images of three by three cells to start from; the first is shown first.

    Raises:
        ValueError: There is no image, there are more than 8, or one has another grid.
    """
    if not 0 < len(images) <= MOST_IMAGES:
        raise ValueError(f"the figure shows 1 to {MOST_IMAGES} images, not {len(images)}")
    if strange := [len(one.digits) for one in images if len(one.digits) != GRID**2]:
        raise ValueError(f"the captioners see {GRID**2} cells; an image has {strange[0]}")
    words, image = say(load_captioner(RECIPES[0]), images[0]), images[0].image[0]
    says = sentence(RECIPES[0], words, FIRST_WORD)
    return InteractiveFigure(
        name="captioning",
        label="A caption and where each word looked, with an image to draw on",
        sentence=says,
        picture=svg(image, words, FIRST_WORD, says),
        controls=_controls(images),
        readings=readings(
            [
                ("guesses", "this word", ""),
                ("before", "left alone, it says", ""),
                ("right", "the right caption", detokenise(images[0].words)),
            ]
        ),
        data=_data(images, words),
        png=_png(image, words),
        live=provenance("100 images that none has learned from, most of them drawn,", *RECIPES),
        weights=RECIPES,
    )


def _controls(images: Sequence[CaptionedImage]) -> str:
    named = [", ".join(NAMES[digit] for digit in one.digits if digit is not None) for one in images]
    caption = tag("div", "", class_="attn-caption", data_part="caption", role="group",
                  aria_label="the caption, word by word")  # fmt: skip
    attention = [option("radio", "model", name, name, name == RECIPES[0]) for name in RECIPES]
    tools = [option("radio", "tool", name, text, name == "draw") for name, text in TOOLS.items()]
    examples = select("example", "start from", [("", "your own"), *enumerate(named)], 0)
    named_buttons = {"play": "play", "undo": "undo", "clear": "clear", "back": "weights back"}
    buttons = [button(name, text) for name, text in named_buttons.items()]
    return (
        hint(
            "With “draw”, write two or three digits into the cells. Choose a word to see where it "
            "looks, or play all of them. "
            "(Keys in a cell: 0 to 9 for a digit, Delete, Enter to move the weight there.)"
        )
        + choice("In the picture", *tools)
        + tag("div", "".join([*buttons, examples]), class_="attn-options")
        + caption
        + choice("Attention", *attention)
        + kept(stamps=_stamps(images[0], WAYS * len(NAMES)), strokes="", word=FIRST_WORD, moves="")
    )


def _data(images: Sequence[CaptionedImage], words: Sequence[Word]) -> dict[str, Any]:
    samples = [ink_of(square) for square in _squares_to_type()]
    examples = []
    for one in images:
        stamps = _stamps(one, len(samples))
        shown = [square for square, digit in zip(squares_of(one.image[0]), one.digits, strict=True)
                 if digit is not None]  # fmt: skip
        samples += [ink_of(square) for square in shown]
        examples.append({"stamps": stamps, "right": detokenise(one.words)})
    return {
        "recipes": RECIPES,
        "words": WORDS,
        "most": MOST_WORDS,
        "candidates": CANDIDATES,
        "grid": GRID,
        "ways": WAYS,
        "samples": samples,
        "examples": examples,
        "said": [vars(word) for word in words],
        "layout": {"left": LEFT, "stage": STAGE, "edge": EDGE, "side": SIDE},
    }


def _squares_to_type() -> list[Tensor]:
    """For each digit some that no captioner has learned from, (8, 8) each."""
    digits, labels = load_digits()
    test = torch.tensor(DIGITS_OF["test"])
    found = [test[labels[test] == digit][:WAYS] for digit in range(len(NAMES))]
    return list(digits[torch.cat(found)].unflatten(1, (8, 8)))


def _stamps(example: CaptionedImage, first: int) -> str:
    """Name each filled cell and its sample, `cell.sample`, numbered on from `first`."""
    cells = [cell for cell, digit in enumerate(example.digits) if digit is not None]
    return "_".join(f"{cell}.{first + number}" for number, cell in enumerate(cells))


def _png(image: Tensor, words: Sequence[Word]) -> bytes:
    """The image for print, once for each word, with the frames of the live figure."""
    weights = torch.tensor([word.weights for word in words])
    titles = [f"{word.word}\n{100 * max(word.weights):.0f}%" for word in words]
    framed = [-1 if word.looked is None else word.looked for word in words]
    figure = word_by_word(image, titles, weights.unflatten(1, (GRID, GRID)), framed)
    return png_of(figure, dpi=160)
