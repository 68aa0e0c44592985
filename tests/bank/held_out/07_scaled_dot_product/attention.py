import math

import torch
from torch import Tensor


def wrong_width_of_the_values(query, key, value):
    """The root is taken of the width of the values."""
    scores = (query / math.sqrt(value.shape[-1])) @ key.mT
    return torch.softmax(scores, -1) @ value


def wrong_scaled_too_late(query, key, value):
    """It multiplies first and divides then, which overflows in half precision."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(torch.softmax(scores, dim=-1), value)


def wrong_axis_one(query, key, value):
    """The softmax runs over axis 1, which holds the queries if there is one batch axis."""
    scores = query / query.shape[-1] ** 0.5 @ key.mT
    return torch.softmax(scores, dim=1) @ value


def wrong_no_root(query, key, value):
    """It divides by the width, not by its root."""
    return torch.softmax(query / query.shape[-1] @ key.mT, -1) @ value


def wrong_number_of_keys(query, key, value):
    """The root is taken of the number of keys."""
    scores = (query / math.sqrt(key.shape[-2])) @ key.mT
    return torch.softmax(scores, -1) @ value


def wrong_weights_scaled(query, key, value):
    """It divides the weights by the root, after the softmax."""
    weights = torch.softmax(query @ key.mT, -1) / query.shape[-1] ** 0.5
    return weights @ value


def right_scale_shared(query, key, value):
    """Queries and keys are each divided by the fourth root, and einsum takes the products."""
    fourth = query.shape[-1] ** 0.25
    scores = torch.einsum("...qd,...kd->...qk", query / fourth, key / fourth)
    return torch.einsum("...qk,...kv->...qv", scores.softmax(-1), value)


def right_in_double(query, key, value):
    """It computes in float64 with the tokens in columns, and casts the result back."""
    q, k, v = (one.double().mT for one in (query, key, value))
    scores = k.mT @ q / math.sqrt(q.shape[-2])
    powers = (scores - scores.amax(-2, keepdim=True)).exp()
    return (v @ powers / powers.sum(-2, keepdim=True)).mT.to(value.dtype)


def wrong_multiplied_by_the_root(query, key, value):
    """The scores are multiplied by the root."""
    weights = torch.softmax(query @ key.mT * query.shape[-1] ** 0.5, -1)
    return weights @ value


def wrong_over_queries_and_no_scale(query, key, value):
    """The softmax runs over the queries, and nothing is scaled."""
    return torch.softmax(query @ key.mT, -2) @ value


def wrong_divides_after_product(query, key, value):
    """Divides after the product, which has already overflowed in half precision."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def wrong_root_of_value_width(query, key, value):
    """Takes the root of the width of the values instead of the queries'."""
    d = value.size(-1)
    scores = torch.matmul(query / d**0.5, key.transpose(-2, -1))
    weights = scores.softmax(dim=-1)
    return torch.matmul(weights, value)


def wrong_by_d_and_fixed_axes(query, key, value):
    """Two mistakes: divides by d instead of its root, and swaps axes 1 and 2, which fits one batch
    axis only."""
    d_key = key.shape[-1]
    scaled = query / d_key
    weights = torch.softmax(scaled @ key.transpose(1, 2), dim=2)
    return weights @ value


def right_einsum_in_double(query, key, value):
    """Works in float64 throughout, by einsum, and casts back at the end."""
    q, k, v = query.double(), key.double(), value.double()
    scores = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    return torch.einsum("...ij,...jp->...ip", weights, v).to(query.dtype)


def wrong_width_of_the_values_fifth(query, key, value):
    """It divides by the root of the values' width."""
    root = value.shape[-1] ** 0.5
    return ((query / root) @ key.mT).softmax(-1) @ value


def wrong_root_of_the_key_length(query, key, value):
    """It divides by the root of the number of keys."""
    root = key.shape[-2] ** 0.5
    return ((query / root) @ key.mT).softmax(-1) @ value


def wrong_divides_too_late(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Divides after the product, which overflows in half precision."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def wrong_width_of_values(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Divides by the root of the width of the values instead of the queries'."""
    scaled = query / math.sqrt(value.shape[-1])
    return torch.softmax(scaled @ key.mT, dim=-1) @ value


def wrong_stays_in_float32(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Computes in float32 for half precision's sake, and does not go back to the dtype."""
    query, key, value = query.float(), key.float(), value.float()
    scaled = query / math.sqrt(query.shape[-1])
    return torch.softmax(scaled @ key.mT, dim=-1) @ value


def right_in_wider_numbers(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Computes in at least float32, and returns the dtype that came in."""
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = torch.einsum("...id,...jd->...ij", query.to(wide), key.to(wide))
    weights = torch.softmax(scores * query.shape[-1] ** -0.5, dim=-1)
    return torch.einsum("...ij,...jv->...iv", weights, value.to(wide)).to(query.dtype)


def wrong_divides_after_the_product(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Divides the finished dot products, which may have overflowed in half precision."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, dim=-1) @ value


def wrong_root_of_value_width_seventh(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Takes the root of the width of the values, not of the queries and keys."""
    scaled = query / math.sqrt(value.shape[-1])
    return torch.softmax(scaled @ key.mT, dim=-1) @ value


def wrong_softmax_over_queries(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The softmax runs over the queries, so that the weights of a query do not sum to 1."""
    scaled = query / math.sqrt(query.shape[-1])
    return torch.softmax(scaled @ key.mT, dim=-2) @ value


def right_softmax_by_hand(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scales the queries first, and writes the softmax out, against each row's maximum."""
    scaled = query * query.shape[-1] ** -0.5
    scores = torch.einsum("...id,...jd->...ij", scaled, key)
    powers = (scores - scores.detach().amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True) @ value


def wrong_half_of_the_query(query, key, value):
    """The query is halved, whatever its width."""
    return torch.softmax(query / 2 @ key.mT, -1) @ value


def wrong_scores_by_two(query, key, value):
    """The scores are divided by 2."""
    return torch.softmax((query @ key.mT) / 2, -1) @ value


def wrong_weights_transposed(query, key, value):
    """The weights are transposed before they meet the values."""
    weights = torch.softmax(query / query.shape[-1] ** 0.5 @ key.mT, -1)
    return weights.mT @ value
