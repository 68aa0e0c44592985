"""Masks for layers that take tokens, where a mask of two axes may be taken for another."""

from torch import Tensor

from attn_course.scaled_dot_product import combine


def require_unambiguous(mask: Tensor | None, queries: Tensor) -> None:
    """Refuse a mask for pairs of a query and a key that could be one for padding.

    Args:
        mask: True where a query may attend.
        queries: The queries, or the tokens that they are made from, `(*batch, query_len, width)`.

    Raises:
        ValueError: There are as many sequences as queries, so that a mask of two axes could be
            `(batch, key_len)` just as well.
    """
    if mask is None or mask.ndim != 2 or queries.ndim != 3:
        return
    batch, query_len = queries.shape[:2]
    if 1 < mask.shape[0] == batch == query_len and mask.shape[1] > 1:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}, and each of {batch} sequences has {query_len} "
            "queries. If it is (query_len, key_len), for all sequences, write mask[None]; if it is "
            "(batch, key_len), for padding, write mask[:, None], or key_mask=mask where a layer "
            "takes one"
        )


def mask_for_heads(
    mask: Tensor | None, key_mask: Tensor | None, heads: Tensor, key_len: int
) -> Tensor | None:
    """Both masks as one, with an axis for the heads.

    Args:
        mask: For all heads, or with one more axis for each.
        key_mask: True at the keys that count, `(*batch, key_len)`.
        heads: The queries that it is for, `(*batch, num_heads, query_len, d_head)`.
        key_len: Number of keys.

    Raises:
        ValueError: A mask of two axes could be one for padding, or it does not fit the scores.
    """
    if mask is not None:
        if mask.ndim == 2:
            require_unambiguous(mask, heads[..., 0, :, :])
        elif mask.ndim < heads.ndim:
            mask = mask.unsqueeze(-3)
        wanted = (*heads.shape[:-1], key_len)
        lengths = zip(mask.shape[::-1], wanted[::-1], strict=False)
        if mask.ndim > len(wanted) or any(one not in (1, other) for one, other in lengths):
            raise ValueError(
                f"mask has shape {tuple(mask.shape)}, which does not fit scores of shape {wanted}"
            )
    return mask if key_mask is None else combine(mask, key_mask[..., None, None, :])
