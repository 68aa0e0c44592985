"""The expectations that hard attention estimates from draws, summed exactly over every draw.

On a small grid the expected reward, its gradient and the variance of a gradient estimate are sums
short enough to compute, and the estimates can be checked against them.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_course.captioning import Captioner
from attn_course.captions.hard_attention import caption_log_likelihood, log_weight_of, one_hot
from attn_course.seq2seq import State
from attn_course.shapes import checked

MOST_PATHS = 20_000


@checked
def exact_expected_log_likelihood(
    log_policy: Float[Tensor, "*batch num_draws"],
    log_likelihood: Float[Tensor, "*batch num_draws"],
) -> Float[Tensor, "*batch"]:
    """The objective that hard attention climbs, `Σ_s π(s) log p(y|s)`, summed over every draw.

    Args:
        log_policy: Log-probability of each draw; minus infinity for one that cannot happen.
        log_likelihood: Log-probability of the words, given the draw.

    Raises:
        TypeError: The arguments differ in dtype.
        ValueError: A shape does not fit, or an argument holds NaN.
    """
    policy = log_policy.exp()
    # a draw that cannot happen adds nothing, even if its words are impossible too
    return (policy * log_likelihood.masked_fill(policy == 0, 0)).sum(-1)


@checked
def exact_log_marginal(
    log_policy: Float[Tensor, "*batch num_draws"],
    log_likelihood: Float[Tensor, "*batch num_draws"],
) -> Float[Tensor, "*batch"]:
    """Log-probability of the words over all draws, `log Σ_s π(s) p(y|s)`: it is above the bound.

    It has the arguments and errors of `exact_expected_log_likelihood`.
    """
    return torch.logsumexp(log_policy + log_likelihood, -1)


@checked
def exact_score_gradient(
    weights: Float[Tensor, "*batch num_cells"], reward: Float[Tensor, "*batch num_cells"]
) -> Float[Tensor, "*batch num_cells"]:
    """Gradient of the expected reward `Σ α R` with respect to the scores: `α (R - Σ α R)`.

    Args:
        weights: The softmax of the scores.
        reward: The reward if the cell is drawn.

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
    """Variance of the gradient by the scores that one draw gives, `(R_i - b)(onehot_i - α)`.

    It is the mean squared distance from `exact_score_gradient`, summed exactly over the cells that
    can be drawn. It has the errors of `exact_score_gradient`.
    """
    baseline = baseline.unsqueeze(-1) if isinstance(baseline, Tensor) else baseline
    square = weights * (reward - baseline).square() * _square_of_step(weights)
    exact = exact_score_gradient(weights, reward)
    return square.sum(-1) - exact.square().sum(-1)


@checked
def best_baseline(
    weights: Float[Tensor, "*batch num_cells"], reward: Float[Tensor, "*batch num_cells"]
) -> Float[Tensor, "*batch"]:
    """The baseline with the smallest `reinforce_variance`; 0 where no baseline makes a difference.

    It is the mean of the rewards, weighted by `α |onehot - α|²`. It has the errors of
    `exact_score_gradient`.
    """
    counted = weights * _square_of_step(weights)
    total = counted.sum(-1)
    return (counted * reward).sum(-1) / total.where(total > 0, 1)


class Paths(NamedTuple):
    """Every possible sequence of draws at some words, each attribute (batch, num_paths).

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
    """Follow every path, one cell at each word: there are `num_cells ** target_len` of them.

    Args:
        model: Any captioner.
        state: The state before the first word, from `start` or from a trace.
        target_input: For each word to predict, the word before it.
        target_output: The words to predict; padding does not count.

    Raises:
        ValueError: There are more than 20 000 paths.
    """
    num_cells, length = len(model.places), target_input.shape[1]
    if (num_paths := num_cells**length) > MOST_PATHS:
        raise ValueError(
            f"{num_cells} cells at {length} words make {num_paths} paths, more than {MOST_PATHS}"
        )
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
    """Repeat each row of a state, with its copies next to one another."""
    return tuple(
        _repeat(part, times) if isinstance(part, tuple) else part.repeat_interleave(times, 0)
        for part in state
    )


def _square_of_step(weights: Tensor) -> Tensor:
    """`|onehot_i - α|²` for each cell i."""
    return 1 - 2 * weights + weights.square().sum(-1, keepdim=True)
