import torch
from torch import Tensor


def wrong_printed_signs(query, key):
    """The square of the query's length is added, as in the printed formula."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum(-1).unsqueeze(-2)
    return query @ key.mT + (of_query - of_key) / 2


def wrong_differences(query, key):
    """It makes the table of all differences."""
    return -0.5 * (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)


def wrong_roots_squared(query, key):
    """It takes the root of each square and squares it again, which is nan in the gradient at 0."""
    of_query = query.square().sum(-1, keepdim=True).sqrt() ** 2
    of_key = (key.square().sum(-1).sqrt() ** 2).unsqueeze(-2)
    return query @ key.mT - (of_query + of_key) / 2


def wrong_no_half(query, key):
    """The half is missing: it returns minus the squared distance."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum(-1).unsqueeze(-2)
    return 2 * query @ key.mT - of_query - of_key


def wrong_key_as_a_column(query, key):
    """The squares of the keys are a column, too."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum(-1, keepdim=True)
    return query @ key.mT - (of_query + of_key) / 2


def wrong_length_of_the_key(query, key):
    """The length of the key is not squared, as in the printed formula."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.norm(dim=-1).unsqueeze(-2)
    return query @ key.mT - (of_query + of_key) / 2


def right_from_both_sides(query, key):
    """It takes half of each length off in turn, lengths as the dot product with itself."""
    of_query = torch.linalg.vecdot(query, query)
    of_key = torch.linalg.vecdot(key, key)
    scores = torch.einsum("...qd,...kd->...qk", query, key)
    return scores.sub(of_query[..., :, None], alpha=0.5).sub(of_key[..., None, :], alpha=0.5)


def wrong_product_taken_off(query, key):
    """The dot product is taken off like the squares: the sign is wrong."""
    squares = query.square().sum(-1).unsqueeze(-1) + key.square().sum(-1).unsqueeze(-2)
    return -(squares / 2 + query @ key.mT)


def wrong_lengths_and_no_half(query, key):
    """Neither length is squared, and there is no half."""
    lengths = query.norm(dim=-1).unsqueeze(-1) + key.norm(dim=-1).unsqueeze(-2)
    return 2 * query @ key.mT - lengths


def wrong_all_differences(query, key):
    """Makes the table of all differences, d_key numbers for each pair."""
    diff = query.unsqueeze(-2) - key.unsqueeze(-3)
    return -0.5 * (diff**2).sum(dim=-1)


def wrong_root_and_square(query, key):
    """Takes the root of the sum of squares and squares it again, whose gradient is nan at a zero
    vector."""
    q_length = torch.sqrt((query**2).sum(-1, keepdim=True))
    k_length = torch.sqrt((key**2).sum(-1)).unsqueeze(-2)
    dots = query @ key.transpose(-1, -2)
    return dots - 0.5 * (q_length**2 + k_length**2)


def wrong_length_not_squared_and_no_half(query, key):
    """Two mistakes: corrects only the sign of the formula, so the key's length is not squared, and
    forgets the factor 1/2."""
    of_query = query.pow(2).sum(-1, keepdim=True)
    of_key = key.norm(dim=-1).unsqueeze(-2)
    return -of_query - of_key + 2 * query @ key.mT


def right_einsum_three_terms(query, key):
    """All three terms by einsum; the two lengths leave the table one after the other."""
    table = torch.einsum("...id,...jd->...ij", query, key)
    half_query = torch.einsum("...id,...id->...i", query, query) / 2
    half_key = torch.einsum("...jd,...jd->...j", key, key) / 2
    return (table - half_query[..., :, None]) - half_key[..., None, :]


def wrong_half_forgotten(query, key):
    """It leaves out the half."""
    q, k = query.square().sum(-1, keepdim=True), key.square().sum(-1)
    return 2 * query @ key.mT - q - k.unsqueeze(-2)


def wrong_norms_not_squared(query, key):
    """It takes the norms of both vectors where their squares belong."""
    q = query.square().sum(-1, keepdim=True)
    k = key.square().sum(-1)
    safe = [torch.where(n > 0, n, 1).sqrt().where(n > 0, 0) for n in (q, k)]
    return query @ key.mT - 0.5 * (safe[0] + safe[1].unsqueeze(-2))


def wrong_makes_all_differences(query: Tensor, key: Tensor) -> Tensor:
    """Right numbers, but from a tensor of all differences, d_key numbers for each pair."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    return -difference.square().sum(-1) / 2


def wrong_leaves_out_the_query(query: Tensor, key: Tensor) -> Tensor:
    """Drops the query's own term, which only a softmax over the keys would cancel."""
    of_key = key.square().sum(-1).unsqueeze(-2)
    return query @ key.mT - of_key / 2


def wrong_halves_the_squares_only(query: Tensor, key: Tensor) -> Tensor:
    """Halves the two squares, but leaves the 2 in front of the dot product."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum(-1).unsqueeze(-2)
    return 2 * query @ key.mT - (of_query + of_key) / 2


def right_products_alone(query: Tensor, key: Tensor) -> Tensor:
    """Takes the squares of the lengths as products of each vector with itself."""
    of_query = torch.einsum("...id,...id->...i", query, query)
    of_key = torch.einsum("...jd,...jd->...j", key, key)
    cross = torch.einsum("...id,...jd->...ij", query, key)
    return cross - 0.5 * of_query[..., :, None] - 0.5 * of_key[..., None, :]


def wrong_query_term_left_out(query: Tensor, key: Tensor) -> Tensor:
    """Leaves out the term of the query, which a softmax cancels but the distance needs."""
    of_key = key.square().sum(-1).unsqueeze(-2)
    return query @ key.mT - of_key / 2


def wrong_table_of_differences(query: Tensor, key: Tensor) -> Tensor:
    """Right numbers, but from all the differences: d_key numbers for each pair."""
    differences = query.unsqueeze(-2) - key.unsqueeze(-3)
    return -differences.square().sum(-1) / 2


def wrong_square_of_a_root(query: Tensor, key: Tensor) -> Tensor:
    """Takes the lengths by a root and squares them; the root has no derivative at zero."""
    of_query = query.square().sum(-1, keepdim=True).sqrt()
    of_key = key.square().sum(-1).sqrt().unsqueeze(-2)
    return query @ key.mT - (of_query**2 + of_key**2) / 2


def right_vecdot(query: Tensor, key: Tensor) -> Tensor:
    """Squares of lengths are dot products of a vector with itself, half of which goes off."""
    of_query = torch.linalg.vecdot(query, query).unsqueeze(-1)
    of_key = torch.linalg.vecdot(key, key).unsqueeze(-2)
    scores = torch.einsum("...id,...jd->...ij", query, key)
    return scores.sub(of_query, alpha=0.5).sub(of_key, alpha=0.5)


def wrong_sum_over_two_axes(query, key):
    """The squares of the keys are added up over the positions too."""
    of_query = query.square().sum(-1, keepdim=True)
    of_key = key.square().sum((-2, -1), keepdim=True)
    return query @ key.mT - (of_query + of_key) / 2


def wrong_both_sums_over_two_axes(query, key):
    """Likewise of both."""
    of_query = query.square().sum((-2, -1), keepdim=True)
    of_key = key.square().sum((-2, -1), keepdim=True)
    return query @ key.mT - (of_query + of_key) / 2


def wrong_sum_of_everything(query, key):
    """A sum without an axis, over all that there is."""
    return query @ key.mT - (query.square().sum() + key.square().sum()) / 2


def wrong_no_square_anywhere(query, key):
    """The root is taken."""
    return -(query.unsqueeze(-2) - key.unsqueeze(-3)).norm(dim=-1)
