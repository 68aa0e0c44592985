"""Chapters 01 and 02: softmax, lookups, kernels. Witnesses: SciPy, SQLite, scikit-learn."""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
import torch
from scipy.spatial.distance import cdist
from scipy.special import softmax
from torch import Tensor

from attn_course.kernel_regression import (
    kernel_scores,
    log_epanechnikov,
    log_gaussian,
    nadaraya_watson,
)
from attn_course.retrieval import attend, exact_lookup, masked_softmax, softmax_jacobian
from tests.course.errata import Slip, agrees_with, draw, slip

SCORES = torch.tensor([6.0, 3.0, 1.0], dtype=torch.double).log()
WEIGHTS = softmax(SCORES.numpy())


@slip("S0-35")
def numerator_with_the_index_of_the_sum() -> Slip:
    def printed() -> Tensor:
        a, total = torch.zeros_like(SCORES), 0.0
        for i in range(len(SCORES)):
            total += SCORES[i].exp()
        for j in range(len(SCORES)):
            a[j] = SCORES[i].exp() / total
        return a

    return Slip(printed, lambda: masked_softmax(SCORES[None])[0], agrees_with(WEIGHTS))


@slip("S0-36", "S4-34")
def softmax_as_a_fully_connected_layer() -> Slip:
    """The only such layer that could be meant: the one with softmax's value and slope at 0."""
    at_zero = masked_softmax(torch.zeros_like(SCORES)[None])[0]

    def printed() -> Tensor:
        return softmax_jacobian(at_zero) @ SCORES + at_zero

    return Slip(printed, lambda: masked_softmax(SCORES[None])[0], agrees_with(WEIGHTS))


@slip("S4-28", says="no such row")
def value_that_goes_in() -> Slip:
    key, value = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[20.0], [40.0], [70.0]])
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE entry (key REAL, value REAL)")
    database.executemany("INSERT INTO entry VALUES (?, ?)", torch.cat([key, value], 1).tolist())

    def judge(exchange: tuple[float, float]) -> None:
        """Check that a database gives this value for this key."""
        rows = database.execute("SELECT value FROM entry WHERE key = ?", exchange[:1]).fetchall()
        assert rows == [exchange[1:]], f"no such row for {exchange}"

    def right() -> tuple[float, float]:
        return 2.0, exact_lookup(torch.tensor([[2.0]]), key, value).item()

    return Slip(lambda: right()[::-1], right, judge)


@slip("S1-05", says="outside")
def weights_that_sum_to_one() -> Slip:
    value = torch.tensor([[10.0], [20.0]])

    def judge(output: Tensor) -> None:
        assert np.min(value.numpy()) <= output.item() <= np.max(value.numpy()), "outside"

    return Slip(
        lambda: torch.tensor([[2.0, -1.0]]) @ value,
        lambda: attend(torch.tensor([[2.0, -1.0]]), value),
        judge,
    )


@slip("S1-16")
def tent_named_after_epanechnikov() -> Slip:
    from sklearn.neighbors import KernelDensity

    u = torch.linspace(0, 0.9, 10, dtype=torch.double)
    theirs = KernelDensity(kernel="epanechnikov", bandwidth=1.0).fit([[0.0]])
    density = np.exp(theirs.score_samples(u.numpy()[:, None]))
    return Slip(
        lambda: 0.75 * (1 - u).clamp(min=0),
        lambda: 0.75 * log_epanechnikov(u.square()).exp(),
        agrees_with(density),
    )


@slip("S3-18")
def one_constant_for_all_queries() -> Slip:
    query, key, value = draw((7, 1), (11, 1), (11, 1))
    kernel = kernel_scores(query, key, 0.37).exp()

    def witness() -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about a default of pandas
            from statsmodels.nonparametric.kernel_regression import KernelReg

            theirs = KernelReg(value.numpy(), key.numpy(), "c", reg_type="lc", bw=[0.37])
            return theirs.fit(query.numpy())[0][:, None]

    return Slip(
        lambda: kernel @ value / kernel[0].sum(),  # C as the first query needs it
        lambda: nadaraya_watson(query, key, value, 0.37),
        agrees_with(witness()),
    )


@slip("P1")
def gaussian_that_grows() -> Slip:
    query, key = draw((7, 2), (11, 2))
    squared = torch.cdist(query, key).square()
    theirs = np.exp(-cdist(query, key, "sqeuclidean") / 2)
    return Slip(
        lambda: (squared / 2).exp(), lambda: log_gaussian(squared).exp(), agrees_with(theirs)
    )
