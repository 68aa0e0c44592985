"""Right answers to part E: each earns every point."""

import torch


def by_diagonal(scores, real):
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), -1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp(min=1)


def by_logarithms(scores, real):
    walled = scores.masked_fill(~real[..., None, :], -torch.inf)
    own = torch.diagonal(scores, dim1=-2, dim2=-1) - walled.logsumexp(-1)
    shares = torch.where(real, own, -torch.inf).exp()
    return shares.sum(-1) / real.sum(-1).where(real.any(-1), 1)


def by_identity_matrix(scores, real):
    eye = torch.eye(scores.shape[-1], dtype=scores.dtype, device=scores.device)
    walled = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    powers = (walled - walled.amax(-1, keepdim=True).nan_to_num(neginf=0)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    picked = (weights.nan_to_num(0) * eye).sum(-1) * real
    return picked.sum(-1) / real.sum(-1).clamp_min(1)


def by_sentences(scores, real):
    length = scores.shape[-1]
    shares = []
    for table, words in zip(
        scores.reshape(-1, length, length), real.reshape(-1, length), strict=True
    ):
        weights = table[words][:, words].softmax(-1)
        shares.append(weights.trace() / max(int(words.sum()), 1))
    return torch.stack(shares).reshape(real.shape[:-1])
