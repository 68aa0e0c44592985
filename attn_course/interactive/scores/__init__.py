"""The figure of scores: the translators of chapter 05 at work on one sentence, side by side.

The reader chooses models and a sentence, and narrows the window of the local ones. Python gives the
first state; every other one is computed by `translators.js`, on the weights of
`attn_course.trained`.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from attn_course.interactive.controls import (
    choice,
    hint,
    kept,
    more,
    option,
    readings,
    slider,
)
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.live import provenance
from attn_course.interactive.sentences import (
    Pair,
    read_by,
    require_sentences,
    rounded,
    source_controls,
    translated,
)
from attn_course.trained import load
from attn_course.trained.translators.recipes import WINDOW

MOST_WORDS = 16  # with more columns, two tables do not fit side by side
# The recipe of each model, by its name in the chapter, and how it attends.
MODELS = {
    "dot": ("luong_dot", "global"),
    "general": ("luong_general", "global"),
    "local-m": ("luong_local_m", "local-m"),
    "local-p": ("luong_local_p", "local-p"),
}
SHOWN = ("local-m", "local-p")


def score_explorer(pairs: Sequence[Pair]) -> InteractiveFigure:
    """Translators that differ in their score, on one sentence, and the window of the local ones.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the translators run in the built book, and in JupyterLab beside a built book.

    Args:
        pairs: English sentences with their right translations, from which the reader chooses; the
            first is shown first.

    Raises:
        ValueError: There is no pair, or a sentence is empty, has more than 16 words, or has a word
            that the translators do not know.
    """
    known = load(MODELS["dot"][0]).source_words.words
    sources = [source for source, _ in pairs]
    require_sentences(sources, MOST_WORDS, known, "the translators do", "a pair of sentences")
    source = sources[0]
    drawn = {name: translated(MODELS[name][0], source) for name in SHOWN}
    first, _ = drawn[SHOWN[0]]
    recipes = [recipe for recipe, _ in MODELS.values()]
    return InteractiveFigure(
        name="scores",
        label="Alignments of several scores, with controls to change them",
        controls=_controls(sources, max(len(first) - 2, 0)),  # the word before the full stop
        readings=readings(**{name: name for name in MODELS}, looks="in the frame"),
        data=_data(pairs, drawn, {name: _centres(name, source) for name in SHOWN}),
        live=provenance("100 sentences that they have not learned from", *recipes),
        weights=recipes,
    )


def _controls(sources: Sequence[Sequence[str]], row: int) -> str:
    models = "".join(option("checkbox", name, "on", name, name in SHOWN) for name in MODELS)
    return (
        hint("Narrow the window: which breaks first? Grey is outside it, a point is its centre.")
        + slider("window", "", 0.5, WINDOW, WINDOW, 0.5)
        + more("Other models, other sentences", choice("Models", models), source_controls(sources))
        + kept(row=row)
    )


def _centres(name: str, source: Sequence[str]) -> list[float]:
    """Return the centre of the window of a local model for each word that it says, and for EOS."""
    recipe, attention = MODELS[name]
    if attention == "local-m":
        return [float(place) for place in range(len(translated(recipe, source)[0]) + 1)]
    known, shares = load(recipe), list[Tensor]()
    predicted = known.model.get_submodule("centre")
    predicted.register_forward_hook(lambda _module, _states, share: shares.append(share))
    read_by(known, source)  # its last call reads all words at once
    return [round(share * (len(source) + 1), 1) for share in shares[-1].flatten().tolist()]


def _data(
    pairs: Sequence[Pair],
    drawn: dict[str, tuple[tuple[str, ...], Tensor]],
    centres: dict[str, list[float]],
) -> dict[str, Any]:
    return {
        "models": MODELS,
        "most": MOST_WORDS,
        "pairs": [[list(one) for one in pair] for pair in pairs],
        "first": {
            name: [[*said, "EOS"], rounded(weights), centres[name]]
            for name, (said, weights) in drawn.items()
        },
    }
