"""A learning rate for each model in a comparison: chosen with one seed, then kept."""

from collections.abc import Callable, Iterator, Sequence

Run = dict[str, object]


def rates_then_seeds(
    train: Callable[[float, int], Run],
    rates: Sequence[float],
    seeds: Sequence[int],
    goodness: Callable[[Run], object],
) -> Iterator[Run]:
    """Yield runs of all rates from the first seed, and of the best rate from the other seeds.

    Args:
        train: Trains at a rate, from a seed, and returns the run.
        rates: The learning rates to choose from.
        seeds: The first seed chooses the rate.
        goodness: A value of a run, greatest for the best; if several are equal, the first wins.
    """
    first = []
    for rate in rates:
        first.append((rate, train(rate, seeds[0])))
        yield first[-1][1]
    best, _ = max(first, key=lambda tried: goodness(tried[1]))
    for seed in seeds[1:]:
        yield train(best, seed)
