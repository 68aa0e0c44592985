"""Our rules and biases in the form that PyTorch's FlexAttention takes.

FlexAttention compiles a kernel around two functions of single numbers: `mask_mod(batch, head,
query, key)` says whether a pair counts, `score_mod(score, batch, head, query, key)` changes its
score. A rule is the first of them, for positions instead of indices; a bias makes the second.
"""

from collections.abc import Callable
from functools import cache
from typing import cast

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from attn_course.layer.block_inputs import PositionBias
from attn_course.scaled_dot_product import Rule

#: (batch, head, query, key) to True or False.
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
#: (score, batch, head, query, key) to another score.
ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def mask_mod(rule: Rule, query_len: int, key_len: int) -> MaskMod:
    """The rule by the indices of a query and a key; the queries are the last positions."""
    ahead = key_len - query_len

    def allowed(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return rule(query + ahead, key)

    return allowed


def score_mod(
    bias: PositionBias, query_len: int, key_len: int, device: torch.device | None = None
) -> ScoreMod:
    """A bias that depends on the distance alone, such as `ALiBi` and `T5Bias`.

    It is looked up in a table of one number for each head and distance.

    Raises:
        ValueError: The same distance gives the first query another bias than the last one.
    """
    place = torch.arange(query_len + key_len - 1, device=device)
    first, last = place[[key_len - query_len]], place[[key_len - 1]]
    table = bias(last[:, None], place)[..., 0, :]
    again = bias(first[:, None], place[:key_len])[..., 0, :] - table[..., query_len - 1 :]
    if again.abs().max() > 0:
        raise ValueError(
            f"the first of {query_len} queries has a bias that differs by up to "
            f"{again.abs().max():g} from that of the last at the same distance"
        )
    heads = table.reshape(-1, table.shape[-1])

    def added(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score + heads[head % len(heads), key - query + (query_len - 1)]

    return added


def block_mask(rule: Rule, query_len: int, key_len: int, device: torch.device) -> BlockMask:
    """The blocks of pairs that a rule allows whole, in part, or not at all."""
    allowed = mask_mod(rule, query_len, key_len)
    return create_block_mask(allowed, None, None, query_len, key_len, device)


def flexible_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    rule: Rule | None = None,
    position_bias: PositionBias | None = None,
    scale: float | None = None,
) -> Tensor:
    """`fast_attention` by FlexAttention: compiled on a GPU, and elsewhere the whole table.

    Away from a GPU it has no gradients. The mask and the table are made anew at each call; if many
    calls share them, call `flex_attention` with `block_mask` and `score_mod` instead.

    Args:
        query: Queries, `(batch, num_heads, query_len, d_key)`.
        key: Keys, `(batch, num_kv_heads, key_len, d_key)`.
        value: Values, `(batch, num_kv_heads, key_len, d_value)`.
        rule: Which key a query may attend to.
        position_bias: Added to the scores; it must depend on the distance alone.
        scale: Factor of the dot products; `1 / sqrt(d_key)` if None.

    Raises:
        ValueError: The bias depends on more than the distance.

    Source: Dong et al. 2024.
    """
    lengths = query.shape[-2], key.shape[-2]
    return _kernel(query.is_cuda)(
        query,
        key,
        value,
        score_mod=position_bias and score_mod(position_bias, *lengths, query.device),
        block_mask=rule and block_mask(rule, *lengths, query.device),
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )


@cache
def _kernel(on_gpu: bool) -> Callable[..., Tensor]:
    kernel = cast("Callable[..., Tensor]", flex_attention)
    return torch.compile(kernel) if on_gpu else kernel
