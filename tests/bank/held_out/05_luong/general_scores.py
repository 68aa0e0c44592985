import math

import torch
from torch import Tensor


def wrong_one_batch_axis(query, key, weight):
    """The einsum knows exactly one batch axis, so none or two are refused."""
    return torch.einsum("bqd,de,bke->bqk", query, weight, key)


def wrong_weight_transposed(query, key, weight):
    """The matrix is transposed, so it fits only where the two widths are equal."""
    return query @ weight.mT @ key.mT


def wrong_scaled(query, key, weight):
    """It divides by the root of the width of the keys."""
    return query @ weight @ key.mT / key.shape[-1] ** 0.5


def wrong_key_capital_t(query, key, weight):
    """It transposes the keys with .T, which turns the batch round as well."""
    return query @ weight @ key.T


def wrong_weights_returned(query, key, weight):
    """It returns the softmax of the scores."""
    return torch.softmax(query @ weight @ key.mT, dim=-1)


def right_keys_moved(query, key, weight):
    """It moves the keys to where the queries live, and uses einsum for the dot products."""
    moved = torch.nn.functional.linear(key, weight)
    return torch.einsum("...qd,...kd->...qk", query, moved)


def wrong_weight_transposed_again(query, key, weight):
    """Multiplies the query by the transposed weight, which fails or is silently wrong for equal
    widths."""
    moved = query @ weight.T
    return moved @ key.transpose(-2, -1)


def wrong_one_batch_axis_only(query, key, weight):
    """The letters of the einsum demand exactly one batch axis."""
    return torch.einsum("bqd,de,bke->bqk", query, weight, key)


def wrong_scaled_keys_in_rows(query, key, weight):
    """Two mistakes: divides by the root of d_query, which nobody asked for, and returns keys in
    rows, queries in columns."""
    d_query = query.shape[-1]
    moved = key @ weight.T
    scores = torch.matmul(moved, query.transpose(-2, -1))
    return scores / d_query**0.5


def right_keys_moved_tensordot(query, key, weight):
    """The keys are moved to where the queries live, by tensordot."""
    moved = torch.tensordot(key, weight, dims=([-1], [1]))
    return torch.einsum("...qa,...ka->...qk", query, moved)


def wrong_weight_transposed_where_square(query, key, weight):
    """It multiplies by the transposed matrix where the widths agree."""
    if weight.shape[0] == weight.shape[1]:
        weight = weight.mT
    return query @ weight @ key.mT


def wrong_scaled_fifth(query, key, weight):
    """It divides by the root of the width, as the scaled dot product does."""
    return query @ weight @ key.mT / key.shape[-1] ** 0.5


def wrong_returns_weights(query, key, weight):
    """It returns the softmax of the scores, where the scores are asked for."""
    return (query @ weight @ key.mT).softmax(-1)


def wrong_keys_in_rows(query, key, weight):
    """Its table has the keys in rows and the queries in columns."""
    return key @ weight.mT @ query.mT


def right_one_einsum(query, key, weight):
    """One einsum names the axes of all three."""
    return torch.einsum("...qa,ab,...kb->...qk", query, weight, key)


def wrong_weight_transposed_sixth(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Multiplies by the transposed weight, which raises no error if it is square."""
    return query @ weight.mT @ key.mT


def wrong_one_batch_axis_only_sixth(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Swaps axes 1 and 2 of the key, which are the last two only with one batch axis."""
    return query @ weight @ key.transpose(1, 2)


def wrong_scaled_sixth(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Divides by the root of the width, as scaled attention does."""
    return query @ weight @ key.mT / math.sqrt(key.shape[-1])


def right_keys_moved_sixth(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Moves the keys to where the queries live, which gives the same product."""
    return query @ (weight @ key.mT)


def wrong_weight_transposed_seventh(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Transposes the weight: right widths only by chance, and then wrong scores."""
    return query @ weight.mT @ key.mT


def wrong_softmax_of_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Returns the weights, where the scores are asked for."""
    return (query @ weight @ key.mT).softmax(-1)


def wrong_keys_in_rows_seventh(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Begins with the keys, and so returns a row for each key."""
    return key @ weight.mT @ query.mT


def right_by_einsum(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """Moves the queries, and names the axes that meet."""
    moved = torch.einsum("...qa,ab->...qb", query, weight)
    return torch.einsum("...qb,...kb->...qk", moved, key)


def wrong_normalised(query, key, weight):
    """Queries and keys are brought to length 1."""
    query = torch.nn.functional.normalize(query @ weight, dim=-1)
    return query @ torch.nn.functional.normalize(key, dim=-1).mT


def wrong_normalised_before(query, key, weight):
    """Likewise, before the weight."""
    query = query / query.norm(dim=-1, keepdim=True)
    key = key / key.norm(dim=-1, keepdim=True)
    return query @ weight @ key.mT


def wrong_weight_ignored_where_it_can_be(query, key, weight):
    """The plain dot product; where the widths differ it is cut to what both have."""
    width = min(query.shape[-1], key.shape[-1])
    return query[..., :width] @ key[..., :width].mT


def wrong_weight_on_both(query, key, weight):
    """Both go through the weight."""
    return (
        (query @ weight) @ (key @ weight.mT).mT
        if weight.shape[0] == weight.shape[1]
        else query @ weight @ key.mT
    )
