import torch
from torch import Tensor, nn
from torch.nn import functional


def wrong_blocks_swapped(query, key, weight, score_weight):
    """It takes the first columns for the key and the rest for the query."""
    d_key = key.shape[-1]
    from_key = key @ weight[:, :d_key].mT
    from_query = query @ weight[:, d_key:].mT
    return torch.tanh(from_query.unsqueeze(-2) + from_key.unsqueeze(-3)) @ score_weight


def wrong_table_of_pairs(query, key, weight, score_weight):
    """It writes every query out beside every key, joins them and multiplies every pair."""
    queries = query.unsqueeze(-2).expand(*query.shape[:-1], key.shape[-2], query.shape[-1])
    keys = key.unsqueeze(-3).expand(*query.shape[:-1], *key.shape[-2:])
    pairs = torch.cat([queries, keys], -1)
    return torch.tanh(pairs @ weight.mT) @ score_weight


def wrong_no_tanh(query, key, weight, score_weight):
    """The tanh is left out."""
    d_query = query.shape[-1]
    from_query = query @ weight[:, :d_query].mT
    from_key = key @ weight[:, d_query:].mT
    return (from_query.unsqueeze(-2) + from_key.unsqueeze(-3)) @ score_weight


def wrong_halves(query, key, weight, score_weight):
    """It cuts the matrix into two equal halves, whatever the widths are."""
    for_query, for_key = weight.chunk(2, -1)
    from_query = (query @ for_query.mT).unsqueeze(-2)
    from_key = (key @ for_key.mT).unsqueeze(-3)
    return torch.tanh(from_query + from_key) @ score_weight


def wrong_tanh_of_each(query, key, weight, score_weight):
    """It takes the tanh of each part before they are added."""
    d_query = query.shape[-1]
    from_query = torch.tanh(query @ weight[:, :d_query].mT)
    from_key = torch.tanh(key @ weight[:, d_query:].mT)
    return (from_query.unsqueeze(-2) + from_key.unsqueeze(-3)) @ score_weight


def right_unit_by_unit(query, key, weight, score_weight):
    """A loop over the hidden units, each of which makes one table of pairs."""
    for_query, for_key = weight.split([query.shape[-1], key.shape[-1]], dim=1)
    scores = 0
    for row_query, row_key, share in zip(for_query, for_key, score_weight, strict=True):
        column, row = (query @ row_query).unsqueeze(-1), (key @ row_key).unsqueeze(-2)
        scores = scores + share * torch.tanh(column + row)
    return scores


def wrong_softmax_at_the_end(query, key, weight, score_weight):
    """It returns the weights, the softmax of the scores."""
    left, right = weight.split([query.shape[-1], key.shape[-1]], -1)
    hidden = (query @ left.mT).unsqueeze(-2) + (key @ right.mT).unsqueeze(-3)
    return torch.softmax(torch.tanh(hidden) @ score_weight, -1)


def wrong_halves_and_no_tanh(query, key, weight, score_weight):
    """The weight is cut in the middle, and there is no tanh."""
    left, right = weight.chunk(2, -1)
    hidden = (query @ left.mT).unsqueeze(-2) + (key @ right.mT).unsqueeze(-3)
    return hidden @ score_weight


def wrong_cut_in_halves(query, key, weight, score_weight):
    """Cuts W in the middle, which is right only where query and key are equally wide."""
    w_query, w_key = weight.chunk(2, dim=-1)
    from_query = (query @ w_query.mT).unsqueeze(-2)
    from_key = (key @ w_key.mT).unsqueeze(-3)
    return torch.tanh(from_query + from_key) @ score_weight


def wrong_table_of_pairs_again(query, key, weight, score_weight):
    """The scores are right, but every query is written out beside every key and multiplied
    there."""
    *batch, query_len, d_query = query.shape
    key_len, d_key = key.shape[-2:]
    q = query.unsqueeze(-2).expand(*batch, query_len, key_len, d_query)
    k = key.unsqueeze(-3).expand(*batch, query_len, key_len, d_key)
    hidden = torch.tanh(torch.cat([q, k], dim=-1) @ weight.T)
    return (hidden * score_weight).sum(-1)


def wrong_key_first_fixed_axes(query, key, weight, score_weight):
    """Two mistakes: gives the first columns of W to the key, and unsqueeze counts from the front,
    so only one batch axis works."""
    d_key = key.shape[-1]
    for_key = key @ weight[:, :d_key].T
    for_query = query @ weight[:, d_key:].T
    hidden = torch.tanh(for_query.unsqueeze(2) + for_key.unsqueeze(1))
    return hidden @ score_weight


def right_split_and_linear(query, key, weight, score_weight):
    """Split W by the two widths, layers by functional.linear, the last one with a single output."""
    widths = query.shape[-1], key.shape[-1]
    w_query, w_key = weight.split(widths, 1)
    from_query = functional.linear(query, w_query)
    from_key = functional.linear(key, w_key)
    table = from_query[..., :, None, :] + from_key[..., None, :, :]
    return functional.linear(table.tanh(), score_weight[None])[..., 0]


def wrong_halves_exchanged(query, key, weight, score_weight):
    """It takes the last columns for the query."""
    d = key.shape[-1]
    k, q = key @ weight[:, :d].mT, query @ weight[:, d:].mT
    return (q.unsqueeze(-2) + k.unsqueeze(-3)).tanh() @ score_weight


def wrong_no_tanh_fifth(query, key, weight, score_weight):
    """It leaves out the tanh."""
    d = query.shape[-1]
    q, k = query @ weight[:, :d].mT, key @ weight[:, d:].mT
    return (q.unsqueeze(-2) + k.unsqueeze(-3)) @ score_weight


