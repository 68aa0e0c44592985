"""Several looks at once: attention in parallel heads, and their outputs joined by a projection."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attn_course.fast_attention import fast_attention
from attn_course.scaled_dot_product import attention_weights, causal, causal_mask, combine
from attn_course.shapes import checked


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


class KeyValueCache:
    """Keys and values of the tokens so far, so that a decoder need not compute them again.

    They are kept split by head, `(*batch, num_key_heads, length, d_head)`. The memory doubles
    when it is full. A cache is for decoding: no gradient flows through it.
    """

    def __init__(self) -> None:
        self.length = 0
        self._key: Tensor | None = None
        self._value: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new tokens; return the keys and the values of all tokens.

        Raises:
            RuntimeError: The keys or the values require a gradient.
            ValueError: Their shape, dtype or device does not fit the cache.
        """
        if key.requires_grad or value.requires_grad:
            raise RuntimeError("a cache keeps no gradients: decode under torch.no_grad()")
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(
                f"keys of shape {tuple(key.shape)} and values of shape {tuple(value.shape)} "
                "do not belong to the same tokens"
            )
        self._key = self._with_room(self._key, key)
        self._value = self._with_room(self._value, value)
        end = self.length + key.shape[-2]
        self._key[..., self.length : end, :] = key
        self._value[..., self.length : end, :] = value
        self.length = end
        return self._key[..., :end, :], self._value[..., :end, :]

    def _with_room(self, kept: Tensor | None, new: Tensor) -> Tensor:
        """The memory if the new tokens fit, else a longer one with the same beginning."""
        if kept is None:
            return torch.empty_like(new)
        if (kept.shape[:-2], kept.shape[-1]) != (new.shape[:-2], new.shape[-1]):
            raise ValueError(
                f"the cache holds {tuple(kept.shape[:-2])} sequences by heads, {kept.shape[-1]} "
                f"wide, but the new tokens have {tuple(new.shape[:-2])}, {new.shape[-1]} wide"
            )
        if (kept.dtype, kept.device) != (new.dtype, new.device):
            raise ValueError(
                f"the cache holds {kept.dtype} on {kept.device}, but the new tokens are "
                f"{new.dtype} on {new.device}"
            )
        needed = self.length + new.shape[-2]
        if needed <= kept.shape[-2]:
            return kept
        longer = kept.new_empty(*kept.shape[:-2], 2 * needed, kept.shape[-1])
        longer[..., : self.length, :] = kept[..., : self.length, :]
        return longer


