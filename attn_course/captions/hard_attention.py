"""Hard attention: one cell is drawn at each word, and REINFORCE learns from where it was drawn.

The weights are still a softmax, but here they are the probabilities of the draw. A draw has no
gradient, so the gradient of the expected reward is estimated from draws.

If the reward is the log-likelihood of the caption, the expected reward is a lower bound on the
logarithm of the caption's probability, `E[log p] ≤ log E[p]`. Xu et al. 2015 climb this bound.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from attn_course.captioning import Captioner
from attn_course.seq2seq import PAD, State, known_words
from attn_course.shapes import checked, is_true_of_any, refuse_nan


@checked
def draw_cells(
    weights: Float[Tensor, "*batch num_cells"], generator: torch.Generator | None = None
) -> Int[Tensor, "*batch"]:
    """The number of one cell for each row, drawn with the weights as probabilities.

    Args:
        weights: Rows that sum to 1; a row with another sum is normalized.
        generator: Source of randomness, on the same device as the weights.

    Raises:
        ValueError: A row has no weight at all, or a weight is negative, infinite or NaN.

    Source: Xu et al. 2015, section 4.1.
    """
    flat = weights.detach().reshape(-1, weights.shape[-1])
    if is_true_of_any((flat < 0) | (flat == torch.inf)):
        raise ValueError("a weight is negative or infinite, so it is not a probability")
    if is_true_of_any(nowhere := flat.sum(-1) == 0):
        raise ValueError(f"{int(nowhere.sum())} of {len(flat)} rows have no cell to draw")
    return torch.multinomial(flat, 1, generator=generator).view(weights.shape[:-1])


@checked
def log_weight_of(
    weights: Float[Tensor, "*batch num_cells"], cells: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Logarithm of the weight of one cell in each row: the log-probability of having drawn it.

    It is minus infinity, with the gradient 0, where the weight is 0.

    Raises:
        ValueError: A shape does not fit, a weight is NaN, or there is no such cell.
    """
    num_cells, cells = weights.shape[-1], cells.long()
    if is_true_of_any((cells < 0) | (cells >= num_cells)):
        raise ValueError(
            f"{num_cells=}, but cells are from {int(cells.min())} to {int(cells.max())}"
        )
    return _log(weights).gather(-1, cells.unsqueeze(-1)).squeeze(-1)


@checked
def entropy(weights: Float[Tensor, "*batch num_cells"]) -> Float[Tensor, "*batch"]:
    """Entropy of each row: `-Σ α log α` in nats, from 0 for a single cell to log(num_cells).

    Raises:
        ValueError: A weight is NaN.
    """
    return -(weights * _log(weights).masked_fill(weights <= 0, 0)).sum(-1)


@checked
def caption_log_likelihood(
    logits: Float[Tensor, "batch target_len vocab_size"],
    target_output: Int[Tensor, "batch target_len"],
) -> Float[Tensor, " batch"]:
    """Log-probability of each caption, summed over its words and EOS; padding does not count.

    Raises:
        ValueError: A shape does not fit, a logit is NaN, or a word is not in the vocabulary.
    """
    words = known_words(target_output, logits.shape[-1])
    loss = functional.cross_entropy(logits.mT, words, ignore_index=PAD, reduction="none")
    return -loss.sum(-1)


@checked
def reinforce_loss(
    log_policy: Float[Tensor, "batch target_len"],
    reward: Float[Tensor, " batch"],
    baseline: float | Float[Tensor, "*each"] = 0.0,
    mask: Bool[Tensor, "batch target_len"] | None = None,
) -> Float[Tensor, ""]:
    """A loss whose gradient, averaged over the draws, is minus the gradient of the expected reward.

    It is the mean of `-(R - b) Σ_t log π(s_t)` over the captions; its value means nothing. No
    gradient flows through the reward or the baseline. A baseline that does not depend on the draw
    changes the gradient of each draw, but not their average.

    Args:
        log_policy: Logarithm of the weight of each cell that was drawn.
        reward: The reward of each caption, given these draws.
        baseline: Subtracted from the reward: one number, or one for each caption.
        mask: True at the words with a draw; None means all.

    Raises:
        TypeError: The arguments differ in dtype.
        ValueError: A shape does not fit, or an argument holds NaN.

    Source: Williams 1992; Xu et al. 2015, section 4.1.
    """
    if isinstance(baseline, Tensor) and baseline.ndim and baseline.shape != reward.shape:
        raise ValueError(f"{tuple(baseline.shape)} baselines for {len(reward)} captions")
    if mask is not None:
        log_policy = log_policy.masked_fill(~mask, 0)
    advantage = (reward - baseline).detach()
    return -(advantage * log_policy.sum(-1)).mean()


