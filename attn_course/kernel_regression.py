"""Nadaraya-Watson kernel regression: attention whose score is the logarithm of a kernel.

A kernel says how much a key counts at a given distance from the query. The estimate at the query is
the mean of the values with these weights, `Σ κ v / Σ κ`. Since `κ = exp(log κ)`, the weights are
the softmax of `log κ`: the score of a key is the logarithm of its kernel, and a key outside a
compact kernel has the score minus infinity, as if a mask had forbidden it.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.layer.blocks import SMALL_NUMBERS, numbers_in_a_block, recomputed
from attn_course.retrieval import attend, distance_scores
from attn_course.shapes import (
    checked,
    is_traced,
    is_true_of_any,
    reaches,
    require_positive,
    trusts_scores,
)

# A loop over many features would take longer to start its operations than to run them.
MOST_FEATURES_ONE_BY_ONE = 64
# From this many features on, one product is faster than a loop over them. Its rounding grows with
# the squared distance from the middle of the keys: up to this many squared widths, a weight is off
# by at most 2e-5 of itself in single precision.
FEATURES_OF_A_PRODUCT, FARTHEST_OF_A_PRODUCT = 3, 256.0

LogKernel = Callable[[Tensor], Tensor]


def log_gaussian(squared_distance: Tensor) -> Tensor:
    """Logarithm of `exp(-u²/2)`; u is the distance in widths, and `squared_distance` is u²."""
    return squared_distance * -0.5


def log_boxcar(squared_distance: Tensor) -> Tensor:
    """Logarithm of the kernel that is 1 where u ≤ 1 and 0 elsewhere."""
    return torch.zeros_like(squared_distance).masked_fill(squared_distance > 1, -math.inf)


def log_triangular(squared_distance: Tensor) -> Tensor:
    """Logarithm of `max(0, 1 - u)`."""
    positive = squared_distance > 0
    # the square root has no finite gradient at 0
    distance = squared_distance.where(positive, 1).sqrt().where(positive, 0)
    return _log_positive_part(1 - distance)


def log_epanechnikov(squared_distance: Tensor) -> Tensor:
    """Logarithm of `max(0, 1 - u²)`; the factor 3/4 of the density cancels in the weights.

    Source: Epanechnikov 1969. The kernel often printed under this name, `max(0, 1 - u)`, is the
    triangular one.
    """
    return _log_positive_part(1 - squared_distance)


def _log_positive_part(number: Tensor) -> Tensor:
    """log(max(0, number)); where the number is not positive, its gradient is 0, not NaN."""
    positive = number > 0
    return number.where(positive, 1).log().masked_fill(~positive, -math.inf)


@checked
def kernel_scores(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
    width: float | Float[Tensor, ""],
    log_kernel: LogKernel = log_gaussian,
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: the logarithm of the kernel at their distance.

    Args:
        query: Points at which to estimate.
        key: Points of the observations.
        width: The kernel's unit of distance, in the unit of the keys; a tensor to learn it.
        log_kernel: Maps the squared distance in widths to the logarithm of the kernel.

    Returns:
        The scores; minus infinity outside a compact kernel, and where a squared distance is greater
        than the dtype can hold.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, an argument holds NaN, or the width is not
            positive and finite.
    """
    require_positive("width", width)
    return log_kernel(_squared_distance(query / width, key / width))


@checked
def nadaraya_watson(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    width: float | Float[Tensor, ""],
    log_kernel: LogKernel = log_gaussian,
    empty_output: Float[Tensor, "*batch d_value"] | None = None,
) -> Float[Tensor, "*batch query_len d_value"]:
    """Estimate at each query: the mean of the values, weighted by the kernel around the query.

    It works through the queries in blocks, both forwards and backwards, so the memory it needs is
    for one block of weights, however many queries there are. All of the weights are kept for a
    gradient if there are few, and by `torch.compile`, `torch.func.grad` and similar transforms.

    Args:
        query: Points at which to estimate.
        key: Points of the observations.
        value: Values observed there.
        width: The kernel's unit of distance, in the unit of the keys; a tensor to learn it.
        log_kernel: Maps the squared distance in widths to the logarithm of the kernel.
        empty_output: The estimate where a compact kernel holds no key, so that the formula gives
            0/0; None means zero. `value.mean(-2)` is the limit as the kernel widens.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, the
            width is not positive and finite, or all squared distances of a query overflow, though
            the kernel reaches farther.

    Source: Nadaraya 1964; Watson 1964.
    """
    return _estimate_in_blocks(query, key, value, width, log_kernel, empty_output, False)


@checked
def leave_one_out(
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    width: float | Float[Tensor, ""],
    log_kernel: LogKernel = log_gaussian,
    empty_output: Float[Tensor, "*batch d_value"] | None = None,
) -> Float[Tensor, "*batch key_len d_value"]:
    """Estimate at each key from all the other keys: attention with the diagonal masked.

    It has the arguments and errors of `nadaraya_watson`.
    """
    return _estimate_in_blocks(key, key, value, width, log_kernel, empty_output, True)


@checked
def leave_one_out_error(
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    width: float | Float[Tensor, ""],
    log_kernel: LogKernel = log_gaussian,
) -> Float[Tensor, ""]:
    """Mean squared error of `leave_one_out`, in the squared unit of the values.

    For a key without neighbours within the kernel, the estimate is the mean of all values.
    It has the arguments and errors of `nadaraya_watson`.
    """
    estimate = leave_one_out(key, value, width, log_kernel, value.mean(-2))
    return (estimate - value).square().mean()