class MultiHeadAttention(nn.Module):
    """Scaled dot-product attention in several heads, each on its own projections of the tokens.

    Args:
        d_model: Width of a query token and of the output; each head has `d_model / num_heads`.
        num_heads: Number of heads.
        num_key_heads: Number of heads of keys and values, each shared by equally many heads of
            queries; `num_heads` if None. 1 is multi-query attention, a number in between is
            grouped-query attention.
        d_key: Width of the tokens from which keys are made; `d_model` if None.
        d_value: Width of the tokens from which values are made; `d_key` if None.
        bias: If True, the four projections add a constant.
        dropout: Share of the weights that are set to 0 in training.

    Raises:
        ValueError: `d_model` is not divisible by `num_heads`, or `num_heads` not by
            `num_key_heads`, or the dropout is not between 0 and 1.

    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023 (grouped queries).
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_key_heads: int | None = None,
        d_key: int | None = None,
        d_value: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        num_key_heads = num_heads if num_key_heads is None else num_key_heads
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"{d_model=} is not divisible by {num_heads=}")
        if num_key_heads < 1 or num_heads % num_key_heads:
            raise ValueError(f"{num_heads=} is not divisible by {num_key_heads=}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"{dropout=} must be a share from 0 to 1")
        self.num_heads, self.num_key_heads, self.dropout = num_heads, num_key_heads, dropout
        d_key = d_model if d_key is None else d_key
        d_value = d_key if d_value is None else d_value
        d_shared = d_model // num_heads * num_key_heads
        self.project_query = nn.Linear(d_model, d_model, bias=bias)
        self.project_key = nn.Linear(d_key, d_shared, bias=bias)
        self.project_value = nn.Linear(d_value, d_shared, bias=bias)
        self.project_output = nn.Linear(d_model, d_model, bias=bias)

    @checked(nan_shows=True)
    def forward(
        self,
        query: Float[Tensor, "*batch query_len d_model"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        value: Float[Tensor, "*batch key_len d_value"] | None = None,
        mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch query_len d_model"]:
        """The outputs of all heads, joined by the output projection.

        Args:
            query: The tokens that look.
            key: The tokens that they look at; `query` if None, which is self-attention.
            value: The tokens from which values are made; `key` if None.
            mask: True where the query may attend, for all heads.
            is_causal: If True, a query may not attend to later positions.
        """
        key = query if key is None else key
        value = key if value is None else value
        heads = split_heads(self.project_query(query), self.num_heads)
        return self._attend(heads, *self._keys_and_values(key, value), mask, is_causal)

    @checked
    def weights(
        self,
        query: Float[Tensor, "*batch query_len d_model"],
        key: Float[Tensor, "*batch key_len d_key"] | None = None,
        mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
        *,
        is_causal: bool = False,
    ) -> Float[Tensor, "*batch num_heads query_len key_len"]:
        """The weights of each head, which `forward` uses but never holds all at once."""
        key = query if key is None else key
        heads = split_heads(self.project_query(query), self.num_heads)
        keys = self._share(split_heads(self.project_key(key), self.num_key_heads))
        rule = causal_mask(query.shape[-2], key.shape[-2], query.device) if is_causal else None
        return attention_weights(heads, keys, combine(_for_heads(mask), rule))

    @checked(nan_shows=True)
    def step(
        self, tokens: Float[Tensor, "*batch new_len d_model"], cache: KeyValueCache
    ) -> Float[Tensor, "*batch new_len d_model"]:
        """Causal self-attention of the next tokens to themselves and to all tokens in the cache.

        The steps together give the same result as `forward` on all tokens with `is_causal`. The
        new keys and values are added to the cache.
        """
        heads = split_heads(self.project_query(tokens), self.num_heads)
        so_far = cache.append(*self._keys_and_values(tokens, tokens))
        return self._attend(heads, *so_far, None, is_causal=tokens.shape[-2] > 1)

    def _keys_and_values(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        keys = split_heads(self.project_key(key), self.num_key_heads)
        return keys, split_heads(self.project_value(value), self.num_key_heads)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        output = fast_attention(
            query,
            self._share(key),
            self._share(value),
            _for_heads(mask),
            rule=causal if is_causal else None,
            dropout=self.dropout if self.training else 0.0,
        )
        return self.project_output(merge_heads(output))

    def _share(self, heads: Tensor) -> Tensor:
        """Repeat each head of keys or values for all the heads of queries that share it."""
        group = self.num_heads // self.num_key_heads
        return heads if group == 1 else heads.repeat_interleave(group, -3)

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
        with torch.no_grad():
            for ours, theirs in zip(layer._projections(), _slices(other), strict=True):
                ours.copy_(theirs)
        return layer.train(other.training)

    def to_torch(self) -> nn.MultiheadAttention:
        """PyTorch's layer with a copy of these weights; it expects the batch axis first.

        Raises:
            ValueError: Heads of queries share heads of keys; PyTorch's layer cannot do that.
        """
        if self.num_key_heads != self.num_heads:
            raise ValueError(
                f"nn.MultiheadAttention has as many key heads as heads, "
                f"not {self.num_key_heads=} and {self.num_heads=}"
            )
        weight = self.project_output.weight
        other = nn.MultiheadAttention(
            weight.shape[0],
            self.num_heads,
            dropout=self.dropout,
            bias=self.project_output.bias is not None,
            kdim=self.project_key.in_features,
            vdim=self.project_value.in_features,
            batch_first=True,
        ).to(weight)
        with torch.no_grad():
            for ours, theirs in zip(self._projections(), _slices(other), strict=True):
                theirs.copy_(ours)
        return other.train(self.training)

    def _projections(self) -> list[Tensor]:
        """Weights of query, key, value and output, then their biases, if there are any."""
        parts = self.project_query, self.project_key, self.project_value, self.project_output
        biases = [part.bias for part in parts if part.bias is not None]
        return [*(part.weight for part in parts), *biases]


def _slices(other: nn.MultiheadAttention) -> list[Tensor]:
    """The parameters of PyTorch's layer, in the order of `_projections`."""
    if other._qkv_same_embed_dim:
        weights = other.in_proj_weight.chunk(3)
    else:
        weights = other.q_proj_weight, other.k_proj_weight, other.v_proj_weight
    if other.in_proj_bias is None:
        return [*weights, other.out_proj.weight]
    return [*weights, other.out_proj.weight, *other.in_proj_bias.chunk(3), other.out_proj.bias]


def _for_heads(mask: Tensor | None) -> Tensor | None:
    """The mask with an axis for the heads, all of which share it."""
    return mask if mask is None or mask.ndim == 2 else mask.unsqueeze(-3)
