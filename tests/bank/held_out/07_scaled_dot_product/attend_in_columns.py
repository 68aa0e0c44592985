import torch
from torch import Tensor


def wrong_rows_of_weights(query, key, value):
    """The softmax still runs over the queries, the last axis."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=-1)


def wrong_root_of_the_queries(query, key, value):
    """Under the root is still the number of queries."""
    scores = key.mT @ query / query.shape[-1] ** 0.5
    return value @ torch.softmax(scores, dim=-2)


def wrong_first_axis(query, key, value):
    """The axis of the softmax is counted from the front, which is right without a batch only."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=0)


def wrong_width_of_the_values(query, key, value):
    """Under the root is the width of the values."""
    scores = key.mT @ query / value.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=-2)


def wrong_rows_returned(query, key, value):
    """The output is turned round: its vectors are rows."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return (value @ torch.softmax(scores, dim=-2)).mT


def right_turned_to_rows(query, key, value):
    """It turns all three to rows, attends with einsum, and turns the output back."""
    rows, keys = query.transpose(-1, -2).contiguous(), key.transpose(-1, -2).contiguous()
    scores = torch.einsum("...nd,...md->...nm", rows * rows.shape[-1] ** -0.5, keys)
    return torch.einsum("...nm,...pm->...pn", scores.softmax(-1), value)


def wrong_softmax_over_queries(query, key, value):
    """Corrects the root but leaves the softmax on the last axis, where the queries are."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=-1)


def wrong_root_of_first_axis(query, key, value):
    """Takes the width from axis 0, which is the batch as soon as there is one."""
    d_key = query.shape[0]
    scores = key.transpose(-2, -1) @ query / d_key**0.5
    weights = torch.softmax(scores, dim=-2)
    return value @ weights


def wrong_axis_zero_and_root_of_queries(query, key, value):
    """Two mistakes: softmax over axis 0, right only without a batch, and still the root of the
    number of queries."""
    scores = key.mT @ query / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return torch.matmul(value, weights)


def right_queries_in_rows(query, key, value):
    """Scores with queries in rows by einsum, softmax over the last axis, and einsum back to
    columns."""
    scores = torch.einsum("...dn,...dm->...nm", query, key)
    scores = scores / query.shape[-2] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("...nm,...pm->...pn", weights, value)


def wrong_softmax_over_queries_fifth(query, key, value):
    """It takes the softmax over the queries, which stand in the columns."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ scores.softmax(-1)


def wrong_scaled_by_length(query, key, value):
    """It divides by the root of the last axis, the number of queries."""
    scores = key.mT @ query / query.shape[-1] ** 0.5
    return value @ scores.softmax(-2)


def wrong_first_axis_sixth(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Counts the axis of the keys from the front: dim=0 is the batch if there is one."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=0)


def wrong_output_in_rows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Goes over to rows, and returns the output in rows as well."""
    scores = query.mT @ key / query.shape[-2] ** 0.5
    return torch.softmax(scores, dim=-1) @ value.mT


def wrong_width_of_values(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Divides by the root of the values' width, which the scores do not sum over."""
    scores = key.mT @ query / value.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=-2)


def right_by_rows(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Transposes all to rows, attends as usual, and transposes the output back."""
    query, key, value = query.mT, key.mT, value.mT
    weights = torch.softmax(query / query.shape[-1] ** 0.5 @ key.mT, dim=-1)
    return (weights @ value).mT


def wrong_axis_from_the_front(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The softmax runs over axis 0, which holds the keys only if no batch comes in front."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, dim=0)


def wrong_root_of_query_len(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Still divides by the root of the number of queries, the last axis of `query`."""
    scores = key.mT @ query / query.shape[-1] ** 0.5
    return value @ torch.softmax(scores, dim=-2)


def wrong_output_in_rows_seventh(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Works in rows, and does not turn the output back into columns."""
    scores = query.mT @ key / query.shape[-2] ** 0.5
    return torch.softmax(scores, dim=-1) @ value.mT


def right_rows_and_back(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Makes rows of the columns, attends as always, and makes columns of the output."""
    rows = query.transpose(-2, -1) * query.shape[-2] ** -0.5
    weights = torch.softmax(rows @ key, dim=-1)
    return (weights @ value.transpose(-2, -1)).transpose(-2, -1)


def wrong_divided_by_two(query, key, value):
    """The root of the example's width."""
    return value @ torch.softmax(key.mT @ query / 2, -2)


def wrong_values_transposed(query, key, value):
    """The values are transposed."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value.mT @ torch.softmax(scores, -2)


def wrong_weights_transposed(query, key, value):
    """The weights are transposed before they meet the values."""
    scores = key.mT @ query / query.shape[-2] ** 0.5
    return value @ torch.softmax(scores, -2).mT
