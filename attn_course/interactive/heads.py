"""The figure of heads: where the 72 heads of MiniLM look, in a record of a dozen sentences.

All heads are seen as small pictures and one as a table, and a row of that table is compared with
the others. Python draws the first state; `heads.js` draws every other one.
"""

from base64 import b64encode
from io import BytesIO

import numpy as np
from jaxtyping import Float
from matplotlib import image
from matplotlib.colors import to_rgb
from torch import Tensor

from attn_course.interactive.alignment_picture import png, rounded, svg
from attn_course.interactive.controls import button, hint, kept, readings, select
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import weights_script
from attn_course.interactive.markup import tag
from attn_course.plots import ROLE
from attn_course.plots.bahdanau import SELF_ATTENTION
from attn_course.trained.minilm_heads import NAME, SENTENCES, load_heads

LAYOUT = {"left": 92, "top": 92, "wide": 34, "tall": 32}
# The sheet of all heads: the place of the first, and the side of the square that each has.
SHEET = {"left": 28, "top": 48, "side": 40}
LIVE = (
    "A record: MiniLM has 23 million numbers, too many for a page. So <code>python -m "
    f"attn_course.trained {NAME}</code> has written down its weights of these sentences, each to "
    "the nearest of 255 steps; a test compares them with the model's. They are fetched when you "
    "first act ({megabytes:.1f} MB)."
)


def head_explorer(
    sentence: str, head: tuple[int, int], asking: str, looked_at: str
) -> InteractiveFigure:
    """All heads of MiniLM on a sentence, one of them large, and a row of it beside the others.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    other states need the built book, or JupyterLab beside a built book.

    Args:
        sentence: The first sentence, one of `attn_course.trained.minilm_heads.SENTENCES`.
        head: The layer and the head that are shown large.
        asking: The piece of the sentence whose row is in the frame.
        looked_at: The piece whose column is in the frame.

    Raises:
        ValueError: There is no such sentence, head or piece.
    """
    pieces, weights = load_heads(sentence)
    if strange := [piece for piece in (asking, looked_at) if piece not in pieces]:
        raise ValueError(f"{', '.join(map(repr, strange))} is not among the pieces {pieces}")
    layers, heads = weights.shape[:2]
    layer, number = head
    if not (0 <= layer < layers and 0 <= number < heads):
        raise ValueError(f"there are {layers} layers of {heads} heads, and so no head {head}")
    row, column = pieces.index(asking), pieces.index(looked_at)
    large = weights[layer, number]
    text = (
        f"{sentence.removesuffix('.')}: in {_called(head)}, "
        f"“{asking}” gives {_percent(large[row, column])} to “{looked_at}”."
    )
    return InteractiveFigure(
        name="heads",
        label="All heads of a trained model, with controls to look into each",
        sentence=text,
        picture=_sheet(weights, text) + svg(pieces, pieces, large, _called(head), LAYOUT),
        controls=_controls(sentence, head, (row, column)),
        readings=readings(_read(weights, pieces, head, (row, column))),
        data={
            "weights": NAME,
            "sentences": SENTENCES,
            "layout": LAYOUT,
            "sheet": SHEET,
            "colour": [round(255 * part) for part in to_rgb(ROLE["weight"])],
            "shape": [layers, heads],
            "first": {
                "sentence": SENTENCES.index(sentence),
                "pieces": pieces,
                "table": rounded(large),
            },
        },
        png=png(pieces, pieces, large, SELF_ATTENTION),
        live=LIVE.format(megabytes=len(weights_script(NAME)) / 1e6),
        weights=[NAME],
    )


def _called(head: tuple[int, int]) -> str:
    return "layer {}, head {}".format(*head)


def _percent(share: Tensor | float) -> str:
    return f"{100 * float(share):.0f}%"


def _sheet(weights: Float[Tensor, "layers heads length length"], sentence: str) -> str:
    """All heads as small pictures, a row for each layer."""
    layers, heads, length, _ = weights.shape
    left, top, side = SHEET.values()
    wide, tall = side * heads, side * layers
    title = tag("text", "A row for each layer, a column for each head", x=left, y=18)
    names = [
        tag("text", str(j), x=left + side * j + side / 2, y=top - 7, text_anchor="middle")
        for j in range(heads)
    ] + [
        tag("text", str(i), x=left - 8, y=top + side * i + side / 2, text_anchor="end")
        for i in range(layers)
    ]
    # a line of nothing after each table keeps it from its neighbours
    apart = np.pad(weights.numpy(), ((0, 0), (0, 0), (0, 1), (0, 1))).transpose(0, 2, 1, 3)
    dots = np.empty((layers * (length + 1), heads * (length + 1), 4))
    dots[..., :3], dots[..., 3] = to_rgb(ROLE["weight"]), apart.reshape(dots.shape[:2])
    file = BytesIO()
    image.imsave(file, dots, format="png", metadata={"Software": None})
    picture = tag("image", href=f"data:image/png;base64,{b64encode(file.getvalue()).decode()}",
                  x=left, y=top, width=wide, height=tall, preserveAspectRatio="none")  # fmt: skip
    frames = [
        tag("rect", data_head=f"{i},{j}", x=left + side * j, y=top + side * i,
            width=side * length / (length + 1), height=side * length / (length + 1))
        for i in range(layers)
        for j in range(heads)
    ]  # fmt: skip
    return tag(
        "svg",
        "".join([title, *names, picture, *frames]),
        viewBox=f"0 0 {left + wide + 4} {top + tall + 4}",
        role="img",
        aria_label=sentence,
    )


def _controls(sentence: str, head: tuple[int, int], cell: tuple[int, int]) -> str:
    return (
        hint("Click a head, then a cell of its table. Do the other rows look there, too?")
        + select(
            "sentence", "Sentence", enumerate(SENTENCES), SENTENCES.index(sentence), "sentence"
        )
        + tag(
            "div",
            button("most", "the head that gives this cell most")
            + button("next", "the next head in that order"),
            class_="attn-options",
        )
        + kept(layer=head[0], head=head[1], row=cell[0], column=cell[1])
    )


def _read(
    weights: Tensor, pieces: list[str], head: tuple[int, int], cell: tuple[int, int]
) -> list[tuple[str, str, str]]:
    """The readings: the cell, the column of it in the other rows, the other heads, the marks."""
    row, column = cell
    table, here = weights[head], weights[head][cell]
    others = (table[:, column].sum() - here) / (len(pieces) - 1)
    more = int((weights[..., row, column] > here).sum())
    marks = table[1:-1, [0, -1]].sum(-1).mean()
    asking, at = f"“{pieces[row]}”", f"“{pieces[column]}”"
    return [
        ("cell", _called(head), f"{asking} gives {_percent(here)} to {at}"),
        ("rows", "its other rows", f"give {_percent(others)} to {at} on average"),
        ("rank", "of all heads", f"{more} of {weights[..., 0, 0].numel()} give it more"),
        ("marks", "the two marks", f"get {_percent(marks)} from a word of this head"),
    ]
