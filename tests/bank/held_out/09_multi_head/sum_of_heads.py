import math

import torch
from torch import Tensor


def wrong_mean_of_heads(query, key, value, w_query, w_key, w_value, w_output):
    """The heads are averaged, not added up."""
    outputs = []
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, -1)
        outputs.append(weights @ values @ w_output[j])
    return torch.stack(outputs).mean(0)


def wrong_width_of_a_token(query, key, value, w_query, w_key, w_value, w_output):
    """It divides by the root of the width of a token, not of a head."""
    output = 0
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / query.shape[-1] ** 0.5, -1)
        output = output + weights @ values @ w_output[j]
    return output


def wrong_last_head_only(query, key, value, w_query, w_key, w_value, w_output):
    """The output is overwritten at each turn, so only the last head is heard."""
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, -1)
        output = weights @ values @ w_output[j]
    return output


def wrong_printed_key(query, key, value, w_query, w_key, w_value, w_output):
    """Read as printed: query i meets key i alone, whose weight is 1."""
    output = 0
    for j in range(len(w_query)):
        output = output + value[..., : query.shape[-2], :] @ w_value[j] @ w_output[j]
    return output


def wrong_not_scaled(query, key, value, w_query, w_key, w_value, w_output):
    """The root of the width is forgotten."""
    output = 0
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        output = output + torch.softmax(queries @ keys.mT, -1) @ values @ w_output[j]
    return output


def wrong_softmax_over_queries(query, key, value, w_query, w_key, w_value, w_output):
    """The softmax runs over the queries."""
    output = 0
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, -2)
        output = output + weights @ values @ w_output[j]
    return output


def right_all_heads_in_einsums(query, key, value, w_query, w_key, w_value, w_output):
    """No loop: the scores from matrices joined first, and the values multiplied through."""
    between = torch.einsum("hqd,hkd->hqk", w_query, w_key) / w_query.shape[-1] ** 0.5
    scores = torch.einsum("...ia,hab,...jb->h...ij", query, between, key)
    through = torch.einsum("...ja,hab,hbm->h...jm", value, w_value, w_output)
    return (scores.softmax(-1) @ through).sum(0)


def wrong_root_of_token_width(query, key, value, w_query, w_key, w_value, w_output):
    """Divides by the root of the width of the tokens, not of a head."""
    output = 0
    for j in range(w_query.shape[0]):
        q, k, v = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        scores = q @ k.mT / math.sqrt(query.shape[-1])
        output = output + torch.softmax(scores, dim=-1) @ v @ w_output[j]
    return output


def wrong_plain_exp(query, key, value, w_query, w_key, w_value, w_output):
    """Takes exp of the scores without subtracting the maximum, which overflows for scores in the
    hundreds."""
    total = None
    for wq, wk, wv, wo in zip(w_query, w_key, w_value, w_output):
        queries = query @ wq
        keys = key @ wk
        powers = torch.exp(queries @ keys.mT / keys.shape[-1] ** 0.5)
        weights = powers / powers.sum(dim=-1, keepdim=True)
        head = weights @ (value @ wv) @ wo
        total = head if total is None else total + head
    return total


def wrong_mean_and_no_scale(query, key, value, w_query, w_key, w_value, w_output):
    """Two mistakes: the mean over the heads instead of the sum, and no scaling of the scores."""
    heads = []
    for j in range(len(w_query)):
        scores = (query @ w_query[j]) @ (key @ w_key[j]).transpose(-2, -1)
        weights = scores.softmax(dim=-1)
        heads.append(weights @ (value @ w_value[j]) @ w_output[j])
    return torch.stack(heads).mean(dim=0)


def right_all_heads_by_einsum(query, key, value, w_query, w_key, w_value, w_output):
    """No loop: an axis for the heads everywhere, and one einsum that mixes and adds."""
    q = torch.einsum("...ia,had->...hid", query, w_query)
    k = torch.einsum("...jb,hbd->...hjd", key, w_key)
    v = torch.einsum("...jc,hce->...hje", value, w_value)
    scores = torch.einsum("...hid,...hjd->...hij", q, k)
    weights = torch.softmax(scores / math.sqrt(w_query.shape[-1]), dim=-1)
    heads = torch.einsum("...hij,...hje->...hie", weights, v)
    return torch.einsum("...hie,hem->...im", heads, w_output)


