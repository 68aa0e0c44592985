import math

import torch
from torch import Tensor


def wrong_where_at_the_end(scores, value, mask, default):
    """The nan of an empty row is replaced in the output, and comes back in the gradient."""
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    output = weights @ value
    return torch.where(mask.any(-1, keepdim=True), output, default)


def wrong_zero_output(scores, value, mask, default):
    """An allowed blend that happens to be 0 is taken for a query without keys."""
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), -1) * mask
    output = weights @ value
    return torch.where((output == 0).all(-1, keepdim=True), default, output)


def wrong_scores_times_mask(scores, value, mask, default):
    """It multiplies the scores by the mask, so a forbidden key has the score 0 and some weight."""
    weights = torch.softmax(scores * mask, dim=-1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def wrong_renormalised(scores, value, mask, default):
    """It masks after the softmax and renormalises; a forbidden key far above leaves only zeros."""
    weights = torch.softmax(scores, -1) * mask
    total = weights.sum(-1, keepdim=True)
    weights = weights / torch.where(total > 0, total, torch.ones_like(total))
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def wrong_default_where_one_is_forbidden(scores, value, mask, default):
    """It asks `all` for `any`, so a query with one forbidden key gets the default."""
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)
    return torch.where(mask.all(-1, keepdim=True), weights @ value, default)


def wrong_mask_turned_round(scores, value, mask, default):
    """It forbids the keys that are allowed."""
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def right_finite_fill(scores, value, mask, default):
    """It fills with the lowest finite number, so that no row holds only minus infinity."""
    lowest = torch.finfo(scores.dtype).min
    weights = torch.softmax(scores.masked_fill(mask.logical_not(), lowest), dim=-1)
    some = mask.any(dim=-1, keepdim=True)
    return torch.where(some, torch.matmul(weights, value), default)


def right_only_the_allowed(scores, value, mask, default):
    """A loop over all queries that picks the allowed keys by an index."""
    batch, (queries, keys), width = scores.shape[:-2], scores.shape[-2:], value.shape[-1]
    table = mask.expand(scores.shape).reshape(-1, queries, keys)
    flat, values = scores.reshape(-1, queries, keys), value.reshape(-1, keys, width)
    outputs = []
    for text in range(len(flat)):
        for row, allowed in zip(flat[text], table[text], strict=True):
            if allowed.any():
                outputs.append(row[allowed].softmax(0) @ values[text][allowed])
            else:
                outputs.append(default)
    return torch.stack(outputs).reshape(*batch, queries, width)


def wrong_default_as_one_more_key(scores, value, mask, default):
    """The default is one more key, always allowed, with the score 0."""
    low = scores.masked_fill(~mask, -torch.inf)
    low = torch.cat([low, torch.zeros_like(low[..., :1])], -1)
    more = default.expand(*value.shape[:-2], 1, -1)
    return torch.softmax(low, -1) @ torch.cat([value, more], -2)


def wrong_low_fill_and_no_default(scores, value, mask, default):
    """Forbidden scores are filled with -1000, and a query without keys gets 0, not the default."""
    weights = torch.softmax(scores.masked_fill(~mask, -1000.0), -1)
    return (weights @ value) * mask.any(-1, keepdim=True)


def wrong_scores_times_mask_again(scores, value, mask, default):
    """Multiplies the scores by the mask, so a forbidden key gets the score 0 instead of minus
    infinity."""
    some = mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores * mask, dim=-1)
    return torch.where(some, weights @ value, default)


def wrong_nan_replaced_after(scores, value, mask, default):
    """Lets the softmax of an empty row become nan and replaces the output afterwards, so gradients
    are nan."""
    hidden = scores.masked_fill(~mask, float("-inf"))
    output = torch.softmax(hidden, dim=-1) @ value
    return torch.where(torch.isnan(output), default, output)


def wrong_mask_after_softmax_any_of_all(scores, value, mask, default):
    """Two mistakes: the weights are masked after the softmax without sharing them anew, and default
    is used only if the whole mask is False."""
    weights = torch.softmax(scores, dim=-1)
    weights = weights * mask
    out = torch.matmul(weights, value)
    if not mask.any():
        out = default.expand(out.shape)
    return out


def right_default_as_a_key(scores, value, mask, default):
    """Default becomes one more row of the table, which only queries without keys may read."""
    mask = mask.expand(scores.shape)
    none = ~mask.any(-1, keepdim=True)
    allowed = torch.cat([mask, none], -1)
    last = scores.new_zeros(*scores.shape[:-1], 1)
    all_scores = torch.cat([scores, last], -1)
    all_scores = all_scores.masked_fill(~allowed, -torch.inf)
    row = default.expand(*value.shape[:-2], 1, value.shape[-1])
    return all_scores.softmax(-1) @ torch.cat([value, row], -2)


