"""The figure of heaps: the readers of chapter 08 at work in the page.

The reader shuffles nine words, exchanges them, adds positions, and sees who looks at whom and what
each word answers. Python draws the first state; `heap.js` computes every other one.
"""

from collections.abc import Sequence

import torch

from attn_course.interactive.alignment_picture import png, rounded, svg
from attn_course.interactive.controls import button, choice, hint, kept, option, readings
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.interactive.sentences import require_known
from attn_course.plots.bahdanau import SELF_ATTENTION
from attn_course.trained.heaps import NAMES, VOCABULARY, load_heap_reader

LAYOUT = {"left": 182, "top": 112, "wide": 40, "tall": 34}
FIRST = "heaps_projections"
MODELS = dict(zip(NAMES, ("basic", "projections"), strict=True))
HEAP_SIZE = 9


def heap_explorer(words: Sequence[str]) -> InteractiveFigure:
    """Nine words that look at each other, in the trained readers of chapter 08.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the readers themselves run in the built book, and in JupyterLab beside a built book.

    Args:
        words: Nine different words of `attn_course.trained.heaps.VOCABULARY`.

    Raises:
        ValueError: There are not nine words, one comes twice, or one is not in the vocabulary.
    """
    if len(words) != HEAP_SIZE or len(set(words)) < HEAP_SIZE:
        raise ValueError(f"a heap has {HEAP_SIZE} different words, not {len(set(words))}")
    require_known(words, VOCABULARY, "the readers do")
    heap = torch.tensor([VOCABULARY.index(word) for word in words])
    reader = load_heap_reader(FIRST)
    weights, answers = reader.weights(heap[None])[0], reader(heap[None])[0].argmax(-1).tolist()
    rows = [f"{word} → {VOCABULARY[said]}" for word, said in zip(words, answers, strict=True)]
    sentence = f"Nine words, and what each answers: {', '.join(rows)}."
    return InteractiveFigure(
        name="heap",
        label="Nine words that look at each other, with controls to shuffle them",
        sentence=sentence,
        picture=svg(rows, words, weights, sentence, LAYOUT),
        controls=_controls(".".join(map(str, heap.tolist()))),
        readings=readings(
            [
                ("answers", "answers", ""),
                ("looks", "the row in the frame", ""),
                ("apart", "put back in order", ""),
            ]
        ),
        data={
            "words": VOCABULARY,
            "layout": LAYOUT,
            "first": heap.tolist(),
            "answers": answers,
            "weights": rounded(weights),
        },
        png=png(rows, words, weights, SELF_ATTENTION),
        live=provenance("100 heaps that they have not learned from", *NAMES),
        weights=NAMES,
    )


def _controls(heap: str) -> str:
    models = [option("radio", "model", name, text, name == FIRST) for name, text in MODELS.items()]
    buttons = [
        ("shuffle", "shuffle the words"),
        ("back", "first order"),
        ("another", "other words"),
    ]
    return (
        hint("Shuffle the words: who looks at whom? Click a column to exchange its word.")
        + tag("div", "".join(button(*one) for one in buttons), class_="attn-options")
        + choice("Queries, keys and values", *models)
        + choice("Order", option("checkbox", "positions", "on", "add a vector for each position"))
        + kept(heap=heap, first=heap, row="", column="")
    )
