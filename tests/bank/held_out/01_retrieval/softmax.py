import torch
from torch import Tensor


def wrong_one_maximum_for_all(scores):
    """It subtracts the maximum of the whole tensor, so a row far below it becomes 0/0."""
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True)


def wrong_nan_to_num(scores):
    """It hides the overflow of a plain exp by nan_to_num, so the weight of a large score is 0."""
    powers = torch.exp(scores)
    return torch.nan_to_num(powers / powers.sum(-1, keepdim=True))


def wrong_no_keepdim(scores):
    """The sums lack keepdim, so they line up with the columns instead of the rows."""
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1)


def wrong_clamped(scores):
    """It clamps the scores to what exp can hold, so scores of 1000 and 2000 weigh the same."""
    powers = torch.exp(scores.clamp(-80, 80))
    return powers / powers.sum(dim=-1, keepdim=True)


def wrong_subtracted_in_place(scores):
    """It takes the maximum off in the caller's own tensor."""
    scores -= scores.amax(-1, keepdim=True)
    powers = scores.exp()
    return powers / powers.sum(-1, keepdim=True)


def wrong_small_number(scores):
    """It adds 1e-6 to every sum, so the weights do not quite sum to 1."""
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / (powers.sum(-1, keepdim=True) + 1e-6)


def right_row_by_row(scores):
    """A loop over the rows of the flattened tensor, joined again at the end."""
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        powers = (row - row.max()).exp()
        rows.append(powers / sum(powers))
    return torch.stack(rows).reshape(scores.shape)


def right_in_double(scores):
    """It computes in float64, with the keys moved to the first axis and a reciprocal."""
    wide = scores.double().movedim(-1, 0)
    wide = wide - wide.amax(0)
    total = torch.einsum("k...->...", wide.exp())
    return (wide.exp() * total.reciprocal()).movedim(0, -1).to(scores.dtype)


def wrong_sum_not_shifted(scores):
    """The maximum is taken off above the line only; the sum adds the plain powers."""
    return torch.exp(scores - scores.amax(-1, keepdim=True)) / scores.exp().sum(-1, keepdim=True)


def wrong_one_maximum_and_axis_one(scores):
    """One maximum for the whole tensor, and the sum runs over axis 1, as for a table."""
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(1, keepdim=True)


def wrong_global_max(scores):
    """Subtracts the largest score of the whole tensor, not of each row, so a row thousands
    below another is 0/0."""
    shifted = scores - scores.max()
    raised = torch.exp(shifted)
    return raised / raised.sum(dim=-1, keepdim=True)


def wrong_in_place(scores):
    """Subtracts the row maximum in place and so overwrites the scores of the caller."""
    top = scores.max(dim=-1, keepdim=True).values
    scores -= top
    powers = scores.exp()
    return powers / powers.sum(-1, keepdim=True)


def wrong_first_axis_no_shift(scores):
    """Two mistakes: normalises over axis 0 instead of the last axis, and does not subtract the
    maximum."""
    e = torch.exp(scores)
    return e / torch.sum(e, dim=0, keepdim=True)


def right_sorted_einsum(scores):
    """The top of each row comes from a sort (detached), the row sum from einsum."""
    top = scores.detach().sort(dim=-1).values[..., -1:]
    raised = (scores - top).exp()
    total = torch.einsum("...k->...", raised)
    return raised / total[..., None]


def wrong_global_maximum_one_row(scores):
    """It lowers all rows by the largest score of the whole tensor, and low rows become 0/0."""
    raised = (scores - scores.max()).exp()
    return raised / raised.sum(-1, keepdim=True)


def wrong_clamps_scores(scores):
    """It clamps scores to at most 80 instead of subtracting the largest one."""
    raised = scores.clamp(max=80).exp()
    return raised / raised.sum(-1, keepdim=True)


def wrong_mean_instead_of_sum(scores):
    """It divides the powers by their mean."""
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    return raised / raised.mean(-1, keepdim=True)


def wrong_largest_size_subtracted(scores):
    """It subtracts the largest absolute value, so a row of scores near -2000 becomes 0/0."""
    finite = scores.masked_fill(scores == -torch.inf, 0)
    raised = (scores - finite.abs().amax(-1, keepdim=True)).exp()
    return raised / raised.sum(-1, keepdim=True)


def wrong_total_detached(scores):
    """It detaches the sum from the graph, so the gradient lacks what comes through the sum."""
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    return raised / raised.sum(-1, keepdim=True).detach()


def right_keys_first(scores):
    """The axis of the keys goes to the front, and comes back at the end."""
    first = scores.movedim(-1, 0)
    raised = torch.exp(first - first.amax(0))
    return (raised / raised.sum(0)).movedim(0, -1)


def wrong_one_maximum_for_all_sixth(scores: Tensor) -> Tensor:
    """Subtracts the maximum of the whole tensor, so a row far below it becomes 0/0."""
    raised = torch.exp(scores - scores.max())
    return raised / raised.sum(-1, keepdim=True)


def wrong_subtracts_in_place(scores: Tensor) -> Tensor:
    """Subtracts the maximum with -=, which changes the scores of the caller."""
    scores -= scores.amax(-1, keepdim=True)
    raised = scores.exp()
    return raised / raised.sum(-1, keepdim=True)


def wrong_clamped_sixth(scores: Tensor) -> Tensor:
    """Cuts scores off at 80 against overflow, so 1000 and 2000 get the same weight."""
    raised = scores.clamp(-80, 80).exp()
    return raised / raised.sum(-1, keepdim=True)


def right_by_logarithm(scores: Tensor) -> Tensor:
    """Subtracts the logarithm of the sum and takes the power only at the end."""
    below = scores - scores.max(-1, keepdim=True).values.detach()
    return (below - below.exp().sum(-1, keepdim=True).log()).exp()


def wrong_shift_by_largest_of_all(scores: Tensor) -> Tensor:
    """Shifts by the largest score of all rows: a row far below it becomes 0/0 = nan."""
    raised = (scores - scores.max()).exp()
    return raised / raised.sum(-1, keepdim=True)


def wrong_sum_of_all_rows(scores: Tensor) -> Tensor:
    """Divides by the sum over all rows, so that a row alone does not sum to 1."""
    top = scores.amax(-1, keepdim=True)
    raised = (scores - top).exp()
    return raised / raised.sum()


def wrong_subtracts_in_place_seventh(scores: Tensor) -> Tensor:
    """Subtracts the maximum in place, which changes the scores of the caller."""
    scores -= scores.amax(-1, keepdim=True)
    raised = scores.exp()
    return raised / raised.sum(-1, keepdim=True)


def right_by_logarithm_seventh(scores: Tensor) -> Tensor:
    """Subtracts the logarithm of the sum, and raises once more."""
    shifted = scores - scores.amax(-1, keepdim=True).detach()
    log_total = shifted.exp().sum(-1, keepdim=True).log()
    return (shifted - log_total).exp()


def wrong_minus_ten_thousand(scores):
    """It puts -10,000 in the place of minus infinity, which is a score like any other."""
    scores = scores.nan_to_num(neginf=-1e4)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def wrong_clamped_at_minus_a_thousand_times_ten(scores):
    """It clamps all scores at -10,000 from below."""
    scores = scores.clamp(min=-1e4)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def wrong_maximum_not_below_zero(scores):
    """It takes the largest score off where that is above 0, and nothing in rows below."""
    powers = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return powers / powers.sum(-1, keepdim=True)
