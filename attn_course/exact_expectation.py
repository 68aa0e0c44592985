"""What hard attention estimates from draws, added up over all that can be drawn.

On a small grid the expected reward, its gradient and the variance of an estimate of it are sums,
and the estimate can be held against them.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_course.captioning import Captioner
from attn_course.hard_attention import caption_log_likelihood, log_weight_of, one_hot
from attn_course.seq2seq import State
from attn_course.shapes import checked

MOST_PATHS = 20_000


@checked
def exact_expected_log_likelihood(
    log_policy: Float[Tensor, "*batch num_draws"],
    log_likelihood: Float[Tensor, "*batch num_draws"],
) -> Float[Tensor, "*batch"]:
    """What hard attention climbs, `Σ_s π(s) log p(y|s)`, added up over all that can be drawn.

    Args:
        log_policy: Log-probability of each draw; minus infinity for one that cannot happen.
        log_likelihood: Log-probability of the words, given the draw.

    Raises:
        TypeError: The arguments differ in dtype.
        ValueError: A shape does not fit, or an argument holds NaN.
    """
    return (log_policy.exp() * log_likelihood).sum(-1)


@checked
def exact_log_marginal(
    log_policy: Float[Tensor, "*batch num_draws"],
    log_likelihood: Float[Tensor, "*batch num_draws"],
) -> Float[Tensor, "*batch"]:
    """Log-probability of the words whatever is drawn, `log Σ_s π(s) p(y|s)`: above the bound.

    The arguments and errors are those of `exact_expected_log_likelihood`.
    """
    return torch.logsumexp(log_policy + log_likelihood, -1)


@checked
def exact_score_gradient(
    weights: Float[Tensor, "*batch num_cells"], reward: Float[Tensor, "*batch num_cells"]
) -> Float[Tensor, "*batch num_cells"]:
    """Gradient of the expected reward `Σ α R` by the scores: `α (R - Σ α R)`.

    Args:
        weights: The softmax of the scores.
        reward: What each cell is worth, if it is drawn.

    Raises:
        TypeError: The arguments differ in dtype.
        ValueError: A shape does not fit, or an argument holds NaN.
    """
    return weights * (reward - (weights * reward).sum(-1, keepdim=True))


@checked
def reinforce_variance(
    weights: Float[Tensor, "*batch num_cells"],
    reward: Float[Tensor, "*batch num_cells"],
    baseline: float | Float[Tensor, "*batch"] = 0.0,
) -> Float[Tensor, "*batch"]:
    """Variance of one draw's gradient by the scores, `(R_s - b)(onehot_s - α)`, over all draws.

    The mean squared distance from `exact_score_gradient`, added up over the cells exactly. The
    errors are those of `exact_score_gradient`.
    """
    baseline = baseline.unsqueeze(-1) if isinstance(baseline, Tensor) else baseline
    square = weights * (reward - baseline).square() * _square_of_step(weights)
    exact = exact_score_gradient(weights, reward)
    return square.sum(-1) - exact.square().sum(-1)


@checked
def best_baseline(
    weights: Float[Tensor, "*batch num_cells"], reward: Float[Tensor, "*batch num_cells"]
) -> Float[Tensor, "*batch"]:
    """The baseline of the least `reinforce_variance`; 0 where no baseline changes anything.

    The mean of the rewards, weighted by `α |onehot - α|²`. The errors are those of
    `exact_score_gradient`.
    """
    counted = weights * _square_of_step(weights)
    total = counted.sum(-1)
    return (counted * reward).sum(-1) / total.where(total > 0, 1)


class Paths(NamedTuple):
    """All that can be drawn at some words, (batch, num_paths) each.

    Attributes:
        log_policy: Log-probability of drawing these cells, one at each word.
        log_likelihood: Log-probability of the words, given these cells.
    """

    log_policy: Tensor
    log_likelihood: Tensor


def every_path(
    model: Captioner,
    state: State,
    target_input: Int[Tensor, "batch target_len"],
    target_output: Int[Tensor, "batch target_len"],
) -> Paths:
    """Look at every cell in turn, at each of the words: `num_cells ** target_len` ways to do so.

    Args:
        model: Any captioner.
        state: Before the first of the words, from `start` or from a trace.
        target_input: The words before those to be said.
        target_output: The words to be said; padding has no likelihood.

    Raises:
        ValueError: There are more than 20 000 paths.
    """
    num_cells, length = len(model.places), target_input.shape[1]
    if (num_paths := num_cells**length) > MOST_PATHS:
        raise ValueError(f"{num_cells} cells at {length} words make {num_paths} paths; too many")
    number = torch.arange(num_cells, device=target_input.device)
    paths = torch.cartesian_prod(*[number] * length).view(num_paths, length)
    cells = paths.repeat(len(target_input), 1)
    column = iter(cells.unbind(1))
    tokens, output, state = _repeat((target_input, target_output, state), num_paths)
    trace = model.trace(tokens, state, lambda weights: one_hot(next(column), weights))
    log_policy = log_weight_of(trace.weights, cells).sum(-1)
    both = log_policy, caption_log_likelihood(trace.logits, output)
    return Paths(*(part.unflatten(0, (-1, num_paths)) for part in both))


def _repeat(state: State, times: int) -> State:
    """Each row of a state so many times, one copy behind the other."""
    return tuple(
        _repeat(part, times) if isinstance(part, tuple) else part.repeat_interleave(times, 0)
        for part in state
    )


def _square_of_step(weights: Tensor) -> Tensor:
    """`|onehot_s - α|²` for each cell s."""
    return 1 - 2 * weights + weights.square().sum(-1, keepdim=True)
