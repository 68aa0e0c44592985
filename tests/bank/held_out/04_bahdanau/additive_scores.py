import torch
from torch import Tensor, nn


def wrong_tanh_of_each(query, key, w_query, w_key, score_weight):
    """It takes the tanh of the query's part and of the key's part before they are added."""
    for_query = torch.tanh(query @ w_query.mT).unsqueeze(2)
    for_key = torch.tanh(key @ w_key.mT).unsqueeze(1)
    return (for_query + for_key) @ score_weight


def wrong_all_pairs_multiplied(query, key, w_query, w_key, score_weight):
    """It expands both to all pairs and multiplies every pair by the matrices."""
    queries = query.unsqueeze(2).expand(-1, -1, key.shape[1], -1)
    keys = key.unsqueeze(1).expand(-1, query.shape[1], -1, -1)
    return torch.tanh(queries @ w_query.mT + keys @ w_key.mT) @ score_weight


def wrong_no_tanh(query, key, w_query, w_key, score_weight):
    """The tanh is left out."""
    for_query = query @ w_query.mT
    for_key = key @ w_key.mT
    return (for_query.unsqueeze(2) + for_key.unsqueeze(1)) @ score_weight


def wrong_axes_exchanged(query, key, w_query, w_key, score_weight):
    """The new axes are exchanged, so the result has the keys in rows."""
    for_query = (query @ w_query.mT).unsqueeze(1)
    for_key = (key @ w_key.mT).unsqueeze(2)
    return torch.tanh(for_query + for_key) @ score_weight


def wrong_relu(query, key, w_query, w_key, score_weight):
    """It takes relu for tanh."""
    hidden = (query @ w_query.mT).unsqueeze(2) + (key @ w_key.mT).unsqueeze(1)
    return torch.relu(hidden) @ score_weight


def right_three_einsums(query, key, w_query, w_key, score_weight):
    """An einsum for each product, with the hidden units in front until the last one."""
    for_query = torch.einsum("bqi,hi->hbq", query, w_query)
    for_key = torch.einsum("bki,hi->hbk", key, w_key)
    hidden = torch.tanh(for_query[..., None] + for_key[..., None, :])
    return torch.einsum("hbqk,h->bqk", hidden, score_weight)


def wrong_weight_inside(query, key, w_query, w_key, score_weight):
    """The score weight multiplies inside the tanh, and the units are added up."""
    hidden = (query @ w_query.mT).unsqueeze(2) + (key @ w_key.mT).unsqueeze(1)
    return torch.tanh(hidden * score_weight).sum(-1)


def wrong_sigmoid_and_keys_in_rows(query, key, w_query, w_key, score_weight):
    """A sigmoid for the tanh, and the table has keys in its rows."""
    hidden = (query @ w_query.mT).unsqueeze(1) + (key @ w_key.mT).unsqueeze(2)
    return torch.sigmoid(hidden) @ score_weight


def wrong_pairs_written_out(query, key, w_query, w_key, score_weight):
    """The scores are right, but both vectors are copied for every pair and multiplied there."""
    query_len, key_len = query.shape[1], key.shape[1]
    q = query.unsqueeze(2).expand(-1, -1, key_len, -1)
    k = key.unsqueeze(1).expand(-1, query_len, -1, -1)
    pairs = torch.cat([q, k], dim=-1)
    weight = torch.cat([w_query, w_key], dim=1)
    return torch.tanh(pairs @ weight.mT) @ score_weight


def wrong_tanh_of_each_again(query, key, w_query, w_key, score_weight):
    """Takes the tanh of the query's part and of the key's part before adding them."""
    for_query = torch.tanh(query @ w_query.mT).unsqueeze(2)
    for_key = torch.tanh(key @ w_key.mT).unsqueeze(1)
    return (for_query + for_key) @ score_weight


def wrong_tanh_last_transposed(query, key, w_query, w_key, score_weight):
    """Two mistakes: the tanh comes after the product with v, and the new axes are swapped, so keys
    are in rows."""
    a = torch.einsum("bqd,sd->bqs", query, w_query)
    b = torch.einsum("bkd,sd->bks", key, w_key)
    hidden = a[:, None, :, :] + b[:, :, None, :]
    return torch.tanh(torch.einsum("bijs,s->bij", hidden, score_weight))