def wrong_mean_of_heads_fifth(query, key, value, w_query, w_key, w_value, w_output):
    """It takes the mean over the heads."""
    found = []
    for wq, wk, wv, wo in zip(w_query, w_key, w_value, w_output, strict=True):
        q, k = query @ wq, key @ wk
        found.append((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ (value @ wv) @ wo)
    return torch.stack(found).mean(0)


def wrong_first_head_only(query, key, value, w_query, w_key, w_value, w_output):
    """It returns within the loop, after the first head."""
    for wq, wk, wv, wo in zip(w_query, w_key, w_value, w_output, strict=True):
        q, k = query @ wq, key @ wk
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ (value @ wv) @ wo


def wrong_mean_of_heads_sixth(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Returns the mean of what the heads bring, not the sum."""
    outputs = []
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1)
        outputs.append(weights @ values @ w_output[j])
    return torch.stack(outputs).mean(0)


def wrong_exp_overflows(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Writes the softmax out as exp over its sum, which overflows for large scores."""
    output = 0
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        powers = torch.exp(queries @ keys.mT / queries.shape[-1] ** 0.5)
        weights = powers / powers.sum(-1, keepdim=True)
        output = output + weights @ values @ w_output[j]
    return output


def wrong_width_of_tokens(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Divides by the root of the width of the tokens, not of the head's queries."""
    output = 0
    for j in range(len(w_query)):
        queries, keys, values = query @ w_query[j], key @ w_key[j], value @ w_value[j]
        weights = torch.softmax(queries @ keys.mT / query.shape[-1] ** 0.5, dim=-1)
        output = output + weights @ values @ w_output[j]
    return output


def right_all_heads_at_once(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Gives the tokens an axis for heads, and sums over it at the end."""
    queries = query.unsqueeze(-3) @ w_query / w_query.shape[-1] ** 0.5
    keys, values = key.unsqueeze(-3) @ w_key, value.unsqueeze(-3) @ w_value
    weights = torch.softmax(queries @ keys.mT, dim=-1)
    return (weights @ values @ w_output).sum(-3)


def wrong_root_of_d_query(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Divides by the root of the width of a token, not of one head's query."""
    output = 0
    for of_query, of_key, of_value, of_output in zip(w_query, w_key, w_value, w_output):
        queries, keys, values = (
            query @ of_query,
            key @ of_key,
            value @ of_value,
        )
        weights = torch.softmax(queries @ keys.mT / query.shape[-1] ** 0.5, dim=-1)
        output = output + weights @ values @ of_output
    return output


def wrong_powers_overflow(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Writes the softmax out without subtracting a maximum; scores in the hundreds overflow."""
    output = 0
    for of_query, of_key, of_value, of_output in zip(w_query, w_key, w_value, w_output):
        queries, keys, values = (
            query @ of_query,
            key @ of_key,
            value @ of_value,
        )
        powers = torch.exp(queries @ keys.mT / queries.shape[-1] ** 0.5)
        weights = powers / powers.sum(-1, keepdim=True)
        output = output + weights @ values @ of_output
    return output


def wrong_last_head_only_seventh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Every head overwrites the output of the one before, where they should be added."""
    for j in range(len(w_query)):
        queries, keys, values = (
            query @ w_query[j],
            key @ w_key[j],
            value @ w_value[j],
        )
        weights = torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1)
        output = weights @ values @ w_output[j]
    return output


def right_all_heads_at_once_seventh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
) -> Tensor:
    """Gives the tokens an axis for heads, which broadcasts, and sums over it in the end."""
    queries = query.unsqueeze(-3) @ w_query / w_query.shape[-1] ** 0.5
    keys, values = key.unsqueeze(-3) @ w_key, value.unsqueeze(-3) @ w_value
    weights = torch.softmax(queries @ keys.mT, dim=-1)
    return torch.einsum("...hqv,hvm->...qm", weights @ values, w_output)


def wrong_all_heads_at_once(query, key, value, w_query, w_key, w_value, w_output):
    """The first axis of the matrices, the heads, meets the batch."""
    queries, keys, values = query @ w_query, key @ w_key, value @ w_value
    weights = (queries @ keys.mT / keys.shape[-1] ** 0.5).softmax(-1)
    return (weights @ values @ w_output).sum(-3)


def wrong_all_heads_at_once_from_the_front(query, key, value, w_query, w_key, w_value, w_output):
    """Likewise, with a sum over the first axis."""
    queries, keys, values = query @ w_query, key @ w_key, value @ w_value
    weights = torch.softmax(queries @ keys.transpose(-1, -2) / keys.shape[-1] ** 0.5, dim=-1)
    return (weights @ values @ w_output).sum(0)


def wrong_value_overwritten(query, key, value, w_query, w_key, w_value, w_output):
    """The output of a head is kept in value, which the next head reads."""
    total = 0
    for wq, wk, wv, wo in zip(w_query, w_key, w_value, w_output):
        weights = torch.softmax((query @ wq) @ (key @ wk).mT / wq.shape[-1] ** 0.5, -1)
        value = value @ wv
        total = total + weights @ value @ wo
    return total
