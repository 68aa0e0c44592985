"""The caption of an image, word by word: the first state of the figure of chapter 06."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attn_course.captioning import Captioner
from attn_course.data.captions import VOCABULARY, CaptionedImage
from attn_course.data.translation import detokenise
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import BOS, EOS, PAD

END = "(end)"
MOST_WORDS = 30  # a caption that has not ended by then is cut off; the longest right one has 19
CANDIDATES = 3
# Every word by its number.
WORDS = [
    END if number == EOS else VOCABULARY.decode([number])[0] for number in range(len(VOCABULARY))
]


@dataclass(frozen=True)
class Word:
    """One word of a caption, and how it came about.

    Attributes:
        word: The word; `END` for the end of the caption.
        weights: Weights of the cells.
        looked: The one cell that the captioner looked at; None if it took the mean of them all.
        guesses: The most probable words with their probabilities.
    """

    word: str
    weights: list[float]
    looked: int | None
    guesses: list[tuple[str, float]]


@torch.no_grad()
def say(model: Captioner, example: CaptionedImage) -> list[Word]:
    """The words of one image, in numbers that do not depend on how a processor adds up."""
    model = copy.deepcopy(model).double().eval()
    image = example.image.double().unsqueeze(0)
    tokens = greedy_decode(model, image, MOST_WORDS)
    before = torch.cat([torch.full_like(tokens[:, :1], BOS), tokens[:, :-1]], 1)
    trace = model.trace(before, model.start(image))
    # as greedy decoding has it: a caption cannot go on with either
    shares = trace.logits[0].index_fill(1, torch.tensor([PAD, BOS]), -torch.inf).softmax(-1)
    best = shares.topk(CANDIDATES)
    return [
        Word(
            WORDS[token],
            [round(weight, 3) for weight in weights.tolist()],
            None if used.equal(weights) else int(used.argmax()),
            [(WORDS[i], round(share, 3)) for i, share in zip(indices, values, strict=True)],
        )
        for token, weights, used, values, indices in zip(
            tokens[0].tolist(),
            trace.weights[0],
            trace.used[0],
            best.values.tolist(),
            best.indices.tolist(),
            strict=True,
        )
    ]


def spoken(words: Sequence[Word]) -> str:
    """A caption as it is read: without its end mark, or with dots if it was cut off."""
    said = [word.word for word in words]
    return detokenise(said[:-1] if said[-1] == END else [*said, "…"])


def sentence(model: str, words: Sequence[Word], number: int) -> str:
    """The figure in words, for print and screen readers."""
    now = words[number]
    return (
        f"{model.capitalize()} attention says: “{spoken(words)}”. "
        f"Word {number + 1} of {len(words)}: “{now.word}”, "
        f"probability {percent(now.guesses[0][1])}. {where(now)}."
    )


def where(word: Word) -> str:
    """The cells that a word looked at."""
    if word.looked is not None:
        return f"It looks at {place(word.looked)} alone"
    order = sorted(range(len(word.weights)), key=lambda cell: -word.weights[cell])[:3]
    if len(set(word.weights)) == 1:
        return f"{percent(word.weights[0])} of the weight on every cell"
    (first, *others) = order
    named = [f"{percent(word.weights[first])} of the weight on {place(first)}"]
    named += [
        f"{percent(word.weights[cell])} on {place(cell)}"
        for cell in others
        if word.weights[cell] >= 0.05
    ]
    return "; ".join(named)


def place(cell: int, grid: int = 3) -> str:
    """The place of a cell, in words."""
    return f"row {cell // grid + 1}, column {cell % grid + 1}"


def percent(share: float) -> str:
    """A share of one in whole percents; halves go up, as in the script."""
    return f"{int(100 * share + 0.5)}%"
