"""The figure of heads: where the 72 heads of MiniLM look, in a record of a dozen sentences.

All heads are seen as small pictures and one as a table, and what a row of that table gives to one
column, or to two together, is compared with the others. Python gives the weights of the first
sentence; the record, which the page fetches, has those of all.
"""

from base64 import b64encode
from collections.abc import Sequence

from matplotlib.colors import to_rgb

from attn_course.interactive.controls import button, hint, kept, readings, select
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import weights_script
from attn_course.interactive.markup import tag
from attn_course.plots import ROLE
from attn_course.trained.heads.minilm_heads import NAME, SENTENCES, STEPS, load_heads

# The pair with which each sentence opens: the piece that asks, and the piece it looks at.
PAIRS = (
    ("dog", "bark"),
    ("not", "let"),
    ("not", "let"),
    ("not", "hang"),
    ("it", "cup"),
    ("it", "shelf"),
    ("chased", "dog"),
    ("chased", "cat"),
    ("chased", "dog"),
    ("it", "book"),
    ("five", "four"),
    ("dog", "dog"),
)
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
        sentence: The first sentence, one of `attn_course.trained.heads.minilm_heads.SENTENCES`.
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
    return InteractiveFigure(
        name="heads",
        label="All heads of a trained model, with controls to look into each",
        controls=_controls(sentence, head, (row, column)),
        readings=readings(cell="this head", rows="its other rows", rank="of all heads"),
        data={
            "weights": NAME,
            "sentences": SENTENCES,
            "cells": [
                cell_of(load_heads(one).pieces, *pair)
                for one, pair in zip(SENTENCES, PAIRS, strict=True)
            ],
            "colour": [round(255 * part) for part in to_rgb(ROLE["weight"])],
            "shape": [layers, heads],
            "first": {
                "sentence": SENTENCES.index(sentence),
                "pieces": pieces,
                "shares": b64encode((weights * STEPS).round().byte().numpy().tobytes()).decode(),
            },
        },
        live=LIVE.format(megabytes=len(weights_script(NAME)) / 1e6),
        weights=[NAME],
    )


def cell_of(pieces: Sequence[str], asking: str, looked_at: str) -> tuple[int, int]:
    """The places of a pair: the last piece that asks, and the nearest other one it looks at."""
    row = max(place for place, piece in enumerate(pieces) if piece == asking)
    others = [place for place, piece in enumerate(pieces) if piece == looked_at and place != row]
    return row, min(others, key=lambda place: abs(place - row))


def _controls(sentence: str, head: tuple[int, int], cell: tuple[int, int]) -> str:
    return (
        hint(
            "Click a head, then a cell, and compare the bars. A second word above adds its column."
        )
        + tag(
            "div",
            select(
                "sentence", "Sentence", enumerate(SENTENCES), SENTENCES.index(sentence), "sentence"
            )
            + select("second", "Second word", [(-1, "none")], -1),
            class_="attn-options",
        )
        + tag(
            "div",
            button("most", "the head that gives most here")
            + button("next", "the next head in that order"),
            class_="attn-options",
        )
        + kept(layer=head[0], head=head[1], row=cell[0], column=cell[1], also=-1)
    )
