import torch
from torch import Tensor


def wrong_plain_mean(weights, upstream):
    """It takes the plain mean of weights * upstream over the row, where the sum is asked."""
    mean = (weights * upstream).mean(-1, keepdim=True)
    return weights * (upstream - mean)


def wrong_in_place(weights, upstream):
    """It subtracts the mean from the caller's upstream in place."""
    upstream -= (weights * upstream).sum(-1, keepdim=True)
    return weights * upstream


def wrong_only_off_diagonal(weights, upstream):
    """It keeps only the terms -a_i a_j and forgets the a_i of the diagonal."""
    return -weights * (weights * upstream).sum(-1, keepdim=True)


def wrong_sum_over_all(weights, upstream):
    """It sums over all rows together instead of each row."""
    return weights * (upstream - (weights * upstream).sum())


def wrong_no_keepdim(weights, upstream):
    """The sums lack keepdim, so they line up with the columns."""
    return weights * (upstream - (weights * upstream).sum(-1))


def right_jacobian(weights, upstream):
    """It builds the whole Jacobian of each row, and multiplies by it."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    jacobian = torch.diag_embed(weights) - outer
    return (jacobian @ upstream.unsqueeze(-1)).squeeze(-1)


def right_pairs(weights, upstream):
    """It compares every key with every other: weights times the differences of upstream."""
    gap = upstream[..., :, None] - upstream[..., None, :]
    return weights * torch.einsum("...j,...ij->...i", weights, gap)


def wrong_mean_unweighted(weights, upstream):
    """The mean of the upstream is taken without the weights."""
    return weights * (upstream - upstream.mean(-1, keepdim=True))


def wrong_jacobian_of_one_row(weights, upstream):
    """The Jacobian is built by diag and outer, which know a single row only."""
    return (torch.diag(weights) - torch.outer(weights, weights)) @ upstream


def wrong_no_keepdim_again(weights, upstream):
    """The sum of each row is taken without keepdim, so it does not line up with the rows."""
    mean = (weights * upstream).sum(-1)
    return weights * (upstream - mean)


def wrong_plain_mean_again(weights, upstream):
    """Subtracts the plain mean of upstream instead of the mean weighted by the weights."""
    mean = upstream.mean(dim=-1, keepdim=True)
    return weights * (upstream - mean)


def wrong_sum_of_all_in_place(weights, upstream):
    """Two mistakes: one sum over all rows instead of one for each row, and upstream is changed in
    place."""
    dot = torch.sum(weights * upstream)
    upstream -= dot
    return weights * upstream


def right_jacobian_again(weights, upstream):
    """Builds the whole matrix of derivatives, diag(a) - a a^T, and multiplies by it."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    jacobian = torch.diag_embed(weights) - outer
    return (jacobian @ upstream.unsqueeze(-1)).squeeze(-1)


def wrong_sign_of_the_second_term(weights, upstream):
    """It adds the weighted mean of the upstream gradient where it should subtract it."""
    return weights * (upstream + (weights * upstream).sum(-1, keepdim=True))


def wrong_plain_mean_fifth(weights, upstream):
    """It subtracts the plain mean of the upstream gradient, not the weighted one."""
    return weights * (upstream - upstream.mean(-1, keepdim=True))


def wrong_only_own_score(weights, upstream):
    """It keeps only the diagonal, as the printed code does."""
    return weights * (1 - weights) * upstream


def wrong_sum_over_all_rows(weights, upstream):
    """It subtracts the sum over the whole tensor, where each row has a sum of its own."""
    return weights * (upstream - (weights * upstream).sum())


def wrong_plain_mean_sixth(weights: Tensor, upstream: Tensor) -> Tensor:
    """Compares with the plain mean of upstream, not with the mean under the weights."""
    return weights * (upstream - upstream.mean(-1, keepdim=True))


def wrong_weight_missing_before_the_sum(weights: Tensor, upstream: Tensor) -> Tensor:
    """Subtracts the sum without multiplying it by the weight of the score."""
    product = weights * upstream
    return product - product.sum(-1, keepdim=True)


def wrong_sum_over_all_rows_sixth(weights: Tensor, upstream: Tensor) -> Tensor:
    """Sums over the whole tensor, though each row has a softmax of its own."""
    return weights * (upstream - (weights * upstream).sum())


def right_by_the_jacobian(weights: Tensor, upstream: Tensor) -> Tensor:
    """Builds the matrix of derivatives of each row and multiplies upstream by it."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    jacobian = torch.diag_embed(weights) - outer
    return (jacobian @ upstream.unsqueeze(-1)).squeeze(-1)


def wrong_plain_mean_seventh(weights: Tensor, upstream: Tensor) -> Tensor:
    """Subtracts the plain mean of upstream, not the one weighted by the weights."""
    return weights * (upstream - upstream.mean(-1, keepdim=True))


def wrong_bracket(weights: Tensor, upstream: Tensor) -> Tensor:
    """Does not multiply the sum by the weights: a bracket is missing."""
    total = (weights * upstream).sum(-1, keepdim=True)
    return weights * upstream - total


def wrong_sum_over_all_rows_seventh(weights: Tensor, upstream: Tensor) -> Tensor:
    """Sums over all rows, though each row has a softmax of its own."""
    mean = (weights * upstream).sum()
    return weights * (upstream - mean)


def right_by_jacobian(weights: Tensor, upstream: Tensor) -> Tensor:
    """Builds the matrix of all derivatives, and multiplies upstream by it."""
    products = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    jacobian = torch.diag_embed(weights) - products
    return (jacobian @ upstream.unsqueeze(-1)).squeeze(-1)


def wrong_softmax_once_more(weights, upstream):
    """The weights are taken for scores, and go through the softmax again."""
    again = torch.softmax(weights, -1)
    return again * (upstream - (again * upstream).sum(-1, keepdim=True))
