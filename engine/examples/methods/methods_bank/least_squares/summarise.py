"""Part B of problem set 01: what a fit leaves over, a dictionary of an array, numbers, a pair."""

import numpy as np
import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes

from methods_bank.least_squares.fit import draw


def reference(design: np.ndarray, target: np.ndarray, coefficients: np.ndarray) -> dict:
    residuals = target - design @ coefficients
    row = int(abs(residuals).argmax())
    squares = float((residuals**2).sum())
    return {"residuals": residuals, "squares": squares, "worst": (row, float(residuals[row]))}


def draw_fit(generator: torch.Generator, rows: int, columns: int) -> Inputs:
    """Coefficients need not be the best: what they leave over can be asked of any."""
    coefficients = torch.randn(columns, generator=generator, dtype=torch.float64).numpy()
    return draw(generator, rows, columns) | {"coefficients": coefficients}


mistake = Mistakes()


@mistake
def subtracts_the_target(design, target, coefficients):
    """your residuals have the wrong sign: a residual is what the target has and the prediction
    lacks, `target - predict(design, coefficients)`"""
    return reference(-design, -target, coefficients)


@mistake
def averages_the_squares(design, target, coefficients):
    """you take the mean of the squared residuals, and their sum is asked for"""
    found = reference(design, target, coefficients)
    return found | {"squares": found["squares"] / len(target)}


@mistake
def finds_the_largest_and_not_the_worst(design, target, coefficients):
    """you look for the largest residual; the worst may be negative: compare absolute values"""
    found = reference(design, target, coefficients)
    row = int(found["residuals"].argmax())
    return found | {"worst": (row, float(found["residuals"][row]))}


EXERCISE = Exercise(
    function="summarise",
    reference=reference,
    title="what a fit leaves over",
    minutes=15,
    axes={},  # words and designs are drawn as long as they are asked for
    may_use=("methods_course.least_squares.predict",),
    contract=Contract(),
    checks=(
        Check(
            "residuals, the sum of their squares, and the worst of them are under their names",
            2.5,
            draw_fit,
            sizes=({"rows": 7, "columns": 3}, {"rows": 6, "columns": 1}),
            hidden_sizes=({"rows": 19, "columns": 2}, {"rows": 23, "columns": 4}),
            tolerance=1024,
        ),
    ),
    mistakes=mistake.collected,
)
