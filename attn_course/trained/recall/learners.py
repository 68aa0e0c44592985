"""Models that recall: one layer that reads the steps, and a readout of its last output.

All have nearly the same number of weights: the width of each layer's output is chosen for that.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from attn_course.data.recall import BLANK, NUM_KEYS, NUM_VALUES, RecallBatch
from attn_course.recurrence import RecurrentLayer
from attn_course.self_attention import SelfAttention, sinusoidal_positions

D_MODEL = 64
# Each layer, and the width of its output.
LAYERS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "rnn": (partial(RecurrentLayer, "rnn", D_MODEL, 124), 124),
    "gru": (partial(RecurrentLayer, "gru", D_MODEL, 64), 64),
    "lstm": (partial(RecurrentLayer, "lstm", D_MODEL, 53), 53),
    "lstm, forget bias 3": (partial(RecurrentLayer, "lstm", D_MODEL, 53, forget_bias=3.0), 53),
    "attention": (partial(SelfAttention, D_MODEL, 128, 128), 128),
}


class Learner(nn.Module):
    """A model of one layer, which reads embedded keys and values and answers from its last output.

    Attention gets position vectors; a recurrent layer knows positions by its nature.

    Args:
        name: The name of the layer in `LAYERS`.

    Raises:
        ValueError: There is no such layer.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        if name not in LAYERS:
            raise ValueError(f"there is no layer {name!r}; choose from {', '.join(LAYERS)}")
        self.name, (build, d_output) = name, LAYERS[name]
        self.embed_key = nn.Embedding(NUM_KEYS, D_MODEL)
        self.embed_value = nn.Embedding(BLANK + 1, D_MODEL)
        self.layer = build()
        self.readout = nn.Linear(d_output, NUM_VALUES)

    def embed(self, batch: RecallBatch) -> Tensor:
        """The input of the layer, (batch, length, d_model)."""
        tokens = self.embed_key(batch.keys) + self.embed_value(batch.values)
        if isinstance(self.layer, SelfAttention):
            tokens = tokens + sinusoidal_positions(*tokens.shape[1:]).to(tokens)
        return tokens

    def answer(self, tokens: Tensor) -> Tensor:
        """Logits of the values, (batch, num_values), from the vectors that `embed` returns."""
        return self.readout(self.layer(tokens)[:, -1])

    def forward(self, batch: RecallBatch) -> Tensor:
        """Logits of the values, (batch, num_values)."""
        return self.answer(self.embed(batch))


def build_learner(name: str, seed: int) -> Learner:
    """A learner with random weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Learner(name)
