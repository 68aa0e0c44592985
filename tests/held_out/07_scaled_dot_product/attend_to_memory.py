import torch


def wrong_axis_one(query, memory):
    """The softmax runs over axis 1, which holds queries where there is a batch."""
    scores = query @ memory.mT / query.shape[-1] ** 0.5
    return torch.softmax(scores, dim=1) @ memory


def wrong_not_scaled(query, memory):
    """The root of the width is still missing."""
    return torch.softmax(query @ memory.transpose(-2, -1), dim=-1) @ memory


def wrong_root_of_the_memory_length(query, memory):
    """The root is that of the number of memories."""
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
