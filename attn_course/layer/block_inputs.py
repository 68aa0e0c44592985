"""The inputs of an attention in blocks, and the parts of them that a block needs."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from attn_course.layer.blocks import blocks
from attn_course.layer.combined_rules import reach_of
from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import (
    Band,
    Rule,
    Score,
    allowed_by,
    combine,
    positions,
    scaled_dot_scores,
)
from attn_course.shapes import (
    check_together,
    describe,
    is_traced,
    is_true_of_any,
    may_branch_on_values,
)

#: What positions add to the scores, a function of the positions of queries, (query_len, 1), and of
#: keys, (key_len), that returns numbers, (..., query_len, key_len).
PositionBias = Callable[[Tensor, Tensor], Tensor]


class AttentionInputs(NamedTuple):
    """The arguments from which blocks are cut."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None = None
    rule: Rule | None = None
    position_bias: PositionBias | None = None
    block_len: int | None = None
    scale: float | None = None
    group: int = 1  # how many heads of queries share a head of keys and values
    sinks: Tensor | None = None  # scores of no key, for each head

    def dot_scores(self) -> Score:
        """The dot products, times the scale."""
        return scaled_dot_scores if self.scale is None else partial(scaled_by, self.scale)

    def for_all_heads(self) -> "AttentionInputs":
        """The same with a copy of keys and values for each head of queries that shares them."""
        if self.group == 1:
            return self
        key, value = (part.repeat_interleave(self.group, -3) for part in (self.key, self.value))
        return self._replace(key=key, value=value, group=1)

    def in_single_precision(self) -> "AttentionInputs":
        """The same, if it is in half precision."""
        if self.query.dtype not in (torch.float16, torch.bfloat16):
            return self
        query, key, value = (part.float() for part in (self.query, self.key, self.value))
        return self._replace(query=query, key=key, value=value)

    def allowed(self, rows: slice, columns: slice) -> Tensor | None:
        """The part of mask and rule that a block needs."""
        mask = self.mask
        if mask is not None:
            mask = mask[..., rows, :] if mask.shape[-2] > 1 else mask
            mask = mask[..., columns] if mask.shape[-1] > 1 else mask
        if self.rule is None:
            return mask
        query_position, key_position = self._positions(rows, columns)
        # in blocks, because a rule may make integers of its own for every pair
        parts = blocks(key_position.shape[0], self.block_len)
        ruled = [allowed_by(self.rule, query_position, key_position[part]) for part in parts]
        return combine(mask, torch.cat(ruled, -1) if len(ruled) > 1 else ruled[0])

    def added(self, rows: slice, columns: slice) -> Tensor | None:
        """Return what positions add to the scores of a block; None where they add nothing.

        Raises:
            TypeError: The bias is no function, or returns no tensor.
            ValueError: It has another shape than a block of scores.
        """
        if self.position_bias is None:
            return None
        query_position, key_position = self._positions(rows, columns)
        added = asked("a position bias", self.position_bias, query_position, key_position)
        wanted = (*self.query.shape[:-2], query_position.shape[0], key_position.shape[0])
        pairs, before = added.shape[-2:], zip(added.shape[-3::-1], wanted[-3::-1], strict=False)
        broadcast = added.ndim <= len(wanted) and all(one in (1, other) for one, other in before)
        if pairs != wanted[-2:] or not broadcast:
            raise ValueError(
                f"the position bias of {wanted[-2]} queries and {wanted[-1]} keys has shape "
                f"{tuple(added.shape)}, which does not fit scores of shape {tuple(wanted)}"
            )
        return added.to(self.query.dtype)

    def _positions(self, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        lengths = self.query.shape[-2], self.key.shape[-2]
        query_position, key_position = positions(*lengths, self.query.device)
        return query_position[rows], key_position[columns]

    def reached(self, rows: slice) -> tuple[slice, Tensor | None]:
        """The keys from the first to the last that any of these queries may attend to.

        Returns:
            Their slice, which is never empty, and its part of mask and rule.
        """
        reach = self.reach_of_rule(rows)
        allowed = self.allowed(rows, reach)
        if rows == slice(None) or allowed is None:
            return reach, allowed
        allowed = allowed.expand(*allowed.shape[:-1], reach.stop - reach.start)
        if self.mask is None and isinstance(self.rule, Band):
            return reach, allowed
        found = _from_first_to_last(allowed)
        return slice(reach.start + found.start, reach.start + found.stop), allowed[..., found]

    def reached_in_blocks(self, rows: slice) -> Iterator[tuple[slice, Tensor | None]]:
        """Yield the blocks of keys that these queries may attend to, with their masks.

        There is always at least one: without any, the output would be zero just the same, but it
        would not be connected to the inputs, and gradients could not be taken.
        """
        nothing, reach = True, self.reach_of_rule(rows)
        if reach == slice(None):
            yield reach, self.allowed(rows, reach)
            return
        for part in blocks(reach.stop - reach.start, self.block_len):
            columns = slice(reach.start + part.start, reach.start + part.stop)
            allowed = self.allowed(rows, columns)
            if self.rule is None or allowed is None or not is_true_of_any(~allowed.any()):
                nothing = False
                yield columns, allowed
        if nothing:
            yield slice(0, 1), self.allowed(rows, slice(0, 1))

    def reach_of_rule(self, rows: slice) -> slice:
        """All keys, or those that a rule which knows its reach leaves; never none."""
        if rows == slice(None):  # a compiler need not know the lengths
            return rows
        key_len, ahead = self.key.shape[-2], self.key.shape[-2] - self.query.shape[-2]
        reach = reach_of(self.rule, ahead + rows.start, ahead + rows.stop - 1, key_len)
        return slice(reach.start, reach.stop) if reach else slice(0, 1)


def _from_first_to_last(allowed: Tensor) -> slice:
    """The slice of the keys from the first to the last that any query may attend to."""
    if not may_branch_on_values():
        return slice(0, allowed.shape[-1])
    try:
        found = allowed.flatten(0, -2).any(0).nonzero()
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 1)
    except RuntimeError:  # under torch.vmap and on the meta device there are no values to read
        return slice(0, allowed.shape[-1])


