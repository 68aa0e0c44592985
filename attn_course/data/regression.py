"""Data for regression: a curve whose truth is known, a river, and handwritten digits."""

import math

import torch
from jaxtyping import Float, Int64
from torch import Tensor


def true_curve(position: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """The curve behind `noisy_curve`, `2 sin x + x`."""
    return 2 * torch.sin(position) + position


def noisy_curve(
    seed: int, num_points: int = 100, noise: float = 1.0
) -> tuple[Float[Tensor, "num_points 1"], Float[Tensor, "num_points 1"]]:
    """Points of `2 sin x + x + ε` with x uniform on [0, 4] and ε normal.

    Args:
        seed: The same seed gives the same points.
        num_points: Number of points.
        noise: Standard deviation of ε.

    Returns:
        Keys in rising order, and the values observed there.

    Raises:
        ValueError: There is not at least one point, or the noise is negative, infinite or NaN.
    """
    if num_points < 1 or not 0 <= noise < math.inf:
        raise ValueError(f"{num_points=} must be at least 1 and {noise=} finite, not negative")
    generator = torch.Generator().manual_seed(seed)
    key = torch.rand(num_points, 1, generator=generator).mul(4).sort(dim=0).values
    return key, true_curve(key) + noise * torch.randn(num_points, 1, generator=generator)


def load_nile() -> tuple[Float[Tensor, "100 1"], Float[Tensor, "100 1"]]:
    """Years 1871 to 1970, and the flow of the Nile at Aswan in 10⁸ m³ a year.

    Source: Cobb 1978; shipped with statsmodels.
    """
    from statsmodels.datasets import nile

    table = nile.load_pandas().data
    columns = torch.tensor(table[["year", "volume"]].to_numpy(dtype="float32"))
    return columns[:, :1], columns[:, 1:]


def load_digits() -> tuple[Float[Tensor, "1797 64"], Int64[Tensor, "1797"]]:
    """Images of handwritten digits, 8 x 8 pixels from 0 (paper) to 1 (ink), and their labels.

    Source: Alpaydin and Kaynak 1998; shipped with scikit-learn.
    """
    from sklearn.datasets import load_digits as load

    images, labels = load(return_X_y=True)
    return torch.tensor(images, dtype=torch.float32) / 16, torch.tensor(labels)