def wrong_cuts_in_the_middle(query, key, weight, score_weight):
    """It cuts the matrix in the middle, which fails where query and key differ in width."""
    w_query, w_key = weight.chunk(2, -1)
    hidden = (query @ w_query.mT).unsqueeze(-2) + (key @ w_key.mT).unsqueeze(-3)
    return hidden.tanh() @ score_weight


def wrong_writes_every_pair_out(query, key, weight, score_weight):
    """It joins every query with every key, which makes the table that was to be avoided."""
    sizes = (*query.shape[:-1], key.shape[-2])
    q = query.unsqueeze(-2).expand(*sizes, -1)
    k = key.unsqueeze(-3).expand(*sizes, -1)
    return (torch.cat([q, k], -1) @ weight.mT).tanh() @ score_weight


def wrong_cut_in_halves_sixth(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Cuts the weight in the middle, which is wrong unless both vectors are equally wide."""
    for_query, for_key = weight.chunk(2, -1)
    from_query = (query @ for_query.mT).unsqueeze(-2)
    from_key = (key @ for_key.mT).unsqueeze(-3)
    return torch.tanh(from_query + from_key) @ score_weight


def wrong_table_of_pairs_sixth(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Joins every query with every key before it multiplies."""
    query, key = query.unsqueeze(-2), key.unsqueeze(-3)
    every_query = query.expand(*query.shape[:-2], key.shape[-2], -1)
    every_key = key.expand(*key.shape[:-3], query.shape[-3], -1, -1)
    pairs = torch.cat([every_query, every_key], -1)
    return torch.tanh(pairs @ weight.mT) @ score_weight


def wrong_tanh_of_the_score(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Takes the tanh after the hidden units have been added up."""
    d_query = query.shape[-1]
    from_query = (query @ weight[:, :d_query].mT).unsqueeze(-2)
    from_key = (key @ weight[:, d_query:].mT).unsqueeze(-3)
    return torch.tanh((from_query + from_key) @ score_weight)


def right_split_and_linear_sixth(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Splits the weight by the two widths and lets linear do the products."""
    for_query, for_key = weight.split([query.shape[-1], key.shape[-1]], 1)
    from_query = nn.functional.linear(query, for_query)[..., :, None, :]
    from_key = nn.functional.linear(key, for_key)[..., None, :, :]
    return nn.functional.linear((from_query + from_key).tanh(), score_weight[None]).squeeze(-1)


def wrong_key_columns_first(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Gives the first columns of the weight to the key, and the rest to the query."""
    d_key = key.shape[-1]
    for_key, for_query = weight[:, :d_key], weight[:, d_key:]
    from_query = (query @ for_query.mT).unsqueeze(-2)
    from_key = (key @ for_key.mT).unsqueeze(-3)
    return torch.tanh(from_query + from_key) @ score_weight


def wrong_tanh_at_the_end(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Takes the tanh after the product with v, not before it."""
    d_query = query.shape[-1]
    from_query = (query @ weight[:, :d_query].mT).unsqueeze(-2)
    from_key = (key @ weight[:, d_query:].mT).unsqueeze(-3)
    return torch.tanh((from_query + from_key) @ score_weight)


def wrong_one_batch_axis_only(
    query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor
) -> Tensor:
    """Counts the new axes from the front, which is right for one batch axis only."""
    d_query = query.shape[-1]
    from_query = (query @ weight[:, :d_query].mT).unsqueeze(2)
    from_key = (key @ weight[:, d_query:].mT).unsqueeze(1)
    return torch.tanh(from_query + from_key) @ score_weight


def right_by_split(query: Tensor, key: Tensor, weight: Tensor, score_weight: Tensor) -> Tensor:
    """Splits the weight, projects by linear, and ends in an einsum."""
    sizes = [query.shape[-1], key.shape[-1]]
    for_query, for_key = weight.split(sizes, 1)
    asked = torch.nn.functional.linear(query, for_query)
    offered = torch.nn.functional.linear(key, for_key)
    hidden = asked[..., :, None, :] + offered[..., None, :, :]
    return torch.einsum("...s,s->...", hidden.tanh(), score_weight)


def wrong_one_column_short(query, key, weight, score_weight):
    """The query's columns end one too early, and its last number is left out."""
    d = query.shape[-1]
    for_query = query[..., : d - 1] @ weight[:, : d - 1].mT
    for_key = key @ weight[:, d:].mT
    return torch.tanh(for_query.unsqueeze(-2) + for_key.unsqueeze(-3)) @ score_weight


def wrong_cut_one_too_early(query, key, weight, score_weight):
    """Both parts are cut one column too early."""
    d = query.shape[-1] - 1
    for_query = query[..., :d] @ weight[:, :d].mT
    for_key = key @ weight[:, d : d + key.shape[-1]].mT
    return torch.tanh(for_query.unsqueeze(-2) + for_key.unsqueeze(-3)) @ score_weight


def wrong_tanh_of_the_query_part(query, key, weight, score_weight):
    """A bracket closes too early: the key's part does not go through tanh."""
    d = query.shape[-1]
    for_query = (query @ weight[:, :d].mT).unsqueeze(-2)
    for_key = (key @ weight[:, d:].mT).unsqueeze(-3)
    return (torch.tanh(for_query) + for_key) @ score_weight


def wrong_tanh_of_the_key_part(query, key, weight, score_weight):
    """The query's part does not go through tanh."""
    d = query.shape[-1]
    for_query = (query @ weight[:, :d].mT).unsqueeze(-2)
    for_key = (key @ weight[:, d:].mT).unsqueeze(-3)
    return (for_query + torch.tanh(for_key)) @ score_weight
