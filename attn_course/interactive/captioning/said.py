"""The caption of an image, word by word: the first state of the figure of chapter 06."""

import copy
from dataclasses import dataclass

import torch

from attn_course.captioning import Captioner
from attn_course.data.captions import VOCABULARY, CaptionedImage
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
