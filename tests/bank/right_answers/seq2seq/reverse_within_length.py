"""Right answers to part D: each earns every point."""

import torch


def by_row_and_place(sequence, mask):
    place = torch.arange(mask.shape[1], device=mask.device)
    mirrored = mask.sum(1, keepdim=True) - 1 - place
    rows = torch.arange(len(mask), device=mask.device)[:, None]
    return sequence[rows, torch.where(mask, mirrored, place)]


def by_flipping_each_row(sequence, mask):
    turned = []
    for row, number in zip(sequence, mask.sum(1).tolist(), strict=True):
        turned.append(torch.cat([row[:number].flip(0), row[number:]]))
    return torch.stack(turned)


def by_gather(sequence, mask):
    length = mask.long().sum(dim=1, keepdim=True)
    place = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    index = torch.where(place < length, length - 1 - place, place)
    while index.ndim < sequence.ndim:
        index = index.unsqueeze(-1)
    return sequence.gather(1, index.expand_as(sequence))


def by_sorting(sequence, mask):
    place = torch.arange(mask.shape[1], device=mask.device)
    order = torch.where(mask, -place, place).argsort(dim=1, stable=True)
    return torch.stack([row[index] for row, index in zip(sequence, order, strict=True)])


def by_a_loop_over_words(sequence, mask):
    new = sequence.clone()
    for i, number in enumerate(mask.sum(1).tolist()):
        for t in range(number):
            new[i, t] = sequence[i, number - 1 - t]
    return new


def by_flip_and_mask(sequence, mask):
    new = sequence.clone()
    new[mask] = sequence.flip(1)[mask.flip(1)]
    return new
