"""Part A of problem set 01: the coefficients of least squares, an array."""

import numpy as np
import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes


def reference(design: np.ndarray, target: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(design, target, rcond=None)[0]


def draw(generator: torch.Generator, rows: int, columns: int, **targets: int) -> Inputs:
    """A design matrix that is far from singular, and a target that it does not explain."""

    def normal(*shape: int) -> np.ndarray:
        return torch.randn(shape, generator=generator, dtype=torch.float64).numpy()

    return {"design": normal(rows, columns), "target": normal(rows, *targets.values())}


mistake = Mistakes()


@mistake
def takes_as_many_rows_as_columns(design, target):
    """you solve the first equations exactly and leave the others out; all rows count: multiply both
    sides by `design.T`"""
    columns = design.shape[1]
    return np.linalg.solve(design[:columns], target[:columns])


@mistake
def fits_each_column_alone(design, target):
    """you fit each column as if the others were not there; where columns overlap, that counts the
    same thing twice. Solve for all coefficients together"""
    return (design.T @ target) / (design**2).sum(0).reshape(-1, *[1] * (target.ndim - 1))


@mistake
def adds_a_ridge(design, target):
    """you add a multiple of the identity, which pulls the coefficients towards 0; nothing here is
    singular, and least squares asks for nothing of the kind"""
    gram = design.T @ design
    return np.linalg.solve(gram + 0.1 * np.eye(len(gram), dtype=gram.dtype), design.T @ target)


@mistake(points=3)
def flattens_the_targets(design, target):
    """your coefficients are right for one target; for several keep a column for each"""
    return reference(design, target).ravel()


EXERCISE = Exercise(
    function="fit",
    reference=reference,
    title="the coefficients of least squares",
    minutes=20,
    axes={},  # words and designs are drawn as long as they are asked for
    avoid=("lstsq", "pinv", "polyfit"),
    contract=Contract(points=1),
    checks=(
        Check(
            "the coefficients make the sum of squared residuals as small as it can be",
            2,
            draw,
            sizes=({"rows": 7, "columns": 3}, {"rows": 5, "columns": 1}),
            hidden_sizes=({"rows": 13, "columns": 2},),
            tolerance=1024,
        ),
        Check(
            "several targets are fitted at once, each in a column of its own",
            1,
            draw,
            sizes=({"rows": 7, "columns": 3, "targets": 2},),
            hidden_sizes=({"rows": 11, "columns": 3, "targets": 5},),
            tolerance=1024,
        ),
    ),
    mistakes=mistake.collected,
)
