"""Hard attention: one cell is drawn at each word, and REINFORCE learns from where it was drawn.

The weights are still a softmax; they are now the probabilities of the draw. A draw has no gradient,
so the gradient of what is to be expected is estimated from draws.

With the log-likelihood of the caption as the reward, the expected reward is a lower bound of the
logarithm of the caption's probability, `E[log p] ≤ log E[p]`: what Xu et al. 2015 climb.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from attn_course.captioning import Captioner
from attn_course.seq2seq import PAD, State
from attn_course.shapes import checked, is_true_of_any


@checked
def draw_cells(
    weights: Float[Tensor, "*batch num_cells"], generator: torch.Generator | None = None
) -> Int[Tensor, "*batch"]:
    """The number of one cell for each row, drawn with the weights as probabilities.

    Args:
        weights: Rows that sum to 1; a row in other units is drawn from in proportion.
        generator: Where the randomness comes from, on the device of the weights.

    Raises:
        ValueError: A row has no weight at all, or a weight is negative, infinite or NaN.

    Source: Xu et al. 2015, section 4.1.
    """
    flat = weights.detach().flatten(0, -2)
    if is_true_of_any((flat < 0) | (flat == torch.inf)):
        raise ValueError("a weight is negative or infinite: no probability")
    if is_true_of_any(nowhere := flat.sum(-1) == 0):
        raise ValueError(f"{int(nowhere.sum())} of {len(flat)} rows have no cell to be drawn")
    return torch.multinomial(flat, 1, generator=generator).view(weights.shape[:-1])


@checked
def log_weight_of(
    weights: Float[Tensor, "*batch num_cells"], cells: Int[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Logarithm of the weight of one cell in each row: the log-probability of having drawn it.

    It is minus infinity, with the gradient 0, where the weight is 0.

    Raises:
        ValueError: A shape does not fit, or a weight is NaN.
    """
    return _log(weights).gather(-1, cells.unsqueeze(-1)).squeeze(-1)


@checked
def entropy(weights: Float[Tensor, "*batch num_cells"]) -> Float[Tensor, "*batch"]:
    """How undecided each row is: `-Σ α log α` in nats, from 0 for one cell to log(num_cells).

    Raises:
        ValueError: A weight is NaN.
    """
    return -(weights * _log(weights).masked_fill(weights <= 0, 0)).sum(-1)


@checked
def caption_log_likelihood(
    logits: Float[Tensor, "batch target_len vocab_size"],
    target_output: Int[Tensor, "batch target_len"],
) -> Float[Tensor, " batch"]:
    """Log-probability of each caption, the sum over its words with EOS; padding does not count.

    Raises:
        ValueError: A shape does not fit, or a logit is NaN.
    """
    loss = functional.cross_entropy(logits.mT, target_output, ignore_index=PAD, reduction="none")
    return -loss.sum(-1)


@checked
def reinforce_loss(
    log_policy: Float[Tensor, "batch target_len"],
    reward: Float[Tensor, " batch"],
    baseline: float | Float[Tensor, "*each"] = 0.0,
    mask: Bool[Tensor, "batch target_len"] | None = None,
) -> Float[Tensor, ""]:
    """A number whose gradient is, on average over the draws, minus that of the expected reward.

    `-(R - b) Σ_t log π(s_t)`, the mean over the captions. The number itself means nothing. Through
    the reward and the baseline no gradient flows. A baseline that does not depend on the draw
    changes the gradient of one draw, but not the average.

    Args:
        log_policy: Logarithm of the weight of each cell that was drawn.
        reward: What each caption is worth, given these draws.
        baseline: What is taken off the reward: one number, or one for each caption.
        mask: True at words that were drawn for; None means all.

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
    """A baseline that follows the rewards: `b ← 0.9 b + 0.1 R`; it begins with the first of them.

    It is kept with the weights of a model of which it is a part.

    Args:
        decay: How much of the old stays at each update.

    Source: Xu et al. 2015, section 4.1, with 0.9.
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
        """The baseline after the mean of these rewards, (batch,), has been taken in."""
        mean = reward.detach().mean().to(self.value.dtype)
        older = self.value if self.updates else mean
        self.value = self.decay * older + (1 - self.decay) * mean
        self.updates = self.updates + 1
        return self.value


class Draws(NamedTuple):
    """What a captioner did with cells that it drew.

    Attributes:
        logits: Of the next word, (batch, target_len, vocab_size).
        weights: The probabilities of the draws, (batch, target_len, num_cells).
        cells: What was drawn, (batch, target_len).
        hard: Whether the draw was looked at, and not the mean of all cells, (batch,).
    """

    logits: Tensor
    weights: Tensor
    cells: Tensor
    hard: Tensor


class HardCaptioner(Captioner):
    """A captioner that looks at one cell at a time. To train it, it draws: `draw`.

    To write, it takes the likeliest cell; that has no gradient, and is not how it learns. The
    arguments are those of `Captioner`; `baseline` is its moving average of rewards.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.baseline = MovingAverage()

    def use(self, weights: Tensor) -> Tensor:
        """All on the cell with the greatest weight; nothing where there is no weight."""
        return one_hot(weights.argmax(-1), weights) * (weights.sum(-1, keepdim=True) > 0)

    def draw(
        self,
        target_input: Int[Tensor, "batch target_len"],
        state: State,
        soft_share: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Draws:
        """Read given words, and look at a cell that is drawn at each of them.

        Args:
            target_input: The words before those to be said.
            state: From `start`.
            soft_share: The probability for a whole caption that the context is the mean of all
                cells at every word after all; with it the gradient has less variance, and a bias.
            generator: Where the randomness comes from, on the device of the model.

        Source: Xu et al. 2015, section 4.1, with `soft_share` 0.5.
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
    """Weights of the shape and dtype of the given ones, those of each row all on one cell."""
    return functional.one_hot(cells, weights.shape[-1]).to(weights.dtype)


def _log(weights: Tensor) -> Tensor:
    """log α, and minus infinity where α is 0, with the gradient 0 and not NaN."""
    positive = weights > 0
    return weights.where(positive, 1).log().masked_fill(~positive, -torch.inf)
