"""The figure of captions: the captioners of chapter 06 at work in the page.

The reader draws digits into the cells of an image, chooses the attention, looks at the weights of
each word and moves them, and sees what the captioner then says. Python gives the first state; every
other one is computed by `captioners.js`, on the weights of `attn_course.trained.captions`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attn_course.data.captions import CELL, DIGITS_OF, NAMES, CaptionedImage
from attn_course.data.regression import load_digits
from attn_course.data.translation import detokenise
from attn_course.interactive.captioning.said import CANDIDATES, MOST_WORDS, WORDS, Word, say
from attn_course.interactive.controls import (
    button,
    choice,
    hint,
    kept,
    more,
    option,
    readings,
    select,
)
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.trained.captions import load_captioner

MOST_IMAGES = 8
GRID, SHADES = 3, 16  # cells in a row, and shades of ink
RECIPES = ("soft", "hard", "uniform")
WAYS = 3  # samples of each digit, which the number keys put into a cell
FIRST_WORD = 1  # the name of the first digit
TOOLS = {"move": "move the weight", "draw": "draw", "empty": "empty a cell"}


def caption_explorer(images: Sequence[CaptionedImage], tasks: str = "") -> InteractiveFigure:
    """The captioners of chapter 06, whose image and whose weights the reader can change.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the captioners themselves run in the built book, and in JupyterLab beside a built book.

    Args:
        images: Images of three by three cells to start from; the first is shown first.
        tasks: What to try, in a few words, beside the first hint.

    Raises:
        ValueError: There is no image, there are more than 8, or one has another grid.
    """
    if not 0 < len(images) <= MOST_IMAGES:
        raise ValueError(f"the figure shows 1 to {MOST_IMAGES} images, not {len(images)}")
    if strange := [len(one.digits) for one in images if len(one.digits) != GRID**2]:
        raise ValueError(f"the captioners see {GRID**2} cells; an image has {strange[0]}")
    words = say(load_captioner(RECIPES[0]), images[0])
    return InteractiveFigure(
        name="captioning",
        label="A caption and where each word looked, with an image to draw on",
        controls=_controls(images, tasks),
        readings=readings(
            guesses="this word", before="left alone, it says", right="the right caption"
        ),
        data=_data(images, words),
        live=provenance("100 images that none has learned from, most of them drawn,", *RECIPES),
        weights=RECIPES,
    )


def _controls(images: Sequence[CaptionedImage], tasks: str) -> str:
    named = [", ".join(NAMES[digit] for digit in one.digits if digit is not None) for one in images]
    caption = tag("div", "", class_="attn-caption", data_part="caption", role="group",
                  aria_label="the caption, word by word")  # fmt: skip
    attention = [option("radio", "model", name, name, name == RECIPES[0]) for name in RECIPES]
    tools = [option("radio", "tool", name, text, name == "move") for name, text in TOOLS.items()]
    examples = select("example", "start from", [("", "your own"), *enumerate(named)], 0)
    drawing = [button("undo", "undo"), button("clear", "clear"), examples]
    weighing = [button("back", "weights back"), button("play", "play")]
    return (
        hint(f"Click a cell: all the weight of the chosen word moves there. {tasks}".rstrip())
        + choice("Attention", *attention)
        + tag("div", "".join(weighing), class_="attn-options")
        + caption
        + more(
            "Another picture, or draw your own",
            choice("In the picture", *tools),
            tag("div", "".join(drawing), class_="attn-options"),
            hint("Keys in a cell: 0 to 9 for a digit, Delete, Enter to move the weight there."),
        )
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


def ink_of(image: Tensor) -> str:
    """The sixteenths of ink of each pixel as letters, `a` for none and `q` for all, row by row."""
    shades = (SHADES * image).round().int().flatten().tolist()
    return "".join(chr(ord("a") + shade) for shade in shades)


def squares_of(image: Tensor) -> Tensor:
    """The cells of an image, (9, 8, 8), row by row."""
    return image.unfold(0, CELL, CELL).unfold(1, CELL, CELL).flatten(0, 1)
