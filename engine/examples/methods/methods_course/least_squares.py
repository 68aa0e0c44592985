"""Least squares: coefficients for which the squared residuals add up to as little as possible."""

import numpy as np


def predict(design: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """The predictions, one for each row of the design matrix.

    Args:
        design: Shape (rows, columns).
        coefficients: Shape (columns,), or (columns, targets) for several at once.
    """
    return design @ coefficients
