"""The figure of permutations: the reader of chapter 08 at work in the page.

The reader shuffles nine words, exchanges them, and sees who looks at whom and what each word
answers. Python gives the first state; `permutation.js` computes every other one.
"""

from collections.abc import Sequence

import torch

from attn_course.interactive.controls import button, hint, kept, readings
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.interactive.sentences import require_known, rounded
from attn_course.trained.who_does_what import NAME, VOCABULARY, load_heap_reader

HEAP_SIZE = 9


def permutation_explorer(words: Sequence[str]) -> InteractiveFigure:
    """Nine words that look at each other, in the trained reader of chapter 08.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the reader itself runs in the built book, and in JupyterLab beside a built book.

    Args:
        words: Nine different words of `attn_course.trained.who_does_what.VOCABULARY`.

    Raises:
        ValueError: There are not nine words, one comes twice, or one is not in the vocabulary.
    """
    if len(words) != HEAP_SIZE or len(set(words)) < HEAP_SIZE:
        raise ValueError(f"a heap has {HEAP_SIZE} different words, not {len(set(words))}")
    require_known(words, VOCABULARY, "the reader does")
    heap = torch.tensor([VOCABULARY.index(word) for word in words])
    reader = load_heap_reader()
    weights, answers = reader.weights(heap[None])[0], reader(heap[None])[0].argmax(-1).tolist()
    return InteractiveFigure(
        name="permutation",
        label="Nine words that look at each other, with controls to shuffle them",
        controls=_controls(".".join(map(str, heap.tolist()))),
        readings=readings(answers="answers", looks="the dashed row", apart="put back in order"),
        data={
            "words": VOCABULARY,
            "first": heap.tolist(),
            "answers": answers,
            "weights": rounded(weights),
        },
        live=provenance("100 heaps that it has not learned from", NAME),
        weights=[NAME],
    )


def _controls(heap: str) -> str:
    buttons = [
        ("shuffle", "shuffle the words"),
        ("back", "first order"),
        ("another", "other words"),
    ]
    return (
        hint("Shuffle the words: who looks at whom? Click a column to exchange its word.")
        + tag("div", "".join(button(*one) for one in buttons), class_="attn-options")
        + kept(heap=heap, first=heap, row="", column="")
    )
