"""Right answers to part F: each earns every point."""

from collections import defaultdict

import torch


def by_padding(output, target):
    output = torch.nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = ((output == target) | (target == 0)).all(1)
    length = (target != 0).sum(1) - 1
    shares = [exact[length == n].float().mean().item() for n in length.unique()]
    return list(zip(length.unique().tolist(), shares, strict=True))


def by_lists(output, target):
    right, number = defaultdict(int), defaultdict(int)
    for said, meant in zip(output.tolist(), target.tolist(), strict=True):
        meant = meant[: meant.index(2) + 1]
        number[len(meant) - 1] += 1
        right[len(meant) - 1] += said[: len(meant)] == meant
    return [(n, right[n] / number[n]) for n in sorted(number)]


def by_cutting_at_the_end(output, target):
    def sentence(row):
        words = []
        for word in row.tolist():
            words.append(word)
            if word == 2:
                break
        return tuple(words)

    found = {}
    for said, meant in zip(output, target, strict=True):
        found.setdefault(len(sentence(meant)) - 1, []).append(sentence(said) == sentence(meant))
    return [[n, sum(found[n]) / len(found[n])] for n in sorted(found)]


def by_erasing_behind_the_end(output, target):
    length = (target == 2).int().argmax(1)
    wide = torch.zeros(len(target), max(output.shape[1], target.shape[1]), dtype=torch.long)
    mine, theirs = wide.clone(), wide.clone()
    mine[:, : output.shape[1]] = output
    theirs[:, : target.shape[1]] = target
    behind = (mine == 2).long().cumsum(1) - (mine == 2).long() > 0
    wrong = (mine.masked_fill(behind, 0) != theirs).sum(1)
    counts = torch.bincount(length.cpu())
    right = torch.bincount(length[wrong.to(length.device) == 0].cpu(), minlength=len(counts))
    return [(n, right[n].item() / counts[n].item()) for n in range(len(counts)) if counts[n]]


def by_scatter(output, target):
    width = target.shape[1]
    narrow = output[:, :width]
    missing = (target[:, narrow.shape[1] :] != 0).any(1)
    wrong = ((narrow != target[:, : narrow.shape[1]]) & (target[:, : narrow.shape[1]] != 0)).any(1)
    exact = ~(wrong | missing)
    length = target.ne(0).sum(1) - 1
    lengths, index, number = length.unique(return_inverse=True, return_counts=True)
    right = torch.zeros(len(lengths), device=output.device).scatter_add_(0, index, exact.float())
    return [(n, s) for n, s in zip(lengths.tolist(), (right / number).tolist(), strict=True)]
