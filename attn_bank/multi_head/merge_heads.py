"""Part A of problem set 09, second half: the parts of every token, joined again."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, transposed
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_course import multi_head


def reference(heads: Tensor) -> Tensor:
    return multi_head.merge_heads(heads)


def draw_heads(
    generator: Generator,
    length: int,
    num_heads: int,
    d_head: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    return {"heads": draw_normal(generator, *in_front(batch, beams), num_heads, length, d_head)}


mistake = Mistakes()


@mistake(right="your shape is right")
def glues_the_numbers_as_they_lie(heads):
    """the features have come to the wrong tokens: the numbers still lie head by head when you
    reshape, so your first token has the first numbers, whichever token they belong to; swap the
    axes of heads and tokens back, then join the last two"""
    *batch, num_heads, length, d_head = heads.shape
    return heads.reshape(*batch, length, num_heads * d_head)


@mistake
def takes_turns_between_the_heads(heads):
    """you take one feature of each head in turn; first come all features of head 0, then all of
    head 1: the axis of the heads belongs before the features, `(length, num_heads, d_head)`"""
    return heads.movedim(-3, -1).flatten(-2)


@mistake
def leaves_the_heads_apart(heads):
    """heads and features are still two axes; `flatten(-2)` makes one of the last two"""
    return heads.transpose(-3, -2)


@mistake
def lines_the_heads_up(heads):
    """you put the heads below one another, which makes `num_heads` times as many tokens; they
    belong beside one another: `flatten(-2)` after the axes have been swapped"""
    return heads.flatten(-3, -2)


@mistake
def adds_the_heads(heads):
    """you add the heads up, and nobody can tell them apart any more; put them side by side,
    `num_heads * d_head` features"""
    return heads.sum(-3)


@mistake
def averages_the_heads(heads):
    """you average the heads, and nobody can tell them apart any more; put them side by side,
    `num_heads * d_head` features"""
    return heads.mean(-3)


@mistake(computes=given(reference, heads=lambda heads: heads.flip(-3)))
def turns_the_order_of_the_heads():
    """your heads are in reverse order; the features of head 0 come first, as in `split_heads`"""


@mistake(slip=True)
def joins_what_is_on_the_first_axis(heads):
    """you join along the first axis, where the heads lie only if there is no batch; count from the
    right: the heads are axis `-3`"""
    return torch.cat(tuple(heads), -1)


@mistake(slip=True)
def counts_axes_from_the_left(heads):
    """you swap the axes 1 and 2, counted from the left, which fits a single batch axis only; count
    from the right: `transpose(-3, -2)`"""
    return heads.transpose(1, 2).flatten(-2)


@mistake(computes=transposed(reference))
def makes_columns_of_the_tokens():
    """your answer is transposed: rows are tokens, `(length, d_model)`"""


@mistake(slip=True)
def wants_one_batch_axis(heads):
    """you name the axes of one batch, and there may be none or several; count from the right:
    `heads.transpose(-3, -2).flatten(-2)`"""
    batch, num_heads, length, d_head = heads.shape
    return heads.transpose(1, 2).reshape(batch, length, num_heads * d_head)


@mistake
def flattens_the_tokens_too(heads):
    """you make one axis of tokens, heads and features; only the last two belong together:
    `flatten(-2)`"""
    return heads.transpose(-3, -2).flatten(-3)


def _swap_tokens_and_features(heads: Tensor) -> Tensor:
    return heads.transpose(-1, -2).flatten(-2)


@mistake(also=(_swap_tokens_and_features,))
def flattens_before_it_swaps(heads):
    """you join the tokens and the features of one head; swap the axes of heads and tokens first,
    and then join the last two"""
    return heads.flatten(-2)


@mistake
def joins_places_and_heads(heads):
    """you join the axes of tokens and heads; behind the swap, join the last two, heads and
    features"""
    return heads.transpose(-3, -2).flatten(-3, -2)


@mistake
def looks_at_what_does_not_lie_together(heads):
    """`view` wants numbers that lie side by side in memory, which they do not after a swap; use
    `reshape` or `flatten`"""
    swapped = heads.transpose(-3, -2)
    return swapped.view(*swapped.shape[:-2], -1)


def _move_the_features(heads: Tensor) -> Tensor:
    return heads.mT.transpose(-3, -2).flatten(-2)


@mistake(also=(_move_the_features,))
def makes_rows_of_the_features(heads):
    """your rows are features, with heads and tokens side by side in them; rows are tokens: swap
    heads and tokens, axes -3 and -2, and leave the features on the last axis"""
    return heads.transpose(-3, -1).flatten(-2)


EXERCISE = Exercise(
    function="merge_heads",
    reference=reference,
    minutes=4,
    axes={"batch": 17, "length": 97, "num_heads": 17, "d_head": 31},
    contract=Contract(
        batch=("heads",),
        any_axes=True,
        exempts={"cuts off": "gradients are asked of the whole layer, in part B"},
    ),
    checks=(
        Check(
            "every token has the features of all heads again, head 0 first; any number of axes may"
            " come before, even none",
            0.5,
            draw_heads,
            sizes=(
                {"length": 3, "num_heads": 2, "d_head": 5},
                {"batch": 2, "length": 5, "num_heads": 3, "d_head": 7},
                {"batch": 3, "beams": 2, "length": 2, "num_heads": 5, "d_head": 3},
            ),
            hidden_sizes=(
                {"batch": 5, "length": 2, "num_heads": 7, "d_head": 3},
                {"batch": 3, "beams": 5, "length": 2, "num_heads": 7, "d_head": 2},
                {"length": 7, "num_heads": 3, "d_head": 2},
            ),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "heads.transpose(-3, -2) -> heads.transpose(-2, -3)": "the same two axes, swapped",
    },
)
