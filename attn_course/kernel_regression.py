"""Nadaraya-Watson kernel regression: attention whose score is the logarithm of a kernel.

A kernel says how much a key counts at a distance from the query. The estimate at the query is the
mean of the values with these weights, `Σ κ v / Σ κ`. Since `κ = exp(log κ)`, that is the softmax of
`log κ`: the score of a key is the logarithm of its kernel, and a key outside a compact kernel has
the score minus infinity, as if a mask had forbidden it.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.blocks import numbers_in_a_block, recomputed
from attn_course.retrieval import attend, distance_scores
from attn_course.shapes import checked, require_positive

LogKernel = Callable[[Tensor], Tensor]


def log_gaussian(squared_distance: Tensor) -> Tensor:
    """Logarithm of `exp(-u²/2)`; u is the distance in widths, and `squared_distance` is u²."""
    return squared_distance * -0.5


def log_boxcar(squared_distance: Tensor) -> Tensor:
    """Logarithm of 1 where u ≤ 1, of 0 elsewhere."""
    return torch.zeros_like(squared_distance).masked_fill(squared_distance > 1, -math.inf)


def log_triangular(squared_distance: Tensor) -> Tensor:
    """Logarithm of `max(0, 1 - u)`."""
    positive = squared_distance > 0
    # the square root has no finite gradient at 0
    distance = squared_distance.where(positive, 1).sqrt().where(positive, 0)
    return _log_positive_part(1 - distance)


def log_epanechnikov(squared_distance: Tensor) -> Tensor:
    """Logarithm of `max(0, 1 - u²)`; the factor 3/4 of the density cancels in the weights.

    Source: Epanechnikov 1969. `max(0, 1 - u)`, often printed under this name, is triangular.
    """
    return _log_positive_part(1 - squared_distance)


def _log_positive_part(number: Tensor) -> Tensor:
    """log(max(0, number)), with the gradient 0 and not NaN where the number is not positive."""
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
        query: Where the regression is asked for.
        key: Where it has been observed.
        width: Distance that counts as 1, in the unit of the keys; a tensor to learn it.
        log_kernel: Maps the squared distance in widths to the logarithm of the kernel.

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

    Works through the queries in blocks, forwards and backwards, and so needs memory for one block
    of weights whatever the number of queries; `torch.func.grad` and its like keep all of them.

    Args:
        query: Where the regression is asked for.
        key: Where it has been observed.
        value: What was observed there.
        width: Distance that counts as 1, in the unit of the keys; a tensor to learn it.
        log_kernel: Maps the squared distance in widths to the logarithm of the kernel.
        empty_output: The estimate where a compact kernel holds no key, so that the formula says
            0/0; None stands for zero. `value.mean(-2)` is the estimate of an ever wider kernel.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, or
            the width is not positive and finite.

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

    The arguments and errors are those of `nadaraya_watson`.
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

    Where a key has no neighbour within the kernel, the mean of all values stands in.
    The arguments and errors are those of `nadaraya_watson`.
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
        ValueError: `widths` is empty, or as `nadaraya_watson` does.
    """
    widths = [float(width) for width in widths]
    if not widths:
        raise ValueError("choose_width: widths is empty; give at least one width to choose from")
    with torch.no_grad():
        return min(widths, key=lambda width: leave_one_out_error(key, value, width, log_kernel))


def _squared_distance(query: Tensor, key: Tensor) -> Tensor:
    """What `distance_scores` is minus of; a sum of one feature costs no pass over the pairs."""
    if key.shape[-1] == 1:
        return (query - key.mT).square_()
    return -distance_scores(query, key)


def _estimate_in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: float | Tensor,
    log_kernel: LogKernel,
    empty_output: Tensor | None,
    exclude_self: bool,
) -> Tensor:
    """Concatenate the estimates of blocks of queries; each block is recomputed for its gradient."""
    estimate = partial(_estimate, key, value, width, log_kernel, empty_output, exclude_self)
    numbers = numbers_in_a_block(query.shape[-2] * key.numel())
    blocks = list(_blocks(query, max(1, numbers // max(1, key.numel()))))
    if len(blocks) == 1:
        return estimate(0, query)
    return torch.cat([recomputed(estimate, *block) for block in blocks], dim=-2)


def _estimate(
    key: Tensor,
    value: Tensor,
    width: float | Tensor,
    log_kernel: LogKernel,
    empty_output: Tensor | None,
    exclude_self: bool,
    start: int,
    query: Tensor,
) -> Tensor:
    """The estimates of one block of queries, the first of which is query number `start`."""
    scores = kernel_scores(query, key, width, log_kernel)
    mask = _all_but_self(start, scores) if exclude_self else None
    output = attend(scores, value, mask)
    if empty_output is None:
        return output
    allowed = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    empty = allowed.detach().amax(-1, keepdim=True) == -math.inf
    return torch.where(empty, empty_output.unsqueeze(-2), output)


def _blocks(query: Tensor, length: int) -> Iterator[tuple[int, Tensor]]:
    """Slices of the queries, with the index of the first query of each."""
    for start in range(0, max(1, query.shape[-2]), length):
        yield start, query[..., start : start + length, :]


def _all_but_self(start: int, scores: Tensor) -> Tensor:
    """Mask of a block of queries that are the keys from `start` on: True except at themselves."""
    query_len, key_len = scores.shape[-2:]
    position = torch.arange(start, start + query_len, device=scores.device).unsqueeze(-1)
    return position != torch.arange(key_len, device=scores.device)
