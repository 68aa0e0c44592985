"""The sentences of a live figure: which it takes, how the reader gives one, what a model says."""

from collections.abc import Collection, Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.bahdanau import AttentionTranslator
from attn_course.data.tokens import pad
from attn_course.data.translation import detokenise
from attn_course.data.translation.kinds import same_kind
from attn_course.interactive.controls import select
from attn_course.interactive.markup import tag
from attn_course.seq2seq import BOS
from attn_course.trained import TrainedTranslator, load

Pair = tuple[Sequence[str], Sequence[str]]  # an English sentence and its translation, in words


def require_sentences(
    sentences: Sequence[Sequence[str]], most: int, known: Collection[str], who: str, what: str
) -> None:
    """Refuse what a model cannot read.

    Args:
        sentences: English sentences, cut into words.
        most: Words that a sentence may have.
        known: Words that the model knows.
        who: The model with its verb, for the message: "the translator does".
        what: The thing that the figure shows first: "a sentence".

    Raises:
        ValueError: There is no sentence, or one is empty, too long, or has unknown words.
    """
    if not sentences:
        raise ValueError(f"the figure needs {what} to show first; there is none")
    for sentence in sentences:
        if not 0 < len(sentence) <= most:
            raise ValueError(f"a sentence has 1 to {most} words, not {len(sentence)}")
        require_known(sentence, known, who)


def require_known(words: Iterable[str], known: Collection[str], who: str) -> None:
    """Refuse words that a model does not know, by name; `who` is as above."""
    if strange := [word for word in words if word not in known]:
        raise ValueError(f"{who} not know {', '.join(map(repr, strange))}")


def source_controls(sentences: Sequence[Sequence[str]], counted: bool = False) -> str:
    """A field in which the first sentence stands, and a list of all, with their lengths or not."""
    written = [detokenise(sentence) for sentence in sentences]
    typed = tag("input", type="text", name="source", value=written[0], data_part="source",
                spellcheck="false", lang="en", maxlength=2000)  # fmt: skip
    lines = [
        (text, f"{len(sentence)} words: {text}" if counted else text)
        for text, sentence in zip(written, sentences, strict=True)
    ]
    return tag("label", tag("span", "English") + typed, class_="attn-typed") + select(
        "example", "or choose", [("", "a sentence of your own"), *lines], written[0]
    )


def kinds_in(sentences: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the words of these sentences in sets of those that can replace one another."""
    kinds = {frozenset((word, *same_kind(word))) for one in sentences for word in one}
    return sorted(sorted(kind) for kind in kinds if len(kind) > 1)


def rounded(weights: Float[Tensor, "rows columns"]) -> list[list[float]]:
    """The weights with as many digits as a picture shows, for its script."""
    return [[round(one, 3) for one in row] for row in weights.tolist()]


@torch.no_grad()
def translated(
    recipe: str, source: Sequence[str]
) -> tuple[tuple[str, ...], Float[Tensor, "target source"]]:
    """Return a translator's output, and the weights of each of its words and of EOS."""
    return read_by(load(recipe), source)


def read_by(
    known: TrainedTranslator, source: Sequence[str]
) -> tuple[tuple[str, ...], Float[Tensor, "target source"]]:
    """Return what this translator says, and the weights of each of its words and of EOS."""
    assert isinstance(known.model, AttentionTranslator)  # that of a fixed vector has no weights
    (said,) = known.translate([source])
    target = torch.tensor([[BOS, *known.target_words.encode(said)[:-1]]])
    return said, known.model.alignment(pad([known.source_words.encode(source)]), target)[0]
