"""Captioners that lack one thing, to see what it is good for: the sum, the places, or the
baseline of hard attention."""

import torch
from torch import Tensor, nn

from attn_course.captioning import Captioner, UniformCaptioner
from attn_course.captions.hard_attention import HardCaptioner, MovingAverage
from attn_course.seq2seq import State, readout


class SideBySideCaptioner(Captioner):
    """A captioner without the sum: its context is the weighted features of all cells in a row.

    The context is `num_cells` times as wide as one feature vector, and the decoder has a matrix
    for each cell.
    """

    def __init__(self, vision: nn.Module, num_cells: int, vocab_size: int) -> None:
        super().__init__(vision, num_cells, vocab_size)
        d_embedding, d_hidden = self.embedding.embedding_dim, self.cell.hidden_size
        d_context = self.places.numel()
        self.cell = nn.GRUCell(d_embedding + d_context, d_hidden)
        self.readout = readout(d_hidden + d_embedding + d_context, d_hidden, vocab_size)

    def start(self, image: Tensor, mask: Tensor | None = None) -> State:
        """The state of a captioner, with each cell's features in a block of its own.

        Features are (batch, num_cells, num_cells * d_feature), and zero outside the block, so that
        the weighted sum of all cells lays them side by side.
        """
        features, projected_key, mask, hidden = super().start(image, mask)
        own = torch.eye(features.shape[1]).to(features)
        blocks = (features.unsqueeze(2) * own.unsqueeze(-1)).flatten(2)
        return blocks, projected_key, mask, hidden


class UniformSideBySideCaptioner(SideBySideCaptioner, UniformCaptioner):
    """A captioner that sees every cell's features in a row, all with the same weight."""


class PlacelessCaptioner(Captioner):
    """A captioner without vectors for the places: it knows a cell by what is in it."""

    def __init__(self, vision: nn.Module, num_cells: int, vocab_size: int) -> None:
        super().__init__(vision, num_cells, vocab_size)
        nn.init.zeros_(self.places.requires_grad_(False))


class NoBaselineCaptioner(HardCaptioner):
    """A hard captioner that learns from its rewards as they are, with nothing subtracted."""

    def __init__(self, vision: nn.Module, num_cells: int, vocab_size: int) -> None:
        super().__init__(vision, num_cells, vocab_size)
        self.baseline = _Zero()


class _Zero(MovingAverage):
    """A baseline that stays 0."""

    def forward(self, reward: Tensor) -> Tensor:
        """Return 0, whatever the rewards, (batch,)."""
        return self.value
