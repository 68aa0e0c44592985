"""Problem set 02: kernel regression, which is attention with a score from a kernel."""

import torch
from hintgrader.exercise import Inputs
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_uniform, in_front

NUMBER = "02"


def draw_points(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    d_value: int | None,
    batch: int | None = None,
    groups: int | None = None,
) -> Inputs:
    """Queries, keys and values from the normal distribution, and a width between 0.6 and 1.4.

    Without `d_value` there are no values, without `batch` and `groups` no axes of these names.
    """
    before = in_front(groups, batch)
    inputs: Inputs = {
        "query": draw_normal(generator, *before, query_len, d_key),
        "key": draw_normal(generator, *before, key_len, d_key),
    }
    if d_value is not None:
        inputs["value"] = draw_normal(generator, *before, key_len, d_value)
    return inputs | {"width": 0.6 + 0.8 * draw_uniform(generator).item()}


def draw_uneven_keys(generator: Generator, key_len: int) -> Tensor:
    """Whole numbers in rising order, with gaps that all differ, so that no distance ties."""
    gaps = 1 + torch.randperm(key_len, generator=generator)
    return gaps.cumsum(0).double().unsqueeze(-1)


def squared_distances(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
