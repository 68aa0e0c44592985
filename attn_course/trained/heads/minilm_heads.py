"""The weights of MiniLM's 72 heads in a dozen sentences: the record of chapter 09's laboratory.

The model is too large for a page, so `make` writes these weights in bytes.
"""

import json
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.minilm import load_minilm
from attn_course.trained.store import load_weights, save_tensors

NAME = "minilm_heads"
SENTENCES = (
    "Bark is very cute and he is a dog",
    "Hang them not let them go.",
    "Hang them, not let them go.",
    "Hang them not, let them go.",
    "The cup does not fit the shelf because it is too tall.",
    "The cup does not fit the shelf because it is too low.",
    "The dog chased the cat.",
    "The cat chased the dog.",
    "The cat was chased by the dog.",
    "She gave him her book, and he gave it back.",
    "one two three four five six seven eight",
    "dog dog dog dog dog dog dog dog",
)
STEPS = 255  # a weight of 1 is the largest byte


class Heads(NamedTuple):
    """The pieces of a sentence, and the weights of every head of every layer between them."""

    pieces: list[str]
    weights: Float[Tensor, "layers heads length length"]


def make() -> None:
    """Record the weights of all sentences, each to the nearest of 255 steps: two seconds."""
    model = load_minilm()
    pieces = {sentence: model.tokenise(sentence) for sentence in SENTENCES}
    found = {sentence: model.weights(sentence) * STEPS for sentence in SENTENCES}
    weights = {sentence: shares.round().to(torch.uint8) for sentence, shares in found.items()}
    save_tensors(__file__, NAME, weights, {"pieces": json.dumps(pieces)})


def load_heads(sentence: str) -> Heads:
    """The record of a sentence, as weights from 0 to 1.

    Raises:
        ValueError: The sentence is none of `SENTENCES`.
    """
    if sentence not in SENTENCES:
        raise ValueError(f"there is no record of {sentence!r}, only of {', '.join(SENTENCES)}")
    weights, said = load_weights(NAME)
    return Heads(json.loads(said["pieces"])[sentence], weights[sentence] / STEPS)
