"""The figure of one vector: the translator of chapter 03 at work in the page, with its beam.

The reader lets a sentence grow, writes one, or widens the beam, and sees the vector, the beginnings
that the beam has tried, and which words are wrong. Python gives the first state; every other one is
computed by `translators.js` and `beam_search.js`, on the weights of `attn_course.trained`.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attn_course.data.tokens import pad
from attn_course.interactive.controls import (
    button,
    choice,
    hint,
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
    Pair,
    kinds_in,
    require_sentences,
    source_controls,
)
from attn_course.seq2seq import BOS, EOS
from attn_course.trained import TrainedTranslator, load

MOST_WORDS = 40
RECIPE, OTHER = "fixed", "bahdanau"
SHOWN = 4  # beginnings at each step, and the widest beam


class Tried(NamedTuple):
    """A beginning: its last word, and the probability of all its words together."""

    word: str
    share: float


def fixed_vector_explorer(pairs: Sequence[Pair]) -> InteractiveFigure:
    """The translator of chapter 03 and its beam.

    A sentence of the reader's own, with no right translation, is compared with what the translator
    of chapter 04 says.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown;
    the translators run in the built book, and in JupyterLab beside a built book.

    Args:
        pairs: English sentences with their right translations, from which the reader chooses; the
            first is shown first.

    Raises:
        ValueError: There is no pair, or a sentence is empty, has more than 40 words, or has a word
            that the translators do not know.
    """
    translator = load(RECIPE)
    known, sources = translator.source_words.words, [source for source, _ in pairs]
    require_sentences(sources, MOST_WORDS, known, "the translator does", "a pair of sentences")
    vector, steps = greedily(translator, sources[0])
    numbers = [round(number, 2) for number in vector.tolist()]
    return InteractiveFigure(
        name="fixed-vector",
        label="One vector for a sentence, with its beam, and controls to change both",
        controls=_controls(sources),
        readings=readings(
            chance="probability",
            read="it reads",
            said="it says",
            right="right is",
            other="chapter 04's",  # for a sentence of one's own
            strange="underlined",
        ),
        data=_data(pairs, numbers, steps),
        live=provenance("100 sentences that they have not learned from", RECIPE, OTHER),
        weights=[RECIPE, OTHER],
    )


@torch.no_grad()
def greedily(
    translator: TrainedTranslator, source: Sequence[str]
) -> tuple[Tensor, list[list[Tried]]]:
    """The vector, and the best words to go on with at each step; the first is kept."""
    # in double precision: the printed digits must not depend on how a processor adds up
    model, words = deepcopy(translator.model).double(), translator.target_words
    state = model.start(pad([translator.source_words.encode(source)]))
    vector, word, total = state[0][0], BOS, 0.0
    steps: list[list[Tried]] = []
    while word != EOS and len(steps) < int(1.5 * (len(source) + 1)) + 5:
        logits, state = model.step(torch.tensor([word]), state)
        chance = logits.log_softmax(-1)[0]
        chance[:EOS] = -torch.inf  # PAD and BOS are no words
        best = chance.topk(SHOWN)
        shares = (best.values + total).exp().tolist()
        names = ["EOS" if i == EOS else words.decode([i])[0] for i in best.indices.tolist()]
        steps.append(
            [Tried(name, float(f"{share:.6g}")) for name, share in zip(names, shares, strict=True)]
        )
        word, total = int(best.indices[0]), total + float(best.values[0])
    return vector, steps


def _controls(sources: Sequence[Sequence[str]]) -> str:
    shorter, longer = button("shorter", "shorter"), button("longer", "a longer sentence")
    ranks = option("radio", "power", 0, "the most probable", True) + option(
        "radio", "power", 1, "the one with the best mean over its words"
    )
    return (
        hint("Let the sentence grow, and look for the first wrong word.")
        + tag("div", shorter + longer, class_="attn-options")
        + more(
            "Word by word, a sentence of your own, a wider beam",
            source_controls(sources, counted=True),
            tag(
                "div",
                select("place", "replace", [("", "a word")], "")
                + select("other", "by", [("", "another")], ""),
                class_="attn-options",
            ),
            choice("The best sentence of the beam is", ranks),
            slider("beam", "", 1, SHOWN, 1),
        )
    )


def _data(
    pairs: Sequence[Pair],
    numbers: Sequence[float],
    steps: Sequence[Sequence[Tried]],
) -> dict[str, Any]:
    return {
        "weights": [RECIPE, OTHER],
        "most": MOST_WORDS,
        "kinds": kinds_in([source for source, _ in pairs]),
        "pairs": [[list(one) for one in pair] for pair in pairs],
        "vector": numbers,
        "steps": steps,
    }
