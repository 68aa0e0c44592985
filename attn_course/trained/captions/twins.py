"""Images that show one digit twice, and where a captioner looks on them."""

from functools import lru_cache

import torch

from attn_course.captioning import Captioner
from attn_course.data.captions import DIGITS_OF, NO_CELL, CaptionBatch, caption_batch, compose
from attn_course.data.draw import Draw
from attn_course.data.regression import load_digits
from attn_course.trained.captions.measure import TEST_SEED, exactly_right


@lru_cache
def twins(number: int = 500) -> dict[str, CaptionBatch]:
    """Images of two unseen digits: `equal` are the same handwriting twice, `other` are not.

    The cells are the same in both, and so is the first digit; the second one of `other` has another
    label. No digit touches another, so what lies around a digit does not tell cells apart.
    """
    draw, numbers, labels = Draw(TEST_SEED), DIGITS_OF["test"], load_digits()[1].tolist()
    equal, other = [], []
    while len(equal) < number:
        one, cell, another = draw.one_of(numbers), draw.between(0, 8), draw.between(0, 8)
        second = draw.one_of(numbers)
        apart = max(abs(a - b) for a, b in zip(divmod(cell, 3), divmod(another, 3), strict=True))
        if apart > 1 and labels[one] != labels[second]:
            first, last = sorted((cell, another))
            equal.append(compose({first: one, last: one}, 3))
            other.append(compose({first: one, last: second}, 3))
    return {"equal": caption_batch(equal), "other": caption_batch(other)}


@torch.no_grad()
def sees(model: Captioner, batch: CaptionBatch) -> dict[str, float]:
    """Measure a captioner on images of two digits.

    `exact` is the share of captions that it writes correctly by itself. Where it names a digit,
    given the right words before, `own` is the mean weight of its cell, and `twin` the mean weight
    of the cell of the other digit.
    """
    weights, rows = model.trace(batch.target_input, model.start(batch.image)).weights, []
    for found, cell in zip(weights, batch.cell, strict=True):
        at = (cell != NO_CELL).nonzero().flatten()
        rows.append(found[at][:, cell[at]])  # the words that name a digit, and their cells
    table = torch.stack(rows).mean(0)
    shares = {
        "exact": exactly_right(model, batch).double().mean(),
        "own": table.diagonal().mean(),
        "twin": table.flip(1).diagonal().mean(),
    }
    return {name: round(share.item(), 4) for name, share in shares.items()}
