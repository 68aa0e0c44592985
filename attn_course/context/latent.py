"""Keys and values of all heads from one short vector a token: multi-head latent attention."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attn_course.layer.fast_attention import fast_attention
from attn_course.long_context import rotate_pairs
from attn_course.multi_head import merge_heads, split_heads
from attn_course.scaled_dot_product import causal
from attn_course.shapes import checked, require_positive


class Kept(NamedTuple):
    """The vectors kept of each token, once for all heads.

    Attributes:
        latent: The short vector, `(batch, length, d_latent)`.
        turned: A key that all heads share, turned by its position, `(batch, length, d_rotary)`.
    """

    latent: Tensor
    turned: Tensor


class LatentAttention(nn.Module):
    """Causal attention in heads whose keys and values are made from one short vector a token.

    A token `x` leaves `c = x W_C` and `r = turn(x W_R)`. Head `i` has the keys `[c M_i; r]` and the
    values `c N_i`, and looks up `softmax(q_i · k_i / sqrt(d_head + d_rotary)) v_i`. Tokens stay
    `(batch, length, d_model)`; what is kept of each is `d_latent + d_rotary` numbers.

    A turn by the position would stand between the matrices that make keys and queries, and they
    could not be joined: so a part of each query and a key that all heads share carry the position.

    Args:
        d_model: Width of the tokens.
        num_heads: Number of heads.
        d_head: Width of the part of queries and keys without positions, and of values.
        d_latent: Width of the short vector.
        d_rotary: Width of the part with positions.

    Raises:
        ValueError: A size is not positive.

    Source: DeepSeek-AI 2024 (V2), section 2.1, without low rank for queries.
    """

    def __init__(
        self, d_model: int, num_heads: int, d_head: int, d_latent: int, d_rotary: int
    ) -> None:
        super().__init__()
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_head": d_head}
        for name, size in (sizes | {"d_latent": d_latent, "d_rotary": d_rotary}).items():
            require_positive(name, size)
        self.num_heads, self.d_head, self.d_rotary = num_heads, d_head, d_rotary
        self.project_query = nn.Linear(d_model, num_heads * (d_head + d_rotary), bias=False)
        self.project_latent = nn.Linear(d_model, d_latent, bias=False)
        self.project_turned = nn.Linear(d_model, d_rotary, bias=False)
        self.make_key = nn.Parameter(torch.randn(num_heads, d_latent, d_head) * d_latent**-0.5)
        self.make_value = nn.Parameter(torch.randn(num_heads, d_latent, d_head) * d_latent**-0.5)
        self.project_output = nn.Linear(num_heads * d_head, d_model, bias=False)

    def keep(self, tokens: Float[Tensor, "batch length d_model"], start: int = 0) -> Kept:
        """The vectors that a cache has to keep of new tokens, the first at position `start`."""
        position = start + torch.arange(tokens.shape[1], device=tokens.device)
        return Kept(
            self.project_latent(tokens), rotate_pairs(self.project_turned(tokens), position)
        )

    @checked
    def plain(
        self, tokens: Float[Tensor, "batch query_len d_model"], kept: Kept
    ) -> Float[Tensor, "batch query_len d_model"]:
        """Make keys and values of all that is kept, for each head, and attend.

        Args:
            tokens: The last tokens.
            kept: What is kept of all tokens, these included.
        """
        query, turned = self._queries(tokens, kept)
        latent = kept.latent[:, None]
        key = _beside(latent @ self.make_key, kept.turned)
        found = fast_attention(
            torch.cat([query, turned], -1), key, latent @ self.make_value, rule=causal
        )
        return self.project_output(merge_heads(found))

    @checked
    def absorbed(
        self, tokens: Float[Tensor, "batch query_len d_model"], kept: Kept
    ) -> Float[Tensor, "batch query_len d_model"]:
        """The same, without ever making a key or a value: queries go to the short vectors.

        `q (c M)^T = (q M^T) c^T`, so the matrix that makes keys moves into the query, once; and
        `a (c M) = (a c) M`, so the one that makes values moves behind the weighted mean.
        """
        query, turned = self._queries(tokens, kept)
        asks = torch.cat([query @ self.make_key.mT, turned], -1)
        latent = kept.latent[:, None].expand(-1, self.num_heads, -1, -1)
        scale = (self.d_head + self.d_rotary) ** -0.5
        key = _beside(latent, kept.turned)
        found = fast_attention(asks, key, latent, rule=causal, scale=scale)
        return self.project_output(merge_heads(found @ self.make_value))

    def _queries(self, tokens: Tensor, kept: Kept) -> tuple[Tensor, Tensor]:
        """The part of each query without a position, and the part that is turned."""
        query = split_heads(self.project_query(tokens), self.num_heads)
        plain, turning = query.split([self.d_head, self.d_rotary], -1)
        end = kept.latent.shape[1]
        position = torch.arange(end - tokens.shape[1], end, device=tokens.device)
        return plain, rotate_pairs(turning, position)


def _beside(of_heads: Tensor, shared: Tensor) -> Tensor:
    """Each head's vectors with those that all heads share behind them."""
    shared = shared[:, None].expand(-1, of_heads.shape[1], -1, -1)
    return torch.cat([of_heads, shared], -1)
