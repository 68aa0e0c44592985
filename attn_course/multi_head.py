"""Several looks at once: attention in parallel heads, and their outputs joined by a projection.

What is left out:

- *Queries and keys of different batch sizes* are not broadcast in this layer:
  `key.expand(8, -1, -1)` is a view, costs nothing, and says what is meant.
- *Another sentence* is nothing that `SelfAttention` looks at. One head that does, at tokens that
  are `d_key` wide, is `MultiHeadAttention(d_model, 1, d_key=...)`.
- *Odd widths* of :py:func:`~attn_course.self_attention.sinusoidal_positions` are refused: a
  frequency has a sine and a cosine, and there is no agreement on which of the two goes missing.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attn_course.layer.fast_attention import unchecked_fast_attention
from attn_course.layer.head_masks import mask_for_heads
from attn_course.layer.key_value_cache import KeyValueCache
from attn_course.layer.parts import AttentionInputs, PositionBias
from attn_course.layer.torch_layer import copy_weights, make_torch_layer, options_of
from attn_course.retrieval import dot_scores, masked_softmax
from attn_course.scaled_dot_product import causal, causal_mask, combine
from attn_course.shapes import checked, known_finite


@checked
def split_heads(
    tokens: Float[Tensor, "*batch length d_model"], num_heads: int
) -> Float[Tensor, "*batch num_heads length d_head"]:
    """Divide the features of every token equally among the heads.

    Head 0 gets the first `d_model / num_heads` features of each token, and so on.

    Raises:
        ValueError: The features cannot be divided equally.
    """
    d_model = tokens.shape[-1]
    if num_heads < 1 or d_model % num_heads:
        raise ValueError(f"{d_model=} is not divisible by {num_heads=}")
    return tokens.unflatten(-1, (num_heads, d_model // num_heads)).transpose(-3, -2)


@checked
def merge_heads(
    heads: Float[Tensor, "*batch num_heads length d_head"],
) -> Float[Tensor, "*batch length d_model"]:
    """Join the parts again: `merge_heads(split_heads(tokens, n))` is `tokens`."""
    return heads.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Scaled dot-product attention in several heads, each on its own projections of the tokens.

    Args:
        d_model: Width of a query token and of the output; each head has `d_model / num_heads`.
        num_heads: Number of heads.
        num_kv_heads: Number of heads of keys and values, each shared by equally many heads of
            queries; `num_heads` if None. 1 is multi-query attention, a number in between is
            grouped-query attention.
        d_query: Width of a query token, if it is not `d_model`.
        d_key: Width of the tokens from which keys are made; the width of a query token if None.
        d_value: Width of the tokens from which values are made; `d_key` if None.
        d_head: Width of a head, if it is not `d_model / num_heads`.
        d_output: Width of the output, if it is not `d_model`.
        bias: If True, the projections add a constant.
        output_bias: If True, the last projection adds one; `bias` if None.
        scale: Factor of the dot products; `1 / sqrt(d_head)` if None.
        position_bias: Added to the scores: a function of the positions of queries and keys, such
            as those in `attn_course.layer.position_bias`.
        dropout: Share of the weights that are set to 0 in training.

    Raises:
        ValueError: `d_model` is not divisible by `num_heads`, or `num_heads` not by
            `num_kv_heads`, or a width or the dropout makes no sense.

    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023 (grouped queries).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        d_query: int | None = None,
        d_key: int | None = None,
        d_value: int | None = None,
        d_head: int | None = None,
        d_output: int | None = None,
        bias: bool = True,
        output_bias: bool | None = None,
        scale: float | None = None,
        position_bias: PositionBias | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads < 1 or (d_head is None and d_model % num_heads):
            raise ValueError(f"{d_model=} is not divisible by {num_heads=}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(f"{num_heads=} is not divisible by {num_kv_heads=}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"{dropout=} must be a share from 0 to 1")
        d_head = d_model // num_heads if d_head is None else d_head
        d_query = d_model if d_query is None else d_query
        d_output = d_model if d_output is None else d_output
        d_key = d_query if d_key is None else d_key
        d_value = d_key if d_value is None else d_value
        if min(d_head, d_query, d_key, d_value, d_output) < 1:
            raise ValueError(
                f"{d_head=}, {d_query=}, {d_key=}, {d_value=} and {d_output=} must be positive"
            )
        self.num_heads, self.num_kv_heads, self.dropout = num_heads, num_kv_heads, dropout
        self.scale, self.position_bias = scale, position_bias
        self.project_query = nn.Linear(d_query, num_heads * d_head, bias=bias)
        self.project_key = nn.Linear(d_key, num_kv_heads * d_head, bias=bias)
        self.project_value = nn.Linear(d_value, num_kv_heads * d_head, bias=bias)
        output_bias = bias if output_bias is None else output_bias
        self.project_output = nn.Linear(num_heads * d_head, d_output, bias=output_bias)

    @checked(nan_propagates=True)
    def forward(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        value: Float[Tensor, "*batch key_len d_value"] | None = None,
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        key_mask: Bool[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch query_len d_output"]:
        """The outputs of all heads, joined by the output projection.

        Args:
            query: The tokens that look.
            key: The tokens that they look at; `query` if None, which is self-attention.
            value: The tokens from which values are made; `key` if None.
            mask: True where the query may attend, `(*batch, query_len, key_len)` for all heads, or
                `(*batch, num_heads, query_len, key_len)` for each.
            key_mask: True at the keys that any query may attend to, False at padding.
            is_causal: If True, a query may not attend to later positions.

        Raises:
            ValueError: A shape does not fit, or a mask of two axes could be one for padding.
        """
        heads = split_heads(self.project_query(query), self.num_heads)
        keys, values = self._keys_and_values(query, key, value)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        return self._attend(heads, keys, values, mask, is_causal)

    @checked
    def keys_and_values(
        self, tokens: Float[Tensor, "*batch key_len d_key"]
    ) -> tuple[
        Float[Tensor, "*batch num_kv_heads key_len d_head"],
        Float[Tensor, "*batch num_kv_heads key_len d_head"],
    ]:
        """The keys and the values of tokens, split by head, so that `attend` can use them again."""
        return self._keys_and_values(tokens)

    @checked(nan_propagates=True)
    def attend(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        keys: Float[Tensor, "*batch num_kv_heads key_len d_head"],
        values: Float[Tensor, "*batch num_kv_heads key_len d_head"],
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch query_len d_output"]:
        """`forward`, where keys and values have been made before; the queries are the last tokens.

        Raises:
            ValueError: A shape does not fit, or a mask of two axes could be one for padding.
        """
        heads = split_heads(self.project_query(query), self.num_heads)
        mask = mask_for_heads(mask, None, heads, keys.shape[-2])
        return self._attend(heads, keys, values, mask, is_causal)

    @checked
    def weights(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        key_mask: Bool[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch num_heads query_len key_len"]:
        """The weights of each head, which `forward` uses but never holds all at once."""
        heads = split_heads(self.project_query(query), self.num_heads)
        keys = split_heads(self.project_key(query if key is None else key), self.num_kv_heads)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        return self._weights(heads, keys, mask, is_causal)

    @checked
    def with_weights(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        value: Float[Tensor, "*batch key_len d_value"] | None = None,
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        key_mask: Bool[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> tuple[
        Float[Tensor, "*batch query_len d_output"],
        Float[Tensor, "*batch num_heads query_len key_len"],
    ]:
        """Output and weights in one pass: what `forward` and `weights` return, without dropout."""
        heads = split_heads(self.project_query(query), self.num_heads)
        keys, values = self._keys_and_values(query, key, value)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        weights = self._weights(heads, keys, mask, is_causal)
        return self.project_output(merge_heads(weights @ self._share(values))), weights

    @checked(nan_propagates=True)
    def step(
        self, tokens: Float[Tensor, "*batch new_len d_query"], cache: KeyValueCache
    ) -> Float[Tensor, "*batch new_len d_output"]:
        """Causal self-attention of the next tokens to themselves and to all tokens in the cache.

        The steps together give the same result as `forward` on all tokens with `is_causal`. The
        new keys and values are added to the cache.
        """
        heads = split_heads(self.project_query(tokens), self.num_heads)
        so_far = cache.append(*self._keys_and_values(tokens))
        mask = mask_for_heads(None, cache.allowed(), heads, cache.length)
        return self._attend(heads, *so_far, mask, is_causal=tokens.shape[-2] > 1)

    def _keys_and_values(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        key = query if key is None else key
        value = key if value is None else value
        keys = split_heads(self.project_key(key), self.num_kv_heads)
        return keys, split_heads(self.project_value(value), self.num_kv_heads)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        inputs = AttentionInputs(
            query,
            key,
            value,
            mask,
            rule=causal if is_causal else None,
            position_bias=self.position_bias,
            scale=self.scale,
            group=self.num_heads // self.num_kv_heads,
        )
        dropout = self.dropout if self.training else 0.0
        return self.project_output(merge_heads(unchecked_fast_attention(inputs, dropout=dropout)))

    def _weights(self, query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool) -> Tensor:
        if is_causal:
            mask = combine(mask, causal_mask(query.shape[-2], key.shape[-2], query.device))
        scores = self._scores(query, key)
        if not torch.is_grad_enabled():  # then nobody else needs the memory
            allowed = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
            if known_finite(allowed[..., :1]):  # so that every query has a key
                weights = torch.softmax(allowed, -1, out=allowed)
                if known_finite(weights[..., :1]):
                    return weights
                scores = self._scores(query, key)
        return masked_softmax(scores, mask)

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        # keys are copied as they are, because the product would copy them column by column
        scores = dot_scores(query, self._share(key).contiguous() * scale)
        inputs = AttentionInputs(query, key, key, position_bias=self.position_bias)
        added = inputs.added(slice(None), slice(None))
        return scores if added is None else scores + added

    def _share(self, heads: Tensor) -> Tensor:
        """Repeat each head of keys or values for all the heads of queries that share it."""
        group = self.num_heads // self.num_kv_heads
        return heads if group == 1 else heads.repeat_interleave(group, -3)

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The equivalent of PyTorch's layer, with a copy of its weights.

        Raises:
            ValueError: PyTorch's layer appends a key that belongs to no token; this layer cannot.
        """
        layer = cls(**options_of(other)).to(other.out_proj.weight)
        copy_weights(layer._projections(), other, to_torch=False)
        return layer.train(other.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """PyTorch's layer with a copy of these weights; it expects the batch axis first.

        Raises:
            ValueError: PyTorch's layer cannot do what this one does: heads of queries share heads
                of keys, positions are scored, or a width, a scale or a bias is not the usual one.
        """
        if self.num_kv_heads != self.num_heads:
            raise ValueError(
                f"nn.MultiheadAttention has as many key heads as heads, "
                f"not {self.num_kv_heads=} and {self.num_heads=}"
            )
        if self.scale is not None or self.position_bias is not None:
            raise ValueError(
                f"nn.MultiheadAttention has no {self.scale=} and no {self.position_bias=}"
            )
        other = make_torch_layer(self.num_heads, self.dropout, *self._projections())
        return other.train(self.training)

    def _projections(self) -> tuple[nn.Linear, ...]:
        return self.project_query, self.project_key, self.project_value, self.project_output
