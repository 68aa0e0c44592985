import torch
from torch import Tensor


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
    """It takes the largest weight of each row, on any token."""
    low = scores.masked_fill(~real.unsqueeze(-2), -1e30)
    largest = torch.softmax(low, -1).amax(-1)
    return (largest * real).sum(-1) / real.sum(-1).clamp(min=1)


def wrong_padding_as_a_key_and_whole_length(scores, real):
    """Padding has weight, and the mean is over the whole length."""
    own = torch.softmax(scores, -1).diagonal(dim1=-2, dim2=-1)
    return (own * real).sum(-1) / scores.shape[-1]


def wrong_mean_over_all_places(scores, real):
    """Divides by the whole length, padding included, instead of the number of words."""
    hidden = scores.masked_fill(~real.unsqueeze(-2), float("-inf"))
    weights = torch.softmax(hidden, dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0.0)
    return own.mean(-1)


def wrong_mask_after_softmax(scores, real):
    """Sets the weights of padding to 0 after the softmax, so it has taken weight from the words."""
    weights = scores.softmax(-1) * real[..., None, :]
    own = torch.diagonal(weights, dim1=-2, dim2=-1)
    count = real.sum(-1).clamp(min=1)
    return (own * real).sum(-1) / count


def wrong_queries_axis_and_no_clamp(scores, real):
    """Two mistakes: the softmax runs over the queries (axis -2), and a sentence of padding alone is
    0/0."""
    masked = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    weights = torch.softmax(masked, dim=-2)
    own = weights.diagonal(dim1=-2, dim2=-1)
    own = own.masked_fill(~real, 0)
    return own.sum(dim=-1) / real.sum(dim=-1)


def right_logarithm_of_share(scores, real):
    """In logarithms: the diagonal less the logsumexp over the words, and the mean as a sum of
    shares."""
    length = scores.shape[-1]
    keys = torch.where(real.unsqueeze(-2), scores, float("-inf"))
    log_total = torch.logsumexp(keys, dim=-1)
    same = torch.arange(length, device=scores.device)
    log_own = scores[..., same, same] - log_total
    own = torch.where(real, log_own, float("-inf")).exp()
    words = real.to(scores.dtype).sum(-1)
    return own.sum(-1) / torch.where(words > 0, words, 1.0)


def wrong_trace_over_length(scores, real):
    """It divides by the length of the table, padding included."""
    seen = real.unsqueeze(-2)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    own = weights.diagonal(dim1=-2, dim2=-1) * real
    return own.mean(-1)


def wrong_share_of_the_best(scores, real):
    """It takes the greatest weight of each word, not the weight of itself."""
    seen = real.unsqueeze(-2)
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    best = weights.masked_fill(none, 0).amax(-1) * real
    return best.sum(-1) / real.sum(-1).clamp(min=1)


def wrong_mean_over_all_places_sixth(scores: Tensor, real: Tensor) -> Tensor:
    """Divides by the length of the row, padding included, not by the number of words."""
    scores = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.mean(-1)


def wrong_padding_takes_weight(scores: Tensor, real: Tensor) -> Tensor:
    """Keeps padding out of the mean, but lets it take weight as a key."""
    weights = torch.softmax(scores, dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def wrong_nothing_over_nothing(scores: Tensor, real: Tensor) -> Tensor:
    """Divides by the number of words even if there is none: 0 / 0 is nan."""
    scores = scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1)


def right_logsumexp(scores: Tensor, real: Tensor) -> Tensor:
    """Takes the diagonal first, and measures it against the logsumexp of its row."""
    own = torch.einsum("...ii->...i", scores)
    row = scores.masked_fill(~real.unsqueeze(-2), -torch.inf).logsumexp(-1)
    share = (own - row).masked_fill(~real, -torch.inf).exp()
    return share.sum(-1) / real.sum(-1).clamp_min(1)


def wrong_mean_over_all_places_seventh(scores: Tensor, real: Tensor) -> Tensor:
    """Divides by the number of places, so padding counts as words without a share."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.mean(-1)


def wrong_masks_in_place(scores: Tensor, real: Tensor) -> Tensor:
    """masked_fill_ writes minus infinity into the caller's scores."""
    weights = torch.softmax(scores.masked_fill_(~real.unsqueeze(-2), -torch.inf), dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def wrong_nan_times_zero(scores: Tensor, real: Tensor) -> Tensor:
    """Multiplies by the mask, which leaves the nan of a sentence of padding alone."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), dim=-1)
    own = weights.diagonal(dim1=-2, dim2=-1) * real
    return own.sum(-1) / real.sum(-1).clamp_min(1)


def right_from_log_sums(scores: Tensor, real: Tensor) -> Tensor:
    """A word's own weight is exp(own score - log-sum of its row): no table of weights."""
    total = scores.masked_fill(~real.unsqueeze(-2), -torch.inf).logsumexp(-1)
    own = scores.diagonal(dim1=-2, dim2=-1) - total.masked_fill(~real, 0)
    share = own.masked_fill(~real, -torch.inf).exp()
    return share.sum(-1) / real.sum(-1).clamp_min(1)


def _ninth_own(scores, real):
    padding = ~real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), -1)
    return weights.diagonal(dim1=-2, dim2=-1).masked_fill(~real, 0)


def wrong_mean_length(scores, real):
    """All sentences are divided by their mean length."""
    return _ninth_own(scores, real).sum(-1) / real.sum(-1).to(scores.dtype).mean().clamp_min(1)


def wrong_the_largest(scores, real):
    """The largest of the shares."""
    return _ninth_own(scores, real).amax(-1)


def wrong_padding_behind(scores, real):
    """It counts the words, and takes as many places from the first on."""
    number = real.sum(-1, keepdim=True)
    place = torch.arange(real.shape[-1])
    return _ninth_own(scores, place < number).sum(-1) / number.squeeze(-1).clamp_min(1)


def wrong_the_median(scores, real):
    """The middle one of the shares of the words."""
    return _ninth_own(scores, real).masked_fill(~real, torch.nan).nanmedian(-1).values.nan_to_num(0)


def wrong_sum_of_all_sentences(scores, real):
    """The words of all sentences are divided by one number."""
    weights = torch.softmax(scores.masked_fill(~real.unsqueeze(-2), -torch.inf), -1).nan_to_num(0)
    own = weights.diagonal(dim1=-2, dim2=-1) * real
    return own.sum(-1) / real.sum(-1).max().clamp(min=1)
