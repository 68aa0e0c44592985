import math

import torch
from torch import Tensor


def wrong_axis_one(query, memory):
    """The softmax runs over axis 1, which holds queries where there is a batch."""
    scores = query @ memory.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=1) @ memory


def wrong_not_scaled(query, memory):
    """The root of the width is still missing."""
    return torch.softmax(query @ memory.transpose(-2, -1), dim=-1) @ memory


def wrong_root_of_the_memory_length(query, memory):
    """The root is taken of the number of memories."""
    scores = query @ memory.mT / memory.shape[-2] ** 0.5
    return torch.softmax(scores, dim=-1) @ memory


def wrong_capital_t(query, memory):
    """The memory is transposed with .T, which turns the batch round as well."""
    scores = query @ memory.T / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ memory


def wrong_no_root(query, memory):
    """It divides by the width, not by its root."""
    return torch.softmax(query @ memory.mT / query.shape[-1], dim=-1) @ memory


def right_always_a_batch(query, memory):
    """It makes a batch of one where there is none, and uses baddbmm for the scores."""
    alone = query.ndim == 2
    if alone:
        query, memory = query[None], memory[None]
    empty = query.new_zeros(1, 1, 1)
    scores = torch.baddbmm(empty, query, memory.mT, beta=0, alpha=query.shape[-1] ** -0.5)
    output = torch.bmm(scores.softmax(2), memory)
    return output[0] if alone else output


def wrong_axis_one_again(query, memory):
    """Keeps dim=1, which is the axis of the queries once there is a batch."""
    scores = query @ memory.mT / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores, dim=1)
    return weights @ memory


def wrong_no_scale(query, memory):
    """Repairs the rest, but not the lost division by the root of the width."""
    weights = torch.softmax(query @ memory.transpose(-2, -1), dim=-1)
    return torch.matmul(weights, memory)


def wrong_root_of_first_axis_and_dot_t(query, memory):
    """Two mistakes: keeps .T, which turns round all three axes of a batch, and takes the root of
    the first axis, not of the width."""
    d = query.shape[0]
    weights = torch.softmax(query @ memory.T / d**0.5, dim=-1)
    return weights @ memory


def right_one_query_at_a_time(query, memory):
    """Loops over the texts of a batch by calling itself, and over the queries of a text."""
    if query.dim() == 3:
        return torch.stack([right_one_query_at_a_time(q, m) for q, m in zip(query, memory)])
    root = math.sqrt(query.shape[-1])
    answers = []
    for one in query:
        weights = torch.softmax(memory.mv(one) / root, dim=0)
        answers.append(torch.einsum("j,jw->w", weights, memory))
    return torch.stack(answers)


def wrong_unscaled(query, memory):
    """It leaves out the root, as the matrix form does."""
    return (query @ memory.mT).softmax(-1) @ memory


def wrong_softmax_over_the_queries(query, memory):
    """It takes the softmax over the queries."""
    return (query @ memory.mT / query.shape[-1] ** 0.5).softmax(-2) @ memory


def wrong_without_scale(query: Tensor, memory: Tensor) -> Tensor:
    """Mends all but the factor: the scores are not divided by the root of the width."""
    weights = torch.softmax(query @ memory.mT, dim=-1)
    return weights @ memory


def wrong_axis_of_a_batch(query: Tensor, memory: Tensor) -> Tensor:
    """Keeps dim=1, which is the axis of the queries as soon as there is a batch."""
    scores = query @ memory.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=1) @ memory


def wrong_keeps_an_axis(query: Tensor, memory: Tensor) -> Tensor:
    """Adds an axis for the batch where there is none, and does not take it away again."""
    if query.dim() == 2:
        query, memory = query.unsqueeze(0), memory.unsqueeze(0)
    scores = torch.bmm(query, memory.transpose(1, 2)) / query.shape[-1] ** 0.5
    return torch.bmm(torch.softmax(scores, dim=2), memory)


def right_einsum(query: Tensor, memory: Tensor) -> Tensor:
    """Names the axes: i counts queries, j the memory, d the features."""
    scores = torch.einsum("...id,...jd->...ij", query, memory)
    weights = (scores * memory.shape[-1] ** -0.5).softmax(-1)
    return torch.einsum("...ij,...jd->...id", weights, memory)


def wrong_axis_one_seventh(query: Tensor, memory: Tensor) -> Tensor:
    """The softmax stays on axis 1, which holds the queries as soon as there is a batch."""
    scores = query @ memory.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=1) @ memory


def wrong_no_scale_seventh(query: Tensor, memory: Tensor) -> Tensor:
    """The scores are not divided by the root of the width, as in the printed matrix form."""
    return torch.softmax(query @ memory.mT, dim=-1) @ memory


def wrong_width_from_axis_one(query: Tensor, memory: Tensor) -> Tensor:
    """Takes the width from axis 1, which with a batch is the number of queries."""
    scores = query @ memory.mT / query.shape[1] ** 0.5
    return torch.softmax(scores, dim=-1) @ memory


def right_by_einsum(query: Tensor, memory: Tensor) -> Tensor:
    """Names the axes, so that a batch in front makes no difference."""
    scaled = query * query.shape[-1] ** -0.5
    weights = torch.einsum("...qd,...md->...qm", scaled, memory).softmax(-1)
    return torch.einsum("...qm,...md->...qd", weights, memory)
