"""The figure of captions: step through the words, see the weights on the image, and move them.

Everything visible is computed here, by the captioners themselves; `captioning.js` shows it.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import torch

from attn_course.captioning import Captioner
from attn_course.data.captions import CaptionedImage
from attn_course.interactive.captioning_controls import controls, readings
from attn_course.interactive.captioning_picture import STAGE, WIDE, WIDTH, key_of, svg
from attn_course.interactive.captioning_said import WORDS, Guess, Word, describe
from attn_course.interactive.captioning_state import State
from attn_course.interactive.figure import InteractiveFigure
from attn_course.plots.captioning import word_by_word

MOST_IMAGES = 8  # every cell of every word of each is another caption


def caption_explorer(
    images: Sequence[CaptionedImage],
    models: Mapping[str, Captioner],
    *,
    image: int = 0,
    model: str | None = None,
    word: int = 1,
) -> InteractiveFigure:
    """The captions of some images, word by word, with the weights laid over the image.

    The reader steps through the words, changes the image and the captioner, and moves all weight of
    a word to another cell, to see what the captioner would have said. Shown as the last expression
    of a cell, it works without a kernel, in JupyterLab, in the built book and from the disk; in
    print it is the first image once for each word.

    Args:
        images: At most 8 images with the same grid.
        models: Captioners for this grid by the names that the reader sees, such as "soft".
        image: Number of the image to show first.
        model: Name of the captioner to show first; None for the first one.
        word: Number of the word to show first, counted from 0; the last word if there are fewer.

    Raises:
        ValueError: There is no image or no captioner, there are too many images, their grids
            differ, a captioner is for another grid, or `image` or `model` does not exist, or
            `word` is negative.
    """
    start = next(iter(models), "") if model is None else model
    _require_what_is_shown(images, models, image, start, word)
    said = describe(images, models)
    last = len(said[image][start]) - 1
    state = State(tuple(images), said, image, start, min(word, last))
    return InteractiveFigure(
        name="captioning",
        label="A caption word by word, and where each word looked, with controls to change it",
        sentence=state.sentence,
        picture=svg(state),
        controls=controls(state),
        readings=readings(state),
        data=_data(state),
        png=png(state),
        scripts=["captioning_parts"],
    )


def _require_what_is_shown(
    images: Sequence[CaptionedImage],
    models: Mapping[str, Captioner],
    image: int,
    model: str,
    word: int,
) -> None:
    if not 0 < len(images) <= MOST_IMAGES:
        raise ValueError(f"the figure shows 1 to {MOST_IMAGES} images, not {len(images)}")
    cells = {len(one.digits) for one in images}
    if len(cells) > 1:
        raise ValueError(f"the images have grids of {sorted(cells)} cells; give one kind at a time")
    for name, one in models.items():
        if len(one.places) not in cells:
            own, given = len(one.places), cells.pop()
            raise ValueError(f"{name!r} is for {own} cells, the images have {given}")
    if not 0 <= image < len(images):
        raise ValueError(f"{image=} is not from 0 to {len(images) - 1}")
    if model not in models:
        names = ", ".join(models) or "none"
        raise ValueError(f"there is no captioner {model!r}; there are {names}")
    if word < 0:
        raise ValueError(f"{word=} is negative")


def png(state: State) -> bytes:
    """The image for print, once for each word; the greatest weight is framed."""
    weights = torch.tensor([word.weights for word in state.words])
    titles = [f"{word.word}\n{max(word.weights)}%" for word in state.words]
    figure = word_by_word(
        state.images[state.image].image[0],
        titles,
        weights.unflatten(1, (state.grid, state.grid)) / 100,
        weights.argmax(-1).tolist(),
    )
    file = BytesIO()
    figure.savefig(file, format="png", dpi=160, metadata={"Software": None})
    return file.getvalue()


def _data(state: State) -> dict[str, Any]:
    return {
        "words": WORDS,
        "images": [
            {
                "key": key_of(one),
                "right": " ".join(one.words),
                "said": {name: _written(words) for name, words in said.items()},
            }
            for one, said in zip(state.images, state.said, strict=True)
        ],
        "start": [state.image, state.model, state.word],
        "grid": state.grid,
        "layout": {"width": WIDTH, "stage": STAGE, "wide": WIDE},
    }


def _written(words: Sequence[Word]) -> dict[str, Any]:
    """A captioner's guesses in few letters: `b97c3` is word 1 with 97 and word 2 with 3%."""
    return {
        "words": _letters([word.word for word in words]),
        "right": [int(word.is_right) for word in words],
        "weights": [word.weights for word in words],
        "looked": [word.looked for word in words],
        "guesses": [_shares(word.guesses) for word in words],
        "moved": [
            [f"{_shares(moved)}|{_letters(rest)}" for moved, rest in pairs]
            for pairs in (zip(word.moved, word.rest, strict=True) for word in words)
        ],
    }


def _letters(words: Sequence[str]) -> str:
    return "".join(chr(ord("a") + WORDS.index(word)) for word in words)


def _shares(guesses: Sequence[Guess]) -> str:
    return "".join(f"{_letters([word])}{percent}" for word, percent in guesses)
