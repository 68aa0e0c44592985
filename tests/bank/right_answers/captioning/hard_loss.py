"""Right answers to part D: each earns every point."""

import torch
from torch.distributions import Categorical
from torch.nn import functional


def by_gather(scores, cells, reward, baseline):
    log_weight = scores.log_softmax(-1).gather(1, cells)
    advantage = (reward - baseline[:, None]).detach()
    return -(reward + advantage * log_weight).mean()


def by_a_distribution(scores, cells, reward, baseline):
    log_weight = Categorical(logits=scores).log_prob(cells.mT).mT
    with torch.no_grad():
        advantage = reward - baseline.unsqueeze(1)
    return -reward.mean() - (advantage * log_weight).mean()


def by_cross_entropy(scores, cells, reward, baseline):
    many = scores.unsqueeze(-1).expand(-1, -1, cells.shape[1])
    surprise = functional.cross_entropy(many, cells, reduction="none")
    advantage = reward.data - baseline.unsqueeze(-1)
    return (advantage * surprise - reward).mean()


def by_a_ratio(scores, cells, reward, baseline):
    """A weight over its own value is 1, with the gradient of the logarithm."""
    weight = scores.softmax(-1).gather(1, cells)
    ratio = weight / weight.detach()
    advantage = reward.detach() - baseline.unsqueeze(1)
    return -(ratio * advantage).mean() - reward.mean()


def by_draws(scores, cells, reward, baseline):
    log_weights = scores - torch.logsumexp(scores, -1, keepdim=True)
    losses = [
        -value - (value.item() - usual.item()) * row[cell]
        for row, drawn, values, usual in zip(log_weights, cells, reward, baseline, strict=True)
        for cell, value in zip(drawn, values, strict=True)
    ]
    return torch.stack(losses).mean()
