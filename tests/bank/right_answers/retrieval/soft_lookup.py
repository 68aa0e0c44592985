"""Right answers to part B of problem set 01."""

import torch
from torch import Tensor
from torch.nn import functional


def writes_the_formula(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    scores = query @ key.transpose(-2, -1) / temperature
    raised = torch.exp(scores - scores.amax(-1, keepdim=True))
    return raised / raised.sum(-1, keepdim=True) @ value


def sums_by_einsum(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", query, key).div(temperature)
    return torch.einsum("...ij,...jd->...id", functional.softmax(scores, dim=-1), value)


def cools_the_query(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    return ((query / temperature) @ key.mT).softmax(-1).matmul(value)


def multiplies_every_pair(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / temperature
    weights = torch.log_softmax(scores, -1).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)


def loops_over_tables_and_queries(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    if query.ndim > 2:
        tables = zip(query, key, value, strict=True)
        return torch.stack([loops_over_tables_and_queries(*t, temperature) for t in tables])
    rows = [torch.softmax(key @ one / temperature, dim=0) @ value for one in query]
    return torch.stack(rows)


def folds_all_batch_axes(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    flat_query, flat_key, flat_value = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    scores = torch.bmm(flat_query, flat_key.transpose(1, 2)) / temperature
    output = torch.bmm(torch.softmax(scores, dim=2), flat_value)
    return output.reshape(*query.shape[:-1], value.shape[-1])
