"""The figure of keys that learn: eight of them, equal at first, go apart among their queries."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from attn_course.interactive.controls import head, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.markup import tag


def key_explorer(
    words: Sequence[str],
    history: Mapping[int, Tensor],
    right: Sequence[float],
    asked: Tensor,
    means: Tensor,
) -> InteractiveFigure:
    """Keys that are colours, after as many steps of learning as the reader chooses.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk.

    Args:
        words: A word for each key.
        history: The keys after some numbers of steps, red, green and blue from 0 to 1,
            `(len(words), 3)`.
        right: The share of new colours that the keys name rightly after each.
        asked: The colours that they learned from, `(query_len, 3)`.
        means: The mean colour of each word, `(len(words), 3)`.
    """
    steps = list(history)
    return InteractiveFigure(
        name="learned-keys",
        label="Eight keys that learn from colours",
        controls=head("Drag the steps, or let the keys learn.")
        + slider("after", "key", 0, len(steps) - 1, 0, label="steps")
        + tag("button", "learn \u25b8", type="button", data_act="learn"),
        data={
            "stops": {"after": steps},
            "onPaper": {"after": steps[-1]},
            "width": WIDTHS["wide"],
            "words": list(words),
            "keys": [_written(keys) for keys in history.values()],
            "right": [round(share, 3) for share in right],
            "asked": _written(asked),
            "means": _written(means),
        },
    )


def _written(colours: Tensor) -> list[list[float]]:
    return [[round(part, 3) for part in colour] for colour in colours.tolist()]
