import math

import torch
from torch import Tensor


def wrong_not_itself(query, key, value, real):
    """A token may not look at itself: the triangle leaves out the diagonal."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2])
    seen = (place < place.unsqueeze(-1)) & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights @ value


def wrong_padding_hears_nothing(query, key, value, real):
    """A token that is padding gets zeros as a query."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2])
    seen = (place <= place.unsqueeze(-1)) & real.unsqueeze(-2) & real.unsqueeze(-1)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights @ value


def wrong_nan_to_num(query, key, value, real):
    """The nan of an empty row is replaced in the output, and comes back in the gradient."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril() & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return (weights @ value).nan_to_num(0.0)


def wrong_fill_dropped(query, key, value, real):
    """The result of masked_fill for the padding is dropped, so padding is looked at."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(later, -torch.inf)
    scores.masked_fill(~real.unsqueeze(-2), -torch.inf)
    return torch.softmax(scores, -1) @ value


def wrong_looks_ahead(query, key, value, real):
    """It keeps the upper triangle, so a token sees itself and what comes later."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).triu() & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights @ value


def wrong_mean_of_all(query, key, value, real):
    """It fills with -1e9 and does not empty the rows that see nobody: they get a mean."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril() & real.unsqueeze(-2)
    return torch.softmax(scores.masked_fill(~seen, -1e9), -1) @ value


def wrong_one_mask_is_enough(query, key, value, real):
    """A key that passes one of the two masks is seen: `|` for `&`."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril() | real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights @ value


def wrong_no_root(query, key, value, real):
    """The scores are not divided by the root of the width."""
    scores = query @ key.mT
    seen = torch.ones_like(scores, dtype=torch.bool).tril() & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights @ value


def right_place_by_place(query, key, value, real):
    """A loop over the places, each asking only a slice; empty rows are computed on safe scores."""
    heard = []
    for end in range(1, query.shape[-2] + 1):
        keys, values, allowed = key[..., :end, :], value[..., :end, :], real[..., :end]
        asked = query[..., end - 1 : end, :] * query.shape[-1] ** -0.5
        scores = (asked * keys).sum(-1)
        some = allowed.any(-1, keepdim=True)
        weights = torch.where(allowed | ~some, scores, -torch.inf).softmax(-1)
        weights = torch.where(allowed & some, weights, torch.zeros_like(weights))
        heard.append((weights.unsqueeze(-1) * values).sum(-2))
    return torch.stack(heard, -2)


def wrong_upper_triangle(query, key, value, real):
    """The triangle is the upper one: a token sees itself and what comes later."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).triu() & real.unsqueeze(-2)
    some = seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~seen & some, -torch.inf), -1)
    return torch.where(seen, weights, 0) @ value


def wrong_no_root_and_padding_as_a_query(query, key, value, real):
    """Nothing is scaled, and the padding is hidden as a query, not as a key."""
    scores = query @ key.mT
    seen = torch.ones_like(scores, dtype=torch.bool).tril() & real.unsqueeze(-1)
    some = seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~seen & some, -torch.inf), -1)
    return torch.where(seen, weights, 0) @ value


def wrong_hides_itself(query, key, value, real):
    """Forbids triu with its diagonal, so that a token does not see itself."""
    length = query.shape[-2]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    later = torch.triu(torch.ones(length, length, dtype=torch.bool))
    hidden = later | ~real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    weights = weights.masked_fill(hidden, 0.0)
    return weights @ value


def wrong_empty_row_is_a_mean(query, key, value, real):
    """Hides with -1e9 and stops there, so a row that sees nothing gets the mean of all values
    instead of 0."""
    length = key.size(-2)
    place = torch.arange(length)
    seen = (place <= place.unsqueeze(-1)) & real.unsqueeze(-2)
    scores = torch.matmul(query, key.transpose(-1, -2)) / key.size(-1) ** 0.5
    scores = scores.masked_fill(~seen, -1e9)
    return torch.matmul(scores.softmax(dim=-1), value)


def wrong_padding_as_query_and_late_nan(query, key, value, real):
    """Two mistakes: hides padding as queries (rows) and not as keys, and replaces nan only in the
    output, so gradients are nan."""
    d_key = query.shape[-1]
    scores = query @ key.transpose(-2, -1) / d_key**0.5
    causal = torch.ones_like(scores, dtype=torch.bool).tril()
    mask = causal & real.unsqueeze(-1)
    scores = scores.masked_fill(~mask, float("-inf"))
    output = torch.softmax(scores, dim=-1) @ value
    return torch.nan_to_num(output)