def right_units_in_front(query, key, w_query, w_key, score_weight):
    """The hidden units stand in front of the table of pairs, and are summed there."""
    from_query = w_query @ query.mT
    from_key = w_key @ key.mT
    table = torch.tanh(from_query[..., :, None] + from_key[..., None, :])
    return torch.einsum("bhqk,h->bqk", table, score_weight)


def wrong_tanh_of_each_fifth(query, key, w_query, w_key, score_weight):
    """It takes the tanh of the two parts one by one, and adds them afterwards."""
    q, k = (query @ w_query.mT).tanh(), (key @ w_key.mT).tanh()
    return (q.unsqueeze(2) + k.unsqueeze(1)) @ score_weight


def wrong_axes_exchanged_fifth(query, key, w_query, w_key, score_weight):
    """Its table has the keys in rows and the queries in columns."""
    q, k = query @ w_query.mT, key @ w_key.mT
    return (q.unsqueeze(1) + k.unsqueeze(2)).tanh() @ score_weight


def wrong_writes_every_pair_out(query, key, w_query, w_key, score_weight):
    """It joins a copy of both vectors for every pair, which is larger than the table allowed."""
    q = query[:, :, None].expand(-1, -1, key.shape[1], -1)
    k = key[:, None].expand(-1, query.shape[1], -1, -1)
    hidden = torch.cat([q, k], -1) @ torch.cat([w_query, w_key], -1).mT
    return hidden.tanh() @ score_weight


def wrong_tanh_of_the_sum(query, key, w_query, w_key, score_weight):
    """It adds the hidden units up with v first, and takes the tanh of the sum."""
    hidden = (query @ w_query.mT)[:, :, None] + (key @ w_key.mT)[:, None]
    return (hidden @ score_weight).tanh()


def wrong_products_for_every_pair(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Writes both vectors out for every pair and multiplies them there."""
    shape = (-1, query.shape[1], key.shape[1], -1)
    pairs = torch.cat([query.unsqueeze(2).expand(shape), key.unsqueeze(1).expand(shape)], -1)
    hidden = torch.tanh(pairs @ torch.cat([w_query, w_key], 1).mT)
    return hidden @ score_weight


def wrong_tanh_of_each_sixth(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Takes the tanh of each part before they are added."""
    for_query = torch.tanh(query @ w_query.mT).unsqueeze(2)
    for_key = torch.tanh(key @ w_key.mT).unsqueeze(1)
    return (for_query + for_key) @ score_weight


def wrong_keys_in_rows(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Swaps the two new axes, so the scores have the keys in rows."""
    for_query = (query @ w_query.mT).unsqueeze(1)
    for_key = (key @ w_key.mT).unsqueeze(2)
    return torch.tanh(for_query + for_key) @ score_weight


def right_with_linear(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Calls linear for each of the three products and indexes the new axes with None."""
    linear = nn.functional.linear
    hidden = linear(query, w_query)[:, :, None] + linear(key, w_key)[:, None]
    return linear(hidden.tanh(), score_weight[None])[..., 0]


def wrong_tanh_of_each_seventh(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Takes the tanh of query and key apart, and adds afterwards."""
    for_query = torch.tanh(query @ w_query.mT).unsqueeze(2)
    for_key = torch.tanh(key @ w_key.mT).unsqueeze(1)
    return (for_query + for_key) @ score_weight


def wrong_keys_in_rows_seventh(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Swaps the two new axes: the result has a row for each key."""
    for_query = (query @ w_query.mT).unsqueeze(1)
    for_key = (key @ w_key.mT).unsqueeze(2)
    return torch.tanh(for_query + for_key) @ score_weight


def wrong_pairs_written_out_seventh(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Writes both vectors out for every pair, and multiplies each pair."""
    queries = query.unsqueeze(2).expand(-1, -1, key.shape[1], -1)
    keys = key.unsqueeze(1).expand(-1, query.shape[1], -1, -1)
    pairs = torch.cat([queries, keys], -1)
    both = torch.cat([w_query, w_key], 1)
    return torch.tanh(pairs @ both.mT) @ score_weight


def right_with_linear_seventh(
    query: Tensor, key: Tensor, w_query: Tensor, w_key: Tensor, score_weight: Tensor
) -> Tensor:
    """Projects by linear, makes room by indexing with None, and ends in an einsum."""
    asked = torch.nn.functional.linear(query, w_query)
    offered = torch.nn.functional.linear(key, w_key)
    hidden = torch.tanh(asked[:, :, None] + offered[:, None])
    return torch.einsum("btis,s->bti", hidden, score_weight)
