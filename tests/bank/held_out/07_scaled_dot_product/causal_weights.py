import torch
from torch import Tensor


def _seen(scores, length, shift):
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(shift)
    return earlier & (torch.arange(scores.shape[-1]) < length[..., None, None])


def wrong_triangle_not_moved(scores, length):
    """The triangle starts at the first key, as if the queries were the first positions."""
    seen = _seen(scores, length, 0)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0)


def wrong_equal_weights(scores, length):
    """It fills with the lowest finite number, so an empty row gets equal weights."""
    seen = _seen(scores, length, scores.shape[-1] - scores.shape[-2])
    return torch.softmax(scores.masked_fill(~seen, torch.finfo(scores.dtype).min), -1)


def wrong_infinity_added(scores, length):
    """It adds minus infinity, so the nan of an empty row comes back in the gradient."""
    seen = _seen(scores, length, scores.shape[-1] - scores.shape[-2])
    bias = torch.zeros_like(scores).masked_fill(~seen, -torch.inf)
    weights = torch.softmax(scores + bias, -1)
    return torch.where(seen, weights, 0.0).nan_to_num()


def wrong_one_word_too_many(scores, length):
    """A key at the place `length`, counted from 0, is taken for a word."""
    seen = _seen(scores, length + 1, scores.shape[-1] - scores.shape[-2])
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0)


def wrong_own_place_hidden(scores, length):
    """The triangle leaves out the query's own position."""
    seen = _seen(scores, length, scores.shape[-1] - scores.shape[-2] - 1)
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0)


def wrong_padding_asks_nothing(scores, length):
    """A query that stands in the padding is given no weights."""
    shift = scores.shape[-1] - scores.shape[-2]
    seen = _seen(scores, length, shift)
    position = torch.arange(scores.shape[-2]).unsqueeze(-1) + shift
    seen = seen & (position < length[..., None, None])
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0)


def wrong_minus_a_thousand(scores, length):
    """It fills with -1000, above allowed scores that lie lower."""
    seen = _seen(scores, length, scores.shape[-1] - scores.shape[-2])
    weights = torch.softmax(scores.masked_fill(~seen, -1000.0), -1)
    return weights.masked_fill(~seen, 0)


def wrong_length_ignored(scores, length):
    """Padding is seen: only the triangle forbids."""
    earlier = torch.ones_like(scores, dtype=torch.bool)
    earlier = earlier.tril(scores.shape[-1] - scores.shape[-2])
    weights = torch.softmax(scores.masked_fill(~earlier, -torch.inf), -1)
    return weights.masked_fill(~earlier, 0)


def right_row_by_row(scores, length):
    """A loop over all queries, each softmax taken of a slice and padded with zeros."""
    queries, keys = scores.shape[-2:]
    tables = []
    for table, words in zip(scores.reshape(-1, queries, keys), length.reshape(-1), strict=True):
        rows = []
        for i in range(queries):
            end = max(0, min(keys - queries + i + 1, int(words)))
            row = torch.softmax(table[i, :end], 0)
            rows.append(torch.cat([row, torch.zeros_like(table[i, end:])]))
        tables.append(torch.stack(rows))
    return torch.stack(tables).reshape(scores.shape)


def wrong_padding_in_front(scores, length):
    """It takes the words for the last keys, as if the padding stood in front."""
    query_len, key_len = scores.shape[-2:]
    place = torch.arange(key_len)
    seen = torch.ones(query_len, key_len, dtype=torch.bool).tril(key_len - query_len)
    seen = seen & (place >= key_len - length[..., None, None])
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return torch.where(seen, weights, 0)


def wrong_not_moved_and_a_billion(scores, length):
    """The triangle begins at the first key, and forbidden scores are -1e9."""
    seen = torch.ones_like(scores, dtype=torch.bool).tril()
    seen = seen & (torch.arange(scores.shape[-1]) < length[..., None, None])
    return torch.softmax(scores.masked_fill(~seen, -1e9), -1)


def wrong_triangle_not_moved_again(scores, length):
    """Uses tril() without the shift, as if the queries were the first positions."""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril()
    places = torch.arange(scores.shape[-1], device=scores.device)
    seen = earlier & (places < length[..., None, None])
    weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(~seen, 0.0)


def wrong_minus_ten_thousand(scores, length):
    """Hides scores with -1e4, which is higher than allowed scores may be."""
    query_len, key_len = scores.shape[-2:]
    i = torch.arange(query_len).unsqueeze(-1) + key_len - query_len
    j = torch.arange(key_len)
    seen = (j <= i) & (j < length[..., None, None])
    weights = torch.softmax(torch.where(seen, scores, -1e4), dim=-1)
    return weights * seen


def wrong_one_key_too_many_and_nan(scores, length):
    """Two mistakes: compares keys from 0 with <= length, which lets one key of padding in, and
    leaves empty rows nan."""
    query_len, key_len = scores.shape[-2], scores.shape[-1]
    mask = torch.tril(
        torch.ones(query_len, key_len, dtype=torch.bool),
        diagonal=key_len - query_len,
    )
    real = torch.arange(key_len) <= length.unsqueeze(-1).unsqueeze(-1)
    mask = mask & real
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


