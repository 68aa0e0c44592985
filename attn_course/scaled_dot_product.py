"""The attention layer: a score, a mask, a softmax over the keys, a weighted mean of the values.

Every attention of the course is `attention` with a different score. A score is a function of
queries and keys; if it has weights of its own, `functools.partial` supplies them:

    retrieval           attention(query, key, value, score=distance_scores)
    kernel regression   attention(query, key, value, score=partial(kernel_scores, width=0.5))
    Bahdanau            attention(query @ w, key @ u, value, score=partial(additive_scores, ...))
    Luong               attention(query, key, value, score=partial(general_scores, weight=w))
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import and_

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from attn_course.retrieval import attend, masked_softmax
from attn_course.shapes import checked, describe, is_true_of_any

#: What compares queries and keys, a function of the two, (query_len, d_query) and (key_len, d_key),
#: that returns the scores, (query_len, key_len), behind any batch axes.
Score = Callable[[Tensor, Tensor], Tensor]
#: Which query may attend to which key, a function of the positions of both that returns truth
#: values.
Rule = Callable[[Tensor, Tensor], Tensor]


@checked
def scaled_dot_scores(
    query: Float[Tensor, "*batch query_len d_key"],
    key: Float[Tensor, "*batch key_len d_key"],
) -> Float[Tensor, "*batch query_len key_len"]:
    """Score of every key for every query: their dot product over the square root of their width.

    If the features are independent with mean 0 and variance 1, the score has variance 1 too,
    whatever the width.

    Raises:
        TypeError: The arguments differ in dtype or are not floating-point.
        ValueError: A shape or device does not fit, or an argument holds NaN.

    Source: Vaswani et al. 2017, eq. 1.
    """
    # divided first, as the product may overflow float16
    return query / math.sqrt(query.shape[-1]) @ key.mT


@checked
def attention_weights(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
    *,
    score: Score = scaled_dot_scores,
) -> Float[Tensor, "*batch query_len key_len"]:
    """Softmax over the keys of the scores that the mask allows.

    Args:
        query: The vector with which each position looks.
        key: The vector that each position offers to queries.
        mask: True where the query may attend; None allows every key.
        score: Compares queries and keys.

    Returns:
        Non-negative weights; each row sums to 1, or to 0 if its mask row allows no key.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, or a
            score is plus infinity.
    """
    return masked_softmax(score(query, key), mask)


@checked
def attention(
    query: Float[Tensor, "*batch query_len d_query"],
    key: Float[Tensor, "*batch key_len d_key"],
    value: Float[Tensor, "*batch key_len d_value"],
    mask: Bool[Tensor, "*#batch #query_len #key_len"] | None = None,
    *,
    score: Score = scaled_dot_scores,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch query_len d_value"]:
    """Mean of the values, weighted by how well each key answers the query.

    It holds the whole table of scores; `attn_course.layer.fast_attention` returns the same result
    without one.

    Args:
        query: The vector with which each position looks.
        key: The vector that each position offers to queries.
        value: The vector that each position contributes, according to its weight.
        mask: True where the query may attend; None allows every key.
        score: Compares queries and keys.
        dropout: Share of the weights that are set to 0, drawn anew at each call. The others grow
            to make up for it on average, so a row no longer sums to exactly 1.

    Raises:
        TypeError: The arguments differ in dtype, or the mask is not boolean.
        ValueError: There are no keys, a shape or device does not fit, an argument holds NaN, a
            score is plus infinity, or the dropout is not between 0 and 1.

    Source: Vaswani et al. 2017, eq. 1.
    """
    scores = score(query, key)
    if dropout == 0:
        return attend(scores, value, mask)
    return functional.dropout(masked_softmax(scores, mask), dropout) @ value


@dataclass(frozen=True)
class Band:
    """The rule that a query may attend to keys a few positions away, to both sides.

    It can be pickled, and knows its reach, so that what it forbids need not be looked at.

    Attributes:
        before: The most positions by which a key may precede the query; None: any number.
        after: The most positions by which it may follow; None: any number.
    """

    before: int | None
    after: int | None

    def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """True where the query may attend."""
        ahead = key_position - query_position
        if self.after is not None and self.before == self.after:
            return ahead.abs() <= self.after
        behind = None if self.before is None else ahead >= -self.before
        in_front = None if self.after is None else ahead <= self.after
        allowed = combine(behind, in_front)
        return torch.ones_like(ahead, dtype=torch.bool) if allowed is None else allowed

    def reach(self, first: int, last: int, key_len: int) -> range:
        """The positions of the keys that queries from `first` to `last` may attend to."""
        start = 0 if self.before is None else max(0, first - self.before)
        stop = key_len if self.after is None else min(key_len, last + self.after + 1)
        return range(start, stop)


#: The rule that a query may attend to its own position and to those before it.
causal = Band(before=None, after=0)


def window(half_width: int, after: int | None = None) -> Band:
    """The rule that a query may attend to keys that are at most `half_width` positions away.

    Args:
        half_width: The most positions by which a key may precede the query.
        after: The most positions by which it may follow; `half_width` if None.

    Raises:
        ValueError: A width is negative.
    """
    if not half_width >= 0:
        raise ValueError(f"{half_width=} must not be negative")
    after = half_width if after is None else after
    if not after >= 0:
        raise ValueError(f"{after=} must not be negative")
    return Band(_most(half_width), _most(after))


def _most(width: float) -> int | None:
    return None if width == math.inf else math.floor(width)


def positions(
    query_len: int, key_len: int, device: torch.device | str | None = None
) -> tuple[Tensor, Tensor]:
    """The position of each query, (query_len, 1), and of each key, (key_len).

    The keys are a sequence and the queries are its last positions; if there are as many queries as
    keys, both begin at 0.
    """
    query_position = torch.arange(key_len - query_len, key_len, device=device)
    return query_position.unsqueeze(-1), torch.arange(key_len, device=device)


def mask_of(
    rule: Rule, query_len: int, key_len: int, device: torch.device | str | None = None
) -> Bool[Tensor, "query_len key_len"]:
    """The mask that a rule makes for `query_len` queries and `key_len` keys.

    The queries are the last positions of the sequence, so a decoder that asks one query of all the
    keys so far gets the last row of the full mask.
    """
    return allowed_by(rule, *positions(query_len, key_len, device))


def allowed_by(rule: Rule, query_position: Tensor, key_position: Tensor) -> Tensor:
    """The mask that a rule gives for these positions, even if it depends on only one of the two.

    Raises:
        TypeError: The rule is no function, or returns something other than True and False.
        ValueError: What it returns does not fit the positions.
    """
    if not callable(rule):
        raise TypeError(f"a rule is a function of positions, not {describe(rule)}; is it a mask?")
    allowed = rule(query_position, key_position)
    dtype = getattr(allowed, "dtype", type(allowed).__name__)
    if dtype != torch.bool:
        raise TypeError(f"a rule must return torch.bool, but this one returns {dtype}")
    pairs = query_position.shape[0], key_position.shape[0]
    shape = (1,) * (2 - allowed.ndim) + allowed.shape
    if allowed.ndim > 2 or any(n not in (1, m) for n, m in zip(shape, pairs, strict=True)):
        raise ValueError(
            f"for {pairs[0]} queries and {pairs[1]} keys, the rule returned {describe(allowed)}"
        )
    return allowed.expand(pairs)


def causal_mask(
    query_len: int, key_len: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "query_len key_len"]:
    """The mask of the rule `causal`; without `key_len` there are as many keys as queries."""
    return mask_of(causal, query_len, query_len if key_len is None else key_len, device)


@checked
def padding_mask(length: Int[Tensor, "*batch"], key_len: int) -> Bool[Tensor, "*batch 1 key_len"]:
    """True at the first `length` keys of each sequence, for every query.

    Raises:
        ValueError: A length is negative or more than `key_len`.
    """
    if is_true_of_any((length < 0) | (length > key_len)):
        raise ValueError(f"lengths must be from 0 to {key_len=}, but they are {length.tolist()}")
    return torch.arange(key_len, device=length.device) < length[..., None, None]


def combine(*masks: Tensor | None) -> Tensor | None:
    """The mask that allows only the pairs that all masks allow; None allows every pair."""
    given = [mask for mask in masks if mask is not None]
    return reduce(and_, given) if given else None
