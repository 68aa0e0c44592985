"""Captions of images: a grid of features, and a decoder that looks at it before each word."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attn_course.bahdanau import AdditiveScore
from attn_course.retrieval import masked_softmax
from attn_course.seq2seq import PAD, State, embed, readout
from attn_course.shapes import checked

# From the model's weights to the weights that make the context, both (batch, num_cells).
Use = Callable[[Tensor], Tensor]


class Trace(NamedTuple):
    """The steps of a captioner, word by word.

    Attributes:
        logits: Logits of the next word, (batch, target_len, vocab_size).
        weights: The softmax over the cells, (batch, target_len, num_cells).
        used: The weights that made the context, of the same shape; in soft attention they equal
            `weights`.
        state: The state from which to continue.
    """

    logits: Tensor
    weights: Tensor
    used: Tensor
    state: State


class GridEncoder(nn.Sequential):
    """A small convolutional network: from an image to one feature vector for each 8 x 8 pixels.

    Images `(batch, 1, height, width)` give features `(batch, num_cells, d_feature)`.

    Args:
        d_feature: Width of a feature vector.
        d_hidden: Number of channels of the first layer; the second has twice as many.
    """

    def __init__(self, d_feature: int = 64, d_hidden: int = 32) -> None:
        super().__init__(
            nn.Conv2d(1, d_hidden, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(d_hidden, 2 * d_hidden, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            # unlike a maximum, this layer still knows where in its cell a stroke is
            nn.Conv2d(2 * d_hidden, d_feature, 2, stride=2),
            nn.ReLU(),
        )
        self.d_feature = d_feature

    @checked
    def forward(
        self, image: Float[Tensor, "batch 1 height width"]
    ) -> Float[Tensor, "batch num_cells d_feature"]:
        """The features of the cells, row by row.

        Raises:
            ValueError: A side of the image is not a multiple of 8, or the image holds NaN.
        """
        if image.shape[2] % 8 or image.shape[3] % 8:
            raise ValueError(f"sides {tuple(image.shape[2:])} are not multiples of 8 pixels")
        return super().forward(image).flatten(2).mT


class Captioner(nn.Module):
    """A decoder that, before each word, asks for the part of the image it needs: soft attention.

    With features `a` of the cells, `c = β Σ α a` with `α = softmax(v · tanh(W s + U a))`, then
    `s ← GRU([word; c], s)`. Images `(batch, 1, height, width)` and captions `(batch, target_len)`
    give the logits `(batch, target_len, vocab_size)`.

    Args:
        vision: A module from images to (batch, num_cells, d_feature), with an attribute
            `d_feature`.
        num_cells: Number of cells of the grid; each has a learned vector for its place.
        vocab_size: Number of words.
        d_embedding: Width of a word's vector.
        d_hidden: Width of the decoder's state.
        d_score: Number of hidden units of the score.
        gated: If True, a number β from 0 to 1, computed from the state, scales the context.

    Source: Xu et al. 2015, sections 3.1 and 4.2. Their decoder is an LSTM, whose two first states
    come from the mean of the features, each through a network of its own; it learns no places.
    """

    def __init__(
        self,
        vision: nn.Module,
        num_cells: int,
        vocab_size: int,
        d_embedding: int = 32,
        d_hidden: int = 128,
        d_score: int = 64,
        *,
        gated: bool = True,
    ) -> None:
        super().__init__()
        d_feature: int = vision.d_feature  # type: ignore[assignment]  # a Module hides the type
        self.vision = vision
        self.places = nn.Parameter(0.1 * torch.randn(num_cells, d_feature))
        self.embedding = nn.Embedding(vocab_size, d_embedding, padding_idx=PAD)
        self.bridge = nn.Linear(d_feature, d_hidden)
        self.score = AdditiveScore(d_hidden, d_feature, d_score)
        self.gate = nn.Linear(d_hidden, 1) if gated else None
        self.cell = nn.GRUCell(d_embedding + d_feature, d_hidden)
        self.readout = readout(d_hidden + d_embedding + d_feature, d_hidden, vocab_size)

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Turn scores, (batch, 1, num_cells), into weights of the same shape."""
        return masked_softmax(scores, mask)

    def use(self, weights: Tensor) -> Tensor:
        """Turn weights, (batch, num_cells), into those that make the context; here the same."""
        return weights

    @checked
    def start(
        self,
        image: Float[Tensor, "batch 1 height width"],
        mask: Bool[Tensor, "batch num_cells"] | None = None,
    ) -> State:
        """The features with their places, their projection, the mask, and the first state.

        Args:
            image: The images to describe.
            mask: True at the cells that the decoder may look at; None allows all.

        Raises:
            ValueError: The image and the model have different numbers of cells, or a shape does
                not fit.
        """
        seen = self.vision(image)
        if seen.shape[1:] != self.places.shape:
            raise ValueError(
                f"the image has {seen.shape[1]} cells, but the model has {len(self.places)} places"
            )
        features = seen + self.places
        if mask is None:
            mask = torch.ones_like(features[..., 0], dtype=torch.bool)
        elif mask.shape[1] != seen.shape[1]:
            raise ValueError(
                f"the mask has {mask.shape[1]} cells, but the image has {seen.shape[1]}"
            )
        hidden = torch.tanh(self.bridge(features.mean(1)))
        return features, self.score.project_key(features), mask.unsqueeze(1), hidden

    def trace(
        self, tokens: Int[Tensor, "batch target_len"], state: State, use: Use | None = None
    ) -> Trace:
        """Compute the scores, the weights and the context, then step the cell, for each word.

        Args:
            tokens: Words to read, one after another.
            state: The state from `start`, or from an earlier trace.
            use: Called at each word in place of the model's own `use`.
        """
        features, projected_key, mask, hidden = state
        words = embed(self.embedding, tokens)
        states, contexts, weights, used = [], [], [], []
        for word in words.unbind(1):
            scores = self.score(hidden.unsqueeze(1), projected_key)
            weights.append(self.weigh(scores, mask).squeeze(1))
            used.append((use or self.use)(weights[-1]))
            context = (used[-1].unsqueeze(1) @ features).squeeze(1)
            if self.gate is not None:
                context = torch.sigmoid(self.gate(hidden)) * context
            hidden = self.cell(torch.cat([word, context], -1), hidden)
            states.append(hidden)
            contexts.append(context)
        known = torch.cat([torch.stack(states, 1), words, torch.stack(contexts, 1)], -1)
        state = features, projected_key, mask, hidden
        return Trace(self.readout(known), torch.stack(weights, 1), torch.stack(used, 1), state)

    @checked
    def step(
        self, token: Int[Tensor, " batch"], state: State
    ) -> tuple[Float[Tensor, "batch vocab_size"], State]:
        """The logits of the word after `token`, and the state from which to continue."""
        trace = self.trace(token.unsqueeze(1), state)
        return trace.logits.squeeze(1), trace.state

    @checked
    def forward(
        self,
        image: Float[Tensor, "batch 1 height width"],
        target_input: Int[Tensor, "batch target_len"],
    ) -> Float[Tensor, "batch target_len vocab_size"]:
        """Logits of every next word, given the right words before it: teacher forcing."""
        return self.trace(target_input, self.start(image)).logits

    @checked
    def alignment(
        self,
        image: Float[Tensor, "batch 1 height width"],
        target_input: Int[Tensor, "batch target_len"],
    ) -> Float[Tensor, "batch target_len num_cells"]:
        """The weights over the cells at the choice of each next word, under teacher forcing."""
        return self.trace(target_input, self.start(image)).weights


class UniformCaptioner(Captioner):
    """A captioner that cannot choose: all cells that the mask allows count equally."""

    def weigh(self, scores: Tensor, mask: Tensor) -> Tensor:
        """The same weight for each allowed cell, whatever the scores."""
        return masked_softmax(torch.zeros_like(scores), mask)
