import torch
from torch import Tensor


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


def wrong_argmax_points(say, weights, digits, named, other, empty):
    """Points by argmax, which picks a cell even where several share the greatest weight."""
    rows = torch.arange(len(weights))

    def exchanged(one, two):
        moved = weights.clone()
        moved[rows, one] = weights[rows, two]
        moved[rows, two] = weights[rows, one]
        return moved

    points = weights.argmax(dim=1) == named
    own, there = digits[rows, named], digits[rows, other]
    follows = say(exchanged(named, other)) == there
    survives = say(exchanged(named, empty)) == own
    return (
        points.float().mean().item(),
        follows[own != there].float().mean().item(),
        survives.float().mean().item(),
    )


def wrong_second_exchange_on_first(say, weights, digits, named, other, empty):
    """The second exchange goes on from the weights of the first instead of the captioner's own."""
    batch = weights.shape[0]
    rows = torch.arange(batch)
    own = weights[rows, named]
    rest = weights.clone()
    rest[rows, named] = -1
    pointing = (own > rest.max(dim=1).values).double().mean()

    moved = weights.clone()
    moved[rows, named] = weights[rows, other]
    moved[rows, other] = own
    said = say(moved)
    target = digits[rows, other]
    differ = target != digits[rows, named]
    following = (said == target)[differ].double().mean()

    now = moved[rows, named]
    moved[rows, named] = moved[rows, empty]
    moved[rows, empty] = now
    surviving = (say(moved) == digits[rows, named]).double().mean()
    return float(pointing), float(following), float(surviving)


def wrong_half_swap_and_all_images(say, weights, digits, named, other, empty):
    """Two mistakes: the swap overwrites the first weight before it is read, and following counts
    images with equal digits."""
    rows = torch.arange(weights.size(0))

    def swap(a, b):
        w = weights.clone()
        w[rows, a] = w[rows, b]
        w[rows, b] = w[rows, a]
        return w

    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(dim=1)
    follows = say(swap(named, other)) == digits[rows, other]
    survives = say(swap(named, empty)) == digits[rows, named]
    return tuple(float(x.float().mean()) for x in (points, follows, survives))


def right_order_and_gather(say, weights, digits, named, other, empty):
    """Exchanges by gathering the weights in a changed order of cells, and counts the cells that
    weigh at least as much."""
    own, off, blank = (x.unsqueeze(1) for x in (named, other, empty))
    order = torch.arange(weights.shape[1], device=weights.device)
    order = order.expand(weights.shape)

    def exchanged(one, two):
        turned = order.scatter(1, one, two).scatter(1, two, one)
        return weights.gather(1, turned)

    at_least = (weights >= weights.gather(1, own)).sum(1)
    right_word = digits.gather(1, own).squeeze(1)
    other_word = digits.gather(1, off).squeeze(1)
    differ = right_word != other_word
    follows = (say(exchanged(own, off)) == other_word) & differ
    survives = say(exchanged(own, blank)) == right_word
    batch = weights.shape[0]
    return (
        int((at_least == 1).sum()) / batch,
        int(follows.sum()) / int(differ.sum()),
        int(survives.sum()) / batch,
    )


def wrong_exchange_only_one_way(say, weights, digits, named, other, empty):
    """It copies the weight of the named cell to the other cell and leaves it where it was."""
    rows = torch.arange(len(named))

    def moved(to):
        new = weights.clone()
        new[rows, to] = weights[rows, named]
        return new

    own, another = digits[rows, named], digits[rows, other]
    top = weights.amax(-1, keepdim=True)
    points = (weights.argmax(-1) == named) & ((weights == top).sum(-1) == 1)
    differ = own != another
    follows = (say(moved(other)) == another)[differ].double().mean().item()
    stays = (say(moved(empty)) == own).double().mean().item()
    return points.double().mean().item(), follows, stays


def wrong_third_asks_what_the_first_said(say, weights, digits, named, other, empty):
    """For the third share it compares with what was said unchanged, not with the digit."""
    rows = torch.arange(len(named))

    def swapped(to):
        new = weights.clone()
        new[rows, to], new[rows, named] = weights[rows, named], weights[rows, to]
        return new

    own, another = digits[rows, named], digits[rows, other]
    top = weights.amax(-1, keepdim=True)
    points = (weights.argmax(-1) == named) & ((weights == top).sum(-1) == 1)
    differ = own != another
    follows = (say(swapped(other)) == another)[differ].double().mean().item()
    stays = (say(swapped(empty)) == say(weights)).double().mean().item()
    return points.double().mean().item(), follows, stays


def exchanged(weights: Tensor, one: Tensor, two: Tensor) -> Tensor:
    """A copy of the weights, in which two cells have exchanged theirs."""
    rows = torch.arange(len(weights))
    moved = weights.clone()
    moved[rows, one], moved[rows, two] = weights[rows, two], weights[rows, one]
    return moved


def wrong_exchange_overwrites(
    say, weights: Tensor, digits: Tensor, named: Tensor, other: Tensor, empty: Tensor
) -> tuple[float, float, float]:
    """Reads the second weight from the copy after it was overwritten: both are the same."""

    def exchange(one, two):
        moved = weights.clone()
        moved[rows, one] = moved[rows, two]
        moved[rows, two] = moved[rows, one]
        return moved

    rows = torch.arange(len(weights))
    rest = weights.clone()
    rest[rows, named] = -1
    own, there = digits[rows, named], digits[rows, other]
    points = weights[rows, named] > rest.amax(1)
    follows = (say(exchange(named, other)) == there)[own != there]
    survives = say(exchange(named, empty)) == own
    return tuple(float(x.float().mean()) for x in (points, follows, survives))


