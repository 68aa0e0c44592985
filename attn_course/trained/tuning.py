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


def chosen_runs(runs: Sequence[Run], **settings: object) -> list[Run]:
    """The runs of some settings at the rate that was chosen for them, one for each seed.

    Args:
        runs: Those of a record, in their order.
        settings: What the runs wanted have under these names.
    """
    found = [run for run in runs if settings.items() <= run.items()]
    return [run for run in found if run["rate"] == found[-1]["rate"]]
