import math

import torch


def wrong_width_of_the_values(query, key, value):
    """The root is that of the width of the values."""
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
    """The root is that of the number of keys."""
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
