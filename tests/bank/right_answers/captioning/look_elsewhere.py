"""Right answers to part E: each earns every point."""

import torch


def by_rows(say, weights, digits, named, other, empty):
    rows = torch.arange(len(weights))

    def exchanged(one, two):
        moved = weights.clone()
        moved[rows, one], moved[rows, two] = weights[rows, two], weights[rows, one]
        return moved

    two = weights.topk(2)
    points = (two.indices[:, 0] == named) & (two.values[:, 0] > two.values[:, 1])
    own, there = digits[rows, named], digits[rows, other]
    told = (say(exchanged(named, other)) == there)[own != there]
    still = say(exchanged(named, empty)) == own
    return tuple(yes.float().mean() for yes in (points, told, still))


def by_permutations(say, weights, digits, named, other, empty):
    def exchanged(one, two):
        order = torch.arange(weights.shape[1], device=weights.device).repeat(len(weights), 1)
        order = order.scatter(1, one[:, None], two[:, None]).scatter(1, two[:, None], one[:, None])
        return weights.gather(1, order)

    own, there = (digits.gather(1, cells[:, None])[:, 0] for cells in (named, other))
    greatest = weights.gather(1, named[:, None])
    points = ((weights >= greatest).sum(1) == 1).double().mean().item()
    differ = (own != there).double()
    told = (say(exchanged(named, other)) == there) * differ
    still = (say(exchanged(named, empty)) == own).double().mean().item()
    return points, (told.sum() / differ.sum()).item(), still


def by_images(say, weights, digits, named, other, empty):
    swapped, blank, points = weights.clone(), weights.clone(), 0
    for i in range(len(weights)):
        a, b, c = int(named[i]), int(other[i]), int(empty[i])
        swapped[i, [a, b]] = weights[i, [b, a]]
        blank[i, [a, c]] = weights[i, [c, a]]
        rest = torch.cat([weights[i, :a], weights[i, a + 1 :]])
        points += bool(weights[i, a] > rest.max())
    told, still, counted, follow = say(swapped), say(blank), 0, 0
    survive = 0
    for i in range(len(weights)):
        own, there = digits[i, named[i]], digits[i, other[i]]
        counted += int(own != there)
        follow += int(own != there and told[i] == there)
        survive += int(still[i] == own)
    return points / len(weights), follow / counted, survive / len(weights)


def by_differences(say, weights, digits, named, other, empty):
    num_cells = weights.shape[1]
    one_hot = torch.nn.functional.one_hot

    def exchanged(two):
        step = (one_hot(two, num_cells) - one_hot(named, num_cells)).to(weights.dtype)
        gap = (weights * -step).sum(1, keepdim=True)
        return weights + gap * step

    is_named = one_hot(named, num_cells).bool()
    own, there = digits[is_named], (digits * one_hot(other, num_cells)).sum(1)
    points = weights[is_named] > weights.masked_fill(is_named, -1).amax(1)
    told, still = say(exchanged(other)) == there, say(exchanged(empty)) == own
    return [points.double().mean(), told[own != there].double().mean(), still.double().mean()]