class MovingAverage(nn.Module):
    """A baseline that follows the rewards: `b ← 0.9 b + 0.1 R`, starting from the first reward.

    It is saved with the weights of the model that it belongs to.

    Args:
        decay: Share of the old value that is kept at each update.

    Source: Xu et al. 2015, section 4.1, where it is 0.9.
    """

    value: Tensor
    updates: Tensor

    def __init__(self, decay: float = 0.9) -> None:
        super().__init__()
        if not 0 <= decay < 1:
            raise ValueError(f"{decay=} must be at least 0 and below 1")
        self.decay = decay
        self.register_buffer("value", torch.zeros(()))
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def forward(self, reward: Tensor) -> Tensor:
        """Update the baseline with the mean of these rewards, (batch,), and return it.

        Raises:
            ValueError: A reward is NaN, which would stay in the baseline for ever.
        """
        refuse_nan("MovingAverage", [("reward", reward)])
        mean = reward.detach().mean().to(self.value.dtype)
        older = torch.where(self.updates > 0, self.value, mean)
        self.value = self.decay * older + (1 - self.decay) * mean
        self.updates = self.updates + 1
        return self.value


class Draws(NamedTuple):
    """The steps of a captioner that draws its cells.

    Attributes:
        logits: Logits of the next word, (batch, target_len, vocab_size).
        weights: The probabilities of the draws, (batch, target_len, num_cells).
        cells: The cells drawn, (batch, target_len).
        hard: True for captions that used the drawn cells, False for captions that used the
            weighted mean of all cells, (batch,).
    """

    logits: Tensor
    weights: Tensor
    cells: Tensor
    hard: Tensor


class HardCaptioner(Captioner):
    """A captioner that looks at one cell at a time.

    In training it draws the cell, with `draw`. When it writes, it takes the likeliest cell, a
    choice that has no gradient. It has the arguments of `Captioner`; its attribute `baseline` is a
    moving average of the rewards.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.baseline = MovingAverage()

    def use(self, weights: Tensor) -> Tensor:
        """Put all the weight on the likeliest cell; a row without weight stays zero."""
        return one_hot(weights.argmax(-1), weights) * (weights.sum(-1, keepdim=True) > 0)

    def draw(
        self,
        target_input: Int[Tensor, "batch target_len"],
        state: State,
        soft_share: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Draws:
        """Read given words, looking at a drawn cell at each of them.

        Args:
            target_input: For each word to predict, the word before it.
            state: The state from `start`.
            soft_share: The probability that a caption uses the weighted mean of all cells at every
                word instead; this lowers the variance of the gradient, but adds a bias.
            generator: Source of randomness, on the same device as the model.

        Source: Xu et al. 2015, section 4.1, where `soft_share` is 0.5.
        """
        device, cells = target_input.device, []
        chance = torch.rand(len(target_input), device=device, generator=generator)
        hard = chance >= soft_share

        def use(weights: Tensor) -> Tensor:
            cells.append(draw_cells(weights, generator))
            return torch.where(hard.unsqueeze(-1), one_hot(cells[-1], weights), weights)

        trace = self.trace(target_input, state, use)
        return Draws(trace.logits, trace.weights, torch.stack(cells, 1), hard)


def one_hot(cells: Tensor, weights: Tensor) -> Tensor:
    """Weights shaped like the given ones, in their dtype, with each row all on one cell."""
    number = torch.arange(weights.shape[-1], device=cells.device)
    return (cells.unsqueeze(-1) == number).to(weights.dtype)


def _log(weights: Tensor) -> Tensor:
    """log α; where α is 0, it is minus infinity with the gradient 0, not NaN."""
    positive = weights > 0
    return weights.where(positive, 1).log().masked_fill(~positive, -torch.inf)
