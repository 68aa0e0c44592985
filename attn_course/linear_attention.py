"""Linear attention: weights that are products of features, so that a matrix can hold all pairs.

Softmax attention compares a query with each key, so it has to keep them all. If the weight of a key
is a dot product, the query can be pulled out of the sum: what is left, a matrix of the width of a
key by the width of a value, is a state, to which each token adds its pair. The same outputs come
from all pairs at once, from one token after another, and from one chunk after another.

The three forms sum and do not divide; `linear_attention` adds features, and the division that makes
of the sum a mean.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from attn_course.shapes import checked, is_true_of_any, require_positive

#: What makes features of queries and of keys, `(*batch, length, d_key)`; it keeps all axes but the
#: last.
Features = Callable[[Tensor], Tensor]


@checked
def elu_features(
    vectors: Float[Tensor, "*batch length d_key"],
) -> Float[Tensor, "*batch length d_key"]:
    """One positive feature for each number: `1 + x` above 0 and `exp(x)` below.

    Source: Katharopoulos et al. 2020, eq. 7.
    """
    return functional.elu(vectors) + 1


@checked
def taylor_features(
    vectors: Float[Tensor, "*batch length d_key"],
) -> Float[Tensor, "*batch length d_features"]:
    """Features of which two vectors have the dot product `1 + s + s²/2`, where s is `q·k / √d_key`.

    It is the beginning of the series of `exp(s)`. There are `1 + d_key + d_key²` of them.

    Source: Arora et al. 2024 (Based).
    """
    scaled = vectors / vectors.shape[-1] ** 0.25
    squares = (scaled.unsqueeze(-1) * scaled.unsqueeze(-2)).flatten(-2) / math.sqrt(2)
    return torch.cat([torch.ones_like(scaled[..., :1]), scaled, squares], -1)


@checked
def random_features(
    vectors: Float[Tensor, "*batch length d_key"],
    directions: Float[Tensor, "num_features d_key"],
) -> Float[Tensor, "*batch length num_features"]:
    """Positive features whose dot product is on average `exp(q·k / √d_key)`.

    Args:
        vectors: Queries or keys; both need the same directions.
        directions: Drawn from the normal distribution, with variance 1.

    Source: Choromanski et al. 2021, lemma 1.
    """
    scaled = vectors / vectors.shape[-1] ** 0.25
    exponent = scaled @ directions.mT - scaled.square().sum(-1, keepdim=True) / 2
    return exponent.exp() / math.sqrt(len(directions))


@checked
def retained(decay: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length length"]:
    """The share of the pair of each token (columns) that is left when each token (rows) reads.

    Args:
        decay: The factor, above 0 and at most 1, that the state is multiplied by when a token
            comes, before the token's own pair is added.

    Returns:
        In row i and column j the product of the factors of the tokens j+1 to i; 1 on the diagonal,
        and 0 above it, where a token has not come yet.

    Raises:
        ValueError: A factor is not above 0 and at most 1.

    Source: Dao and Gu 2024 (the mask of a state space); Sun et al. 2023 for one constant factor.
    """
    if is_true_of_any(~((decay > 0) & (decay <= 1))):
        raise ValueError(f"a decay must be above 0 and at most 1, but one is {decay.min():g}")
    since = decay.log().cumsum(-1)
    later = torch.ones(decay.shape[-1:] * 2, dtype=torch.bool, device=decay.device).triu(1)
    return (since.unsqueeze(-1) - since.unsqueeze(-2)).masked_fill(later, -math.inf).exp()


@checked
def all_pairs(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    decay: Float[Tensor, "*#batch length"] | None = None,
) -> Float[Tensor, "*batch length d_value"]:
    """Sum of the values up to each token, weighted by the dot products of its query with the keys.

    Args:
        query: What each token reads with.
        key: Where each token writes.
        value: What it writes.
        decay: The factor for the state when a token comes, above 0 and at most 1; None for 1.

    Raises:
        ValueError: A factor is not above 0 and at most 1.

    Source: Katharopoulos et al. 2020, section 3.
    """
    weights = (query @ key.mT).tril()
    return (weights if decay is None else weights * retained(decay)) @ value


@checked
def add_pair(
    state: Float[Tensor, "*batch d_key d_value"],
    key: Float[Tensor, "*batch d_key"],
    value: Float[Tensor, "*batch d_value"],
    decay: float | Float[Tensor, "*#batch"] | None = None,
) -> Float[Tensor, "*batch d_key d_value"]:
    """The state after one more token: what is left of it, and the outer product of the pair.

    Source: Katharopoulos et al. 2020, eq. 18; Sun et al. 2023 with a decay.
    """
    factor = decay[..., None, None] if isinstance(decay, Tensor) else decay
    left = state if factor is None else factor * state
    return left + key.unsqueeze(-1) * value.unsqueeze(-2)


@checked
def correct_pair(
    state: Float[Tensor, "*batch d_key d_value"],
    key: Float[Tensor, "*batch d_key"],
    value: Float[Tensor, "*batch d_value"],
    rate: float | Float[Tensor, "*#batch"] = 1.0,
) -> Float[Tensor, "*batch d_key d_value"]:
    """The state after one more token that writes only what the state does not say yet.

    With a key of length 1 and the rate 1, the key then reads exactly its value.

    Args:
        state: The state so far.
        key: Where the token writes.
        value: What its key is to read afterwards.
        rate: The share of the error that is corrected.

    Source: Schlag et al. 2021, eq. 23; Widrow and Hoff 1960 (the delta rule).
    """
    error = value - read(state, key)
    return add_pair(state, key, _over_features(rate) * error)


@checked
def read(
    state: Float[Tensor, "*batch d_key d_value"], query: Float[Tensor, "*batch d_key"]
) -> Float[Tensor, "*batch d_value"]:
    """The values in the state, weighted by the dot products of their keys with the query."""
    return (query.unsqueeze(-2) @ state).squeeze(-2)


@checked
def one_by_one(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    decay: Float[Tensor, "*#batch length"] | None = None,
) -> Float[Tensor, "*batch length d_value"]:
    """Return what `all_pairs` returns, by a state to which one token after the other adds its pair.

    It keeps `d_key * d_value` numbers, however many tokens there are.
    """
    state, outputs = _empty_state(key, value), []
    for place in range(key.shape[-2]):
        factor = None if decay is None else decay[..., place]
        state = add_pair(state, key[..., place, :], value[..., place, :], factor)
        outputs.append(read(state, query[..., place, :]))
    return torch.stack(outputs, -2)


@checked
def in_chunks(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    decay: Float[Tensor, "*#batch length"] | None = None,
    chunk_len: int = 64,
) -> Float[Tensor, "*batch length d_value"]:
    """Return what `all_pairs` returns: all pairs within a chunk, and a state from one to the next.

    Args:
        query: What each token reads with.
        key: Where each token writes.
        value: What it writes.
        decay: The factor for the state when a token comes, above 0 and at most 1; None for 1.
        chunk_len: The number of tokens in a chunk; the last one may have fewer.

    Raises:
        ValueError: `chunk_len` is not positive, or a factor not above 0 and at most 1.

    Source: Sun et al. 2023, eq. 7 (chunkwise recurrent).
    """
    require_positive("chunk_len", chunk_len)
    if decay is not None:
        return _in_fading_chunks(query, key, value, decay, chunk_len)
    state, outputs = _empty_state(key, value), []
    cuts = (part.split(chunk_len, -2) for part in (query, key, value))
    for asks, keys, values in zip(*cuts, strict=True):
        outputs.append(all_pairs(asks, keys, values) + asks @ state)
        state = state + keys.mT @ values
    return torch.cat(outputs, -2)


def _in_fading_chunks(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, chunk_len: int
) -> Tensor:
    """Return what `in_chunks` returns with a decay."""
    state, outputs = _empty_state(key, value), []
    parts = (query, key, value, decay.unsqueeze(-1))
    cuts = (part.split(chunk_len, -2) for part in parts)
    for asks, keys, values, factor in zip(*cuts, strict=True):
        faded = factor.log().cumsum(-2)  # since the chunk began
        at_end = faded[..., -1:, :]
        within = all_pairs(asks, keys, values, factor.squeeze(-1))
        outputs.append(within + (asks * faded.exp()) @ state)
        left = keys * (at_end - faded).exp()
        state = at_end.exp() * state + left.mT @ values
    return torch.cat(outputs, -2)


@checked
def linear_attention(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    features: Features = elu_features,
    form: Callable[..., Tensor] = all_pairs,
) -> Float[Tensor, "*batch length d_value"]:
    """Mean of the values up to each token, weighted by the dot products of positive features.

    Args:
        query: What each token looks for.
        key: What each token offers.
        value: What each token contributes.
        features: Maps queries and keys to vectors whose dot products are positive.
        form: The way to sum: `all_pairs`, `one_by_one` or `in_chunks`.

    Source: Katharopoulos et al. 2020, eq. 9.
    """
    ones = torch.ones_like(value[..., :1])  # they sum to the divisor
    with_ones = torch.cat([value, ones], -1)
    summed = form(features(query), features(key), with_ones)
    return summed[..., :-1] / summed[..., -1:]


@checked
def delta_values(
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    rate: Float[Tensor, "*#batch length"],
) -> Float[Tensor, "*batch length d_value"]:
    """The values that the delta rule writes: the rate times what the state does not say yet.

    Each depends on those before it: `u_i = β_i (v_i - Σ_{j<i} (k_i·k_j) u_j)`. Together they are
    the solution of a triangular system. Any form that sums them with these keys is the delta rule:
    `all_pairs(query, key, delta_values(key, value, rate))`.

    Source: Yang et al. 2024 (DeltaNet), section 3.
    """
    rates = rate.unsqueeze(-1)
    overlap = rates * (key @ key.mT).tril(-1)
    return torch.linalg.solve_triangular(overlap, rates * value, upper=False, unitriangular=True)


@checked
def delta_rule(
    query: Float[Tensor, "*batch length d_key"],
    key: Float[Tensor, "*batch length d_key"],
    value: Float[Tensor, "*batch length d_value"],
    rate: Float[Tensor, "*#batch length"],
    chunk_len: int = 64,
) -> Float[Tensor, "*batch length d_value"]:
    """The values that each token reads from a state in which every token has corrected its pair.

    Args:
        query: What each token reads with.
        key: Where each token writes. With keys of length 1 and rates from 0 to 1 nothing grows.
        value: What its key is to read afterwards.
        rate: The share of the error that each token corrects.
        chunk_len: The number of tokens in a chunk. With 1 it is `correct_pair` for each token; with
            all tokens in one chunk there is no state.

    Raises:
        ValueError: `chunk_len` is not positive.

    Source: Yang et al. 2024 (DeltaNet), eqs. 8 and 9.
    """
    require_positive("chunk_len", chunk_len)
    state, outputs = _empty_state(key, value), []
    cuts = (part.split(chunk_len, -2) for part in (query, key, value, rate.unsqueeze(-1)))
    for asks, keys, values, rates in zip(*cuts, strict=True):
        written = delta_values(keys, values - keys @ state, rates.squeeze(-1))
        outputs.append(all_pairs(asks, keys, written) + asks @ state)
        state = state + keys.mT @ written
    return torch.cat(outputs, -2)


def _empty_state(key: Tensor, value: Tensor) -> Tensor:
    """The state before the first token."""
    return value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])


def _over_features(number: float | Tensor) -> float | Tensor:
    """A number for each sequence, with an axis for the features of its vector."""
    return number.unsqueeze(-1) if isinstance(number, Tensor) else number
