"""From an exact lookup to a soft one: scores, softmax over the keys, weighted mean of the values.

`masked_softmax` and `attend` are the building blocks of the whole course: every mechanism that
follows computes scores in its own way, then applies these two.
"""

import math

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from attn_course.shapes import (
    checked,
    is_true_of_any,
    known_finite,
    may_branch_on_values,
    require_positive,
    trusts_scores,
)


@checked
def exact_lookup(
    query: Shaped[Tensor, "*batch query_len d_key"],
    key: Shaped[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
) -> Float[Tensor, "*batch query_len d_value"]:
    """The value of the key that equals each query: `SELECT value WHERE key = query`.

    If several keys equal the query, it is the mean of their values.

    Raises:
        KeyError: A query equals no key; the message gives the first such query.
        ValueError: There are no keys, a shape does not fit, or an argument holds NaN.
    """
    _require_keys(key.shape[-2])
    equal = (query.unsqueeze(-2) == key.unsqueeze(-3)).all(-1)
    missing = ~equal.any(-1)
    if is_true_of_any(missing):
        first = query[missing][0].tolist()
        raise KeyError(
            f"{int(missing.sum())} of {missing.numel()} queries equal no key, the first is {first}"
        )
    return attend(torch.zeros_like(equal, dtype=value.dtype), value, equal)


@checked
def nearest_lookup(
    scores: Float[Tensor, "*batch query_len key_len"],
    value: Float[Tensor, "*batch key_len d_value"],
) -> Float[Tensor, "*batch query_len d_value"]:
    """The value of the key with the highest score; if several keys tie, the mean of their values.

    It is the limit of `attend(scores / temperature, value)` as the temperature falls to 0. If all
    scores of a query are minus infinity, both are zero.

    Raises:
        ValueError: There are no keys, a shape does not fit, an argument holds NaN, or a score is
            plus infinity.
    """
    _require_keys(scores.shape[-1])
    _require_ranking(scores)
    best = (scores == scores.amax(-1, keepdim=True)) & (scores > -math.inf)
    return attend(torch.zeros_like(scores), value, best)


@checked
def dot_scores(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: their dot product, high where they point the same way.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.
    """
    return query @ key.mT


@checked
def distance_scores(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: minus their squared Euclidean distance, 0 at the best.

    The differences are taken before they are squared, because `|q|² - 2q·k + |k|²` loses all its
    digits for a query close to its key. It costs memory for `query_len * key_len * d_key` numbers.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.
    """
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)


@checked
def masked_softmax(
    scores: Float[Tensor, "*batch query_len key_len"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
) -> Float[Tensor, "*batch query_len key_len"]:
    """Softmax of each row of scores over the keys that the row may attend to.

    A score of minus infinity forbids its key, just as False in the mask does.

    Args:
        scores: Any real numbers, or minus infinity.
        mask: True where the query may attend; None allows every key.

    Returns:
        Non-negative weights. Each row sums to 1, or is all zero if it allows no key; the gradients
        of such a row are zero, not NaN.

    Raises:
        TypeError: The scores are not floating-point or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, a score is NaN, or one that
            the mask allows is plus infinity.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    _require_keys(scores.shape[-1])
    if mask is None and trusts_scores():
        return torch.softmax(scores, dim=-1)
    if may_branch_on_values():
        weights = torch.softmax(scores, dim=-1)
        # a NaN in a row of weights is in all of them, so in the first
        if known_finite(weights.select(-1, 0)):
            return weights
    _require_ranking(scores)
    no_key = scores.detach().amax(-1, keepdim=True) == -math.inf
    # softmax of a row of minus infinities is NaN, and so is its gradient:
    # give such a row harmless scores before, and no weight after
    return torch.softmax(scores.masked_fill(no_key, 0), dim=-1).masked_fill(no_key, 0)


@checked
def attend(
    scores: Float[Tensor, "*batch query_len key_len"],
    value: Float[Tensor, "*batch key_len d_value"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
) -> Float[Tensor, "*batch query_len d_value"]:
    """Mean of the values, weighted by the softmax of the scores over the keys.

    Args:
        scores: The higher the score, the better the key suits the query.
        value: The value that belongs to each key. An infinite value spoils the output even of a
            query that may not attend to it, because its weight 0 times infinity is NaN.
        mask: True where the query may attend; None allows every key.

    Returns:
        For each query a convex combination of the values, or zero if it may attend to no key.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, or a
            score that the mask allows is plus infinity.
    """
    return masked_softmax(scores, mask) @ value


@checked
def soft_lookup(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    temperature: float | Float[Tensor, ""] = 1.0,
) -> Float[Tensor, "*batch query_len d_value"]:
    """Blend of all values: the closer a key is to the query, the more its value counts.

    Args:
        query: The points to look up.
        key: The key of each row of the table.
        value: The value of each row of the table.
        temperature: In units of squared distance. Towards 0 only the nearest key counts; towards
            infinity all keys count equally.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, the
            temperature is not positive and finite, or all squared distances of a query overflow.
    """
    require_positive("temperature", temperature)
    _require_keys(key.shape[-2])
    scores = distance_scores(query, key)
    # before dividing: a tiny temperature could send every score to -inf
    best = scores.amax(-1, keepdim=True).detach()
    return attend((scores - best) / temperature, value)


@checked
def softmax_jacobian(
    weights: Float[Tensor, "*batch key_len"],
) -> Float[Tensor, "*batch key_len key_len"]:
    """Derivative of every weight with respect to every score, `diag(α) - α αᵀ`.

    Args:
        weights: The result of a softmax.

    Returns:
        Entry (i, j) is the rate at which weight i grows with score j. Rows and columns sum to 0,
        since one key gains exactly as much as the others lose.

    Raises:
        ValueError: The weights hold NaN.
    """
    outer_product = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.diag_embed(weights) - outer_product


@checked
def effective_number_of_keys(
    weights: Float[Tensor, "*batch key_len"],
) -> Float[Tensor, "*batch"]:
    """Effective number of keys that share the weight: `1 / Σ α²`, from 1 (one-hot) to key_len.

    A row without any weight has 0 effective keys.

    Raises:
        ValueError: The weights hold NaN.

    Source: Kish 1965, effective sample size.
    """
    # in half precision the squares of many small weights are rounded to 0
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    concentration = wide.square().sum(-1)
    number = torch.where(concentration > 0, 1 / concentration.where(concentration > 0, 1), 0)
    return number.to(weights.dtype)


def _require_keys(key_len: int) -> None:
    if key_len == 0:
        raise ValueError(f"{key_len=}: there is no key to attend to")


def _require_ranking(scores: Tensor) -> None:
    """Refuse scores that arithmetic has driven to NaN or plus infinity."""
    if not may_branch_on_values():
        return
    highest = scores.detach().amax(-1)  # NaN or plus infinity if any score is
    if is_true_of_any(~(highest < math.inf)):
        unranked = ~(scores.detach() < math.inf)
        raise ValueError(
            f"{int(unranked.sum())} of {scores.numel()} scores are NaN or plus infinity: "
            "softmax cannot rank them"
        )