def choose_width(
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    widths: Iterable[float],
    log_kernel: LogKernel = log_gaussian,
) -> float:
    """The width among `widths` with the smallest leave-one-out error; the first if several tie.

    Raises:
        ValueError: `widths` is empty, or `nadaraya_watson` refuses an argument.
    """
    widths = [float(width) for width in widths]
    if not widths:
        raise ValueError("choose_width: widths is empty; give at least one width to choose from")
    with torch.no_grad():
        return min(widths, key=lambda width: leave_one_out_error(key, value, width, log_kernel))


def _squared_distance(query: Tensor, key: Tensor) -> Tensor:
    """Minus `distance_scores`, feature after feature: three tables of pairs are held, not d_key."""
    if not 0 < key.shape[-1] <= MOST_FEATURES_ONE_BY_ONE:
        return -distance_scores(query, key)
    features = zip(query.unbind(-1), key.unbind(-1), strict=True)
    squares = ((one.unsqueeze(-1) - other.unsqueeze(-2)).square() for one, other in features)
    return reduce(torch.add, squares)


def _estimate_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: float | Tensor,
    log_kernel: LogKernel,
    empty_output: Tensor | None,
    exclude_self: bool,
) -> Tensor:
    """Concatenate the estimates of blocks of queries; large ones are recomputed for gradients."""
    # the square of 256 widths is too large for half precision
    wide, dtype = torch.promote_types(query.dtype, torch.float32), query.dtype
    query, key, value = query.to(wide), key.to(wide), value.to(wide)
    empty_output = None if empty_output is None else empty_output.to(wide)
    middle = _middle(query, key, width) if log_kernel is log_gaussian else None
    estimate = partial(_estimate, key, value, width, log_kernel, middle, empty_output, exclude_self)
    if is_traced():  # then one compilation serves all lengths
        return estimate(0, query).to(dtype)
    a_row = key.numel() if key.shape[-1] > MOST_FEATURES_ONE_BY_ONE else key[..., :1].numel()
    numbers = numbers_in_a_block(query.shape[-2] * a_row, query.device)
    blocks = list(_blocks(query, max(1, numbers // max(1, a_row))))
    if len(blocks) == 1:
        return estimate(0, query).to(dtype)
    is_small = query.shape[-2] * a_row <= SMALL_NUMBERS  # then the weights are kept
    way = estimate if is_small else partial(recomputed, estimate)
    return torch.cat([way(*block) for block in blocks], dim=-2).to(dtype)


def _middle(query: Tensor, key: Tensor, width: float | Tensor) -> Tensor | None:
    """The middle of the keys, if a product of vectors from there is as exact as a distance."""
    if key.shape[-1] < FEATURES_OF_A_PRODUCT:
        return None
    middle = key.detach().mean(-2, keepdim=True)
    squares = (((part.detach() - middle) / width).square().sum(-1) for part in (query, key))
    near = all(is_true_of_any((each < FARTHEST_OF_A_PRODUCT).all()) for each in squares)
    return middle if near else None


def _estimate(
    key: Tensor,
    value: Tensor,
    width: float | Tensor,
    log_kernel: LogKernel,
    middle: Tensor | None,
    empty_output: Tensor | None,
    exclude_self: bool,
    start: int,
    query: Tensor,
) -> Tensor:
    """The estimates for one block of queries, whose first is query number `start`."""
    if middle is None:
        scores = kernel_scores(query, key, width, log_kernel)
    else:
        scores = _gaussian_scores((query - middle) / width, (key - middle) / width)
    if exclude_self:
        nothing = scores.new_full(scores.shape[:-1], -math.inf)
        scores = scores.diagonal_scatter(nothing, start, -2, -1)
    if middle is None and _squares_overflow(query, key, width):
        _require_reach(scores, log_kernel)
    # which a compact kernel does not deserve
    mask = torch.ones_like(scores[..., :1], dtype=torch.bool) if trusts_scores() else None
    output = attend(scores, value, mask)
    if empty_output is None:
        return output
    return torch.where(_have_no_key(scores).unsqueeze(-1), empty_output.unsqueeze(-2), output)


def _gaussian_scores(query: Tensor, key: Tensor) -> Tensor:
    """The logarithm of the Gaussian kernel up to `|q|²/2`, which is the same for all keys.

    It is `q · k - |k|²/2`, and the softmax takes no notice of the rest.
    """
    half = key.square().sum(-1, keepdim=True) / -2
    return torch.cat([query, torch.ones_like(query[..., :1])], -1) @ torch.cat([key, half], -1).mT


def _have_no_key(scores: Tensor) -> Tensor:
    """True for the queries all of whose scores are minus infinity."""
    return scores.detach().amax(-1) == -math.inf


def _squares_overflow(query: Tensor, key: Tensor, width: float | Tensor) -> bool:
    """True if a squared distance in widths may be infinite."""
    limit = torch.finfo(query.dtype).max / 4
    return any(reaches(limit, part, part) for part in (query / width, key / width))


def _require_reach(scores: Tensor, log_kernel: LogKernel) -> None:
    """Refuse queries whose keys all seem out of reach of a kernel without an end."""
    farthest = scores.new_full((), torch.finfo(scores.dtype).max)
    if is_true_of_any(log_kernel(farthest) == -math.inf):
        return
    lost = _have_no_key(scores)
    if is_true_of_any(lost):
        raise ValueError(
            f"{int(lost.sum())} of {lost.numel()} queries are so many widths away from all keys "
            f"that the squares overflow in {scores.dtype}"
        )


def _blocks(query: Tensor, length: int) -> Iterator[tuple[int, Tensor]]:
    """Yield slices of the queries, each with the index of its first query."""
    for start in range(0, max(1, query.shape[-2]), length):
        yield start, query[..., start : start + length, :]
