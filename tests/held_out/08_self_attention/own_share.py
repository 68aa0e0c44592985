import torch


def wrong_divided_by_the_width(scores, real):
    """It divides by the width of the table, not by the number of words."""
    padding = ~real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), -1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.mean(-1)


def wrong_padding_as_a_key(scores, real):
    """Padding is left out of the mean, but takes part in the softmax."""
    own = torch.softmax(scores, -1).diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def wrong_nothing_to_divide_by(scores, real):
    """A sentence of padding alone is 0/0."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), -1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1)


def wrong_mean_of_the_batch(scores, real):
    """It returns one mean over all words of the batch."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), -1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum() / real.sum().clamp_min(1)


def wrong_plain_diagonal_axes(scores, real):
    """`diagonal` is asked without its axes, and takes the first two."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), -1)
    own = torch.diagonal(weights).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def wrong_scores_of_the_diagonal(scores, real):
    """It takes the diagonal of the scores and a softmax of that."""
    own = scores.diagonal(dim1=-2, dim2=-1).masked_fill(~real, -torch.inf)
    share = torch.softmax(own, -1).masked_fill(~real, 0)
    return share.sum(-1) / real.sum(-1).clamp_min(1)


def right_powers_of_the_diagonal(scores, real):
    """It never makes the weights: the power of the own score less the row's logsumexp."""
    lowest = torch.full_like(scores, torch.finfo(scores.dtype).min)
    total = torch.where(real[..., None, :], scores, lowest).logsumexp(-1)
    own = torch.einsum("...ii->...i", scores)
    shares = torch.where(real, (own - total).exp(), torch.zeros_like(own))
    return shares.sum(-1) / real.sum(-1).to(scores.dtype).clamp(min=1)


def wrong_largest_weight(scores, real):
    """It takes the largest weight of each row, whoever has it."""
    low = scores.masked_fill(~real.unsqueeze(-2), -1e30)
    largest = torch.softmax(low, -1).amax(-1)
    return (largest * real).sum(-1) / real.sum(-1).clamp(min=1)


def wrong_padding_as_a_key_and_whole_length(scores, real):
    """Padding has weight, and the mean is over the whole length."""
    own = torch.softmax(scores, -1).diagonal(dim1=-2, dim2=-1)
    return (own * real).sum(-1) / scores.shape[-1]
