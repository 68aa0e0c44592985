"""A learning rate for each model before models are compared: chosen with one seed, then kept."""

from collections.abc import Callable, Iterator, Sequence

Run = dict[str, object]


def rates_then_seeds(
    train: Callable[[float, int], Run],
    rates: Sequence[float],
    seeds: Sequence[int],
    goodness: Callable[[Run], object],
) -> Iterator[Run]:
    """All rates from the first seed, and the best of them from the others.

    Args:
        train: Trains at a rate, from a seed, and says what came of it.
        rates: To choose from.
        seeds: The first is the one that chooses.
        goodness: What is greatest for the best run; of equals the first counts.
    """
    first = []
    for rate in rates:
        first.append((rate, train(rate, seeds[0])))
        yield first[-1][1]
    best, _ = max(first, key=lambda tried: goodness(tried[1]))
    for seed in seeds[1:]:
        yield train(best, seed)
