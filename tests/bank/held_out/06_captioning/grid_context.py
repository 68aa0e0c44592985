import torch
from torch import Tensor


def wrong_softmax_of_each_row(scores, features, mask):
    """Each row of the grid has a softmax of its own."""
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def wrong_nan_to_num(scores, features, mask):
    """The context of an image without cells is mended at the end, so its gradient is nan."""
    scores, mask = scores.flatten(-2), mask.flatten(-2)
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    context = (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)
    return torch.nan_to_num(context)


def wrong_naive_powers(scores, features, mask):
    """It takes plain powers, which overflow where scores are some hundreds."""
    powers = (torch.exp(scores) * mask).flatten(-2)
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_columns_first(scores, features, mask):
    """The scores are flattened column by column and the features row by row."""
    flat, seen = scores.mT.flatten(-2), mask.mT.flatten(-2)
    weights = torch.softmax(flat.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_mean_of_the_product(scores, features, mask):
    """It takes the mean over the cells of weight times feature, not the sum."""
    flat, seen = scores.flatten(-2), mask.flatten(-2)
    weights = torch.softmax(flat.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).mean(-2)


def wrong_zero_scores(scores, features, mask):
    """Forbidden cells get the score 0, which is a score like any other."""
    flat, seen = (scores * mask).flatten(-2), mask.flatten(-2)
    weights = torch.softmax(flat, -1)
    context = (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)
    return context * seen.any(-1, keepdim=True)


def right_on_the_grid(scores, features, mask):
    """It never flattens: the powers of scores less the grid's maximum, and one einsum."""
    allowed = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    top = allowed.amax((-2, -1), keepdim=True)
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    powers = torch.exp(torch.where(mask, scores - top, -torch.inf))
    total = powers.sum((-2, -1), keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return torch.einsum("...hw,...hwf->...f", weights, features)


def wrong_features_hidden_afterwards(scores, features, mask):
    """The softmax sees all cells; only the features of forbidden ones are set to 0."""
    weights = torch.softmax(scores.flatten(-2), -1)
    hidden = torch.where(mask.unsqueeze(-1), features, 0).flatten(-3, -2)
    return (weights.unsqueeze(-1) * hidden).sum(-2)


def wrong_mean_of_rows_and_a_billion(scores, features, mask):
    """A softmax in each row, then the mean of the rows; and forbidden scores are -1e9."""
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1) / scores.shape[-2]
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def wrong_softmax_each_row(scores, features, mask):
    """Takes a softmax in each row of the grid (last axis) instead of one over the whole image."""
    hidden = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(hidden, dim=-1).masked_fill(~mask, 0.0)
    return (weights.unsqueeze(-1) * features).sum(dim=(-3, -2))


def wrong_large_negative_number(scores, features, mask):
    """Hides cells with -1e9, so where all are hidden they get equal weights and the context is not
    0."""
    flat = scores.flatten(-2).masked_fill(~mask.flatten(-2), -1e9)
    weights = torch.softmax(flat, dim=-1)
    cells = features.flatten(-3, -2)
    return (weights.unsqueeze(-2) @ cells).squeeze(-2)


def wrong_plain_exp(scores, features, mask):
    """Two mistakes: exp without subtracting the maximum overflows, and an image that is all hidden
    is 0/0."""
    powers = torch.exp(scores) * mask
    total = powers.sum(dim=(-2, -1), keepdim=True)
    weights = powers / total
    return torch.einsum("...hw,...hwd->...d", weights, features)


def right_own_softmax_einsum(scores, features, mask):
    """Softmax by hand over both grid axes, never flattened, and einsum for the mean."""
    lowest = torch.finfo(scores.dtype).min
    kept = torch.where(mask, scores, lowest)
    top = kept.detach().amax(dim=(-2, -1), keepdim=True)
    powers = torch.where(mask, torch.exp(kept - top), 0.0)
    total = powers.sum(dim=(-2, -1), keepdim=True)
    weights = powers / (total + (total == 0))
    return torch.einsum("...hw,...hwd->...d", weights, features)


def wrong_softmax_over_width(scores, features, mask):
    """It takes a softmax for every row of the grid."""
    filled = scores.masked_fill(~mask, -torch.inf)
    none = ~mask.any(-1, keepdim=True)
    weights = filled.masked_fill(none, 0).softmax(-1).masked_fill(none, 0)
    return (weights[..., None] * features).sum((-3, -2))


def wrong_mean_over_cells(scores, features, mask):
    """It takes the mean of the weighted features over the cells, not their sum."""
    flat, seen = scores.flatten(-2), mask.flatten(-2)
    none = ~seen.any(-1, keepdim=True)
    weights = flat.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    weights = weights.masked_fill(~seen, 0)
    return (weights[..., None] * features.flatten(-3, -2)).mean(-2)


def wrong_softmax_of_each_row_sixth(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Takes a softmax within each row of the grid instead of one over all cells."""
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def wrong_hides_after_the_softmax(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Sets hidden weights to 0 after the softmax only, so the others no longer sum to 1."""
    weights = torch.softmax(scores.flatten(-2), dim=-1)
    weights = weights.masked_fill(~mask.flatten(-2), 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_replaces_nan_at_the_end(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Repairs a hidden image in the context, so the gradient of its features is nan."""
    scores = scores.masked_fill(~mask, -torch.inf).flatten(-2)
    weights = torch.softmax(scores, dim=-1)
    context = (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)
    return context.nan_to_num(0)


def right_powers(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Sums powers against the highest seen score; a sum of 0 is divided by 1."""
    scores = scores.masked_fill(~mask, -torch.inf)
    highest = scores.detach().amax((-2, -1), keepdim=True)
    highest = highest.masked_fill(highest == -torch.inf, 0)
    powers = torch.exp(scores - highest)
    total = powers.sum((-2, -1)).clamp_min(1)  # the highest alone gives 1
    blend = torch.einsum("...hw,...hwd->...d", powers, features)
    return blend / total.unsqueeze(-1)


def wrong_softmax_of_each_row_seventh(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """The softmax runs over the cells of each row of the grid, not over the whole grid."""
    scores = scores.masked_fill(~mask, -torch.inf)
    weights = torch.softmax(scores, dim=-1).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def wrong_hidden_after_softmax(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Hidden cells are zeroed after the softmax, so the weights that are left do not sum to 1."""
    weights = torch.softmax(scores.flatten(-2), dim=-1)
    weights = weights.masked_fill(~mask.flatten(-2), 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_large_negative_number_seventh(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Hidden scores become -1e9, so an image with all cells hidden gets equal weights, not 0."""
    row = scores.masked_fill(~mask, -1e9).flatten(-2)
    weights = torch.softmax(row, dim=-1)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def right_powers_by_hand(scores: Tensor, features: Tensor, mask: Tensor) -> Tensor:
    """Powers against the largest seen score; their sum is at least 1 unless all are hidden."""
    seen = scores.masked_fill(~mask, -torch.inf)
    best = seen.detach().amax((-2, -1), keepdim=True)
    best = best.masked_fill(best == -torch.inf, 0)
    powers = (seen - best).exp()
    total = powers.sum((-2, -1)).clamp_min(1)
    weights = powers / total[..., None, None]
    return torch.einsum("...hw,...hwd->...d", weights, features)
