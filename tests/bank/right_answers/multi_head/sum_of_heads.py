"""Right answers to the first half of part E: each earns every point."""

import math

import torch


def by_a_loop(query, key, value, w_query, w_key, w_value, w_output):
    output = 0
    for a, b, c, d in zip(w_query, w_key, w_value, w_output, strict=True):
        weights = torch.softmax(query @ a @ (key @ b).mT / math.sqrt(a.shape[-1]), -1)
        output = output + weights @ (value @ c) @ d
    return output


def by_einsum(query, key, value, w_query, w_key, w_value, w_output):
    queries = torch.einsum("...qi,hid->...hqd", query, w_query)
    keys = torch.einsum("...ki,hid->...hkd", key, w_key)
    values = torch.einsum("...ki,hid->...hkd", value, w_value)
    weights = torch.einsum("...hqd,...hkd->...hqk", queries / queries.shape[-1] ** 0.5, keys)
    return torch.einsum("...hqk,...hkd,hdo->...qo", weights.softmax(-1), values, w_output)


def by_concatenation(query, key, value, w_query, w_key, w_value, w_output):
    query, key, value = (tokens.unsqueeze(-3) for tokens in (query, key, value))
    scores = (query @ w_query) @ (key @ w_key).mT * w_query.shape[-1] ** -0.5
    heads = scores.softmax(-1) @ (value @ w_value)
    return heads.transpose(-3, -2).flatten(-2) @ w_output.flatten(0, 1)


def by_a_matrix_between(query, key, value, w_query, w_key, w_value, w_output):
    # what a head computes depends on its matrices only through these two products
    between = w_query @ w_key.mT / w_query.shape[-1] ** 0.5
    through = w_value @ w_output
    query, key, value = (tokens.unsqueeze(-3) for tokens in (query, key, value))
    return (torch.softmax(query @ between @ key.mT, -1) @ (value @ through)).sum(-3)