def asked(what: str, function: Callable[..., Tensor], *given: Tensor) -> Tensor:
    """Call a function that was an argument.

    Raises:
        TypeError: It is no function, or returns no tensor.
    """
    if not callable(function):
        raise TypeError(f"{what} is a function, not {describe(function)}")
    result = function(*given)
    if not isinstance(result, Tensor):
        raise TypeError(f"{what} must return a tensor, not {describe(result)}")
    return result


def scores_of(score: Score, query: Tensor, key: Tensor, added: Tensor | None = None) -> Tensor:
    """The scores with what positions add.

    Raises:
        TypeError: The score is no function, or returns no tensor, or one of another dtype.
        ValueError: It does not return one number for each pair.
    """
    scores, wanted = asked("a score", score, query, key), (*query.shape[:-1], key.shape[-2])
    if scores.shape != wanted:
        raise ValueError(
            f"the scores of {query.shape[-2]} queries and {key.shape[-2]} keys have shape "
            f"{tuple(scores.shape)}; expected {wanted}"
        )
    if scores.dtype != key.dtype and not is_traced():
        check_together("a score", {"scores": scores, "key": key})
    return scores if added is None else scores + added


def softmax_beside(sinks: Tensor | None, scores: Tensor, allowed: Tensor | None) -> Tensor:
    """The weights of the keys, where sinks take a share of each row.

    Args:
        sinks: Scores of no key, `(*batch)` or one for each head.
        scores: The scores of the keys, `(*batch, query_len, key_len)`.
        allowed: True where the query may attend.
    """
    if sinks is None:
        return masked_softmax(scores, allowed)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    column = sinks[..., None, None].to(scores.dtype).expand(*scores.shape[:-1], 1)
    return masked_softmax(torch.cat([column, scores], -1))[..., 1:]


def as_at_the_call(function: Score) -> Score:
    """The function with the weights that it has now, even if they change before the gradient."""
    if not isinstance(function, nn.Module):
        return function
    weights = {**dict(function.named_parameters()), **dict(function.named_buffers())}
    return partial(_call_with, function, weights)


def _call_with(module: nn.Module, weights: dict[str, Tensor], *given: Tensor) -> Tensor:
    return functional_call(module, weights, given)


def scaled_by(scale: float, query: Tensor, key: Tensor) -> Tensor:
    """The dot products times a factor, which is not rounded to half precision before."""
    batch = math.prod(query.shape[:-2])
    one, other = (part.reshape(batch, *part.shape[-2:]) for part in (query, key))
    # with beta=0 the first argument is not read
    scores = torch.baddbmm(query.new_empty(()), one, other.mT, beta=0, alpha=scale)
    return scores.view(*query.shape[:-1], key.shape[-2])
