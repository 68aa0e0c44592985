"""The figure of chapter 06 in the browser, before its script takes over."""

from collections.abc import Sequence
from html import escape
from zlib import crc32

from attn_course.data.captions import CaptionedImage
from attn_course.interactive.captioning_said import CANDIDATES, Guess
from attn_course.interactive.captioning_state import State
from attn_course.interactive.markup import tag
from attn_course.plots import ROLE

WIDTH, SIDE = 560, 312  # of the picture, and of the image in it
EDGE = 4  # around the image, for its frames
LIST, WIDE = 344, 212  # left edge of the guesses, and the longest of their bars
BLOCK, LINE = 168, 42  # from one list of guesses to the next, and from guess to guess
STAGE = SIDE + 2 * EDGE
FILM = STAGE + 44  # where the images of all words begin
THUMB, ACROSS, PITCH, DOWN = 126, 4, 142, 176  # of each of them
WORTH_A_NUMBER = 10  # percent; small images stay legible without less


def svg(state: State) -> str:
    """The picture: the image with the weights of one word, then small copies for all words.

    Parts that the script moves are marked with `data-part`; the small images it removes.
    """
    rows = -(-len(state.words) // ACROSS)
    parts = [_digits(state), _stage(state), _lists(state), _all_words(state)]
    return tag(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        viewBox=f"0 0 {WIDTH} {FILM + DOWN * rows}",
        role="img",
        aria_label=state.sentence,
    )


def key_of(example: CaptionedImage) -> str:
    """The name under which an image is drawn; the same image has the same name in every figure."""
    ink = (255 * example.image).round().byte().numpy().tobytes()
    return f"attn-image-{crc32(ink):08x}"


def image_of(example: CaptionedImage, x: float, y: float, side: float) -> str:
    """A copy of an image defined elsewhere on the page, with this side and its corner here."""
    scale = side / example.image.shape[-1]
    place = f"translate({x:g} {y:g}) scale({scale:g})"
    return tag("use", href=f"#{key_of(example)}", transform=place, class_="attn-ink")


def _digits(state: State) -> str:
    images = {key_of(one): one for one in state.images}
    return tag("defs", "".join(_pixels(key, one) for key, one in images.items()))


def _pixels(key: str, example: CaptionedImage) -> str:
    """The pixels of each shade of grey as one line, which runs along the middle of their rows."""
    shades: dict[int, list[str]] = {}
    for y, row in enumerate((16 * example.image[0]).round().int().tolist()):
        for x, shade in enumerate(row):
            if shade:
                shades.setdefault(shade, []).append(f"M{x} {y}.5h1")
    lines = "".join(
        tag("path", d="".join(line), stroke_opacity=f"{shade / 16:.2f}")
        for shade, line in sorted(shades.items())
    )
    return tag("g", lines, id=key)


def _stage(state: State) -> str:
    """The weights at the bottom, the image over them, and on top the cells to point at."""
    side = SIDE / state.grid
    image = tag("g", image_of(state.images[state.image], EDGE, EDGE, SIDE), data_part="image")
    weights = [_weight(state.weights[cell], *_corner(cell, state.grid, side), side)
               for cell in range(state.grid**2)]  # fmt: skip
    rows = [
        tag("g", "".join(_cell(state, row * state.grid + i, side) for i in range(state.grid)),
            data_line=row)
        for row in range(state.grid)
    ]  # fmt: skip
    return tag("g", "".join(weights), data_part="weights") + image + "\n".join(rows)


def _corner(cell: int, grid: int, side: float) -> tuple[float, float]:
    row, column = divmod(cell, grid)
    return EDGE + side * column, EDGE + side * row


def _weight(percent: int, x: float, y: float, side: float) -> str:
    box = {"x": x, "y": y, "width": side, "height": side}
    return tag("rect", class_="attn-weight", style=f"--attn-share:{percent / 100:g}", **box)


def _cell(state: State, cell: int, side: float) -> str:
    x, y = _corner(cell, state.grid, side)
    box = {"x": x, "y": y, "width": side, "height": side}
    percent = state.weights[cell]
    number = tag("text", f"{percent}%" if percent else "", x=x + side - 5, y=y + side - 6,
                 text_anchor="end", class_="attn-number")  # fmt: skip
    frame = "attn-frame attn-looked" if cell == state.looked else "attn-frame"
    return tag("g", tag("rect", class_=frame, **box) + number, data_cell=cell)


def _lists(state: State) -> str:
    """The most probable words, and below them those if the captioner had looked elsewhere."""
    title = f"word {state.word + 1} of {len(state.words)}"
    return _guesses("own", title, state.now.guesses, 22) + _guesses(
        "moved", "", state.moved_guesses, 22 + BLOCK
    )


def _guesses(name: str, title: str, guesses: Sequence[Guess], top: float) -> str:
    heading = tag("text", title, x=LIST, y=top, class_="attn-name", data_part=f"{name}-title")
    empty = [("", 0)] * (CANDIDATES - len(guesses))
    lines = [
        _guess(word, percent, top + 24 + LINE * i)
        for i, (word, percent) in enumerate([*guesses, *empty])
    ]
    return tag("g", heading + "".join(lines), data_part=name)


def _guess(word: str, percent: int, y: float) -> str:
    share = f"{percent}%" if word else ""
    return tag(
        "g",
        tag("text", escape(word), x=LIST, y=y)
        + tag("text", share, x=LIST + WIDE, y=y, text_anchor="end")
        + tag("rect", x=LIST, y=y + 5, width=WIDE * percent / 100, height=8, fill=ROLE["output"]),
        class_="attn-guess",
    )


def _all_words(state: State) -> str:
    """The image once for each word, with its weights; the script shows them one by one."""
    says = "every word, its weights and its probability"
    title = tag("text", says, x=EDGE, y=FILM - 14, class_="attn-name")
    small = [_small(state, number) for number in range(len(state.words))]
    return tag("g", "\n".join([title, *small]), data_part="all")


def _small(state: State, number: int) -> str:
    word, side = state.words[number], THUMB / state.grid
    left, top = PITCH * (number % ACROSS) + EDGE, FILM + DOWN * (number // ACROSS)
    weights, numbers = [], []
    for cell, percent in enumerate(word.weights):
        x, y = (at - EDGE for at in _corner(cell, state.grid, side))
        weights.append(_weight(percent, x, y, side))
        if percent >= WORTH_A_NUMBER:
            place = {"x": x + side - 3, "y": y + side - 4, "text_anchor": "end"}
            numbers.append(tag("text", str(percent), class_="attn-number", **place))
    if word.looked is not None:
        x, y = (at - EDGE for at in _corner(word.looked, state.grid, side))
        box = {"x": x, "y": y, "width": side, "height": side}
        numbers.insert(0, tag("rect", class_="attn-frame attn-looked", **box))
    image = image_of(state.images[state.image], 0, 0, THUMB)
    says = tag("text", escape(word.word), x=0, y=THUMB + 20, class_="attn-name") + tag(
        "text", f"{word.guesses[0][1]}%", x=THUMB, y=THUMB + 20, text_anchor="end"
    )
    return tag("g", "".join([*weights, image, *numbers, says]), class_="attn-small",
               transform=f"translate({left} {top})")  # fmt: skip
