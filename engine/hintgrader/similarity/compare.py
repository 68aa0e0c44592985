"""Which answers to a part share what hardly anybody else wrote.

Two strangers who are both right often write the same line, and a short answer has few forms. So no
percentage is counted but runs of tokens that are rare in the class: what everybody writes says
nothing of two. Copies of a rare form share many of them; strangers share few, and the page says
how many.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, triu
from sklearn.feature_extraction.text import CountVectorizer

RUN = 6  # tokens that stand one after the other
FEW, SHARE = 4, 0.05  # a run is rare if at most so many have it, or this share of the class
LEAST = 8  # rare runs that two must share to be listed
MOST = 30  # pairs of a part that are listed
Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two answers to a part.

    Attributes:
        first: Name of one.
        second: Name of the other.
        shared: Rare runs of tokens that both have.
        alike: The share of all runs of the two that both have.
    """

    first: str
    second: str
    shared: int
    alike: float


@dataclass(frozen=True)
class Comparison:
    """The answers to a part, held against each other.

    Attributes:
        pairs: Those that share most of what is rare, the most first.
        listed: How many share as much as that; more than `pairs` holds, if there are too many.
        answers: How many answers there are.
        typical: Rare runs that 99 of 100 pairs share at most.
    """

    pairs: tuple[Pair, ...]
    listed: int
    answers: int
    typical: int


def compare(answers: Mapping[str, Tokens]) -> Comparison:
    """Hold all answers to a part against each other.

    Args:
        answers: Their normal forms, by name. One that stands for the public solution is as good as
            any.
    """
    names = [name for name, tokens in answers.items() if len(tokens) >= RUN]
    if len(names) < 2:
        return Comparison((), 0, len(names), 0)
    has = CountVectorizer(analyzer=_runs, binary=True).fit_transform(answers[n] for n in names)
    is_rare = np.asarray(has.sum(0)).ravel() <= max(FEW, SHARE * len(names))
    shared = _common(has[:, is_rare])
    counts = np.zeros(len(names) * (len(names) - 1) // 2, dtype=int)
    counts[: shared.nnz] = shared.data
    order = np.argsort(-shared.data, kind="stable")
    order = order[shared.data[order] >= LEAST]
    sizes = np.asarray(has.sum(1)).ravel()
    both = _common(has).tocsr()
    pairs = []
    for place in order[:MOST]:
        one, other = int(shared.row[place]), int(shared.col[place])
        alike = both[one, other] / (sizes[one] + sizes[other] - both[one, other])
        pairs.append(Pair(names[one], names[other], int(shared.data[place]), float(alike)))
    typical = int(np.quantile(counts, 0.99, method="higher"))
    return Comparison(tuple(pairs), len(order), len(names), typical)


def _common(has: csr_matrix) -> csr_matrix:
    """The number of runs that each pair has in common, once for each pair."""
    return triu(has.astype(int) @ has.T.astype(int), k=1).tocoo()


def _runs(tokens: Tokens) -> list[Tokens]:
    return [tokens[place : place + RUN] for place in range(len(tokens) - RUN + 1)]
