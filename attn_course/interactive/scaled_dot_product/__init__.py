"""The figure of the attention layer: change scale, temperature and mask, and see the weights.

Its script computes all numbers; the tests compare them with those of `State`, which come from the
package.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.interactive.controls import choice, coloured, hint, kept, option, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.markup import tag
from attn_course.interactive.scaled_dot_product.state import SCALES, State, rounded
from attn_course.shapes import checked, require_positive

MOST_WORDS = 12  # with more columns, a finger would miss its cell
READINGS = (
    ("pair", "query", "query → key"),
    ("product", "key", "dot product"),
    ("score", "key", "score"),
    ("weight", "weight", "weight"),
    ("sum", "weight", "the row sums to"),
)


@checked
def attention_explorer(
    words: Sequence[str],
    query: Float[Tensor, "length d_key"],
    key: Float[Tensor, "length d_key"],
    *,
    row: int = 0,
    column: int = 0,
    length: int | None = None,
    temperature: float = 1.0,
    wants: Sequence[str] = (),
    offers: Sequence[str] = (),
) -> InteractiveFigure:
    """The weights of a sentence, whose scale, temperature and masks the reader can change.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk; in print it is the picture of its first state.

    Args:
        words: A word for each token, at most 12.
        query: The query of each token; rounded to three decimals.
        key: The key of each token; rounded likewise.
        row: The token whose query is selected first.
        column: The token whose key is selected first.
        length: Number of tokens that are words, not padding; None for all. The padding mask, which
            is off at first, forbids the others.
        temperature: The number by which scores are divided at first.
        wants: What the query of each token looks for, in words; with `offers`, it is told over the
            bars.
        offers: What the key of each token has of that, likewise.

    Raises:
        TypeError: The query or the key is not a floating-point tensor, or they differ in dtype.
        ValueError: A shape does not fit, an argument holds NaN or infinity, there are no tokens or
            too many, a position lies outside the sentence, or the temperature is not positive.
    """
    require_positive("temperature", temperature)
    _require_a_sentence(words, query, key)
    real = len(words) if length is None else length
    for name, at, most in (("row", row, len(words) - 1), ("column", column, len(words) - 1)):
        if not 0 <= at <= most:
            raise ValueError(f"{name}={at} is not a token: they are numbered from 0 to {most}")
    if not 0 <= real <= len(words):
        raise ValueError(f"{length=} is not from 0 to {len(words)}")
    if {len(wants), len(offers)} not in ({0}, {len(words)}):
        raise ValueError(f"of {len(words)} words, {len(wants)} want and {len(offers)} offer")
    start = float(f"{temperature:.3g}")
    state = State(tuple(words), rounded(query), rounded(key), temperature=start)
    return InteractiveFigure(
        name="scaled-dot-product",
        label="The weights of a sentence, with controls to change them",
        controls=_controls(state, real, row=row, column=column, forbidden=""),
        data={
            "words": state.words,
            "query": state.query.tolist(),
            "key": state.key.tolist(),
            "wants": [*wants],
            "offers": [*offers],
            "temperatures": state.temperatures,
            "scales": {name: text.format(state.d_key) for name, text in SCALES.items()},
        },
        readings=coloured(READINGS),
    )


def _require_a_sentence(words: Sequence[str], query: Tensor, key: Tensor) -> None:
    if not 0 < len(words) <= MOST_WORDS:
        raise ValueError(f"the figure shows 1 to {MOST_WORDS} words, not {len(words)}")
    if len(words) != len(query):
        raise ValueError(f"there are {len(words)} words but {len(query)} queries")
    for name, numbers in (("query", query), ("key", key)):
        if unbounded := int(torch.isinf(numbers).sum()):
            raise ValueError(f"{name} holds {unbounded} infinite numbers among {numbers.numel()}")


def _controls(state: State, length: int, **chosen: object) -> str:
    scales = [
        option("radio", "scale", name, text.format(state.d_key), name == state.scale)
        for name, text in SCALES.items()
    ]
    masks = [option("checkbox", name, name, name) for name in ("causal", "window", "padding")]
    most = len(state.words)
    place = state.temperatures.index(state.temperature)
    return (
        hint(
            "Point at a cell, tap it, or use the arrow keys. "
            "To forbid it, click it, tap it again, or press Enter."
        )
        + choice("Dot products", *scales)
        + slider("temperature", "", 0, len(state.temperatures) - 1, place)
        + choice("Masks, which may be combined", *masks)
        + slider("half-width", "", 0, most - 1, min(2, most - 1), hidden="")
        + slider("words", "", 0, most, length, hidden="")
        + tag("button", "allow all cells again", type="button", data_part="clear", hidden="")
        + kept(**chosen)
    )
