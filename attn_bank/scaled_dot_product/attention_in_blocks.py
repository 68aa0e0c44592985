"""Part D of problem set 07: the output of attention from one block of keys after the other."""

import math
from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Count, Exercise, Inputs, Kept, Mistakes, Plain
from torch import Generator, Tensor

from attn_bank.scaled_dot_product import UNSEEN, draw_vectors, why_not
from attn_bank.scales import scaled_by
from attn_course import scaled_dot_product

Maximum = Callable[[Tensor, Tensor], Tensor]


def reference(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    return scaled_dot_product.attention(query, key, value)


def _scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT / math.sqrt(query.shape[-1])


def _keep(before: Tensor, best: Tensor) -> Tensor:
    return torch.exp(before - best)


def _keep_all(before: Tensor, best: Tensor) -> Tensor:
    return torch.ones_like(best)


def _grow(before: Tensor, best: Tensor) -> Tensor:
    return torch.exp(best - before)


def _run(
    query,
    key,
    value,
    block_len,
    first=None,
    maximum=torch.maximum,
    axis=-2,
    of_block=lambda scores: scores.amax(-1, keepdim=True),
    keep_total=_keep,
    keep_blend=_keep,
):
    """Blend and total, in one of many ways: right is what the arguments are if nobody says else."""
    best, total, blend = first, 0.0, 0.0
    for keys, values in zip(key.split(block_len, axis), value.split(block_len, axis), strict=True):
        scores = _scores(query, keys)
        top = of_block(scores)
        if best is None:
            best = top
        before = best if isinstance(best, Tensor) else torch.full_like(top, best)
        best = maximum(before, top)
        weights = torch.exp(scores - best)
        total = total * keep_total(before, best) + weights.sum(-1, keepdim=True)
        blend = blend * keep_blend(before, best) + weights @ values
    return blend, total


def _in_blocks(query, key, value, block_len, **how):
    blend, total = _run(query, key, value, block_len, **how)
    return blend / total


def _each_block(query, key, value, block_len):
    """The output of each block for itself."""
    blocks = zip(key.split(block_len, -2), value.split(block_len, -2), strict=True)
    return [reference(query, *block, block_len) for block in blocks]


def draw_blocks(generator: Generator, block_len: int, **sizes: int) -> Inputs:
    """Vectors so long that the best key of a row often stands in a later block."""
    inputs = draw_vectors(generator, **sizes)
    return inputs | {"query": 2 * inputs["query"], "block_len": block_len}


def draw_far_scores(
    generator: Generator,
    block_len: int,
    query_len: int,
    key_len: int,
    d_key: int,
    d_value: int,
    batch: int,
) -> Inputs:
    """Four kinds of rows: scores near 600 or near -600, that rise or fall from block to block.

    With a root that is a power of two it does not matter to the rounding when it is divided by.
    """
    row, nth = torch.arange(query_len), torch.arange(key_len)
    inputs = draw_vectors(generator, query_len, key_len, d_key, d_value, batch)
    inputs["query"][..., 0] = d_key**0.5 * (1.0 - 2 * (row // 2 % 2))
    inputs["query"][..., 1] = d_key**0.5 * (1.0 - 2 * (row % 2))
    inputs["key"][..., 0], inputs["key"][..., 1] = 600, 64.0 * (nth // 2)
    return inputs | {"block_len": block_len}


def holds_no_table(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, str] | str | None:
    with Kept() as blocks, Count() as work:
        output = call(inputs)
    right = reference(**inputs)
    if reason := why_not(output, right, "the output has to be right as well"):
        return reason
    query_len, key_len = inputs["query"].shape[-2], inputs["key"].shape[-2]
    block_len, table = inputs["block_len"], query_len * key_len
    needed = max(inputs[name].numel() for name in ("query", "key", "value"))
    needed = max(needed, output.numel(), query_len * block_len)
    if not blocks.numbers:
        return UNSEEN
    if blocks.numbers > 2 * needed:
        return (
            f"it makes a tensor of shape {blocks.shape}, {blocks.numbers} numbers; {2 * needed} are"
            " enough, twice the largest input or block",
            "the whole table" if blocks.numbers >= table else "something large",
        )
    if key_len in blocks.raised:
        return f"it takes powers of the scores of all {key_len} keys of a query at once", "all keys"
    if blocks.held >= table:
        return (
            f"its tensors are small, but {blocks.held} numbers are stored at one time; the whole"
            f" table has {table}",
            "the table in pieces",
        )
    once = table * (inputs["key"].shape[-1] + inputs["value"].shape[-1])
    if work.products > 1.25 * once:
        return (
            f"its matrix products multiply {work.products} pairs of numbers; {once} are enough to"
            " read each key and each value once",
            "two passes",
        )
    if block_len not in blocks.raised:
        return (
            f"it never takes the powers of the scores of {block_len} keys at once",
            "other blocks",
        )
    return None


_FACTOR = (
    "; where the maximum rises from `old` to `new`, total and blend shrink by `exp(old - new)`"
)
_FIRST = (
    "your running maximum starts from a number such as 0 or -100, and there are rows whose scores"
    " all lie far below it: every power is 0 there, and 0/0 is NaN; start from minus infinity"
)
_LENGTH = (
    "your output is right, but you do not take `block_len` keys at a time: it is the length of a"
    " block, which `split` asks for, and not the number of blocks, which `chunk` asks for"
)


def _from_zero(**how: Maximum) -> Callable[..., Tensor]:
    """The same where the running maximum starts from 0, which shows in other rows."""
    return lambda **inputs: _in_blocks(**inputs, first=0.0, **how)


mistake = Mistakes()


@mistake(ending=_FACTOR, also=(_from_zero(keep_total=_keep_all, keep_blend=_keep_all),))
def rescales_nothing(query, key, value, block_len):
    """what you have added up so far was measured against an older maximum, and you never shrink it
    (or you overwrite the old maximum first)"""
    return _in_blocks(query, key, value, block_len, keep_total=_keep_all, keep_blend=_keep_all)


@mistake(ending=_FACTOR, also=(_from_zero(keep_blend=_keep_all),))
def rescales_the_total_only(query, key, value, block_len):
    """you shrink the total of the powers when the maximum rises, but not the blend of the values"""
    return _in_blocks(query, key, value, block_len, keep_blend=_keep_all)


@mistake(ending=_FACTOR, also=(_from_zero(keep_total=_keep_all),))
def rescales_the_blend_only(query, key, value, block_len):
    """you shrink the blend of the values when the maximum rises, but not the total of the powers"""
    return _in_blocks(query, key, value, block_len, keep_total=_keep_all)


@mistake(ending=_FACTOR)
def turns_the_factor_round(query, key, value, block_len):
    """your factor makes what was added up so far larger when the maximum rises; it has to become
    smaller"""
    return _in_blocks(query, key, value, block_len, keep_total=_grow, keep_blend=_grow)


@mistake(ending=_FACTOR)
def meets_infinity_in_the_first_block(query, key, value, block_len):
    """all is NaN: in the first block the old maximum is minus infinity, or very low, and what you
    make of it is infinite, such as `exp(new - old)` or a power that is measured against it"""
    how = {"keep_total": _grow, "keep_blend": _grow}
    return _in_blocks(query, key, value, block_len, first=-math.inf, **how)


@mistake(ending=_FACTOR)
def adds_what_each_block_measures(query, key, value, block_len):
    """you measure each block against its own maximum, and add the blocks up as they are; measure
    all of them against the largest score so far"""
    how = {"keep_total": _keep_all, "keep_blend": _keep_all, "maximum": lambda _, top: top}
    return _in_blocks(query, key, value, block_len, **how)


@mistake(points=3, right="your formula is right")
def subtracts_nothing(query, key, value, block_len):
    """`exp` of a score above 88 is infinite in float32. Subtract the largest
    score met so far"""
    return _in_blocks(query, key, value, block_len, first=0.0, maximum=lambda before, _: before)


@mistake(points=3, hint=_FIRST)
def starts_from_zero(query, key, value, block_len):
    return _in_blocks(query, key, value, block_len, first=0.0)


@mistake(points=3, hint=_FIRST)
def starts_from_minus_a_hundred(query, key, value, block_len):
    return _in_blocks(query, key, value, block_len, first=-100.0)


@mistake(points=3)
def forgets_the_maximum_so_far(query, key, value, block_len):
    """you subtract the maximum of the block alone; where it lies far below the maximum of an
    earlier block, `exp(old - new)` is infinite. Take the larger of the two"""
    return _in_blocks(query, key, value, block_len, maximum=lambda _, top: top)


@mistake(points=3)
def takes_one_maximum_for_all(query, key, value, block_len):
    """you subtract the largest score of the whole block from every row; in a row far below it every
    power is 0. Each query has its own: `amax(-1, keepdim=True)`"""

    def of_block(scores):
        return scores.amax().expand(*scores.shape[:-1], 1)

    return _in_blocks(query, key, value, block_len, of_block=of_block)


@mistake(points=2)
def cuts_large_scores_off(query, key, value, block_len):
    """you cut the scores off at a fixed number, beyond which all look the same; subtract the
    largest score met so far, which changes no weight. And you hold the whole table"""
    weights = torch.exp(_scores(query, key).clamp(-80, 80))
    return weights @ value / weights.sum(-1, keepdim=True)


@mistake(right="your blend is right")
def forgets_to_divide(query, key, value, block_len):
    """the weights in your blend do not sum to 1: divide the blend by the total of the powers, at
    the end"""
    return _run(query, key, value, block_len)[0]


@mistake
def averages_the_blocks(query, key, value, block_len):
    """you attend in each block for itself and average: a block in which nothing fits counts as much
    as one in which everything does"""
    return torch.stack(_each_block(query, key, value, block_len)).mean(0)


@mistake
def averages_the_blocks_by_their_size(query, key, value, block_len):
    """you attend in each block for itself and average by the number of keys; a block counts by the
    sum of its powers `exp(score)`, not by its length"""
    outputs = _each_block(query, key, value, block_len)
    sizes = [block.shape[-2] / key.shape[-2] for block in key.split(block_len, -2)]
    return sum(size * output for size, output in zip(sizes, outputs, strict=True))


@mistake
def adds_the_blocks(query, key, value, block_len):
    """you attend in each block for itself and add the outputs up, so that the weights of a row sum
    to the number of blocks"""
    return sum(_each_block(query, key, value, block_len))


@mistake
def returns_the_last_block(query, key, value, block_len):
    """you return what the last block gives; what the blocks before it gave is lost. (If you do add
    up, you never replace the old maximum, minus infinity, and the factor stays 0)"""
    return _each_block(query, key, value, block_len)[-1]


def _go_through_whole_blocks(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    if key.shape[-2] < block_len:
        return reference(query, key, value, block_len) * torch.nan
    return leaves_the_rest_out(query, key, value, block_len)


def _zeros_without_a_whole_block(
    query: Tensor, key: Tensor, value: Tensor, block_len: int
) -> Tensor:
    output = leaves_the_rest_out(query, key, value, block_len)
    return 0 * output if key.shape[-2] < block_len else output


@mistake(also=(_go_through_whole_blocks, _zeros_without_a_whole_block))
def leaves_the_rest_out(query, key, value, block_len):
    """the last keys are left out where `block_len` does not divide their number; the last block is
    shorter"""
    whole = max(key.shape[-2] // block_len * block_len, min(block_len, key.shape[-2]))
    return reference(query, key[..., :whole, :], value[..., :whole, :], block_len)


@mistake(computes=scaled_by(reference, lambda width: 1))
def forgets_the_root():
    """your scores are plain dot products; divide them by the root of the width"""


@mistake
def takes_the_width_of_the_values(query, key, value, block_len):
    """you divide by the root of the width of the values; the scores come from queries and keys,
    `query.shape[-1]`"""
    scale = (query.shape[-1] / value.shape[-1]) ** 0.5
    return reference(query * scale, key, value, block_len)


@mistake(points=3, right="your output is right")
def holds_the_whole_table(query, key, value, block_len):
    """you hold the scores of all queries and all keys at once; make the scores of one block, use
    them up, and go on to the next"""
    return torch.softmax(_scores(query, key), -1) @ value


@mistake(points=3)
def loops_over_the_queries(query, key, value, block_len):
    """you go from query to query, and each meets all keys at once. That is part A, row by row: the
    row still grows with the number of keys. Go from block to block of keys"""
    rows = [holds_the_whole_table(one, key, value, block_len) for one in query.split(1, -2)]
    return torch.cat(rows, -2)


@mistake(points=3)
def keeps_all_blocks(query, key, value, block_len):
    """you make the blocks one by one, but you keep them: together they are the whole table. Use a
    block up, for maximum, total and blend, before you make the next"""
    blocks = [_scores(query, keys) for keys in key.split(block_len, -2)]
    best = torch.cat([scores.amax(-1, keepdim=True) for scores in blocks], -1)
    best = best.amax(-1, keepdim=True)
    total, blend = 0.0, 0.0
    for scores, values in zip(blocks, value.split(block_len, -2), strict=True):
        weights = torch.exp(scores - best)
        total, blend = total + weights.sum(-1, keepdim=True), blend + weights @ values
    return blend / total


@mistake(points=3, hint=_LENGTH)
def takes_the_length_for_the_number(query, key, value, block_len):
    return _in_blocks(query, key, value, math.ceil(key.shape[-2] / block_len))


@mistake(points=3, hint=_LENGTH)
def takes_one_key_at_a_time(query, key, value, block_len):
    return _in_blocks(query, key, value, 1)


@mistake(points=3.5, right="your output is right")
def takes_the_factor_for_a_constant(query, key, value, block_len):
    """the factor is cut off from the graph while the maximum in the powers is not; cut off the
    maximum itself, or nothing"""

    def keep(before, best):
        return _keep(before, best).detach()

    return _in_blocks(
        query, key, value, block_len, first=-math.inf, keep_total=keep, keep_blend=keep
    )


@mistake(points=3.5, right="your output is right")
def takes_the_total_for_a_constant(query, key, value, block_len):
    """the total that you divide by is cut off from the graph; only the maximum may be, since it
    cancels"""
    blend, total = _run(query, key, value, block_len)
    return blend / total.detach()


@mistake(points=2.5)
def counts_axes_from_the_front(query, key, value, block_len):
    """you cut along axis 0, which is the keys' only where there is nothing in front; cut along axis
    -2: `key.split(block_len, -2)`"""
    return _in_blocks(query, key, value, block_len, axis=0)


@mistake(points=3)
def reads_the_keys_twice(query, key, value, block_len):
    """you go over the keys twice, once for the maxima and once for the sums: in one pass the
    running maximum shrinks what has been added up before it"""
    query = query / math.sqrt(query.shape[-1])
    blocks = key.split(block_len, -2)
    top = torch.stack([(query @ one.mT).amax(-1) for one in blocks]).amax(0).unsqueeze(-1)
    blend = total = 0
    for one, its_value in zip(blocks, value.split(block_len, -2), strict=True):
        powers = torch.exp(query @ one.mT - top)
        blend, total = blend + powers @ its_value, total + powers.sum(-1, keepdim=True)
    return blend / total


@mistake(computes=scaled_by(reference, lambda width: 1 / width))
def divides_by_the_width():
    """you divide the scores by the width; divide by its root"""


@mistake
def takes_the_length_of_a_block_for_the_width(query, key, value, block_len):
    """you divide by the root of the number of keys in a block; it is the root of the width,
    `query.shape[-1]`"""
    return reference(query * (query.shape[-1] / block_len) ** 0.5, key, value, block_len)


def _divide_blocks(query: Tensor, key: Tensor, value: Tensor, block_len: int) -> Tensor:
    """The blend, divided by the sum of the powers after each block."""
    best, total, blend = query.new_tensor(-torch.inf), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = _scores(query, keys)
        before, best = best, torch.maximum(best, scores.amax(-1, keepdim=True))
        factor, powers = torch.exp(before - best), torch.exp(scores - best)
        total = total * factor + powers.sum(-1, keepdim=True)
        blend = (blend * factor + powers @ values) / total
    return blend


@mistake(also=(lambda **inputs: _divide_blocks(**inputs) / _run(**inputs)[1],))
def divides_after_each_block(query, key, value, block_len):
    """you divide the blend by the sum after each block, and go on with the quotient; divide once,
    behind the last block"""
    return _divide_blocks(query, key, value, block_len)


@mistake(ending=_FACTOR)
def rescales_the_new_block_too(query, key, value, block_len):
    """you add the new block and shrink everything after that; the powers of the new block are
    measured against the new maximum already, so shrink only what came before"""
    best, total, blend = query.new_tensor(-torch.inf), 0, 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = _scores(query, keys)
        before, best = best, torch.maximum(best, scores.amax(-1, keepdim=True))
        factor, powers = torch.exp(before - best), torch.exp(scores - best)
        total = (total + powers.sum(-1, keepdim=True)) * factor
        blend = (blend + powers @ values) * factor
    return blend / total


@mistake
def divides_each_block_and_adds(query, key, value, block_len):
    """you shrink what was added up so far, but a softmax has divided each block already, by its own
    sum; add up powers, and divide once, at the end"""
    best, blend = query.new_tensor(-torch.inf), 0
    for keys, values in zip(key.split(block_len, -2), value.split(block_len, -2), strict=True):
        scores = _scores(query, keys)
        before, best = best, torch.maximum(best, scores.amax(-1, keepdim=True))
        blend = blend * torch.exp(before - best) + torch.softmax(scores, -1) @ values
    return blend


@mistake
def reads_the_first_values_again(query, key, value, block_len):
    """every block of keys meets the first values in yours; cut keys and values into the same
    blocks"""
    again = [value[..., : block.shape[-2], :] for block in key.split(block_len, -2)]
    return reference(query, key, torch.cat(again, -2), block_len)


@mistake
def returns_the_first_block(query, key, value, block_len):
    """you return what the first block gives; go on to the others, and join what they give"""
    return _each_block(query, key, value, block_len)[0]


@mistake(points=3, right="your output is right")
def cuts_the_queries(query, key, value, block_len):
    """you cut the queries into blocks, and each meets all keys at once; cut keys and values"""
    blocks = query.split(block_len, -2)
    return torch.cat([holds_the_whole_table(one, key, value, block_len) for one in blocks], -2)


@mistake
def measures_along_the_queries(query, key, value, block_len):
    """your largest score is one for each key of the block; it is one for each query: `amax(-1,
    keepdim=True)`"""
    return _in_blocks(
        query, key, value, block_len, of_block=lambda scores: scores.amax(-2, keepdim=True)
    )


EXERCISE = Exercise(
    function="attention_in_blocks",
    reference=reference,
    title="softmax in one pass, from block to block",
    minutes=30,
    axes={"query_len": 43},
    avoid=("attention",),
    contract=Contract(answer=_in_blocks, batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "the output is part A's, whatever the length of a block; it need not divide the number"
            " of keys; any number of axes may come before",
            1,
            draw_blocks,
            sizes=(
                {"query_len": 3, "key_len": 7, "d_key": 5, "d_value": 2, "block_len": 3},
                {
                    **{"batch": 2, "query_len": 5, "key_len": 3, "d_key": 2, "d_value": 7},
                    "block_len": 1,
                },
                {"query_len": 2, "key_len": 3, "d_key": 7, "d_value": 5, "block_len": 5},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 2, "key_len": 5, "d_key": 3},
                    **{"d_value": 2, "block_len": 2},
                },
            ),
            hidden_sizes=(
                {"query_len": 2, "key_len": 5, "d_key": 3, "d_value": 7, "block_len": 11},
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 1, "key_len": 11, "d_key": 7},
                    **{"d_value": 5, "block_len": 2},
                },
            ),
        ),
        Check(
            "scores in the hundreds, positive or negative, rising or falling from block to block,"
            " give no `nan`",
            1,
            draw_far_scores,
            sizes=(
                {
                    **{"batch": 2, "query_len": 5, "key_len": 13, "d_key": 4, "d_value": 2},
                    "block_len": 3,
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "query_len": 7, "key_len": 11, "d_key": 4, "d_value": 7},
                    "block_len": 5,
                },
            ),
        ),
        Check(
            "`block_len` keys at a time: no tensor holds more than twice the numbers of the largest"
            " input or of one block of scores, and all that is kept is less than the table",
            1,
            draw_blocks,
            sizes=({"query_len": 41, "key_len": 127, "d_key": 3, "d_value": 2, "block_len": 11},),
            hidden_sizes=(
                {"query_len": 43, "key_len": 139, "d_key": 3, "d_value": 2, "block_len": 13},
            ),
            dtype=torch.float64,
            invariant=holds_no_table,
        ),
        Check(
            "the right gradient reaches `query`, `key` and `value`",
            0.5,
            draw_blocks,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2, "block_len": 2},),
            hidden_sizes=(
                {"query_len": 2, "key_len": 7, "d_key": 3, "d_value": 5, "block_len": 3},
            ),
            gradient=("query", "key", "value"),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "0 -> 1": "what the sum begins with is multiplied by `exp(-inf - higher)`, which is 0",
        "0 -> -1": "what the sum begins with is multiplied by `exp(-inf - higher)`, which is 0",
        "0 -> 1 (2)": "what the blend begins with is multiplied by `exp(-inf - higher)`, which is"
        " 0",
        "0 -> -1 (2)": "what the blend begins with is multiplied by `exp(-inf - higher)`, which is"
        " 0",
        "torch.maximum(best, scores.amax(-1, keepdim=True)) ->"
        " torch.maximum(scores.amax(-1, keepdim=True), best)": "the larger of two has no order",
    },
)
