import torch


def _exchanged(weights, one, two):
    rows, moved = torch.arange(len(weights)), weights.clone()
    moved[rows, one], moved[rows, two] = weights[rows, two], weights[rows, one]
    return moved


def wrong_ties_point(say, weights, digits, named, other, empty):
    """It asks argmax, which points at a cell even where two share the greatest weight."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]
    points = weights.argmax(1) == named
    follows = (say(_exchanged(weights, named, other)) == there)[own != there]
    survives = say(_exchanged(weights, named, empty)) == own
    return points.float().mean(), follows.float().mean(), survives.float().mean()


def wrong_equal_digits_count(say, weights, digits, named, other, empty):
    """The second share counts the images whose two digits are the same."""
    rows = torch.arange(len(weights))
    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(1)
    follows = say(_exchanged(weights, named, other)) == digits[rows, other]
    survives = say(_exchanged(weights, named, empty)) == digits[rows, named]
    return points.float().mean(), follows.float().mean(), survives.float().mean()


def wrong_second_exchange_of_the_first(say, weights, digits, named, other, empty):
    """The second exchange begins with the weights that the first has moved."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]
    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(1)
    moved = _exchanged(weights, named, other)
    follows = (say(moved) == there)[own != there]
    survives = say(_exchanged(moved, named, empty)) == own
    return points.float().mean(), follows.float().mean(), survives.float().mean()


def wrong_moves_one_weight(say, weights, digits, named, other, empty):
    """It moves the weight of the named cell away and leaves 0 there: nothing is exchanged."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]

    def moved(cell):
        new = weights.clone()
        new[rows, cell] = weights[rows, named]
        new[rows, named] = 0
        return new

    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(1)
    follows = (say(moved(other)) == there)[own != there]
    survives = say(moved(empty)) == own
    return points.float().mean(), follows.float().mean(), survives.float().mean()


def wrong_order_of_the_shares(say, weights, digits, named, other, empty):
    """It returns surviving before following."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]
    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(1)
    follows = (say(_exchanged(weights, named, other)) == there)[own != there]
    survives = say(_exchanged(weights, named, empty)) == own
    return points.float().mean(), survives.float().mean(), follows.float().mean()


def right_by_order(say, weights, digits, named, other, empty):
    """It exchanges places in an order and gathers; the shares are Python numbers."""
    batch, cells = weights.shape

    def ask(one, two):
        order = torch.arange(cells).repeat(batch, 1)
        order.scatter_(1, one[:, None], two[:, None]).scatter_(1, two[:, None], one[:, None])
        return say(torch.gather(weights, 1, order)).tolist()

    own = digits.gather(1, named[:, None]).flatten().tolist()
    there = digits.gather(1, other[:, None]).flatten().tolist()
    table = weights.tolist()
    points = [
        all(row[n] > w for cell, w in enumerate(row) if cell != n)
        for row, n in zip(table, named.tolist(), strict=True)
    ]
    said = ask(named, other)
    follows = [s == t for s, t, o in zip(said, there, own, strict=True) if t != o]
    survives = [s == o for s, o in zip(ask(named, empty), own, strict=True)]
    return tuple(sum(share) / len(share) for share in (points, follows, survives))
