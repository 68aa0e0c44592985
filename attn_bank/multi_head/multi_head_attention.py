"""Part B of problem set 09: attention in several heads, with every matrix in its place."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Altered,
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    given,
    mistaking,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight, in_front
from attn_bank.multi_head import merge, rescaled, split
from attn_bank.softmaxes import lowest, twice
from attn_course.retrieval import masked_softmax

Map = Callable[[Tensor], Tensor]
Product = Callable[[Tensor, Tensor], Tensor]


def reference(**inputs: Tensor) -> Tensor:
    return _attend(**inputs)


def _share(heads: Tensor, group: int) -> Tensor:
    return heads.repeat_interleave(group, -3)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
    *,
    cut: Callable[[Tensor, int], Tensor] = split,
    share: Callable[[Tensor, int], Tensor] = _share,
    width: Callable[[Tensor, Tensor], float] = lambda query, value: query.shape[-1],
    weigh: Callable[[Tensor, Tensor], Tensor] = masked_softmax,
    seen: Map = lambda mask: mask.unsqueeze(-3),
    join: Map = merge,
    project: Product = lambda tokens, weight: tokens @ weight.mT,
    finish: Product = lambda merged, weight: merged @ weight.mT,
    num_kv_heads: int | None = None,
    num_value_heads: int | None = None,
) -> Tensor:
    """All of it, in one of many ways: right is what the arguments are if nobody says otherwise."""
    num_kv_heads = num_kv_heads or num_heads * w_key.shape[0] // w_query.shape[0]
    group = num_heads // num_kv_heads
    queries = cut(project(query, w_query), num_heads)
    keys = share(cut(project(key, w_key), num_kv_heads), group)
    values = share(cut(project(value, w_value), num_value_heads or num_kv_heads), group)
    scores = queries @ keys.mT / width(queries, values) ** 0.5
    return finish(join(weigh(scores, seen(mask)) @ values), w_output)


def draw_texts(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_query: int,
    d_key: int,
    d_value: int,
    num_heads: int,
    num_kv_heads: int,
    d_head: int,
    d_head_value: int,
    d_output: int,
    batch: int | None = None,
) -> Inputs:
    """Every query may see every key."""
    before = in_front(batch)
    return {
        "query": draw_normal(generator, *before, query_len, d_query),
        "key": draw_normal(generator, *before, key_len, d_key),
        "value": draw_normal(generator, *before, key_len, d_value),
        "mask": torch.ones(*before, query_len, key_len, dtype=torch.bool),
        "w_query": 2 * draw_weight(generator, num_heads * d_head, d_query),
        "w_key": draw_weight(generator, num_kv_heads * d_head, d_key),
        "w_value": draw_weight(generator, num_kv_heads * d_head_value, d_value),
        "w_output": draw_weight(generator, d_output, num_heads * d_head_value),
        "num_heads": num_heads,
    }


def draw_masked_texts(generator: Generator, **sizes: int) -> Inputs:
    """Each query may see some of the keys; the last one may see none."""
    inputs = draw_texts(generator, **sizes)
    mask = torch.rand(inputs["mask"].shape, generator=generator) < 0.6
    mask[..., 0] = True
    mask[..., -1, :] = False
    return inputs | {"mask": mask}


def draw_padded_texts(generator: Generator, **sizes: int) -> Inputs:
    """One row of the mask for all queries of a text: True at its words; padding scores hundreds."""
    inputs = draw_texts(generator, **sizes)
    batch, key_len = inputs["key"].shape[:-1]
    lengths = torch.randint(2, key_len, (batch, 1, 1), generator=generator)
    mask = torch.arange(key_len) < lengths
    loud = torch.where(mask.mT, inputs["key"], 1000 * inputs["key"])
    return inputs | {"key": loud, "mask": mask}


def draw_masks(generator: Generator, padded: int, **sizes: int) -> Inputs:
    return (draw_padded_texts if padded else draw_masked_texts)(generator, **sizes)


_SCALE = "; divide by the root of the width of one head's query, `d_head`"


def _over_the_root(width: Callable[[Inputs], float]) -> Altered:
    """The reference, but divided by the root of this width instead of `d_head`."""

    def factor(inputs: Inputs) -> float:
        return (len(inputs["w_query"]) / inputs["num_heads"] / width(inputs)) ** 0.5

    return rescaled(reference, factor)


mistake = Mistakes()


@mistake
def cuts_the_list_of_all_numbers(**inputs):
    """your heads are cut by `view` or `reshape` to `(num_heads, length, d_head)` at once, which
    deals out tokens and not features; let `split_heads` of part A do it"""

    def cut(tokens, num_heads):
        *batch, length, d_model = tokens.shape
        return tokens.reshape(*batch, num_heads, length, d_model // num_heads)

    return _attend(**inputs, cut=cut)


@mistake
def glues_the_numbers_as_they_lie(**inputs):
    """you join the heads without swapping the axes back, so features land at other tokens; let
    `merge_heads` of part A do it"""

    def join(heads):
        *batch, num_heads, length, d_head = heads.shape
        return heads.reshape(*batch, length, num_heads * d_head)

    return _attend(**inputs, join=join)


@mistake
def deals_the_features_out(**inputs):
    """your heads take every `num_heads`-th feature; head 0 has the first `d_head` rows of `w_query`
    in a row, so cut the features into `(num_heads, d_head)`"""

    def cut(tokens, num_heads):
        return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)

    return _attend(**inputs, cut=cut)


def _do_not_split(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, cut=lambda tokens, heads: split(tokens, 1), share=lambda t, group: t)


def _do_not_split_but_scale(**inputs: Tensor) -> Tensor:
    def width(query, value):
        return query.shape[-1] // inputs["num_heads"]

    one = {"cut": lambda tokens, heads: split(tokens, 1), "share": lambda heads, group: heads}
    return _attend(**inputs, **one, width=width)


@mistake(also=(_do_not_split, _do_not_split_but_scale))
def has_one_wide_head(**inputs):
    """you attend once, with all features in one dot product; that is a single wide head. Split
    queries, keys and values first, so that each head has a softmax of its own"""
    num_kv_heads = inputs["num_heads"] * inputs["w_key"].shape[0] // inputs["w_query"].shape[0]
    group = inputs["num_heads"] // num_kv_heads
    w_key = split(inputs["w_key"].mT, num_kv_heads)
    w_value = split(inputs["w_value"].mT, num_kv_heads)
    widened = {"w_key": merge(_share(w_key, group)).mT, "w_value": merge(_share(w_value, group)).mT}
    return _attend(**inputs | widened | {"num_heads": 1})


@mistake(computes=_over_the_root(lambda inputs: inputs["w_query"].shape[0]), ending=_SCALE)
def scales_by_all_heads_together():
    """you divide by the root of all rows of `w_query`, which belong to all heads together"""


@mistake(computes=_over_the_root(lambda inputs: inputs["query"].shape[-1]), ending=_SCALE)
def scales_by_the_width_of_the_query():
    """you divide by the root of the width of the tokens, `d_query`"""


def _cut_by_the_share_of_the_query(**inputs: Tensor) -> Tensor:
    d_head = inputs["query"].shape[-1] // inputs["num_heads"]
    num_kv_heads = inputs["w_key"].shape[0] // d_head
    return _attend(**inputs, num_kv_heads=num_kv_heads, width=lambda query, value: d_head)


@mistake(
    points=1,
    computes=_over_the_root(lambda inputs: inputs["query"].shape[-1] / inputs["num_heads"]),
    also=(
        _cut_by_the_share_of_the_query,
        _over_the_root(lambda inputs: inputs["query"].shape[-1] // inputs["num_heads"]),
    ),
    ending=_SCALE,
)
def scales_by_the_share_of_the_query():
    """you take `d_head` to be `d_query / num_heads`, which is common but no law: here the rows of
    `w_query` say how wide the heads are"""


@mistake(points=1, ending=_SCALE)
def scales_by_the_width_of_the_values(**inputs):
    """you divide by the root of the width of one head's values, but it is queries and keys that are
    multiplied"""
    return _attend(**inputs, width=lambda query, value: value.shape[-1])


@mistake(ending=_SCALE)
def scales_by_the_number_of_heads(**inputs):
    """you divide by the root of the number of heads"""
    return _attend(**inputs, width=lambda query, value: inputs["num_heads"])


@mistake
def divides_by_the_width_itself(**inputs):
    """you divide by `d_head` itself; divide by its root"""
    return _attend(**inputs, width=lambda query, value: query.shape[-1] ** 2)


@mistake(computes=_over_the_root(lambda inputs: 1), ending=_SCALE)
def does_not_scale():
    """you do not scale the scores"""


@mistake
def takes_softmax_over_the_queries(**inputs):
    """your weights sum to 1 over the queries; they should over the keys, the last axis:
    `softmax(-1)`"""
    return _attend(**inputs, weigh=lambda scores, mask: masked_softmax(scores.mT, mask.mT).mT)


@mistake
def takes_softmax_over_the_heads(**inputs):
    """your weights sum to 1 over the heads; they should over the keys, the last axis, in each head
    anew: `softmax(-1)`"""

    def weigh(scores, mask):
        return torch.softmax(scores, -3) * mask

    return _attend(**inputs, weigh=weigh)


@mistake
def leaves_the_output_projection_out(**inputs):
    """you return the heads side by side, so no output has features of two heads in it; the last
    step is `w_output`"""
    return _attend(**inputs, finish=lambda merged, weight: merged)


def _multiply_by_three_as_they_are(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, project=torch.matmul)


def _multiply_by_all_as_they_are(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, project=torch.matmul, finish=torch.matmul)


def _multiply_by_w_query_as_it_is(**inputs: Tensor) -> Tensor:
    def project(tokens, weight):
        return tokens @ (weight if weight is inputs["w_query"] else weight.mT)

    return _attend(**inputs, project=project)


@mistake(
    also=(
        _multiply_by_three_as_they_are,
        _multiply_by_all_as_they_are,
        _multiply_by_w_query_as_it_is,
    )
)
def takes_the_matrices_the_other_way_round(**inputs):
    """you multiply by a matrix as it is, or by several; all are stored as in `nn.Linear`, one row
    for each output, so it is `tokens @ w.mT`"""
    turned = {name: t.mT for name, t in inputs.items() if name.startswith("w_")}
    return reference(**inputs | turned)


@mistake(computes=mistaking(reference, value="key"))
def makes_values_of_the_keys():
    """you make the values from `key`; they are made from `value`, which may be other tokens"""


@mistake(points=3, computes=given(reference, mask=torch.ones_like))
def leaves_the_mask_out():
    """you do not use `mask`: where it is False the weight is 0"""


@mistake(computes=given(reference, mask=torch.logical_not))
def takes_true_for_forbidden():
    """you forbid what is allowed: in this course True in `mask` means that the query may look
    there"""


def _clear(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).nan_to_num(0)


def _hand_the_mask_on(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, seen=lambda mask: mask)


def _put_the_new_axis_first(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, seen=lambda mask: mask.unsqueeze(0))


@mistake(points=1, also=(_hand_the_mask_on, _put_the_new_axis_first))
def masks_head_by_head_what_is_text_by_text(**inputs):
    """the mask has the axes `(batch, query_len, key_len)` and the scores `(batch, num_heads,
    query_len, key_len)`, so the mask of text 0 falls on head 0 of all texts, and if there are as
    many texts as heads no error says so; its axis for the heads is the third from the right:
    `mask.unsqueeze(-3)`"""
    return _attend(**inputs, seen=lambda mask: mask, weigh=_clear)


def _name_axis_one(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, seen=lambda mask: mask.unsqueeze(1), weigh=_clear)


@mistake(slip=True, points=4, also=(_name_axis_one,))
def counts_the_axis_of_the_mask_from_the_left(**inputs):
    """your mask gets its axis for the heads at place 1, counted from the left, which fits exactly
    one batch axis; a text alone has none: `mask.unsqueeze(-3)`"""
    return _attend(**inputs, seen=lambda mask: mask.unsqueeze(1))


@mistake(points=3)
def masks_one_head_only(**inputs):
    """your mask holds for the first head only; the others still see what they may not:
    `mask.unsqueeze(-3)` broadcasts over all heads"""

    def seen(mask):
        all_heads = mask.unsqueeze(-3).repeat_interleave(inputs["num_heads"], -3)
        all_heads[..., 1:, :, :] = True
        return all_heads

    return _attend(**inputs, seen=seen)


@mistake(points=3)
def masks_after_the_softmax(**inputs):
    """you mask after the softmax, so that the weights of the keys that are left sum to less than 1;
    mask the scores, before the softmax, as `masked_softmax` does"""
    return _attend(**inputs, weigh=lambda scores, mask: torch.softmax(scores, -1) * mask)


@mistake(points=4)
def shares_out_again_after_the_softmax(**inputs):
    """you mask after the softmax and divide by what is left; where a forbidden key scores high,
    nothing is left. Mask the scores, before the softmax"""

    def weigh(scores, mask):
        weights = torch.softmax(scores, -1) * mask
        total = weights.sum(-1, keepdim=True)
        return weights / total.where(total > 0, 1)

    return _attend(**inputs, weigh=weigh)


@mistake(points=4.5)
def changes_mask(**inputs):
    """you write into `mask`, which belongs to the caller, as `|=` does, an index on the left of
    `=`, and all names that end in `_`; make a new mask"""
    empty = ~inputs["mask"].any(-1, keepdim=True)
    inputs["mask"] |= empty  # so that no row is empty
    seen = inputs["mask"] & ~empty
    return reference(**inputs | {"mask": seen})


@mistake(points=3)
def has_one_mask_for_all_texts(**inputs):
    """you use the mask of one text for all of the batch; each text has its own,
    `mask.unsqueeze(-3)`"""
    return _attend(**inputs, seen=lambda mask: mask[0] if mask.ndim == 3 else mask)


@mistake(points=4)
def cuts_off_w_query(**inputs):
    """your weights are cut off from the graph, so `w_query` and `w_key` will never learn; drop
    `detach`, `data` and `no_grad`"""
    return _attend(**inputs, weigh=lambda scores, mask: masked_softmax(scores.detach(), mask))


def _fill(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


@mistake(points=3)
def gets_nan_where_nothing_is_seen(**inputs):
    """a query that may see nothing has a row of minus infinities, of which the softmax is `nan`;
    its output should be zeros: `masked_softmax` knows"""
    return _attend(**inputs, weigh=_fill)


@mistake(points=4, right="your outputs are right")
def clears_nan_from_the_output(**inputs):
    """your gradients are `nan`: a query that may see nothing has a softmax of minus infinities,
    which is `nan`, and products with that have such gradients whatever you put into the output;
    clear the weights, or let `masked_softmax` do it"""
    return _attend(**inputs, weigh=_fill).nan_to_num(0)


@mistake(points=3)
def sees_all_where_nothing_is_seen(**inputs):
    """you put a large negative number where the mask is False; in a row that may see nothing all
    are equal, and the query sees everything: give it zeros, as `masked_softmax` does"""

    def weigh(scores, mask):
        return scores.masked_fill(~mask, -1e9).softmax(-1)

    return _attend(**inputs, weigh=weigh)


@mistake(points=4)
def deals_the_key_heads_round(**inputs):
    """you repeat the row of key heads as a whole, 0 1 2 0 1 2, as `repeat` does; neighbours share a
    key head, 0 0 1 1 2 2: `repeat_interleave`"""

    def share(heads, group):
        return torch.cat([heads] * group, -3)

    return _attend(**inputs, share=share)


@mistake
def takes_the_first_key_head_for_all(**inputs):
    """all your query heads use key head 0; that is right only where there is no other. Neighbours
    share one: `repeat_interleave`"""

    def share(heads, group):
        return heads[..., :1, :, :].repeat_interleave(group * heads.shape[-3], -3)

    return _attend(**inputs, share=share)


@mistake(points=4)
def averages_the_query_heads(**inputs):
    """you average the query heads that share a key head; each of them keeps its own queries, and
    only the keys and values are repeated: `repeat_interleave`"""
    group = inputs["w_query"].shape[0] // inputs["w_key"].shape[0]
    w_query = split(inputs["w_query"].mT, inputs["num_heads"])
    shared = w_query.unflatten(-3, (-1, group)).mean(-3).repeat_interleave(group, -3)
    return reference(**inputs | {"w_query": merge(shared).mT})


@mistake(points=4)
def wants_as_many_key_heads(**inputs):
    """there are fewer key heads than query heads, and the two axes do not fit; repeat keys and
    values for the heads that share them: `repeat_interleave` along axis `-3`"""
    return _attend(**inputs, share=lambda heads, group: heads)


def _cut_values_into_num_heads(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, num_value_heads=inputs["num_heads"])


def _count_key_heads_by_the_values(**inputs: Tensor) -> Tensor:
    d_head = inputs["w_query"].shape[0] // inputs["num_heads"]
    return _attend(**inputs, num_kv_heads=inputs["w_value"].shape[0] // d_head)


@mistake(points=4, also=(_cut_values_into_num_heads, _count_key_heads_by_the_values))
def cuts_keys_into_num_heads(**inputs):
    """keys and values have a number of heads of their own, the rows of `w_key` divided by `d_head`;
    cut both into so many"""
    return _attend(**inputs, num_kv_heads=inputs["num_heads"])


def _share_along_axis_one(**inputs: Tensor) -> Tensor:
    return _attend(**inputs, share=lambda heads, group: heads.repeat_interleave(group, 1))


@mistake(slip=True, points=4, also=(_share_along_axis_one,))
def wants_a_batch(**inputs):
    """your answer needs exactly one batch axis; a text alone, `(query_len, d_query)`, should do as
    well: count axes from the right, the heads are `-3`"""
    _batch, _length, _width = inputs["query"].shape
    return reference(**inputs)


@mistake
def takes_the_output_matrix_the_other_way_round(**inputs):
    """you multiply by `w_output` as it is; it is stored as in `nn.Linear`, one row for each output,
    so it is `merged @ w_output.mT`"""
    return _attend(**inputs, finish=lambda merged, weight: merged @ weight)


@mistake
def cuts_into_heads_behind_the_batch(**inputs):
    """you cut the tokens by `reshape` to `(batch, length, d_head, num_heads)`, so that features
    change heads; cut them into `(num_heads, d_head)`, then bring the heads before the tokens"""

    def cut(tokens, num_heads):
        return tokens.unflatten(-1, (-1, num_heads)).movedim(-1, -3)

    def join(heads):
        return heads.movedim(-3, -1).flatten(-2)

    return _attend(**inputs, cut=cut, join=join)


@mistake(points=3)
def fills_with_a_billionth(**inputs):
    """you put 1e-9 where the mask is False, which is nearly 0, a score like any other; put minus
    infinity there, as `masked_softmax` does"""

    def weigh(scores, mask):
        return scores.masked_fill(~mask, 1e-9).softmax(-1)

    return _attend(**inputs, weigh=weigh)


@mistake(points=3)
def divides_nothing_by_nothing(**inputs):
    """you mask after the softmax and divide by what is left; where nothing may be seen, or a
    forbidden key scores high, that is 0/0. Mask the scores, before the softmax"""

    def weigh(scores, mask):
        weights = torch.softmax(scores, -1) * mask
        return weights / weights.sum(-1, keepdim=True)

    return _attend(**inputs, weigh=weigh)


@mistake
def has_no_softmax(**inputs):
    """you multiply the values by the scores; a softmax over the keys makes weights of them"""
    return _attend(**inputs, weigh=lambda scores, mask: scores * mask)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake
def returns_the_weights(**inputs):
    """you return the weights of all heads; multiply the values by them, merge the heads, and go on
    with `w_output`"""
    tables = []

    def weigh(scores, seen):
        tables.append(masked_softmax(scores, seen))
        return tables[0]

    _attend(**inputs, weigh=weigh)
    return tables[0]


def _clear_empty_rows(**inputs: Tensor) -> Tensor:
    def weigh(scores, seen):
        return (scores * seen).softmax(-1) * seen.any(-1, keepdim=True)

    return _attend(**inputs, weigh=weigh)


@mistake(points=3, also=(_clear_empty_rows,))
def fills_with_zero_and_clears(**inputs):
    """forbidden keys take weight with the score 0, whatever you clear afterwards; fill their scores
    with minus infinity"""
    return _attend(**inputs, weigh=lambda scores, seen: (scores * seen).softmax(-1) * seen)


EXERCISE = Exercise(
    function="multi_head_attention",
    reference=reference,
    title="attention in several heads",
    minutes=30,
    axes={
        "batch": 17,
        "query_len": 43,
        "key_len": 97,
        "d_query": 31,
        "d_key": 31,
        "d_value": 31,
        "d_head": 31,
        "d_output": 31,
    },
    avoid=("attention",),
    may_use=("attn_course.retrieval.masked_softmax",),
    contract=Contract(
        like=3,
        batch=("query", "key", "value", "mask"),
        exempts={"cuts off": "gradients are asked of the four matrices alone"},
    ),
    checks=(
        Check(
            "each head compares its own queries with its own keys, over the root of `d_head`, and"
            " `w_output` joins them",
            1,
            draw_texts,
            sizes=(
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 6, "d_key": 6, "d_value": 6},
                    **{"num_heads": 2, "num_kv_heads": 2, "d_head": 3, "d_head_value": 3},
                    **{"d_output": 6, "batch": 2},
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 5, "key_len": 2, "d_query": 10, "d_key": 10, "d_value": 10},
                    **{"num_heads": 5, "num_kv_heads": 5, "d_head": 2, "d_head_value": 2},
                    **{"d_output": 10, "batch": 5},
                },
            ),
            easier=True,
        ),
        Check(
            "all the widths may differ",
            1,
            draw_texts,
            sizes=(
                {
                    **{"query_len": 5, "key_len": 7, "d_query": 3, "d_key": 5, "d_value": 2},
                    **{"num_heads": 3, "num_kv_heads": 3, "d_head": 7, "d_head_value": 5},
                    **{"d_output": 11, "batch": 2},
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 2, "key_len": 3, "d_query": 11, "d_key": 7, "d_value": 3},
                    **{"num_heads": 5, "num_kv_heads": 5, "d_head": 2, "d_head_value": 7},
                    **{"d_output": 3, "batch": 3},
                },
            ),
            easier=True,
        ),
        Check(
            "where there are fewer key heads, neighbouring query heads share one; there may be no"
            " batch",
            1,
            draw_texts,
            sizes=(
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 7, "d_key": 2, "d_value": 3},
                    **{"num_heads": 6, "num_kv_heads": 3, "d_head": 5, "d_head_value": 2},
                    **{"d_output": 7, "batch": 2},
                },
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 6, "d_key": 6, "d_value": 6},
                    **{"num_heads": 4, "num_kv_heads": 2, "d_head": 3, "d_head_value": 3},
                    "d_output": 6,
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 2, "key_len": 3, "d_query": 5, "d_key": 7, "d_value": 2},
                    **{"num_heads": 10, "num_kv_heads": 2, "d_head": 3, "d_head_value": 7},
                    **{"d_output": 3, "batch": 3},
                },
                {
                    **{"query_len": 5, "key_len": 2, "d_query": 3, "d_key": 3, "d_value": 3},
                    **{"num_heads": 3, "num_kv_heads": 1, "d_head": 2, "d_head_value": 2},
                    **{"d_output": 5, "batch": 2},
                },
            ),
        ),
        Check(
            "`mask` holds for all heads of its own text; a query that may see nothing gets zeros",
            0.5,
            draw_masks,
            sizes=(
                {
                    **{"query_len": 5, "key_len": 7, "d_query": 2, "d_key": 5, "d_value": 3},
                    **{"num_heads": 3, "num_kv_heads": 3, "d_head": 2, "d_head_value": 5},
                    **{"d_output": 7, "batch": 3, "padded": 0},
                },
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 7, "d_key": 2, "d_value": 5},
                    **{"num_heads": 2, "num_kv_heads": 2, "d_head": 3, "d_head_value": 2},
                    **{"d_output": 3, "batch": 2, "padded": 1},
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 5, "d_key": 3, "d_value": 2},
                    **{"num_heads": 2, "num_kv_heads": 2, "d_head": 7, "d_head_value": 3},
                    **{"d_output": 5, "batch": 5, "padded": 0},
                },
            ),
        ),
        Check(
            "the right gradient reaches the four matrices, even if a query may see nothing",
            1,
            draw_masked_texts,
            sizes=(
                {
                    **{"query_len": 5, "key_len": 7, "d_query": 7, "d_key": 3, "d_value": 2},
                    **{"num_heads": 3, "num_kv_heads": 3, "d_head": 5, "d_head_value": 3},
                    **{"d_output": 2, "batch": 2},
                },
            ),
            gradient=("w_query", "w_key", "w_value", "w_output"),
        ),
    ),
    mistakes=mistake.collected,
)
