"""The reader of chapter 08, trained to say who does what to whom, for its laboratory.

A heap is nine words from three scenes: three people, three deeds, three things. A person should say
its deed, a deed its thing, a thing its person; the right one of five is the one in the heap.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attn_course.self_attention import SelfAttention
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
NAME = "who_does_what_projections"


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
        attention: The layer by which words look at each other; by default one with projections.
    """

    def __init__(self, attention: nn.Module | None = None) -> None:
        super().__init__()
        self.vectors = nn.Embedding(len(VOCABULARY), D_MODEL)
        nn.init.normal_(self.vectors.weight, std=0.1)
        self.attention = SelfAttention(D_MODEL) if attention is None else attention
        self.readout = nn.Linear(D_MODEL, len(VOCABULARY))

    def forward(self, words: Tensor, positions: Tensor | None = None) -> Tensor:
        """Logits of the answer of each word, (batch, length, vocab_size)."""
        return self.readout(self.attention(self._tokens(words, positions)))

    def weights(self, words: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the weights with which each word looks at each, (batch, length, length)."""
        return self.attention.weights(self._tokens(words, positions))

    def _tokens(self, words: Tensor, positions: Tensor | None) -> Tensor:
        tokens = self.vectors(words)
        return tokens if positions is None else tokens + positions


def train_heap_reader(seed: int = 0) -> HeapReader:
    """Train the reader with projections as chapter 08 does."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = HeapReader()
        learn(reader, seed)
    return reader.requires_grad_(False)


def learn(reader: HeapReader, seed: int, watch: Callable[[int], None] | None = None) -> None:
    """Train a reader for 300 steps of 64 heaps, judged by the answers only.

    Args:
        reader: The reader, trained in place.
        seed: Seed of the heaps.
        watch: Called before each step with the number of steps taken.
    """

    def batches() -> Iterator[Heap]:
        for step, heap in enumerate(heaps(seed)):
            if watch is not None:
                watch(step)
            yield heap

    train(reader, batches(), _loss, STEPS, learning_rate=LEARNING_RATE, progress=False)


def save_heap_reader(reader: HeapReader) -> None:
    """Write the weights in half precision, where `load_heap_reader` finds them."""
    save_weights(__file__, NAME, reader, {"words": " ".join(VOCABULARY)})


def load_heap_reader() -> HeapReader:
    """The trained reader with projections, in float32."""
    reader = HeapReader()
    reader.load_state_dict(load_weights(NAME)[0])
    return reader.requires_grad_(False)


def make() -> None:
    """Train three seeds of the reader, store the first, and record what they can: half a minute."""
    runs = []
    for seed in range(3):
        reader = train_heap_reader(seed)
        if seed == 0:
            save_heap_reader(reader)
            reader = load_heap_reader()
        runs.append({"seed": seed, "right": round(share_right(reader), 3)})
    write_record(__file__, "who_does_what", runs, steps=STEPS, learning_rate=LEARNING_RATE)


def share_right(reader: HeapReader, seed: int = 999, size: int = 1000) -> float:
    """The share of words whose answer is right, in heaps that it has not learned from."""
    test = next(heaps(seed, size))
    return float((reader(test.words).argmax(-1) == test.answers).float().mean())


def _loss(reader: HeapReader, heap: Heap) -> Tensor:
    said = reader(heap.words).flatten(0, 1)
    return nn.functional.cross_entropy(said, heap.answers.flatten())
