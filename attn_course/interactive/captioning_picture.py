"""The figure of chapter 06 in the browser, before its script takes over."""

from collections.abc import Sequence
from html import escape

from torch import Tensor

from attn_course.data.captions import CELL
from attn_course.interactive.captioning_said import Word, percent, place
from attn_course.interactive.markup import tag

GRID, SIDE = 3, 384  # cells in a row, and the image's side
EDGE = 6  # around the image, for its frames
STAGE = SIDE + 2 * EDGE
THUMB, ACROSS, PITCH, DOWN = 126, 4, 142, 176  # of the small images, one for each word
WIDTH, FILM = PITCH * ACROSS, STAGE + 44  # of the picture, and where the small images begin
LEFT = (WIDTH - STAGE) / 2
SHADES = 16


def svg(image: Tensor, words: Sequence[Word], number: int, sentence: str) -> str:
    """The image with the weights of one word, then small copies for all words.

    Parts that the script changes are marked with `data-part`; the small images it removes.

    Args:
        image: From 0 (paper) to 1 (ink), (24, 24).
        words: The caption.
        number: The number of the word to show, from 0.
        sentence: The same in words.
    """
    rows = -(-len(words) // ACROSS)
    stage = tag("g", _stage(image, words[number]), transform=f"translate({LEFT:g} 0)")
    return tag(
        "svg",
        f"\n{stage}\n{_all_words(words)}\n",
        viewBox=f"0 0 {WIDTH} {FILM + DOWN * rows}",
        role="img",
        aria_label=sentence,
    )


def pixels(image: Tensor) -> str:
    """The pixels of each shade of grey as one line, which runs along the middle of their rows."""
    shades = (SHADES * image).round().int()
    lines = []
    for shade in range(1, SHADES + 1):
        places = (shades == shade).nonzero().tolist()
        line = "".join(f"M{x} {y}.5h1" for y, x in places)
        lines.append(tag("path", d=line, stroke_opacity=f"{shade / SHADES:g}"))
    return "".join(lines)


def _stage(image: Tensor, word: Word) -> str:
    """The weights at the bottom, the image over them, and on top the cells to point at."""
    side = SIDE / GRID
    boxes = [
        {"x": EDGE + side * (cell % GRID), "y": EDGE + side * (cell // GRID),
         "width": side, "height": side} for cell in range(GRID**2)
    ]  # fmt: skip
    weights = "".join(
        tag("rect", class_="attn-weight", style=f"--attn-share:{weight:g}", **box)
        for box, weight in zip(boxes, word.weights, strict=True)
    )
    scale = f"translate({EDGE} {EDGE}) scale({SIDE / (GRID * CELL):g})"
    ink = tag("g", pixels(image), id="attn-drawing", class_="attn-ink", data_part="ink")
    hand = tag("path", d="", class_="attn-hand", data_part="hand",
               transform=f"translate({EDGE} {EDGE})")  # fmt: skip
    rows = [
        tag("g", "".join(_cell(word, cell, boxes[cell]) for cell in range(row, row + GRID)),
            data_line=row // GRID)
        for row in range(0, GRID**2, GRID)
    ]  # fmt: skip
    return (
        tag("g", weights, data_part="weights")
        + tag("g", ink, transform=scale, aria_hidden="true")
        + hand
        + "".join(rows)
    )


def _cell(word: Word, cell: int, box: dict[str, float]) -> str:
    frame = "attn-frame attn-looked" if cell == word.looked else "attn-frame"
    share = percent(word.weights[cell])
    corner = {"x": box["x"] + box["width"] - 5, "y": box["y"] + box["height"] - 7}
    number = tag("text", "" if share == "0%" else share, text_anchor="end",
                 class_="attn-number", **corner)  # fmt: skip
    name = f"{place(cell)}: {share} of the weight"
    return tag("g", tag("rect", class_=frame, **box) + number, data_cell=cell, aria_label=name)


def _all_words(words: Sequence[Word]) -> str:
    """The image once for each word, with its weights."""
    says = "every word, its weights and its probability"
    title = tag("text", says, x=EDGE, y=FILM - 14, class_="attn-name")
    small = [_small(word, number) for number, word in enumerate(words)]
    return tag("g", "\n".join([title, *small]), data_part="all")


def _small(word: Word, number: int) -> str:
    side = THUMB / GRID
    left, top = PITCH * (number % ACROSS) + EDGE, FILM + DOWN * (number // ACROSS)
    parts = []
    for cell, weight in enumerate(word.weights):
        box = {"x": side * (cell % GRID), "y": side * (cell // GRID), "width": side,
               "height": side}  # fmt: skip
        shown = "attn-weight attn-looked" if cell == word.looked else "attn-weight"
        parts.append(tag("rect", class_=shown, style=f"--attn-share:{weight:g}", **box))
    scale = f"scale({THUMB / (GRID * CELL):g})"
    image = tag("use", href="#attn-drawing", transform=scale, class_="attn-ink")
    says = tag("text", escape(word.word), x=0, y=THUMB + 20, class_="attn-name") + tag(
        "text", percent(word.guesses[0][1]), x=THUMB, y=THUMB + 20, text_anchor="end"
    )
    return tag("g", "".join([*parts, image, says]), class_="attn-small",
               transform=f"translate({left} {top})")  # fmt: skip


def ink_of(image: Tensor) -> str:
    """The sixteenths of ink of each pixel as letters, `a` for none and `q` for all, row by row."""
    shades = (SHADES * image).round().int().flatten().tolist()
    return "".join(chr(ord("a") + shade) for shade in shades)


def squares_of(image: Tensor) -> Tensor:
    """The cells of an image, (9, 8, 8), row by row."""
    return image.unfold(0, CELL, CELL).unfold(1, CELL, CELL).flatten(0, 1)
