"""Stacked blocks of attention without recurrence, and a translator made of nothing else."""

from collections.abc import Iterable
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attn_course.multi_head import MultiHeadAttention
from attn_course.self_attention import sinusoidal_positions
from attn_course.seq2seq import PAD, Encoding, State, Translator, embed, token_mask
from attn_course.shapes import checked

#: Keys and values of the same tokens, split by head, (batch, num_kv_heads, key_len, d_head).
KeysAndValues = tuple[Tensor, Tensor]


class ModelSizes(NamedTuple):
    """Sizes of a stack of blocks.

    Attributes:
        d_model: Width of a token.
        num_heads: Number of heads.
        d_hidden: Width between the two linear maps of a block.
        num_layers: Number of blocks.
    """

    d_model: int = 64
    num_heads: int = 4
    d_hidden: int = 256
    num_layers: int = 2


class Block(nn.Module):
    """Self-attention, attention to a source if there is one, and two linear maps with a ReLU.

    Each of them reads normalized tokens, and its output is added to the tokens:
    `x ← x + attention(norm(x))`, `x ← x + cross_attention(norm(x), source)`, then
    `x ← x + W_2 relu(W_1 norm(x))`, each `(batch, length, d_model)`.

    Args:
        d_model: Width of a token.
        num_heads: Number of heads.
        d_hidden: Width between the two linear maps.
        cross_attention: If True, the block also attends to a source.
        residual: If True, the output of each part is added to the tokens, else it replaces them.
        norm: If True, each part reads normalized tokens.

    Source: Vaswani et al. 2017, section 3, who normalize each sum; Xiong et al. 2020 normalize the
    input of each part, as here.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_hidden: int,
        *,
        cross_attention: bool = False,
        residual: bool = True,
        norm: bool = True,
    ) -> None:
        super().__init__()
        self.residual = residual
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_attention = nn.LayerNorm(d_model) if norm else nn.Identity()
        if cross_attention:
            self.cross_attention = MultiHeadAttention(d_model, num_heads)
            self.norm_source = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.widen = nn.Linear(d_model, d_hidden)
        self.narrow = nn.Linear(d_hidden, d_model)
        self.norm_maps = nn.LayerNorm(d_model) if norm else nn.Identity()

    @checked
    def forward(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch #length length"] | None = None,
        source: Float[Tensor, "batch source_len d_model"] | None = None,
        source_mask: Bool[Tensor, "batch #length source_len"] | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch length d_model"]:
        """The tokens, each with information from the others added to it.

        Args:
            tokens: One vector for each position.
            mask: True where a position may attend to another.
            source: The vectors of the source, if the block attends to one.
            source_mask: True where a position may attend to a position of the source.
            is_causal: If True, a position may not attend to later ones.
        """
        looked = self.attention(self.norm_attention(tokens), mask=mask, is_causal=is_causal)
        tokens = self._join(tokens, looked)
        if source is not None:
            looked = self.cross_attention(self.norm_source(tokens), source, source, source_mask)
            tokens = self._join(tokens, looked)
        return self._through_maps(tokens)

    def extend(
        self, tokens: Tensor, before: KeysAndValues, source: KeysAndValues, source_mask: Tensor
    ) -> tuple[Tensor, KeysAndValues]:
        """Do as `forward` with tokens behind others, whose keys and values are kept.

        Args:
            tokens: One vector for each new position, (batch, length, d_model).
            before: Keys and values of the positions before them.
            source: Keys and values of the source.
            source_mask: True where a position may attend to a position of the source.

        Returns:
            The tokens, and the keys and values of all positions so far.
        """
        normed = self.norm_attention(tokens)
        new = self.attention.keys_and_values(normed)
        keys, values = (torch.cat(pair, -2) for pair in zip(before, new, strict=True))
        tokens = self._join(tokens, self.attention.attend(normed, keys, values, is_causal=True))
        looked = self.cross_attention.attend(self.norm_source(tokens), *source, source_mask)
        return self._through_maps(self._join(tokens, looked)), (keys, values)

    def _through_maps(self, tokens: Tensor) -> Tensor:
        return self._join(tokens, self.narrow(torch.relu(self.widen(self.norm_maps(tokens)))))

    def _join(self, tokens: Tensor, given: Tensor) -> Tensor:
        return tokens + given if self.residual else given


class Embedding(nn.Embedding):
    """Word vectors that are about as long as the vectors of positions, and some of those.

    Args:
        vocab_size: Number of words.
        d_model: Width of a vector.
    """

    places: Tensor

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__(vocab_size, d_model, padding_idx=PAD)
        with torch.no_grad():
            self.weight *= 0.5**0.5  # a vector of a position has the length (d_model / 2) ** 0.5
        self.register_buffer("places", sinusoidal_positions(256, d_model), persistent=False)

    def with_positions(self, tokens: Int[Tensor, "batch length"], start: int = 0) -> Tensor:
        """The vectors of the words, each with the vector of its position added, from `start` on."""
        vectors, places = embed(self, tokens), self.places
        stop = start + vectors.shape[1]
        if stop > len(places):
            places = sinusoidal_positions(stop, self.embedding_dim, vectors.device)
        return vectors + places[start:stop].to(vectors.dtype)


class AttentionEncoder(nn.Module):
    """Words with their positions, through a stack of blocks: annotations without recurrence.

    From words `(batch, source_len)` to annotations `(batch, source_len, d_model)`.

    Args:
        vocab_size: Number of words of the source language.
        sizes: Sizes of the stack.
    """

    def __init__(self, vocab_size: int, sizes: ModelSizes) -> None:
        super().__init__()
        self.d_annotation = sizes.d_model
        self.embedding = Embedding(vocab_size, sizes.d_model)
        self.blocks = nn.ModuleList(Block(*sizes[:3]) for _ in range(sizes.num_layers))
        self.norm = nn.LayerNorm(sizes.d_model)

    @checked
    def forward(self, source: Int[Tensor, "batch source_len"]) -> Encoding:
        """Read all words at once. The vector of the whole sentence is the mean of its annotations.

        Raises:
            ValueError: A sentence is empty or has padding between its tokens, or a token is not in
                the vocabulary.
        """
        mask = token_mask(source)
        tokens = self.embedding.with_positions(source)
        for block in self.blocks:
            tokens = block(tokens, mask.unsqueeze(1))
        annotations = self.norm(tokens) * mask.unsqueeze(-1)
        return Encoding(annotations, annotations.sum(1) / mask.sum(1, keepdim=True), mask)


class TransformerTranslator(Translator):
    """A translator without recurrence: its state is what it has written, as keys and values.

    Those of the source are made once, and those of a word when it is written, as in the cache of
    chapter 09.

    Args:
        encoder: It gives the annotations.
        vocab_size: Number of words of the target language.
        sizes: Sizes of the decoder's stack.

    Source: Vaswani et al. 2017, with the normalization of Xiong et al. 2020.
    """

    embedding: Embedding

    def __init__(self, encoder: AttentionEncoder, vocab_size: int, sizes: ModelSizes) -> None:
        super().__init__(encoder, vocab_size, sizes.d_model)
        self.embedding = Embedding(vocab_size, sizes.d_model)
        self.blocks = nn.ModuleList(
            Block(*sizes[:3], cross_attention=True) for _ in range(sizes.num_layers)
        )
        self.norm = nn.LayerNorm(sizes.d_model)
        self.readout = nn.Linear(sizes.d_model, vocab_size)

    @property
    def _stack(self) -> Iterable[Block]:
        return cast("Iterable[Block]", self.blocks)

    def start(self, source: Int[Tensor, "batch source_len"]) -> State:
        """Keys and values of the source for each block, its mask, and those of no word."""
        annotations, _, mask = self.encoder(source)
        made = tuple(each.cross_attention.keys_and_values(annotations) for each in self._stack)
        nothing = tuple((keys[..., :0, :], values[..., :0, :]) for keys, values in made)
        return mask.unsqueeze(1), made, nothing

    def decode(
        self, tokens: Int[Tensor, "batch target_len"], state: State
    ) -> tuple[Float[Tensor, "batch target_len vocab_size"], State]:
        """Read `tokens` after the words written so far, all at once."""
        mask, source, written = state
        hidden = self.embedding.with_positions(tokens, written[0][0].shape[-2])
        kept = []
        for block, before, made in zip(self._stack, written, source, strict=True):
            hidden, so_far = block.extend(hidden, before, made, mask)
            kept.append(so_far)
        return self.readout(self.norm(hidden)), (mask, source, tuple(kept))
