"""The figure of alignments: the translator of chapter 04 at work in the page.

The reader writes a sentence, lays hands on the weights of a word, or replaces a word of the source,
and sees what the translator then says. Python gives the first state; every other one is computed by
`translators.js`, on the weights of `attn_course.trained`.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attn_course.interactive.controls import (
    button,
    choice,
    hint,
    kept,
    more,
    option,
    readings,
    select,
    slider,
)
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.interactive.sentences import (
    kinds_in,
    require_sentences,
    rounded,
    source_controls,
    translated,
)
from attn_course.trained import load

MOST_WORDS = 24  # with more columns, no screen shows the table
RECIPE = "bahdanau"
# The choices that a reader has for the weights of a word, in the words of the figure.
HANDS = {
    "learned": "as learned",
    "move": "all on the cell",
    "forbid": "none on the cell",
    "flatten": "equal everywhere",
    "shuffle": "shuffled",
}


def alignment_explorer(sentences: Sequence[Sequence[str]]) -> InteractiveFigure:
    """The translator of chapter 04, whose sentence and whose weights the reader can change.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the translator itself runs in the built book, and in JupyterLab beside a built book.

    Args:
        sentences: English sentences to choose from, cut into words; the first is shown first.

    Raises:
        ValueError: There is no sentence, or one is empty, has more than 24 words, or has a word
            that the translator does not know.
    """
    known = load(RECIPE).source_words.words
    require_sentences(sentences, MOST_WORDS, known, "the translator does", "a sentence")
    said, weights = translated(RECIPE, sentences[0])
    return InteractiveFigure(
        name="alignment",
        label="A translation and the weights of its words, with controls to change them",
        controls=_controls(sentences, len(said) + 1),
        readings=readings(
            said="it says", before="left alone, it says", shares="this word looks at"
        ),
        data=_data(sentences, said, weights),
        live=provenance("100 sentences that it has not learned from", RECIPE),
        weights=[RECIPE],
    )


def _controls(sentences: Sequence[Sequence[str]], rows: int) -> str:
    hands = "".join(
        option("radio", "hands", name, text, name == "learned") for name, text in HANDS.items()
    )
    everywhere = option("checkbox", "everywhere", "on", "at every word, not at one")
    return (
        tag(
            "div",
            button("play", "say it word by word") + slider("words", "", 1, rows, rows),
            class_="attn-play",
        )
        + hint("Click a cell: its row's weight moves there.")
        + tag(
            "div",
            select("place", "replace", [("", "no word")], "")
            + select("other", "by", [("", "itself")], "")
            + button("undo", "undo"),
            class_="attn-options",
        )
        + more(
            "Another sentence, other changes",
            source_controls(sentences),
            choice("A click on a cell makes the weights of its row", hands, everywhere),
        )
        + kept(row="", column="", replaced="", exchange="")
    )


def _data(
    sentences: Sequence[Sequence[str]], said: Sequence[str], weights: Tensor
) -> dict[str, Any]:
    return {
        "weights": RECIPE,
        "most": MOST_WORDS,
        "kinds": kinds_in(sentences),
        "source": list(sentences[0]),
        "said": list(said),
        "shares": rounded(weights),
    }