def right_last_seen_key(scores, length):
    """Works out the last key each query sees, and gives empty rows the score 0 before the
    softmax."""
    query_len, key_len = scores.shape[-2:]
    device = scores.device
    position = torch.arange(key_len - query_len, key_len, device=device)
    last = torch.minimum(position, length.unsqueeze(-1) - 1).unsqueeze(-1)
    seen = torch.arange(key_len, device=device) <= last
    empty = last < 0
    lowest = torch.where(seen, scores, -torch.inf)
    safe = torch.where(empty, 0.0, lowest)
    return torch.softmax(safe, dim=-1) * seen


def wrong_strictly_before(scores, length):
    """It forbids the token itself: only earlier keys are seen."""
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-1)
    seen = seen & (torch.arange(scores.shape[-1]) < length[..., None, None])
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    return weights.masked_fill(~seen, 0)


def wrong_future_instead_of_past(scores, length):
    """It takes the upper triangle: each query sees itself and later keys."""
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).triu()
    seen = seen & (torch.arange(scores.shape[-1]) < length[..., None, None])
    none = ~seen.any(-1, keepdim=True)
    weights = scores.masked_fill(~seen, -torch.inf).masked_fill(none, 0).softmax(-1)
    return weights.masked_fill(~seen, 0)


def wrong_queries_come_first(scores: Tensor, length: Tensor) -> Tensor:
    """Does not move the triangle: takes the queries for the first positions."""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril()
    places = torch.arange(scores.shape[-1], device=scores.device)
    seen = earlier & (places < length[..., None, None])
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0)


def wrong_padding_may_not_ask(scores: Tensor, length: Tensor) -> Tensor:
    """Gives zero weights to the queries that are padding, which see words like any other."""
    query_len, key_len = scores.shape[-2:]
    places = torch.arange(key_len, device=scores.device)
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(key_len - query_len)
    real = places < length[..., None, None]
    asks = torch.arange(key_len - query_len, key_len, device=scores.device)
    asks = asks[:, None] < length[..., None, None]
    seen = earlier & real & asks
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0)


def wrong_fills_with_minus_ten_thousand(scores: Tensor, length: Tensor) -> Tensor:
    """Fills in -10,000 for what is forbidden, which is more than some allowed scores."""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(key_len - query_len)
    places = torch.arange(key_len, device=scores.device)
    seen = earlier & (places < length[..., None, None])
    weights = torch.softmax(scores.masked_fill(~seen, -1e4), dim=-1)
    return weights.masked_fill(~seen, 0)


def right_last_key_of_each_query(scores: Tensor, length: Tensor) -> Tensor:
    """Finds the last key that each query sees: its own place or the last word."""
    query_len, key_len = scores.shape[-2:]
    own = torch.arange(query_len, device=scores.device) + key_len - query_len
    last = torch.minimum(own, length.unsqueeze(-1) - 1).unsqueeze(-1)
    hidden = torch.arange(key_len, device=scores.device) > last
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return torch.where(hidden, weights.new_zeros(()), weights)


def wrong_queries_are_first(scores: Tensor, length: Tensor) -> Tensor:
    """The triangle is not moved: query i is taken to be at position i, not among the last."""
    earlier = torch.ones_like(scores, dtype=torch.bool).tril()
    real = torch.ones_like(scores).cumsum(-1) <= length[..., None, None]
    seen = earlier & real
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0)


def wrong_last_word_is_padding(scores: Tensor, length: Tensor) -> Tensor:
    """Counts keys from 1 but compares with <, so the last word of a sequence is hidden too."""
    moved = scores.shape[-1] - scores.shape[-2]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(moved)
    real = torch.ones_like(scores).cumsum(-1) < length[..., None, None]
    seen = earlier & real
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=-1)
    return weights.masked_fill(~seen, 0)


def wrong_not_negative_enough(scores: Tensor, length: Tensor) -> Tensor:
    """Forbidden scores become -10000, which beats allowed scores that are lower still."""
    moved = scores.shape[-1] - scores.shape[-2]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(moved)
    real = torch.ones_like(scores).cumsum(-1) <= length[..., None, None]
    seen = earlier & real
    weights = torch.softmax(scores.masked_fill(~seen, -1e4), dim=-1)
    return weights.masked_fill(~seen, 0)


def right_opens_empty_rows(scores: Tensor, length: Tensor) -> Tensor:
    """Compares places, and lets an empty row see everything until its weights are zeroed."""
    query_len, key_len = scores.shape[-2:]
    place = torch.arange(key_len, device=scores.device)
    asks_from = torch.arange(key_len - query_len, key_len, device=scores.device)
    until = torch.minimum(asks_from + 1, length.unsqueeze(-1))
    seen = place < until.unsqueeze(-1)
    empty = ~seen.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~(seen | empty), -torch.inf), dim=-1)
    return weights * seen


def wrong_lengths_in_one_row(scores, length):
    """All lengths are laid in one row of tables, which is right for one axis in front."""
    query_len, key_len = scores.shape[-2:]
    earlier = torch.ones_like(scores, dtype=torch.bool).tril(key_len - query_len)
    real = torch.arange(key_len) < length.reshape(*[-1] * bool(length.ndim), 1, 1)
    seen = earlier & real
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return weights.masked_fill(~seen, 0)
