import torch


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
