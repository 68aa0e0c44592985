"""The readers of chapter 08, trained to say who does what to whom, for its laboratory.

A heap is nine words from three scenes: three people, three deeds, three things. A person should say
its deed, a deed its thing, a thing its person; the right one of five is the one in the heap.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.self_attention import SelfAttention, basic_self_attention
from attn_course.trained.store import load_weights, save_weights, write_record
from attn_course.training import train

# Each scene has five people, five deeds and five things.
SCENES = (
    "cook baker chef waiter guest fries bakes stirs serves tastes soup bread cake rice fish",
    "singer pianist drummer conductor composer sings plays hums directs writes"
    " song sonata march waltz opera",
    "sailor captain pilot diver docker steers anchors loads tows paints boat ship ferry raft barge",
    "gardener florist botanist farmer child plants waters trims picks sows"
    " roses tulips herbs beans lilies",
)
VOCABULARY = tuple(" ".join(SCENES).split())
D_MODEL, STEPS, LEARNING_RATE = 32, 300, 3e-2
NAMES = ("heaps_plain", "heaps_projections")
FOLDER = Path(__file__).parent


class Heap(NamedTuple):
    """A batch of heaps: the numbers of the words and of their answers, (batch, 9)."""

    words: Tensor
    answers: Tensor

    def to(self, device: torch.device | str) -> "Heap":
        """The batch on another device."""
        return Heap(self.words.to(device), self.answers.to(device))


def heaps(seed: int, size: int = 64) -> Iterator[Heap]:
    """Yield batches of heaps without end, the people of each first, then deeds, then things."""
    draw = torch.Generator().manual_seed(seed)
    part = torch.arange(3).unsqueeze(-1)
    while True:
        scene = torch.rand(size, 4, generator=draw).argsort(1)[:, :3]
        member = torch.randint(5, (size, 3, 3), generator=draw)
        number = (3 * scene.unsqueeze(1) + part) * 5 + member
        yield Heap(number.flatten(1), number.roll(-1, dims=1).flatten(1))


class HeapReader(nn.Module):
    """A vector for each word, one round of self-attention, and a linear layer that says a word.

    Args:
        projections: If True, queries, keys and values have matrices of their own; if False, the
            vectors are all three.
    """

    def __init__(self, projections: bool) -> None:
        super().__init__()
        self.vectors = nn.Embedding(len(VOCABULARY), D_MODEL)
        nn.init.normal_(self.vectors.weight, std=0.1)
        self.attention = SelfAttention(D_MODEL) if projections else None
        self.readout = nn.Linear(D_MODEL, len(VOCABULARY))

    def forward(self, words: Tensor, positions: Tensor | None = None) -> Tensor:
        """Logits of the answer of each word, (batch, length, vocab_size)."""
        tokens = self._tokens(words, positions)
        look = basic_self_attention if self.attention is None else self.attention
        return self.readout(look(tokens))

    def weights(self, words: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the weights with which each word looks at each, (batch, length, length)."""
        tokens = self._tokens(words, positions)
        if self.attention is None:
            return masked_softmax(dot_scores(tokens, tokens))
        return self.attention.weights(tokens)

    def _tokens(self, words: Tensor, positions: Tensor | None) -> Tensor:
        tokens = self.vectors(words)
        return tokens if positions is None else tokens + positions


def train_heap_reader(name: str, seed: int = 0) -> HeapReader:
    """Train one of `NAMES` as chapter 08 does.

    Raises:
        ValueError: There is no such reader.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = HeapReader(_has_projections(name))
        learn(reader, seed)
    return reader.requires_grad_(False)


def learn(reader: HeapReader, seed: int) -> None:
    """Train a reader for 300 steps of 64 heaps, judged by the answers only."""
    train(reader, heaps(seed), _loss, STEPS, learning_rate=LEARNING_RATE, progress=False)


def save_heap_reader(name: str, reader: HeapReader) -> None:
    """Write the weights in half precision, where `load_heap_reader` finds them."""
    save_weights(FOLDER, name, reader, {"words": " ".join(VOCABULARY)})


def load_heap_reader(name: str) -> HeapReader:
    """The trained reader `heaps_plain` or `heaps_projections`, in float32.

    Raises:
        ValueError: There is no such reader.
    """
    reader = HeapReader(_has_projections(name))
    reader.load_state_dict(load_weights(FOLDER, name)[0])
    return reader.requires_grad_(False)


def make() -> None:
    """Train three seeds of both readers, store the first of each, and record what they can."""
    runs = []
    for name in NAMES:
        for seed in range(3):
            reader = train_heap_reader(name, seed)
            if seed == 0:
                save_heap_reader(name, reader)
                reader = load_heap_reader(name)
            runs.append({"reader": name, "seed": seed, "right": round(share_right(reader), 3)})
    write_record("heaps", runs, steps=STEPS, learning_rate=LEARNING_RATE)


def share_right(reader: HeapReader, seed: int = 999, size: int = 1000) -> float:
    """The share of words whose answer is right, in heaps that it has not learned from."""
    test = next(heaps(seed, size))
    return float((reader(test.words).argmax(-1) == test.answers).float().mean())


def _has_projections(name: str) -> bool:
    if name not in NAMES:
        raise ValueError(f"there is no reader {name!r}; choose from {', '.join(NAMES)}")
    return name == "heaps_projections"


def _loss(reader: HeapReader, heap: Heap) -> Tensor:
    said = reader(heap.words).flatten(0, 1)
    return nn.functional.cross_entropy(said, heap.answers.flatten())
