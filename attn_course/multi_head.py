"""Several looks at once: attention in parallel heads, and their outputs joined by a projection.

What is left out:

- *Queries and keys of different batch sizes* are not broadcast in this layer:
  `key.expand(8, -1, -1)` is a view, costs nothing, and says what is meant.
- *Another sentence* is nothing that `SelfAttention` looks at. One head that does, at tokens that
  are `d_key` wide, is `MultiHeadAttention(d_model, 1, d_key=...)`.
- *Odd widths* of :py:func:`~attn_course.self_attention.sinusoidal_positions` are refused: a
  frequency has a sine and a cosine, and there is no agreement on which of the two goes missing.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attn_course.layer.block_inputs import (
    AttentionInputs,
    PositionBias,
    asked,
    scaled_by,
    scores_of,
    softmax_beside,
)
from attn_course.layer.combined_rules import and_rules
from attn_course.layer.fast_attention import unchecked_fast_attention
from attn_course.layer.head_masks import mask_for_heads
from attn_course.layer.key_value_cache import KeyValueCache
from attn_course.layer.torch_layer import copy_weights, make_torch_layer
from attn_course.scaled_dot_product import Rule, Score, causal, scaled_dot_scores
from attn_course.shapes import check_together, checked, describe, is_traced, known_finite

#: What turns vectors by their positions, a function of the heads, `(*batch, length, d_head)`, and
#: of the positions, `(*#batch, length)`, that returns the turned heads.
Rotary = Callable[[Tensor, Tensor], Tensor]


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
    return _split(tokens, num_heads)


@checked
def merge_heads(
    heads: Float[Tensor, "*batch num_heads length d_head"],
) -> Float[Tensor, "*batch length d_model"]:
    """Join the parts again: `merge_heads(split_heads(tokens, n))` is `tokens`."""
    return _merge(heads)


def _split(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def _merge(heads: Tensor) -> Tensor:
    return heads.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Scaled dot-product attention in several heads, each on its own projections of the tokens.

    Head `i` looks up `softmax(Q_i K_iᵀ / sqrt(d_head)) V_i`, where `Q_i = query W_Qi`,
    `K_i = key W_Ki` and `V_i = value W_Vi`; side by side, the heads are multiplied by `W_O`. From
    `query (*batch, query_len, d_query)`, `key (*batch, key_len, d_key)` and
    `value (*batch, key_len, d_value)` comes `(*batch, query_len, d_output)`.

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
        d_head_value: Width of a head's values, if it is not `d_head`.
        d_output: Width of the output, if it is not `d_model`.
        bias: If True, the projections add a constant.
        output_bias: If True, the last projection adds one; `bias` if None.
        qk_norm: Makes the module that normalizes the queries of each head, and another for its
            keys, given `d_head`: `nn.RMSNorm`, for example.
        rotary: Turns queries and keys by their positions before they are compared.
        score: Compares queries and keys, such as those in `attn_course.layer.scores`.
        scale: Factor of the dot products; `1 / sqrt(d_head)` if None.
        position_bias: Added to the scores: a function of the positions of queries and keys, such
            as those in `attn_course.layer.position_bias`.
        rule: Which key a query may attend to at all, such as `window(64)`, by their positions. The
            queries are the last positions.
        sinks: If True, each head learns a score that belongs to no key and takes its share of the
            softmax, so that the weights sum to less than 1.
        dropout: Share of the weights that are set to 0 in training.

    Raises:
        ValueError: `d_model` is not divisible by `num_heads`, or `num_heads` not by
            `num_kv_heads`, or a width or the dropout makes no sense.

    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023 (grouped queries); Henry et al.
    2020 (normalized queries and keys); Su et al. 2024 (rotary positions); OpenAI 2025 (sinks).
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
        d_head_value: int | None = None,
        d_output: int | None = None,
        bias: bool = True,
        output_bias: bool | None = None,
        qk_norm: Callable[[int], nn.Module] | None = None,
        rotary: Rotary | None = None,
        score: Score = scaled_dot_scores,
        scale: float | None = None,
        position_bias: PositionBias | None = None,
        rule: Rule | None = None,
        sinks: bool = False,
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
        if scale is not None and score is not scaled_dot_scores:
            raise ValueError(f"{scale=} is for scaled_dot_scores; let the score itself scale")
        d_head = d_model // num_heads if d_head is None else d_head
        d_head_value = d_head if d_head_value is None else d_head_value
        d_query = d_model if d_query is None else d_query
        d_output = d_model if d_output is None else d_output
        d_key = d_query if d_key is None else d_key
        d_value = d_key if d_value is None else d_value
        if min(d_head, d_head_value, d_query, d_key, d_value, d_output) < 1:
            raise ValueError(
                f"{d_head=}, {d_head_value=}, {d_query=}, {d_key=}, {d_value=} and {d_output=} "
                "must be positive"
            )
        self.num_heads, self.num_kv_heads, self.dropout = num_heads, num_kv_heads, dropout
        self.rotary, self.rule, self.position_bias = rotary, rule, position_bias
        self.score, self.scale = score, scale
        self.project_query = nn.Linear(d_query, num_heads * d_head, bias=bias)
        self.project_key = nn.Linear(d_key, num_kv_heads * d_head, bias=bias)
        self.project_value = nn.Linear(d_value, num_kv_heads * d_head_value, bias=bias)
        output_bias = bias if output_bias is None else output_bias
        self.project_output = nn.Linear(num_heads * d_head_value, d_output, bias=output_bias)
        self.norm_query, self.norm_key = (qk_norm and qk_norm(d_head) for _ in range(2))
        self.sinks = nn.Parameter(torch.zeros(num_heads)) if sinks else None

    @checked(nan_propagates=True)
    def forward(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        value: Float[Tensor, "*batch key_len d_value"] | None = None,
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        key_mask: Bool[Tensor, "*#batch key_len"] | None = None,
        position: Int[Tensor, "*#batch key_len"] | None = None,
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
            position: The positions of the keys, by which a layer with `rotary` turns them; from 0
                if None. The queries have the last of them.
            is_causal: If True, a query may not attend to later positions.

        Raises:
            ValueError: A shape does not fit, a mask of two axes could be one for padding, or there
                are positions, but nothing turns by them.
        """
        heads = self._queries(query, key, position)
        keys, values = self._keys_and_values(query, key, value, position)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        return self._attend(heads, keys, values, mask, is_causal)

    @checked
    def keys_and_values(
        self,
        tokens: Float[Tensor, "*batch key_len d_key"],
        position: Int[Tensor, "*#batch key_len"] | None = None,
    ) -> tuple[
        Float[Tensor, "*batch num_kv_heads key_len d_head"],
        Float[Tensor, "*batch num_kv_heads key_len d_head_value"],
    ]:
        """The keys and the values of tokens, split by head, so that `attend` can use them again."""
        return self._keys_and_values(tokens, position=position)

    @checked(nan_propagates=True)
    def attend(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        keys: Float[Tensor, "*batch num_kv_heads key_len d_head"],
        values: Float[Tensor, "*batch num_kv_heads key_len d_head_value"],
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        position: Int[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch query_len d_output"]:
        """`forward`, where keys and values have been made before; the queries are the last tokens.

        Raises:
            ValueError: A shape does not fit, or a mask of two axes could be one for padding.
        """
        heads = self._queries(query, keys, position)
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
        position: Int[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch num_heads query_len key_len"]:
        """The weights of each head, which `forward` uses but never holds all at once."""
        heads = self._queries(query, key, position)
        keys = self._keys(query if key is None else key, position)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        return self._weights(self._inputs(heads, keys, keys, mask, is_causal))

    @checked
    def with_weights(
        self,
        query: Float[Tensor, "*batch query_len d_query"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        value: Float[Tensor, "*batch key_len d_value"] | None = None,
        mask: Bool[Tensor, "*#heads #query_len #key_len"] | None = None,
        *,
        key_mask: Bool[Tensor, "*#batch key_len"] | None = None,
        position: Int[Tensor, "*#batch key_len"] | None = None,
        is_causal: bool = False,
    ) -> tuple[
        Float[Tensor, "*batch query_len d_output"],
        Float[Tensor, "*batch num_heads query_len key_len"],
    ]:
        """Output and weights in one pass: what `forward` and `weights` return, without dropout."""
        heads = self._queries(query, key, position)
        keys, values = self._keys_and_values(query, key, value, position)
        mask = mask_for_heads(mask, key_mask, heads, keys.shape[-2])
        inputs = self._inputs(heads, keys, values, mask, is_causal).for_all_heads()
        weights = self._weights(inputs)
        return self.project_output(_merge(weights @ inputs.value)), weights

    @checked(nan_propagates=True)
    def step(
        self, tokens: Float[Tensor, "*batch new_len d_query"], cache: KeyValueCache
    ) -> Float[Tensor, "*batch new_len d_output"]:
        """Causal self-attention of the next tokens to themselves and to all tokens in the cache.

        The steps together give the same result as `forward` on all tokens with `is_causal`. The
        new keys and values are added to the cache.
        """
        new_len = tokens.shape[-2]
        position = None if self.rotary is None else cache.positions(new_len, tokens.device)
        heads = self._queries(tokens, None, position)
        so_far = cache.append(*self._keys_and_values(tokens, position=position))
        mask = mask_for_heads(None, cache.allowed(), heads, cache.length)
        return self._attend(heads, *so_far, mask, is_causal=new_len > 1)

    def _queries(self, tokens: Tensor, key: Tensor | None, position: Tensor | None) -> Tensor:
        heads = _split(self.project_query(tokens), self.num_heads)
        key_len = (tokens if key is None else key).shape[-2]
        return self._turned(heads, self.norm_query, key_len, position)

    def _keys(self, tokens: Tensor, position: Tensor | None) -> Tensor:
        heads = _split(self.project_key(tokens), self.num_kv_heads)
        return self._turned(heads, self.norm_key, heads.shape[-2], position)

    def _keys_and_values(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        position: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        key = query if key is None else key
        value = key if value is None else value
        keys = self._keys(key, position)
        return keys, _split(self.project_value(value), self.num_kv_heads)

    def _turned(
        self, heads: Tensor, norm: nn.Module | None, key_len: int, position: Tensor | None
    ) -> Tensor:
        """The heads, normalized and turned by the last of the positions of `key_len` keys."""
        heads = heads if norm is None else norm(heads)
        if self.rotary is None:
            if position is not None:
                raise ValueError(f"positions of shape {tuple(position.shape)} turn nothing here")
            return heads
        start = key_len - heads.shape[-2]
        if position is None:
            position = torch.arange(start, key_len, device=heads.device)
        elif start < 0 or position.shape[-1] != key_len:
            raise ValueError(
                f"{position.shape[-1]} positions do not fit {heads.shape[-2]} queries and "
                f"{key_len} keys"
            )
        else:
            position = position[..., None, start:]
        turned = asked("a rotary", self.rotary, heads, position)
        if turned.shape != heads.shape:
            raise ValueError(f"of {describe(heads)}, the rotary made {describe(turned)}")
        if turned.dtype != heads.dtype and not is_traced():
            check_together("a rotary", {"turned heads": turned, "heads": heads})
        return turned

    def _inputs(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool
    ) -> AttentionInputs:
        looks_back = is_causal and query.shape[-2] != 1  # the last query has every key behind it
        return AttentionInputs(
            query,
            key,
            value,
            mask,
            rule=and_rules(causal, self.rule) if looks_back else self.rule,
            position_bias=self.position_bias,
            scale=self.scale,
            group=self.num_heads // self.num_kv_heads,
            sinks=self.sinks,
        )

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        inputs = self._inputs(query, key, value, mask, is_causal)
        dropout = self.dropout if self.training else 0.0
        output = unchecked_fast_attention(inputs, self.score, dropout)
        return self.project_output(_merge(output))

    def _weights(self, inputs: AttentionInputs) -> Tensor:
        inputs = inputs.for_all_heads()
        mask = inputs.allowed(slice(None), slice(None))
        scores = self._scores(inputs)
        is_plain = self.score is scaled_dot_scores and self.sinks is None
        if is_plain and not torch.is_grad_enabled() and known_finite(scores.flatten()[:1]):
            # no compiler and no transform, where a look is False, would let itself be overwritten
            allowed = scores if mask is None else scores.masked_fill_(~mask, -torch.inf)
            weights = torch.softmax(allowed, -1, out=allowed)
            if known_finite(weights[..., :1]):  # so every query has a key
                return weights
            scores = self._scores(inputs)
        return softmax_beside(self.sinks, scores, mask)

    def _scores(self, inputs: AttentionInputs) -> Tensor:
        query, key, added = inputs.query, inputs.key, inputs.added(slice(None), slice(None))
        if self.score is not scaled_dot_scores:
            return scores_of(self.score, query, key, added)
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = scaled_by(scale, query, key)
        return scores if added is None else scores + added

    @classmethod
    def from_torch(cls, other: nn.MultiheadAttention) -> "MultiHeadAttention":
        """The equivalent of PyTorch's layer, with a copy of its weights.

        Raises:
            ValueError: PyTorch's layer appends a key that belongs to no token; this layer cannot.
        """
        if other.bias_k is not None or other.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn append a key, which is not supported")
        layer = cls(
            other.embed_dim,
            other.num_heads,
            d_key=other.kdim,
            d_value=other.vdim,
            bias=other.in_proj_bias is not None,
            dropout=other.dropout,
        ).to(other.out_proj.weight)
        copy_weights(layer._projections(), other, to_torch=False)
        return layer.train(other.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """PyTorch's layer with a copy of these weights; it expects the batch axis first.

        Raises:
            ValueError: PyTorch's layer cannot do what this one does: heads of queries share heads
                of keys, there is more than dot products of projections, or a width, a scale or a
                bias is not the usual one.
        """
        if self.num_kv_heads != self.num_heads:
            raise ValueError(
                f"nn.MultiheadAttention has as many key heads as heads, "
                f"not {self.num_kv_heads=} and {self.num_heads=}"
            )
        if beyond := self._beyond_torch():
            raise ValueError("nn.MultiheadAttention has no " + " and no ".join(beyond))
        other = make_torch_layer(self.num_heads, self.dropout, *self._projections())
        return other.train(self.training)

    def _beyond_torch(self) -> list[str]:
        """Say which arguments were given that PyTorch's layer does not have."""
        names = ("norm_query", "rotary", "score", "scale", "position_bias", "rule", "sinks")
        given = {name: getattr(self, name) for name in names}
        return [
            f"{name}={thing!r:.60}"
            for name, thing in given.items()
            if thing is not None and thing is not scaled_dot_scores
        ]

    def _projections(self) -> tuple[nn.Linear, ...]:
        return self.project_query, self.project_key, self.project_value, self.project_output
