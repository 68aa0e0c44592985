"""Two real photographs, cut into the cells of a grid: to lay weights over pixels."""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

Name = Literal["china", "flower"]


def load_photograph(name: Name = "china", cell: int = 32) -> Float[Tensor, "3 height width"]:
    """A photograph in red, green and blue from 0 to 1, cropped at its margins to whole cells.

    Args:
        name: "china", the roofs of a palace, or "flower"; 427 x 640 pixels each.
        cell: Side of a cell, in pixels.

    Raises:
        ValueError: There is no such photograph, or a cell does not fit into it.

    Source: Shipped with scikit-learn; by danielbuechele and by vultilion, under CC BY 2.0.
    """
    if name not in get_args(Name):
        raise ValueError(
            f"there is no photograph {name!r}; choose from {', '.join(get_args(Name))}"
        )
    from sklearn.datasets import load_sample_image

    image = torch.tensor(load_sample_image(f"{name}.jpg")).permute(2, 0, 1).float() / 255
    sides = image.shape[1:]
    if not 1 <= cell <= min(sides):
        raise ValueError(f"{cell=} must be from 1 to {min(sides)} pixels")
    top, left = (side % cell // 2 for side in sides)
    return image[:, top : top + sides[0] // cell * cell, left : left + sides[1] // cell * cell]


def cell_features(
    image: Float[Tensor, "channels height width"], cell: int
) -> Float[Tensor, "grid_height grid_width features"]:
    """Features of each cell without a trained network: mean and standard deviation per channel.

    Args:
        image: An image whose sides are multiples of `cell`.
        cell: Side of a cell, in pixels.

    Returns:
        Two numbers for each channel, the means first.

    Raises:
        ValueError: The sides are not multiples of `cell`.
    """
    if cell < 1 or image.shape[1] % cell or image.shape[2] % cell:
        raise ValueError(f"sides {tuple(image.shape[1:])} are not multiples of {cell=}")
    pixels = image.unfold(1, cell, cell).unfold(2, cell, cell).flatten(-2)
    both = torch.cat([pixels.mean(-1), pixels.std(-1, correction=0)])
    return both.permute(1, 2, 0)
