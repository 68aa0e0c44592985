import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def wrong_no_words_learned(scores, cells, reward, baseline):
    """The reward is detached everywhere, so nothing is learned of what to say."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(advantage * log_weight).mean()


def wrong_advantage_not_constant(scores, cells, reward, baseline):
    """The advantage is not detached, so the two lessons mix."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    return -(reward + (reward - baseline.unsqueeze(1)) * log_weight).mean()


def wrong_log_of_softmax(scores, cells, reward, baseline):
    """It takes the logarithm of a softmax, which is minus infinity where scores are far apart."""
    log_weight = torch.softmax(scores, -1).log().gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).mean()


def wrong_sum_over_draws(scores, cells, reward, baseline):
    """It adds the draws of an image up, where their mean is asked."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).sum(1).mean()


def wrong_goes_uphill(scores, cells, reward, baseline):
    """The minus is missing, so the loss grows with the reward."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return (reward + advantage * log_weight).mean()


def wrong_baseline_added(scores, cells, reward, baseline):
    """The baseline is added to the reward, not taken off."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward + baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).mean()


def wrong_sum_over_images(scores, cells, reward, baseline):
    """It adds the images up, where their mean is asked."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).mean(1).sum()


def right_image_by_image(scores, cells, reward, baseline):
    """A loop over images and draws, with logsumexp and no_grad instead of detach."""
    total = 0
    for row, drawn, got, usual in zip(scores, cells, reward, baseline, strict=True):
        with torch.no_grad():
            advantage = got - usual
        log_weight = row[drawn] - torch.logsumexp(row, 0)
        total = total - got.mean() - torch.dot(advantage, log_weight) / len(drawn)
    return total / len(scores)


def wrong_mean_reward_for_a_baseline(scores, cells, reward, baseline):
    """The baseline that is given is not used; the mean reward of the image stands in its place."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - reward.mean(1, keepdim=True)).detach()
    return -(reward + advantage * log_weight).mean()


def wrong_uphill_and_not_constant(scores, cells, reward, baseline):
    """The minus is missing, and the advantage is not a constant."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    return (reward + (reward - baseline.unsqueeze(1)) * log_weight).mean()


def wrong_advantage_not_constant_again(scores, cells, reward, baseline):
    """Does not detach the advantage, so the rewards get a second gradient through it."""
    log_weight = torch.log_softmax(scores, dim=-1).gather(1, cells)
    advantage = reward - baseline.unsqueeze(1)
    return -(reward + advantage * log_weight).mean()


def wrong_only_where_to_look(scores, cells, reward, baseline):
    """Leaves out the reward's own term, so nobody learns what to say."""
    log_weights = scores.log_softmax(dim=1)
    picked = torch.gather(log_weights, 1, cells)
    advantage = (reward - baseline[:, None]).detach()
    return -torch.mean(advantage * picked)


def wrong_log_of_softmax_and_sum(scores, cells, reward, baseline):
    """Two mistakes: the log of a softmax underflows for scores in the hundreds, and the draws are
    added up, not averaged."""
    weights = torch.softmax(scores, -1)
    log_weight = torch.log(weights.gather(1, cells))
    advantage = (reward - baseline.unsqueeze(1)).detach()
    per_image = (reward + advantage * log_weight).sum(dim=1)
    return -per_image.mean()


def right_cross_entropy(scores, cells, reward, baseline):
    """Takes minus the log-weights from cross_entropy, and builds the advantage under no_grad."""
    batch, num_draws = cells.shape
    repeated = scores.repeat_interleave(num_draws, dim=0)
    surprise = torch.nn.functional.cross_entropy(
        repeated, cells.reshape(-1), reduction="none"
    ).reshape(batch, num_draws)
    with torch.no_grad():
        advantage = (reward.mT - baseline).mT
    where_to_look = (advantage * surprise).mean(dim=1)
    what_to_say = reward.mean(dim=1)
    return (where_to_look - what_to_say).mean()


def wrong_plus_sign(scores, cells, reward, baseline):
    """It returns the expected reward, not its negative."""
    log_p = scores.log_softmax(-1).gather(1, cells)
    push = (reward - baseline[:, None]).detach() * log_p
    return (push + reward).mean()


def wrong_reward_itself_left_out(scores, cells, reward, baseline):
    """It gives the rewards no gradient."""
    log_p = scores.log_softmax(-1).gather(1, cells)
    return -((reward - baseline[:, None]).detach() * log_p).mean()


def wrong_weight_without_log(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """Multiplies the advantage with the weights themselves, not with their logarithm."""
    weight = torch.softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * weight).mean()


def wrong_log_of_softmax_sixth(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """Takes the log after the softmax: with scores in the hundreds the gradient is nan."""
    log_weight = torch.softmax(scores, -1).log().gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).mean()


def wrong_only_where_to_look_sixth(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """Forgets the loss for what to say, so nothing is learned through the rewards."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = reward - baseline.unsqueeze(1)
    return -(advantage.detach() * log_weight).mean()


def right_surprise(scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor) -> Tensor:
    """Writes minus the log-weight as logsumexp less the score of the drawn cell."""
    surprise = scores.logsumexp(1, keepdim=True) - scores.gather(1, cells)
    with torch.no_grad():
        better = reward - baseline[:, None]
    return (better * surprise).mean() - reward.mean()


def wrong_advantage_not_constant_seventh(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """The advantage is not detached, so the rewards learn through the log-weights as well."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = reward - baseline.unsqueeze(1)
    return -(reward + advantage * log_weight).mean()


def wrong_sum_over_draws_seventh(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """Adds up the draws of an image, so the gradients grow with the number of draws."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).sum(1).mean()


def wrong_log_of_softmax_seventh(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """Takes the log of the softmax, which is log 0 where scores are hundreds apart."""
    log_weight = torch.softmax(scores, -1).log().gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return -(reward + advantage * log_weight).mean()


def right_cross_entropy_seventh(
    scores: Tensor, cells: Tensor, reward: Tensor, baseline: Tensor
) -> Tensor:
    """The cross entropy of a drawn cell is minus its log-weight."""
    logits = scores.unsqueeze(-1).expand(-1, -1, cells.shape[1])
    surprise = cross_entropy(logits, cells, reduction="none")
    advantage = reward.detach() - baseline.detach()[:, None]
    return (advantage * surprise).mean() - reward.mean()


def wrong_minus_of_the_advantage_lost(scores, cells, reward, baseline):
    """The minus stands before the reward alone."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return (-reward + advantage * log_weight).mean()


def wrong_minus_lost(scores, cells, reward, baseline):
    """The minus before all is lost."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return (reward + advantage * log_weight).mean()


def wrong_minus_of_the_reward_lost(scores, cells, reward, baseline):
    """The minus stands before the second term alone."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    advantage = (reward - baseline.unsqueeze(1)).detach()
    return (reward - advantage * log_weight).mean()