def wrong_survives_if_unchanged(
    say, weights: Tensor, digits: Tensor, named: Tensor, other: Tensor, empty: Tensor
) -> tuple[float, float, float]:
    """Counts as surviving that the captioner says what it said before, right or not."""
    rows = torch.arange(len(weights))
    rest = weights.clone()
    rest[rows, named] = -1
    own, there = digits[rows, named], digits[rows, other]
    points = weights[rows, named] > rest.amax(1)
    follows = (say(exchanged(weights, named, other)) == there)[own != there]
    survives = say(exchanged(weights, named, empty)) == say(weights)
    return tuple(float(x.float().mean()) for x in (points, follows, survives))


def wrong_pointing_with_ties(
    say, weights: Tensor, digits: Tensor, named: Tensor, other: Tensor, empty: Tensor
) -> tuple[float, float, float]:
    """Says that a cell is pointed at even if another one has the same weight."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]
    points = weights[rows, named] == weights.amax(1)
    follows = (say(exchanged(weights, named, other)) == there)[own != there]
    survives = say(exchanged(weights, named, empty)) == own
    return tuple(float(x.float().mean()) for x in (points, follows, survives))


def right_by_gather(
    say, weights: Tensor, digits: Tensor, named: Tensor, other: Tensor, empty: Tensor
) -> tuple[float, float, float]:
    """Exchanges by an order of the cells, and counts how many are at least as heavy."""

    def say_exchanged(two):
        order = torch.arange(weights.shape[1]).repeat(len(weights), 1)
        order.scatter_(1, named[:, None], two[:, None])
        order.scatter_(1, two[:, None], named[:, None])
        return say(weights.gather(1, order))

    at_least = weights >= weights.gather(1, named[:, None])
    points = at_least.sum(1) == 1
    own = digits.gather(1, named[:, None])[:, 0]
    there = digits.gather(1, other[:, None])[:, 0]
    differ = own != there
    follows = (say_exchanged(other) == there) & differ
    survives = say_exchanged(empty) == own
    return (
        points.double().mean().item(),
        follows.sum().item() / differ.sum().item(),
        survives.double().mean().item(),
    )


def wrong_argmax_points_at_ties(
    say,
    weights: Tensor,
    digits: Tensor,
    named: Tensor,
    other: Tensor,
    empty: Tensor,
) -> tuple[float, float, float]:
    """Uses argmax for pointing, which may pick the named cell where several are greatest."""
    rows = torch.arange(len(weights), device=weights.device)

    def exchanged(two):
        moved = weights.clone()
        moved[rows, named], moved[rows, two] = (
            weights[rows, two],
            weights[rows, named],
        )
        return moved

    own, there = digits[rows, named], digits[rows, other]
    points = weights.argmax(-1) == named
    follows = (say(exchanged(other)) == there)[own != there]
    survives = say(exchanged(empty)) == own
    return (
        points.double().mean(),
        follows.double().mean(),
        survives.double().mean(),
    )


def wrong_exchange_loses_a_weight(
    say,
    weights: Tensor,
    digits: Tensor,
    named: Tensor,
    other: Tensor,
    empty: Tensor,
) -> tuple[float, float, float]:
    """The first assignment overwrites a weight that the second needs: both cells get the same."""
    rows = torch.arange(len(weights), device=weights.device)

    def exchanged(two):
        moved = weights.clone()
        moved[rows, named] = moved[rows, two]
        moved[rows, two] = moved[rows, named]
        return moved

    own, there = digits[rows, named], digits[rows, other]
    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(-1)
    follows = (say(exchanged(other)) == there)[own != there]
    survives = say(exchanged(empty)) == own
    return (
        points.double().mean(),
        follows.double().mean(),
        survives.double().mean(),
    )


def wrong_equal_digits_count_seventh(
    say,
    weights: Tensor,
    digits: Tensor,
    named: Tensor,
    other: Tensor,
    empty: Tensor,
) -> tuple[float, float, float]:
    """The second share counts all images, those too in which the two digits are the same."""
    rows = torch.arange(len(weights), device=weights.device)

    def exchanged(two):
        moved = weights.clone()
        moved[rows, named], moved[rows, two] = (
            weights[rows, two],
            weights[rows, named],
        )
        return moved

    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(-1)
    follows = say(exchanged(other)) == digits[rows, other]
    survives = say(exchanged(empty)) == digits[rows, named]
    return (
        points.double().mean(),
        follows.double().mean(),
        survives.double().mean(),
    )


def right_gather_in_a_new_order(
    say,
    weights: Tensor,
    digits: Tensor,
    named: Tensor,
    other: Tensor,
    empty: Tensor,
) -> tuple[float, float, float]:
    """An exchange is a gather with two numbers swapped; pointing counts the cells as great."""
    named, other, empty = (cell.unsqueeze(1) for cell in (named, other, empty))

    def said_with(two):
        order = torch.arange(weights.shape[1], device=weights.device).expand_as(weights)
        order = order.scatter(1, named, two).scatter(1, two, named)
        return say(weights.gather(1, order))

    own, there = (
        digits.gather(1, named).squeeze(1),
        digits.gather(1, other).squeeze(1),
    )
    points = (weights >= weights.gather(1, named)).sum(1) == 1
    differ = own != there
    follows = (said_with(other) == there) & differ
    survives = said_with(empty) == own
    size = len(weights)
    return (
        int(points.sum()) / size,
        int(follows.sum()) / int(differ.sum()),
        int(survives.sum()) / size,
    )
