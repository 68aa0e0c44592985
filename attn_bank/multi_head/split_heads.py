"""Part A of problem set 09, first half: the features of every token, shared out among heads."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then, transposed
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_course import multi_head


def reference(tokens: Tensor, num_heads: int) -> Tensor:
    return multi_head.split_heads(tokens, num_heads)


def draw_tokens(
    generator: Generator,
    length: int,
    num_heads: int,
    d_head: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    shape = (*in_front(batch, beams), length, num_heads * d_head)
    return {"tokens": draw_normal(generator, *shape), "num_heads": num_heads}


mistake = Mistakes()


@mistake(right="your shape is right")
def cuts_the_list_of_all_numbers(tokens, num_heads):
    """the numbers are in the wrong heads: `view` and `reshape` to `(num_heads, length, d_head)` cut
    the list of all numbers of the text in order, so your head 0 has the first numbers, whichever
    token they belong to; cut the last axis first, then swap two axes"""
    *batch, length, d_model = tokens.shape
    return tokens.reshape(*batch, num_heads, length, d_model // num_heads)


@mistake
def deals_the_features_out(tokens, num_heads):
    """you deal the features out like cards, every `num_heads`-th one to the same head; head 0
    should have the first `d_head` in a row, so the axis of the heads comes first when you cut:
    `(num_heads, d_head)`"""
    return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


@mistake
def swaps_heads_and_features(tokens, num_heads):
    """you cut the features into `d_head` groups of `num_heads`; it should be `num_heads` groups of
    `d_head`"""
    return tokens.unflatten(-1, (-1, num_heads)).transpose(-3, -2)


def _cut_one_batch(tokens: Tensor, num_heads: int) -> Tensor:
    batch, length = tokens.shape[:2]
    return tokens.reshape(batch, length, num_heads, tokens.shape[-1] // num_heads)


@mistake(also=(_cut_one_batch,))
def leaves_the_tokens_in_front(tokens, num_heads):
    """you have cut the features, but the heads still lie behind the tokens; swap the two axes, so
    that each head holds a text: `transpose(-3, -2)`"""
    return tokens.unflatten(-1, (num_heads, -1))


@mistake
def puts_the_heads_last(tokens, num_heads):
    """the axis of the heads has come behind the features; it belongs before the tokens: cut into
    `(num_heads, d_head)`, then `transpose(-3, -2)`"""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(-1, -2)


@mistake(computes=transposed(reference))
def puts_the_features_before_the_tokens():
    """in your heads the features are rows; rows are tokens, `(length, d_head)`"""


@mistake
def gives_every_head_everything(tokens, num_heads):
    """every head of yours has all the features; share them out, `d_model / num_heads` for each"""
    return torch.stack([tokens] * num_heads, -3)


@mistake
def gives_every_head_the_first_part(tokens, num_heads):
    """all your heads have the first part of the features; head `j` has the part number `j`"""
    return torch.stack([tokens.chunk(num_heads, -1)[0]] * num_heads, -3)


@mistake(computes=then(reference, lambda output: output.flip(-3)))
def counts_the_heads_from_the_end():
    """your heads are in reverse order; head 0 has the first features"""


@mistake
def returns_a_list(tokens, num_heads):
    """you return a list of heads; put them on an axis of their own, as `torch.stack` does"""
    return list(tokens.chunk(num_heads, -1))


@mistake(slip=True, points=0.5)
def puts_the_heads_first(tokens, num_heads):
    """your heads come before the batch; `torch.stack(..., -3)` puts them directly before the
    tokens"""
    return torch.stack(tokens.chunk(num_heads, -1))


@mistake(slip=True, points=0.5)
def counts_axes_from_the_left(tokens, num_heads):
    """you swap the axes 1 and 2, counted from the left, which fits a single batch axis only; count
    from the right: `transpose(-3, -2)`"""
    return tokens.unflatten(-1, (num_heads, -1)).transpose(1, 2)


@mistake(points=1.5)
def makes_one_axis_of_the_batch(tokens, num_heads):
    """you make one axis of all that come before the tokens, and with none there is nothing to
    flatten; cut the last axis alone, as `unflatten(-1, ...)` does, and leave the others in peace"""
    flat = tokens.flatten(0, -3)
    return reference(flat, num_heads).unflatten(0, tokens.shape[:-2])


@mistake(slip=True, points=0.5)
def wants_one_batch_axis(tokens, num_heads):
    """`batch, length, d_model = tokens.shape` wants exactly three axes; there may be more or fewer:
    `tokens.unflatten(-1, ...)` needs to know of the last one only"""
    batch, length, d_model = tokens.shape
    return tokens.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)


@mistake(slip=True, points=1)
def knows_one_batch_axis_at_most(tokens, num_heads):
    """you swap the axes that count from the left for a text alone and for one batch axis; there may
    be more in front. Count from the right: `transpose(-3, -2)`"""
    first = 0 if tokens.ndim == 2 else 1
    return tokens.unflatten(-1, (num_heads, -1)).transpose(first, first + 1)


@mistake
def cuts_behind_one_batch_axis(tokens, num_heads):
    """you `view` or `reshape` to `(batch, num_heads, length, d_head)` at once, which deals out
    tokens and not features, and you want one batch axis; cut the last axis alone, then swap two"""
    batch, length, d_model = tokens.shape
    return tokens.reshape(batch, num_heads, length, d_model // num_heads)


@mistake
def keeps_the_heads_behind_one_batch_axis(tokens, num_heads):
    """you have cut the features, for one batch axis, but the heads still stand behind the tokens;
    swap the two, and count axes from the right: `transpose(-3, -2)`"""
    batch, length, d_model = tokens.shape
    return tokens.view(batch, length, num_heads, d_model // num_heads)


@mistake
def folds_the_heads_into_the_batch(tokens, num_heads):
    """you make one axis of the batch and the heads; the heads have an axis of their own, behind the
    batch and before the tokens"""
    heads = tokens.reshape(*tokens.shape[:2], num_heads, -1).permute(0, 2, 1, 3)
    return heads.reshape(-1, *heads.shape[2:])


EXERCISE = Exercise(
    function="split_heads",
    reference=reference,
    title="cut the features into heads, and join them again",
    minutes=6,
    axes={"batch": 17, "length": 97, "num_heads": 17, "d_head": 31},
    contract=Contract(
        batch=("tokens",),
        any_axes=True,
        exempts={"cuts off": "gradients are asked of the whole layer, in part B"},
    ),
    checks=(
        Check(
            "a batch of texts, `(batch, length, d_model)`: the heads come directly before the"
            " tokens; head 0 has the first `d_head` features of each, head 1 the next, and so on",
            0.5,
            draw_tokens,
            sizes=({"batch": 2, "length": 3, "num_heads": 5, "d_head": 7},),
            hidden_sizes=({"batch": 5, "length": 7, "num_heads": 2, "d_head": 3},),
            easier=True,
        ),
        Check(
            "one text alone, `(length, d_model)`",
            0.5,
            draw_tokens,
            sizes=(
                {"length": 3, "num_heads": 2, "d_head": 5},
                {"length": 2, "num_heads": 7, "d_head": 3},
            ),
            hidden_sizes=(
                {"length": 7, "num_heads": 3, "d_head": 2},
                {"length": 5, "num_heads": 1, "d_head": 3},
                {"length": 1, "num_heads": 5, "d_head": 7},
            ),
        ),
        Check(
            "a batch of beams, `(batch, beams, length, d_model)`",
            0.5,
            draw_tokens,
            sizes=({"batch": 3, "beams": 5, "length": 2, "num_heads": 7, "d_head": 3},),
            hidden_sizes=({"batch": 2, "beams": 3, "length": 7, "num_heads": 3, "d_head": 2},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "cut.transpose(-3, -2) -> cut.transpose(-2, -3)": "the same two axes, swapped",
    },
)
