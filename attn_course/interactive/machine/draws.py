"""Scores of random queries and keys at many widths, for the state of the scaled dot product."""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.retrieval import dot_scores, masked_softmax, softmax_jacobian
from attn_course.scaled_dot_product import scaled_dot_scores

# From 1 to 1024, two to each power of 2 where there are two.
WIDTHS = tuple(sorted({round(2 ** (half / 2)) for half in range(21)}))
DRAWS, KEYS, SEED = 48, 16, 7
# Of the draw that is shown: at every width its scores are nearly as large as scores usually are.
SHOWN = 98799
# Of the cells drawn by REINFORCE: the first three differ, and the three after 500 are not cell 1:
# a reader sees how a push differs from the mean.
CELLS_SEED = 262


@cache
def scores_by_width() -> dict[str, Any]:
    """The dot products of one draw at each width, and the mean slopes of many others.

    Numbers are independent and normal. A narrower vector holds the first numbers of a wider one.
    The slope is the sum over the keys of the derivative of a weight by its own score.
    """
    query, key = drawn(DRAWS, SEED)
    one_query, its_keys = drawn(1, SHOWN)
    slopes: dict[str, list[float]] = {"raw": [], "root": []}
    shown = []
    for width in WIDTHS:
        pair = query[..., :width], key[..., :width]
        for name, score in (("raw", dot_scores), ("root", scaled_dot_scores)):
            jacobian = softmax_jacobian(masked_softmax(score(*pair))[:, 0])
            slopes[name].append(round(jacobian.diagonal(dim1=-2, dim2=-1).sum(-1).mean().item(), 4))
        scores = dot_scores(one_query[..., :width], its_keys[..., :width])[0, 0]
        shown.append([round(score, 3) for score in scores.tolist()])
    return {"draws": shown, "slopes": slopes}


def drawn(
    many: int, seed: int
) -> tuple[Float[Tensor, "many 1 width"], Float[Tensor, "many keys width"]]:
    """Draw queries of the largest width, with 16 keys for each."""
    generator = torch.Generator().manual_seed(seed)
    query, key = (
        torch.randn(many, rows, WIDTHS[-1], generator=generator, dtype=torch.float64)
        for rows in (1, KEYS)
    )
    return query, key


@cache
def cells_drawn() -> dict[str, Any]:
    """Cells drawn by REINFORCE, one after the other, with the chances of chapter 06."""
    generator = torch.Generator().manual_seed(CELLS_SEED)
    cells = torch.tensor([0.5, 0.25, 0.25]).multinomial(2000, replacement=True, generator=generator)
    return {"cells": cells.tolist()}
