"""The captions of some images, word by word, and the captions if the captioner had looked
elsewhere: the numbers of the figure of chapter 06, in whole percents."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from torch import Tensor, nn

from attn_course.captioning import Captioner
from attn_course.counterfactual import Directed
from attn_course.data.captions import VOCABULARY, CaptionedImage
from attn_course.decoding import greedy_decode
from attn_course.hard_attention import one_hot
from attn_course.seq2seq import BOS, EOS, PAD

END = "(end)"
MOST_WORDS = 20  # a caption that has not ended by then is cut off; the longest right one has 19
CANDIDATES = 3

# Every word by its number.
WORDS = [
    END if number == EOS else VOCABULARY.decode([number])[0] for number in range(len(VOCABULARY))
]

Guess = tuple[str, int]  # a word and its probability in percent


@dataclass(frozen=True)
class Word:
    """One word of a caption, and how it came about.

    Attributes:
        word: The word; `END` for the end of the caption.
        is_right: True if it belongs to the right caption.
        weights: Weights of the cells, in percent.
        looked: The one cell that the captioner looked at; None if it took the mean of them all.
        guesses: The most probable words.
        moved: For each cell, the most probable words if all weight had been on it.
        rest: For each cell, the caption from this word on if all weight had been on it.
    """

    word: str
    is_right: bool
    weights: list[int]
    looked: int | None
    guesses: list[Guess]
    moved: list[list[Guess]]
    rest: list[list[str]]


def describe(
    images: Sequence[CaptionedImage], models: Mapping[str, Captioner]
) -> list[dict[str, list[Word]]]:
    """The words of each captioner, by its name, for each image."""
    said = {name: _say_all(images, model) for name, model in models.items()}
    return [{name: said[name][number] for name in models} for number in range(len(images))]


@torch.no_grad()
def _say_all(images: Sequence[CaptionedImage], model: Captioner) -> list[list[Word]]:
    # in double precision: a percent must not depend on how a processor adds up
    model = copy.deepcopy(model).double().eval()
    model.vision = _SeenOnce(model.vision)
    return [_say(model, image) for image in images]


class _SeenOnce(nn.Module):
    """An eye for many copies of one image: it looks at the first."""

    def __init__(self, vision: nn.Module) -> None:
        super().__init__()
        self.vision = vision

    def forward(self, image: Tensor) -> Tensor:
        return self.vision(image[:1]).expand(len(image), -1, -1)


def _say(model: Captioner, example: CaptionedImage) -> list[Word]:
    """The words of one image, each with the captioner's own weights and with each cell alone."""
    image = example.image.double().unsqueeze(0)
    tokens = greedy_decode(model, image, MOST_WORDS)
    trace = model.trace(_before(tokens), model.start(image))
    weights, used = trace.weights[0], trace.used[0]
    guesses, rest = _elsewhere(model, image, tokens, used)
    words = read(tokens[0])
    right = _in_both(words, [*example.words, END])
    return [
        Word(
            word,
            right[number],
            percents(weights[number]),
            None if used[number].equal(weights[number]) else int(used[number].argmax()),
            _guesses(trace.logits[0, number]),
            [_guesses(logits) for logits in guesses[number]],
            [read(one[number:]) for one in rest[number]],
        )
        for number, word in enumerate(words)
    ]


def _elsewhere(
    model: Captioner, image: Tensor, tokens: Tensor, used: Tensor
) -> tuple[Tensor, Tensor]:
    """The captions when all weight of one word is on one cell, for each word and each cell.

    Returns:
        The logits of that word, (num_words, num_cells, vocab_size), and the whole captions, the
        words before it as they were, (num_words, num_cells, length).
    """
    num_words, num_cells = used.shape
    word = torch.arange(num_words).repeat_interleave(num_cells)
    cell = torch.arange(num_cells).repeat(num_words)
    row = torch.arange(len(word))
    weights = used.new_zeros(len(word), num_words, num_cells)
    weights[row, word] = one_hot(cell, used.new_zeros(len(word), num_cells))
    told, many = Directed(model, weights), image.expand(len(word), -1, -1, -1)
    captions = greedy_decode(told, many, MOST_WORDS)
    logits, _ = told.decode(_before(tokens).expand(len(word), -1), told.start(many))
    shape = (num_words, num_cells)
    return logits[row, word].unflatten(0, shape), captions.unflatten(0, shape)


def _before(tokens: Tensor) -> Tensor:
    """The words that a captioner reads to say these: BOS, and all but the last."""
    return torch.cat([torch.full_like(tokens[:, :1], BOS), tokens[:, :-1]], 1)


def read(tokens: Tensor) -> list[str]:
    """The words of a caption, with `END` if it came to one."""
    return [*VOCABULARY.decode(tokens), *[END] * bool((tokens == EOS).any())]


def percents(numbers: Tensor) -> list[int]:
    """Shares of one in whole percents."""
    return [round(100 * number) for number in numbers.tolist()]


def _guesses(logits: Tensor) -> list[Guess]:
    """The most probable words: always the first, the others if they have at least one percent."""
    # as greedy decoding has it: a caption cannot go on with either
    probability = logits.softmax(-1).index_fill(0, torch.tensor([PAD, BOS]), 0)
    best = probability.topk(CANDIDATES).indices
    pairs = list(zip([WORDS[i] for i in best], percents(probability[best]), strict=True))
    return [pairs[0], *[(name, percent) for name, percent in pairs[1:] if percent]]


def _in_both(said: Sequence[str], right: Sequence[str]) -> list[bool]:
    """True for each word of a caption that the right one also has, in the same order."""
    shared = SequenceMatcher(None, said, right, autojunk=False).get_matching_blocks()
    return [any(a <= number < a + size for a, _, size in shared) for number in range(len(said))]