def right_place_by_place_again(query, key, value, real):
    """Loops over the places of the queries and cuts off the future, so no triangle is needed."""
    root = math.sqrt(key.shape[-1])
    heard = []
    for place in range(query.shape[-2]):
        end = place + 1
        asks = query[..., place, :].unsqueeze(-1)
        scores = (key[..., :end, :] @ asks).squeeze(-1) / root
        hidden = ~real[..., :end]
        scores = scores.masked_fill(hidden, float("-inf"))
        weights = scores.softmax(-1).masked_fill(hidden, 0)
        heard.append((weights.unsqueeze(-1) * value[..., :end, :]).sum(-2))
    return torch.stack(heard, dim=-2)


def wrong_mask_on_queries(query, key, value, real):
    """It silences the queries at padding and lets the keys at padding answer."""
    seen = torch.ones(key.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    seen = seen & real.unsqueeze(-1)
    none = ~seen.any(-1, keepdim=True)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    return weights.masked_fill(~seen, 0) @ value


def wrong_zero_output_at_padding(query, key, value, real):
    """It sets the output to 0 at the places of padding."""
    seen = torch.ones(key.shape[-2], key.shape[-2], dtype=torch.bool).tril()
    seen = seen & real.unsqueeze(-2)
    none = ~seen.any(-1, keepdim=True)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    return weights.masked_fill(~seen, 0) @ value * real.unsqueeze(-1)


def wrong_not_itself_sixth(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Lets a token look at the ones before it only, and not at itself."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2], device=real.device)
    seen = (place < place.unsqueeze(-1)) & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0) @ value


def wrong_padding_gets_zeros(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Returns zeros at the places of padding, which should ask like any token."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2], device=real.device)
    seen = place <= place.unsqueeze(-1)
    seen = seen & real.unsqueeze(-2) & real.unsqueeze(-1)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0) @ value


def wrong_replaces_nan_at_the_end(
    query: Tensor, key: Tensor, value: Tensor, real: Tensor
) -> Tensor:
    """Turns nan into 0 in the output, when it is already in the gradient of the values."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2], device=real.device)
    seen = (place <= place.unsqueeze(-1)) & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return torch.nan_to_num(weights @ value)


def right_powers(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Blends by powers against the highest seen score, and divides by their sum last."""
    scores = query / query.shape[-1] ** 0.5 @ key.mT
    seen = real.unsqueeze(-2).expand(scores.shape).tril()
    scores = scores.masked_fill(~seen, -torch.inf)
    lowest = torch.finfo(scores.dtype).min
    highest = scores.detach().amax(-1, keepdim=True).clamp_min(lowest)
    powers = torch.exp(scores - highest)
    total = powers.sum(-1, keepdim=True).clamp_min(1)  # 0 only in an empty row
    return powers @ value / total


def wrong_not_itself_seventh(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """A token looks only at places before its own, and not at itself."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    place = torch.arange(query.shape[-2], device=real.device)
    seen = (place < place.unsqueeze(-1)) & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0) @ value


def wrong_padding_does_not_ask(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Padding gets zeros as its output, although it asks like any token."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    seen = seen & real.unsqueeze(-2) & real.unsqueeze(-1)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0) @ value


def wrong_mask_after_softmax(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Masks after the softmax only, so what is hidden still takes its share of the weight."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril() & real.unsqueeze(-2)
    weights = torch.softmax(scores, dim=-1).masked_fill(~seen, 0)
    return weights @ value


def right_place_by_place_seventh(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """Cuts keys and values behind each place, so that only padding needs a mask."""
    scaled = query / query.shape[-1] ** 0.5
    outputs = []
    for end in range(1, query.shape[-2] + 1):
        hidden = ~real[..., :end]
        scores = (key[..., :end, :] * scaled[..., end - 1 : end, :]).sum(-1)
        weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
        weights = weights.masked_fill(hidden, 0)
        outputs.append((weights.unsqueeze(-1) * value[..., :end, :]).sum(-2))
    return torch.stack(outputs, -2)


def wrong_weights_transposed(query, key, value, real):
    """The weights are transposed before they meet the values."""
    scores = query @ key.mT / key.shape[-1] ** 0.5
    place = torch.arange(real.shape[-1])
    seen = (place <= place.unsqueeze(-1)) & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights.mT @ value
