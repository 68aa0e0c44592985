"""Part D of problem set 06: a loss whose gradient is right on average over what can be drawn."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal


def reference(scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor) -> Tensor:
    advantage = _advantage(reward, baseline)
    return -(reward + advantage.detach() * _log_weight(scores, cells)).mean()


def _log_weight(scores: Tensor, cells: Tensor) -> Tensor:
    return torch.log_softmax(scores, -1).gather(-1, cells)


def _advantage(reward: Tensor, baseline: Tensor) -> Tensor:
    return reward - baseline.unsqueeze(-1)


def draw_every_cell(generator: Generator, batch: int, num_cells: int) -> Inputs:
    """All that can be drawn, each cell as often as its weight says; any baseline.

    The mean over these draws is exactly the expectation.
    """
    times = torch.randint(1, 6, (num_cells,), generator=generator)
    order = torch.stack([torch.randperm(num_cells, generator=generator) for _ in range(batch)])
    cells = torch.stack([row.repeat_interleave(times) for row in order])
    weights = torch.zeros(batch, num_cells, dtype=torch.float64).scatter(
        1, order, times.double().expand(batch, -1) / times.sum()
    )
    of_cell = -3 * torch.rand(batch, num_cells, generator=generator, dtype=torch.float64)
    return {
        "scores": weights.log() + draw_normal(generator, batch, 1),
        "cells": cells,
        "reward": of_cell.gather(1, cells),
        "baseline": 5 * draw_normal(generator, batch),
    }


def draw_one_each(generator: Generator, batch: int, num_cells: int) -> Inputs:
    """One draw of each picture, better than the baseline; some other cell is out of the question.

    The scores are of hundreds, by turns above zero and below, in eighths.
    """
    reward = -3 * torch.rand(batch, 1, generator=generator, dtype=torch.float64)
    below = 0.5 + torch.rand(batch, generator=generator, dtype=torch.float64)
    scores = (12 * draw_normal(generator, batch, num_cells)).round() / 8
    cells = torch.randint(num_cells, (batch, 1), generator=generator)
    level = 300 - 600 * (torch.arange(batch).unsqueeze(1) % 2)
    out_of_question = torch.arange(num_cells) == (cells + 1) % num_cells
    return {
        "scores": scores + level - 250 * out_of_question,
        "cells": cells,
        "reward": reward,
        "baseline": reward.squeeze(1) - below,
    }


def _loss(advantage: Tensor, log_weight: Tensor, reward: Tensor) -> Tensor:
    return -(reward + advantage.detach() * log_weight).mean()


mistake = Mistakes()


@mistake(computes=then(reference, torch.neg))
def turns_the_sign_round():
    """your signs are turned round: an optimiser makes a loss small, and the reward should grow, so
    a minus stands in front of all"""


@mistake(points=1.5)
def climbs_down_for_the_weights(scores, cells, reward, baseline):
    """a draw that went better than the baseline becomes less likely with yours: where the logarithm
    of the weight stands, one sign is wrong. The advantage is the reward less the baseline, and a
    minus belongs before this term as well as before the reward"""
    advantage = -_advantage(reward, baseline)
    return _loss(advantage, _log_weight(scores, cells), reward)


@mistake(points=3.5, computes=given(reference, baseline=torch.zeros_like))
def leaves_the_baseline_out():
    """you leave the baseline out. On average that is right, and the first row says so; but each
    single draw is far off. Take the baseline off the reward"""


@mistake(points=3.5, computes=given(reference, baseline=torch.neg))
def adds_the_baseline():
    """you add the baseline to the reward; take it off"""


@mistake(points=3.5)
def takes_the_mean_of_the_draws(scores, cells, reward, baseline):
    """you take the mean of the draws themselves for a baseline. With one draw it is its own reward,
    nothing is left, and nothing is learned; use the baseline that is given"""
    return _loss(reward - reward.mean(-1, keepdim=True), _log_weight(scores, cells), reward)


@mistake(points=3.5)
def takes_the_mean_of_the_batch(scores, cells, reward, baseline):
    """you take the mean reward of this batch for a baseline, of which the draw itself is a part;
    use the baseline that is given"""
    return _loss(reward - reward.mean(), _log_weight(scores, cells), reward)


@mistake(points=3.5)
def takes_one_baseline_for_all(scores, cells, reward, baseline):
    """you use the same baseline for all pictures; each has its own: `baseline.unsqueeze(1)` has one
    for all draws of a picture"""
    return reference(scores, cells, reward, baseline.mean().expand_as(baseline))


@mistake(points=1.5)
def lays_baselines_along_the_draws(scores, cells, reward, baseline):
    """`reward - baseline` lays the baselines of the pictures along the draws: an error for most
    sizes, and otherwise a reward meets the baselines of all pictures; `baseline.unsqueeze(1)` has
    one for all draws of a picture"""
    return _loss(reward - baseline, _log_weight(scores, cells), reward)


@mistake(points=3)
def learns_from_successes_only(scores, cells, reward, baseline):
    """you learn from draws that were better than the baseline only; on average that leads
    elsewhere. A draw that was worse has to become less likely"""
    advantage = _advantage(reward, baseline).clamp_min(0)
    return _loss(advantage, _log_weight(scores, cells), reward)


@mistake(points=3)
def learns_as_much_from_failures(scores, cells, reward, baseline):
    """you make draws likelier that were worse than the baseline; leave the advantage its sign"""
    advantage = _advantage(reward, baseline).abs()
    return _loss(advantage, _log_weight(scores, cells), reward)


@mistake(points=1.5)
def squares_the_advantage(scores, cells, reward, baseline):
    """you square the advantage; it is a factor as it is, with its sign"""
    advantage = _advantage(reward, baseline).square()
    return _loss(advantage, _log_weight(scores, cells), reward)


@mistake(points=1.5)
def takes_the_sign_of_the_advantage(scores, cells, reward, baseline):
    """you only ask whether a draw was better than the baseline, and not by how much"""
    advantage = _advantage(reward, baseline).sign()
    return _loss(advantage, _log_weight(scores, cells), reward)


def _times_the_weight(scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor) -> Tensor:
    log_weight = _log_weight(scores, cells)
    return _loss(_advantage(reward, baseline), log_weight.exp() * log_weight, reward)


@mistake(points=1.5, also=(_times_the_weight,))
def takes_the_weight_for_its_logarithm(scores, cells, reward, baseline):
    """the weight stands where its logarithm belongs, or beside it; it counts twice then, since it
    has already decided how often its cell is drawn. Take the logarithm alone"""
    weight = torch.softmax(scores, -1).gather(-1, cells)
    return _loss(_advantage(reward, baseline), weight, reward)


@mistake(points=1.5)
def takes_the_score_for_the_logarithm(scores, cells, reward, baseline):
    """you take the score where the logarithm of the weight belongs: the cell that was drawn goes
    up, but no other goes down"""
    return _loss(_advantage(reward, baseline), scores.gather(-1, cells), reward)


@mistake(points=4)
def takes_the_logarithm_of_the_weight(scores, cells, reward, baseline):
    """your logarithm is of a number that the machine has rounded to 0, or that is too large for it:
    no logarithm, and `nan` for a gradient. `torch.log_softmax` works out the logarithm of the
    weight in one go"""
    log_weight = torch.softmax(scores, -1).log().gather(-1, cells)
    return _loss(_advantage(reward, baseline), log_weight, reward)


@mistake(points=1.5)
def raises_all_cells(scores, cells, reward, baseline):
    """you add up the logarithms of all cells; only the logarithm of the drawn cell counts:
    `gather(1, cells)`"""
    total = torch.log_softmax(scores, -1).sum(-1, keepdim=True)
    return _loss(_advantage(reward, baseline), total, reward)


@mistake(points=1.5)
def takes_softmax_over_the_batch(scores, cells, reward, baseline):
    """your softmax runs over the pictures; it runs over the cells, the last axis"""
    log_weight = torch.log_softmax(scores, 0).gather(-1, cells)
    return _loss(_advantage(reward, baseline), log_weight, reward)


@mistake(points=3)
def adds_up_the_draws(scores, cells, reward, baseline):
    """you add up the draws of a picture; take their mean, or more draws make larger steps"""
    return reference(scores, cells, reward, baseline) * cells.shape[1]


@mistake
def adds_up_the_images(scores, cells, reward, baseline):
    """you add up the pictures of a batch; take their mean"""
    return reference(scores, cells, reward, baseline) * len(cells)


@mistake
def adds_up_everything(scores, cells, reward, baseline):
    """you add up everything; take the mean over draws and pictures"""
    return reference(scores, cells, reward, baseline) * cells.numel()


@mistake(points=3.5)
def lets_the_gradient_through_the_reward(scores, cells, reward, baseline):
    """a gradient flows through the reward where it is a factor, and makes the right word less
    likely wherever the logarithm of the weight is below -1; that factor is a constant:
    `detach()`"""
    log_weight = _log_weight(scores, cells)
    return -(reward + _advantage(reward, baseline) * log_weight).mean()


@mistake(points=3.5)
def forgets_both(scores, cells, reward, baseline):
    """the reward is nowhere but in the factor, and not even a constant there: detach it there, and
    add it once more by itself, from which the words are learned"""
    return -(_advantage(reward, baseline) * _log_weight(scores, cells)).mean()


@mistake(points=3.5)
def cuts_off_reward(scores, cells, reward, baseline):
    """no gradient reaches the reward, so your loss teaches where to look and not what to say; the
    reward stands in the loss as a term of its own, too"""
    return _loss(_advantage(reward, baseline), _log_weight(scores, cells), reward.detach())


@mistake(points=1.5)
def forgets_the_weights(scores, cells, reward, baseline):
    """the gradient of your loss is 0 for the scores: the log-weight is missing, or its factor is 0,
    as with the draw's own reward for a baseline; it belongs there, times `reward` less the
    `baseline` that is given"""
    return -reward.mean() + 0 * scores.sum()


@mistake(points=3.5)
def punishes_the_right_word(scores, cells, reward, baseline):
    """the reward by itself has the wrong sign: what should get small is minus the reward"""
    return _loss(_advantage(reward, baseline), _log_weight(scores, cells), -reward)


@mistake
def detaches_the_logarithm(scores, cells, reward, baseline):
    """you detach the logarithm of the weight, through which the scores learn; detach the
    advantage"""
    log_weight = _log_weight(scores, cells).detach()
    return -(reward + _advantage(reward, baseline) * log_weight).mean()


@mistake
def returns_one_for_each_image(scores, cells, reward, baseline):
    """you return one number for each picture; their mean is wanted, a tensor without axes"""
    advantage = _advantage(reward, baseline).detach()
    return -(reward + advantage * _log_weight(scores, cells)).mean(-1)


@mistake
def weighs_the_reward(scores, cells, reward, baseline):
    """you multiply the reward by the weight of its cell; how often a cell is drawn has counted the
    weight already, and its gradient comes by way of the logarithm"""
    return -(_log_weight(scores, cells).exp() * reward).mean()


@mistake(points=3.5)
def weighs_the_reward_alone(scores, cells, reward, baseline):
    """where the reward stands by itself, you multiply it by the weight of its cell; how often that
    is drawn has counted the weight already"""
    log_weight = _log_weight(scores, cells)
    return _loss(_advantage(reward, baseline), log_weight, log_weight.exp().detach() * reward)


@mistake(points=1.5)
def reads_the_cells_of_all_images(scores, cells, reward, baseline):
    """you read the drawn cells of every picture from each of them, as `[:, cells]` does; each has
    its own: `gather(1, cells)`"""
    log_weight = torch.log_softmax(scores, -1)[:, cells].mean((1, 2)).unsqueeze(1)
    return _loss(_advantage(reward, baseline), log_weight, reward)


@mistake(points=1.5, computes=given(reference, cells=lambda cells: cells[:1].expand_as(cells)))
def reads_the_cells_of_the_first_image():
    """you read the cells that were drawn for the first picture from every picture; each has its
    own: `gather(1, cells)`"""


@mistake(points=3)
def takes_the_first_draw(scores, cells, reward, baseline):
    """you use the first draw of each picture only; take the mean over all of them"""
    return reference(scores, cells[:, :1], reward[:, :1], baseline)


@mistake(computes=then(reference, lambda loss: loss / 2))
def halves_the_loss():
    """all your gradients are half of what they should be: the two losses are added, not averaged"""


def _over_the_scatter_of_rewards(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    return _loss(_advantage(reward, baseline) / reward.std(), _log_weight(scores, cells), reward)


@mistake(points=1.5, also=(_over_the_scatter_of_rewards,))
def scales_the_advantage(scores, cells, reward, baseline):
    """you divide the advantages by a standard deviation; the gradient then no longer belongs to the
    expected reward. The advantage is reward less baseline, as it is"""
    advantage = _advantage(reward, baseline)
    return _loss(advantage / (advantage.std() + 1e-8), _log_weight(scores, cells), reward)


@mistake(points=1.5, also=(given(reference, reward=torch.exp),))
def takes_the_power_of_the_reward(scores, cells, reward, baseline):
    """you take the power of the reward; it is a logarithm, and is meant to stay one"""
    return _loss(_advantage(reward.exp(), baseline), _log_weight(scores, cells), reward)


@mistake(points=1.5)
def takes_a_sigmoid(scores, cells, reward, baseline):
    """you take a sigmoid of the score, in which no other cell takes part; the weight is a softmax
    over all cells, and its logarithm `log_softmax`"""
    log_weight = torch.nn.functional.logsigmoid(scores).gather(-1, cells)
    return _loss(_advantage(reward, baseline), log_weight, reward)


@mistake(computes=then(reference, Tensor.detach), also=(then(reference, Tensor.item),))
def returns_no_gradient():
    """no gradient reaches the scores or the rewards: `no_grad`, `detach` or `item` cuts the loss
    off; only the advantage is a constant"""


@mistake
def divides_by_the_cells(scores, cells, reward, baseline):
    """you divide by the number of cells; the mean is over the draws"""
    return reference(scores, cells, reward, baseline) * cells.shape[1] / scores.shape[1]


EXERCISE = Exercise(
    function="hard_loss",
    reference=reference,
    title="a gradient from draws",
    minutes=35,
    axes={"batch": 17, "num_cells": 97},
    equivalent_mutants={"-1 -> 1": "of two axes, cells are the last one and number 1"},
    contract=Contract(
        batch=("scores", "cells", "reward", "baseline"),
        like=1,
        exempts={"cuts off": "gradients are asked of scores and rewards alone"},
    ),
    checks=(
        Check(
            "over all that can be drawn, each cell as often as its weight says, the gradient of the"
            " scores is the exact one, whatever the baseline",
            2,
            draw_every_cell,
            sizes=({"batch": 1, "num_cells": 3}, {"batch": 2, "num_cells": 6}),
            hidden_sizes=({"batch": 3, "num_cells": 9}, {"batch": 5, "num_cells": 2}),
            dtype=torch.float64,
            gradient=("scores",),
            tolerance=1e5,  # times the rounding, so about 1e-11
        ),
        Check(
            "one draw that is better than its baseline: the score of its cell goes up, by as much"
            " as it is better, and the others go down",
            1,
            draw_one_each,
            sizes=({"batch": 3, "num_cells": 5},),
            hidden_sizes=({"batch": 7, "num_cells": 3}, {"batch": 1, "num_cells": 11}),
            gradient=("scores",),
            tolerance=4096,  # of 300, float32 has 5 digits behind the point
        ),
        Check(
            "the reward gets the gradient of minus its mean: as a factor it is a constant",
            1.5,
            draw_one_each,
            sizes=({"batch": 2, "num_cells": 3},),
            hidden_sizes=({"batch": 5, "num_cells": 7},),
            gradient=("reward",),
        ),
    ),
    mistakes=mistake.collected,
)
