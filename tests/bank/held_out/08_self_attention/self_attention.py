import math

import torch
from torch import Tensor


def wrong_width_of_a_token(tokens, w_query, w_key, w_value):
    """It divides by the root of the width of a token."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / tokens.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ value


def wrong_axes_one_and_two(tokens, w_query, w_key, w_value):
    """It counts axes from the left, so the tokens have to have exactly three."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.transpose(1, 2) / key.shape[-1] ** 0.5
    return torch.softmax(scores, dim=2) @ value


def wrong_softmax_over_queries(tokens, w_query, w_key, w_value):
    """The softmax runs over the queries."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-2) @ value


def wrong_key_asks(tokens, w_query, w_key, w_value):
    """Queries and keys are exchanged."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = key @ query.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value


def wrong_width_of_the_values(tokens, w_query, w_key, w_value):
    """It divides by the root of the width of the values."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / value.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value


def right_one_matrix_for_the_scores(tokens, w_query, w_key, w_value):
    """It joins the matrices of queries and keys first, and mixes tokens before the values."""
    between = w_query @ w_key.mT / w_key.shape[-1] ** 0.5
    scores = torch.einsum("...id,de,...je->...ij", tokens, between, tokens)
    return scores.softmax(-1) @ tokens @ w_value


def wrong_tokens_for_values(tokens, w_query, w_key, w_value):
    """The tokens themselves are blended; w_value is not used."""
    scores = (tokens @ w_query) @ (tokens @ w_key).mT / w_query.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ tokens


def wrong_key_asks_and_width_of_a_token(tokens, w_query, w_key, w_value):
    """Keys ask queries, and the scale comes from the width of a token."""
    scores = (tokens @ w_key) @ (tokens @ w_query).mT / tokens.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ (tokens @ w_value)


def wrong_root_of_token_width(tokens, w_query, w_key, w_value):
    """Divides by the root of the width of a token, not of a key."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / math.sqrt(tokens.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def wrong_softmax_axis_one(tokens, w_query, w_key, w_value):
    """Takes the softmax over axis 1, which is the keys only without a batch."""
    q = torch.matmul(tokens, w_query)
    k = torch.matmul(tokens, w_key)
    v = torch.matmul(tokens, w_value)
    scores = torch.matmul(q, k.transpose(-2, -1)) / k.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=1)
    return torch.matmul(weights, v)


def wrong_root_of_value_width_and_fixed_axes(tokens, w_query, w_key, w_value):
    """Two mistakes: the root of the width of the values, and transpose(1, 2), which needs exactly
    one batch axis."""
    query = tokens @ w_query
    key = tokens @ w_key
    value = tokens @ w_value
    scores = query @ key.transpose(1, 2) / value.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ value


def right_blend_tokens_first(tokens, w_query, w_key, w_value):
    """Einsum for the scores, and the tokens are blended before they meet the matrix of the
    values."""
    query = torch.einsum("...id,dk->...ik", tokens, w_query)
    key = torch.einsum("...jd,dk->...jk", tokens, w_key)
    scores = torch.einsum("...ik,...jk->...ij", query, key)
    weights = torch.softmax(scores / math.sqrt(w_key.size(1)), dim=-1)
    return (weights @ tokens) @ w_value


def wrong_scaled_by_d_model(tokens, w_query, w_key, w_value):
    """It divides by the root of d_model."""
    q, k, v = tokens @ w_query, tokens @ w_key, tokens @ w_value
    return (q @ k.mT / tokens.shape[-1] ** 0.5).softmax(-1) @ v


def wrong_query_and_key_exchanged(tokens, w_query, w_key, w_value):
    """Keys ask and queries answer: the table of scores is transposed."""
    q, k, v = tokens @ w_query, tokens @ w_key, tokens @ w_value
    return (k @ q.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


def wrong_root_of_d_model(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    """Divides by the root of the tokens' width, as the published class does."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / math.sqrt(tokens.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def wrong_softmax_over_queries_sixth(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    """Multiplies keys by queries, so the softmax over the last axis runs over queries."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = key @ query.mT / math.sqrt(key.shape[-1])
    return torch.softmax(scores, dim=-1).mT @ value


def wrong_without_root(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    """Divides by the width of a key, and forgets the root."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / key.shape[-1]
    return torch.softmax(scores, dim=-1) @ value


def right_one_matrix_for_scores(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    """Makes one matrix of those for queries and keys, and projects the blend at the end."""
    between = w_query @ w_key.mT / math.sqrt(w_key.shape[-1])
    weights = torch.softmax(tokens @ between @ tokens.mT, dim=-1)
    return weights @ tokens @ w_value


def wrong_root_of_d_model_seventh(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    """Divides by the root of the tokens' width, as the class does, not of the queries' width."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / tokens.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value


def wrong_axis_two(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    """Keeps the class's softmax over axis 2, which is the keys only if tokens have three axes."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores, dim=2) @ value


def wrong_keys_ask(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    """The scores are transposed: keys in rows, queries in columns, softmax over the queries."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    scores = key @ query.mT / key.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ value


def right_one_matrix_for_scores_seventh(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    """Joins the matrices of queries and keys into one, and blends tokens before their values."""
    between = w_query @ w_key.mT / w_key.shape[1] ** 0.5
    weights = torch.softmax(tokens @ between @ tokens.mT, dim=-1)
    return weights @ tokens @ w_value


def wrong_weights_transposed(tokens, w_query, w_key, w_value):
    """The weights are transposed before they meet the values."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    return weights.mT @ value


def wrong_keys_ask_ninth(tokens, w_query, w_key, w_value):
    """The keys are multiplied by the queries."""
    query, key, value = tokens @ w_query, tokens @ w_key, tokens @ w_value
    return torch.softmax(key @ query.mT / key.shape[-1] ** 0.5, -1) @ value
