"""Right answers to part B: each earns every point."""

import torch


def by_multiplying(weights, is_word, share):
    got = (weights * is_word.unsqueeze(-1)).sum(1)
    return ((share - got) ** 2).sum(-1).mean()


def by_einsum(weights, is_word, share):
    missing = torch.einsum("btc,bt->bc", weights, is_word.to(weights.dtype)) - share
    return torch.einsum("bc,bc->", missing, missing) / len(weights)


def by_captions(weights, is_word, share):
    penalties = [
        sum((share - cell.sum()).square() for cell in caption[words].unbind(1))
        for caption, words in zip(weights, is_word, strict=True)
    ]
    return torch.stack(penalties).mean()


def by_norms(weights, is_word, share):
    got = weights.masked_fill(~is_word[..., None], 0).sum(-2)
    return torch.linalg.vector_norm(got - share, dim=-1).square().mean()


def by_running_totals(weights, is_word, share):
    total = weights.where(is_word.unsqueeze(-1), 0).cumsum(1)[:, -1]
    return torch.nn.functional.mse_loss(total, torch.full_like(total, share)) * total.shape[1]
