"""An encoder in the form of BERT: attention and a small network alternate, added and normalized."""

from collections.abc import Iterable
from typing import cast

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional

from attn_course.multi_head import MultiHeadAttention
from attn_course.self_attention import LearnedPositions
from attn_course.shapes import checked, is_true_of_any

# Added to the variance in every layer norm, with BERT's value.
EPS = 1e-12


class EncoderLayer(nn.Module):
    """Self-attention, then two linear maps with a GELU between them.

    The output of each of the two is added to the tokens, and the sum is normalized, as in the
    first Transformer: `x ← norm(x + attention(x))`, then `x ← norm(x + W_2 gelu(W_1 x))`, each
    `(*batch, length, d_model)`.

    Args:
        d_model: Width of a token.
        num_heads: Number of heads.
        d_hidden: Width between the two linear maps.

    Source: Vaswani et al. 2017, section 3.1; Devlin et al. 2019 (GELU).
    """

    def __init__(self, d_model: int, num_heads: int, d_hidden: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_attention = nn.LayerNorm(d_model, eps=EPS)
        self.widen = nn.Linear(d_model, d_hidden)
        self.narrow = nn.Linear(d_hidden, d_model)
        self.norm_output = nn.LayerNorm(d_model, eps=EPS)

    @checked
    def forward(
        self,
        tokens: Float[Tensor, "*batch length d_model"],
        mask: Bool[Tensor, "*#batch #length #length"] | None = None,
    ) -> Float[Tensor, "*batch length d_model"]:
        """The tokens, each with information from the others added to it.

        Args:
            tokens: One vector for each position.
            mask: True where a position may attend to another, for all heads.
        """
        tokens = self.norm_attention(tokens + self.attention(tokens, mask=mask))
        return self.norm_output(tokens + self.narrow(functional.gelu(self.widen(tokens))))


class Encoder(nn.Module):
    """A network from numbers of tokens to vectors: embeddings, positions, and a stack of layers.

    From `(*batch, length)` to `(*batch, length, d_model)`. There is no dropout.

    Args:
        vocab_size: Number of different tokens.
        d_model: Width of a token's vector.
        num_layers: Number of layers.
        num_heads: Number of heads in each layer.
        d_hidden: Width of the hidden layer in each layer's network.
        max_len: Number of positions that have a vector.

    Attributes:
        segment: A constant added to every token. BERT, which reads sentences in pairs, has one for
            the first sentence and one for the second; this is the first.

    Source: Devlin et al. 2019.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_layers: int,
        num_heads: int,
        d_hidden: int,
        max_len: int,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(max_len, d_model)
        self.segment = nn.Parameter(torch.zeros(d_model))
        self.norm = nn.LayerNorm(d_model, eps=EPS)
        layers = (EncoderLayer(d_model, num_heads, d_hidden) for _ in range(num_layers))
        self.layers = nn.ModuleList(layers)

    @checked
    def forward(
        self,
        ids: Int64[Tensor, "*batch length"],
        mask: Bool[Tensor, "*#batch #length #length"] | None = None,
    ) -> Float[Tensor, "*batch length d_model"]:
        """The vectors of the tokens after the last layer.

        Args:
            ids: Numbers of tokens.
            mask: True where a position may attend to another; for a padded batch this is
                `padding_mask(length, key_len)` of `attn_course.scaled_dot_product`.

        Raises:
            ValueError: There are no tokens, more tokens than positions, or a number that belongs
                to no token.
        """
        return self.states(ids, mask)[-1]

    def states(
        self, ids: Int64[Tensor, "*batch length"], mask: Tensor | None = None
    ) -> list[Float[Tensor, "*batch length d_model"]]:
        """The vectors that enter the first layer, and the vectors after each layer."""
        states = [self.embed(ids)]
        for layer in self.layers:
            states.append(layer(states[-1], mask))
        return states

    def weights(
        self, ids: Int64[Tensor, "*batch length"], mask: Tensor | None = None
    ) -> Float[Tensor, "*batch num_layers num_heads length length"]:
        """The weights of each head in each layer: a row for each position, which sums to 1."""
        entering = self.states(ids, mask)[:-1]
        layers = cast(Iterable[EncoderLayer], self.layers)
        pairs = zip(layers, entering, strict=True)
        return torch.stack([layer.attention.weights(x, mask=mask) for layer, x in pairs], -4)

    @checked
    def embed(self, ids: Int64[Tensor, "*batch length"]) -> Float[Tensor, "*batch length d_model"]:
        """The input of the first layer: embedding, position and segment, summed and normalized."""
        length, vocab_size = ids.shape[-1], self.words.num_embeddings
        if length == 0:
            raise ValueError("there are no tokens to encode")
        if is_true_of_any((ids < 0) | (ids >= vocab_size)):
            worst = f"numbers from {int(ids.min())} to {int(ids.max())}"
            raise ValueError(f"{worst}, but tokens are numbered from 0 to {vocab_size - 1}")
        return self.norm(self.words(ids) + self.positions(length) + self.segment)
