"""Scores of random queries and keys at many widths, for the state of the scaled dot product."""

from functools import cache
from typing import Any

import torch

from attn_course.retrieval import dot_scores, masked_softmax, softmax_jacobian
from attn_course.scaled_dot_product import scaled_dot_scores

# From 1 to 1024, two to each power of 2.
WIDTHS = tuple(round(2 ** (half / 2)) for half in range(21))
DRAWS, KEYS, SEED = 48, 16, 7


@cache
def scores_by_width() -> dict[str, Any]:
    """The dot products of the first draw at each width, and the mean slopes of all draws.

    Numbers are independent and normal. A narrower vector holds the first numbers of a wider one.
    The slope is the sum over the keys of the derivative of a weight by its own score.
    """
    generator = torch.Generator().manual_seed(SEED)
    query, key = (
        torch.randn(DRAWS, many, WIDTHS[-1], generator=generator, dtype=torch.float64)
        for many in (1, KEYS)
    )
    slopes: dict[str, list[float]] = {"raw": [], "root": []}
    first = []
    for width in WIDTHS:
        pair = query[..., :width], key[..., :width]
        for name, score in (("raw", dot_scores), ("root", scaled_dot_scores)):
            jacobian = softmax_jacobian(masked_softmax(score(*pair))[:, 0])
            slopes[name].append(round(jacobian.diagonal(dim1=-2, dim2=-1).sum(-1).mean().item(), 4))
        first.append([round(score, 3) for score in dot_scores(*pair)[0, 0].tolist()])
    return {"draws": first, "slopes": slopes}


@cache
def cells_drawn() -> dict[str, Any]:
    """Cells drawn by REINFORCE, one after the other, with the chances of chapter 06."""
    generator = torch.Generator().manual_seed(SEED)
    cells = torch.tensor([0.5, 0.25, 0.25]).multinomial(2000, replacement=True, generator=generator)
    return {"cells": cells.tolist()}
