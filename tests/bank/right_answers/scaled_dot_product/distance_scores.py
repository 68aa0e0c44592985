"""Right answers to part C: each earns every point."""

import torch


def by_three_terms(query, key):
    of_query = (query * query).sum(dim=-1, keepdim=True)
    of_key = (key * key).sum(dim=-1, keepdim=True).transpose(-2, -1)
    return -0.5 * (of_query + of_key - 2 * query @ key.transpose(-2, -1))


def by_einsum(query, key):
    of_query = torch.einsum("...qd,...qd->...q", query, query)
    of_key = torch.einsum("...kd,...kd->...k", key, key)
    both = torch.einsum("...qd,...kd->...qk", query, key)
    return both - of_query[..., :, None] / 2 - of_key[..., None, :] / 2


def by_one_product(query, key):
    of_query, of_key = (-x.pow(2).sum(-1, keepdim=True) / 2 for x in (query, key))
    longer_query = torch.cat([query, of_query, torch.ones_like(of_query)], -1)
    longer_key = torch.cat([key, torch.ones_like(of_key), of_key], -1)
    return longer_query @ longer_key.mT


def by_norms(query, key):
    of_query = torch.linalg.vector_norm(query, dim=-1, keepdim=True) ** 2
    of_key = torch.linalg.vector_norm(key, dim=-1, keepdim=True) ** 2
    return query.matmul(key.mT).sub(of_query, alpha=0.5).sub(of_key.mT, alpha=0.5)


def by_queries(query, key):
    of_key = key.square().sum(-1)
    rows = [
        (key @ one.unsqueeze(-1)).squeeze(-1) - (of_key + one.square().sum(-1, keepdim=True)) / 2
        for one in query.unbind(-2)
    ]
    return torch.stack(rows, -2)


def by_features(query, key):
    scores = 0
    for q, k in zip(query.unbind(-1), key.unbind(-1), strict=True):
        q, k = q.unsqueeze(-1), k.unsqueeze(-2)
        scores = scores + q * k - q**2 / 2 - k**2 / 2
    return scores


def by_diagonals(query, key):
    of_query = (query @ query.mT).diagonal(dim1=-2, dim2=-1).unsqueeze(-1)
    of_key = (key @ key.mT).diagonal(dim1=-2, dim2=-1).unsqueeze(-2)
    return query @ key.mT - of_query / 2 - of_key / 2


def by_one_query_at_a_time(query, key):
    """Differences, but of one query at a time."""
    rows = [(key - one.unsqueeze(-2)).square().sum(-1) / -2 for one in query.unbind(-2)]
    return torch.stack(rows, -2)


def by_writing_into_its_own(query, key):
    scores = query.double() @ key.double().mT
    scores -= query.double().pow(2).sum(-1, True) / 2
    scores -= (key.double().pow(2).sum(-1) / 2)[..., None, :]
    return scores.clamp(max=0).to(query.dtype)