def wrong_adds_default_to_all(scores, value, mask, default):
    """It adds the default to every output."""
    mask = mask.expand(scores.shape)
    filled = scores.masked_fill(~mask, -torch.inf)
    empty = ~mask.any(-1, keepdim=True)
    weights = filled.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    return weights @ value + default


def wrong_default_where_any_is_forbidden(scores, value, mask, default):
    """It returns the default for queries that lack any key, not for those that lack all."""
    mask = mask.expand(scores.shape)
    filled = scores.masked_fill(~mask, -torch.inf)
    empty = ~mask.any(-1, keepdim=True)
    weights = filled.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    return torch.where(mask.all(-1, keepdim=True), weights @ value, default)


def wrong_fill_minus_thousand(scores, value, mask, default):
    """It fills forbidden scores with -1000, which is above allowed scores of -2000."""
    some = mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask, -1000.0).softmax(-1)
    return torch.where(some, weights @ value, default)


def wrong_nan_replaced_too_late(scores, value, mask, default):
    """It lets rows without keys become nan and replaces the output, so their gradient is nan."""
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def right_default_as_one_more_row(scores, value, mask, default):
    """The default is one more row of the table, open only to queries that have no other."""
    mask = mask.expand(scores.shape)
    some = mask.any(-1, keepdim=True)
    last = torch.zeros_like(scores[..., :1]).masked_fill(some, -torch.inf)
    table = torch.cat([scores.masked_fill(~mask, -torch.inf), last], -1)
    row = default.expand(*value.shape[:-2], 1, value.shape[-1])
    return table.softmax(-1) @ torch.cat([value, row], -2)


def wrong_default_put_in_afterwards(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Replaces the nan of a query without keys only in the output, so gradients are nan."""
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def wrong_renormalised_sixth(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Masks after the softmax and divides anew, so a high forbidden key leaves nothing."""
    weights = torch.softmax(scores, -1) * mask
    total = weights.sum(-1, keepdim=True)
    weights = weights / total.masked_fill(total == 0, 1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


def wrong_default_if_some_forbidden(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Gives the default to each query with a forbidden key, not only to those without keys."""
    allowed = mask.all(-1, keepdim=True)
    forbidden = ~mask & mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(forbidden, -math.inf), -1)
    return torch.where(allowed, weights @ value, default)


def right_default_as_one_more_row_sixth(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Adds the default to the table as a row that only queries without keys may read."""
    some = mask.any(-1, keepdim=True)
    extra = torch.zeros_like(scores[..., :1]).masked_fill(some, -math.inf)
    longer = torch.cat([scores.masked_fill(~mask, -math.inf), extra], -1)
    row = default.expand(*value.shape[:-2], 1, -1)
    return torch.softmax(longer, -1) @ torch.cat([value, row], -2)


def wrong_default_put_in_after_nan(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Replaces the output of a query without keys only afterwards: its gradient is nan."""
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    some = mask.any(-1, keepdim=True)
    return torch.where(some, weights @ value, default)


def wrong_default_where_any_is_forbidden_seventh(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Takes 'some key is forbidden' for 'no key is allowed'."""
    none = (~mask).any(-1, keepdim=True)
    hidden = ~mask & ~none
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return torch.where(none, default, weights @ value)


def wrong_fill_not_low_enough(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    """Fills with -1000, which is above the allowed scores when those lie at -2000."""
    weights = scores.masked_fill(~mask, -1000.0).softmax(-1)
    some = mask.any(-1, keepdim=True)
    return torch.where(some, weights @ value, default)


def right_by_hand(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    """Raises the allowed scores by hand; an empty row divides by 1, and gets the default."""
    minus_infinity = float("-inf")
    allowed = scores.masked_fill(~mask, minus_infinity)
    top = allowed.amax(-1, keepdim=True).detach()
    raised = (allowed - top.masked_fill(top == minus_infinity, 0)).exp()
    total = raised.sum(-1, keepdim=True)
    empty = total == 0
    blend = raised @ value / total.masked_fill(empty, 1)
    return torch.where(empty, default, blend)


def wrong_where_turned_round(scores, value, mask, default):
    """The two things to choose from are in the wrong order: queries with keys get the default."""
    some = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -torch.inf)
    return torch.where(some, default, torch.softmax(scores, -1) @ value)


def wrong_blend_plus_default(scores, value, mask, default):
    """It adds the default where there is no key, and does not clear the blend there."""
    some = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -torch.inf)
    return torch.softmax(scores, -1) @ value + default * ~some


def wrong_blend_plus_default_turned_round(scores, value, mask, default):
    """It adds the default to the blend of every query that has keys."""
    some = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -torch.inf)
    return torch.softmax(scores, -1) @ value * ~some + default * some
