"""Right answers to part C: each earns every point."""

import torch


def by_scatter(weights, sure, possible, target_mask):
    links = torch.zeros_like(sure).scatter(-1, weights.argmax(-1, keepdim=True), True)
    links = links & target_mask[..., None]
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return (1 - agreed / (links.sum() + sure.sum())).item()


def by_one_hot(weights, sure, possible, target_mask):
    links = torch.nn.functional.one_hot(weights.argmax(-1), weights.shape[-1])
    links = links * target_mask.unsqueeze(-1)
    agreed = (links * sure).sum() + (links * torch.logical_or(sure, possible)).sum()
    return 1 - agreed / (links.sum() + sure.sum())


def by_gather(weights, sure, possible, target_mask):
    best = weights.max(-1, keepdim=True).indices
    is_sure = sure.gather(-1, best).squeeze(-1)[target_mask]
    is_possible = is_sure | possible.gather(-1, best).squeeze(-1)[target_mask]
    agreed = int(is_sure.sum()) + int(is_possible.sum())
    return 1 - agreed / (int(target_mask.sum()) + int(sure.sum()))


def by_sets(weights, sure, possible, target_mask):
    agreed = number = 0
    for rows, must, may, mask in zip(weights, sure, possible, target_mask, strict=True):
        links = {(j, int(rows[j].argmax())) for j in range(len(rows)) if mask[j]}
        sure_links = set(map(tuple, must.nonzero().tolist()))
        possible_links = sure_links | set(map(tuple, may.nonzero().tolist()))
        agreed += len(links & sure_links) + len(links & possible_links)
        number += len(links) + len(sure_links)
    return 1 - agreed / number


def by_the_largest_of_each_row(weights, sure, possible, target_mask):
    links = (weights == weights.amax(-1, keepdim=True)) & target_mask.unsqueeze(-1)
    points = sure.double() + (sure | possible).double()
    return 1.0 - float((points * links).sum()) / float((links + sure.long()).sum())
