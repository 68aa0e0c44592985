"""Part E of problem set 09, first half: heads that are added up, as a lecture meant to print it."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight, in_front
from attn_bank.multi_head import rescaled
from attn_bank.softmaxes import sigmoids, twice, whole_table


def reference(**inputs: Tensor) -> Tensor:
    return sum(_parts(**inputs))


def _parts(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    *,
    width: Callable[[Tensor], float] = lambda queries: queries.shape[-1],
    weigh: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(-1),
    finish: Callable[[Tensor, Tensor], Tensor] = torch.matmul,
) -> list[Tensor]:
    """One tensor for each head: its part of the output."""
    parts = []
    for for_query, for_key, for_value, back in zip(w_query, w_key, w_value, w_output, strict=True):
        queries = query @ for_query
        scores = queries @ (key @ for_key).mT / width(queries) ** 0.5
        parts.append(finish(weigh(scores) @ (value @ for_value), back))
    return parts


def draw_heads(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_query: int,
    d_key: int,
    d_value: int,
    num_heads: int,
    d_head: int,
    d_head_value: int,
    d_model: int,
    batch: int | None = None,
    loud: int = 1,
) -> Inputs:
    """With `loud` 100 there are scores whose powers float32 does not hold."""

    def draw_matrices(d_input: int, d_output: int) -> Tensor:
        return (
            draw_weight(generator, num_heads * d_output, d_input).unflatten(0, (num_heads, -1)).mT
        )

    before = in_front(batch)
    return {
        "query": draw_normal(generator, *before, query_len, d_query),
        "key": draw_normal(generator, *before, key_len, d_key),
        "value": draw_normal(generator, *before, key_len, d_value),
        "w_query": 2 * loud * draw_matrices(d_query, d_head),
        "w_key": draw_matrices(d_key, d_head),
        "w_value": draw_matrices(d_value, d_head_value),
        "w_output": draw_matrices(d_head_value, d_model),
    }


mistake = Mistakes()


def _look_by_a_unit_matrix(**inputs: Tensor) -> Tensor:
    return sum(_parts(**inputs, weigh=lambda scores: torch.eye(*scores.shape[-2:])))


def _weigh_nothing(**inputs: Tensor) -> Tensor:
    return sum(inputs["value"] @ v @ o for v, o in _pairs(inputs))


@mistake(also=(_look_by_a_unit_matrix, _weigh_nothing))
def looks_at_its_own_place_only(**inputs):
    """your query `i` meets key `i` and value `i` alone, as the slide has it; a softmax over one key
    is 1, and nothing is looked up: each query meets all keys, `n`"""
    values = (inputs["value"] @ v @ o for v, o in _pairs(inputs))
    return sum(values)[..., : inputs["query"].shape[-2], :]


def _pairs(inputs: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    return list(zip(inputs["w_value"], inputs["w_output"], strict=True))


@mistake(also=(then(reference, lambda output: output.sum(-2)),))
def sums_over_the_queries(**inputs):
    """you add over the queries, as the sum over `i` on the slide says, so one row stands for all
    queries; the sum runs over the heads, `j`"""
    summed = reference(**inputs).sum(-2, keepdim=True)
    return summed.expand_as(reference(**inputs))


@mistake
def sums_over_the_queries_of_each_head(**inputs):
    """you add over the queries, as the sum over `i` on the slide says, and get one row for each
    head; the sum runs over the heads, `j`, and leaves one row for each query"""
    return torch.stack([part.sum(-2) for part in _parts(**inputs)], -2)


@mistake
def keeps_the_heads_apart(**inputs):
    """you return what every head brings; add over the heads, so that the axis of the heads is gone:
    `sum` over `j`"""
    return torch.stack(_parts(**inputs), -3)


@mistake
def averages_the_heads(**inputs):
    """you divide by the number of heads; it is a sum, as what `w_output` does to heads side by
    side"""
    return reference(**inputs) / len(inputs["w_query"])


@mistake
def concatenates_after_the_projection(**inputs):
    """you put the projected heads side by side; each of them is as wide as the output already, so
    add them: `sum`"""
    return torch.cat(_parts(**inputs), -1)


@mistake
def concatenates_and_stops(**inputs):
    """you put the heads side by side and leave `w_output` out; multiply each by its own matrix and
    add"""
    return torch.cat(_parts(**inputs, finish=lambda seen, back: seen), -1)


@mistake
def adds_before_the_projection(**inputs):
    """you add the heads first and the output matrices too; every head has its own matrix, and a
    product of two sums is not a sum of products: multiply first"""
    return sum(_parts(**inputs, finish=lambda seen, back: seen)) @ inputs["w_output"].sum(0)


@mistake
def uses_the_first_output_matrix_for_all(**inputs):
    """all your heads go through the output matrix of head 0; head `j` has `w_output[j]`"""
    first = inputs["w_output"][:1].expand_as(inputs["w_output"])
    return reference(**inputs | {"w_output": first})


@mistake
def returns_the_last_head(**inputs):
    """you return what the last head brings; add up all heads before the `return`"""
    return _parts(**inputs)[-1]


def _multiply_by_a_vector(**inputs: Tensor) -> Tensor:
    return sum(_parts(**inputs, finish=lambda seen, back: seen @ back[:, 0]))


@mistake(also=(_multiply_by_a_vector,))
def makes_a_number_of_each_head(**inputs):
    """you make one number of each head, as the slide's small `w`, a vector, does; the output of a
    head is as wide as the layer, so `w_output[j]` is a matrix"""
    return sum(_parts(**inputs, finish=lambda seen, back: seen @ back[:, :1]))


@mistake
def uses_the_same_weights_in_all_heads(**inputs):
    """all your heads look with the queries and keys of head 0, so they all look at the same place;
    head `j` has `w_query[j]` and `w_key[j]`"""
    same = {n: inputs[n][:1].expand_as(inputs[n]) for n in ("w_query", "w_key")}
    return reference(**inputs | same)


@mistake(computes=rescaled(reference, lambda inputs: inputs["w_query"].shape[-1] ** 0.5))
def does_not_scale():
    """you do not scale the scores; divide by the root of the width of one head's query, `d_head`"""


@mistake
def scales_by_all_heads_together(**inputs):
    """you divide by the root of the width of all heads together; divide by the root of `d_head`,
    the width of one"""
    heads = len(inputs["w_query"])
    return sum(_parts(**inputs, width=lambda queries: heads * queries.shape[-1]))


@mistake
def scales_by_the_share_of_the_tokens(**inputs):
    """you divide by the root of `d_query // num_heads`; a head may have another width: the last
    axis of `w_query`"""
    d_query, num_heads = inputs["query"].shape[-1], len(inputs["w_query"])
    return sum(_parts(**inputs, width=lambda queries: d_query // num_heads))


@mistake
def scales_by_the_width_of_the_tokens(**inputs):
    """you divide by the root of the width of the tokens; divide by the root of `d_head`, the last
    axis of `w_query`"""
    return sum(_parts(**inputs, width=lambda queries: inputs["query"].shape[-1]))


@mistake
def takes_softmax_over_the_queries(**inputs):
    """your weights sum to 1 over the queries; they should over the keys, the last axis:
    `softmax(-1)`"""
    return sum(_parts(**inputs, weigh=lambda scores: scores.softmax(-2)))


@mistake(points=1)
def takes_powers_as_they_are(**inputs):
    """you take the powers of the scores as they are; `exp(100)` is more than a number can hold, and
    infinity divided by infinity is `nan`; `torch.softmax` takes the largest score of the row off
    first"""

    def weigh(scores):
        return scores.exp() / scores.exp().sum(-1, keepdim=True)

    return sum(_parts(**inputs, weigh=weigh))


@mistake
def scales_by_the_width_of_the_keys(**inputs):
    """you divide by the root of the width of the key tokens; divide by the root of `d_head`, the
    last axis of `w_query`"""
    return sum(_parts(**inputs, width=lambda queries: inputs["key"].shape[-1]))


@mistake
def scales_by_the_width_of_the_values(**inputs):
    """you divide by the root of the width of one head's values; it is queries and keys that are
    multiplied, so divide by the root of their width, `d_head`"""
    return sum(_parts(**inputs, width=lambda queries: inputs["w_value"].shape[-1]))


@mistake
def forgets_the_softmax(**inputs):
    """there is no `softmax` in your heads; the scores become weights before they meet the values"""
    return sum(_parts(**inputs, weigh=lambda scores: scores))


@mistake(slip=True, points=1)
def wants_a_batch(query, key, value, w_query, w_key, w_value, w_output):
    """your answer needs a batch axis; one text alone should do as well: write `...` in `einsum` for
    whatever comes before, or use `@` in a loop over the heads"""
    queries = torch.einsum("bqi,hid->bhqd", query, w_query)
    keys = torch.einsum("bki,hid->bhkd", key, w_key)
    values = torch.einsum("bki,hid->bhkd", value, w_value)
    weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bhqd,hdo->bqo", weights @ values, w_output)


@mistake(points=1)
def wants_no_batch(**inputs):
    """your answer is right for one text and not for a batch: swap the last two axes of the keys,
    `.mT`, wherever the others are"""
    if inputs["query"].ndim == 2:
        return reference(**inputs)
    mixed = inputs["key"].transpose(0, 1).transpose(-1, -2)
    return inputs["query"] @ mixed


_OUTPUT = {"d_model": 7, "num_heads": 3, "d_head": 5, "d_head_value": 2}


@mistake
def returns_the_first_head(**inputs):
    """you return what the first head brings: your `return` stands inside the loop; add all heads
    up, and return behind it"""
    return _parts(**inputs)[0]


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**sigmoids(reference))
def takes_sigmoids(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(slip=True, points=1)
def takes_axis_one(**inputs):
    """your softmax runs over axis 1, where the keys lie only without a batch; count from the back:
    `softmax(-1)`"""
    return sum(_parts(**inputs, weigh=lambda scores: scores.softmax(1)))


@mistake
def divides_the_width_by_the_heads(**inputs):
    """you divide `d_head` by the number of heads once more; the last axis of `w_query` is the width
    of one head already"""
    heads = len(inputs["w_query"])
    return sum(_parts(**inputs, width=lambda queries: queries.shape[-1] / heads))


@mistake
def scales_by_the_number_of_heads(**inputs):
    """you divide by the root of the number of heads; divide by the root of `d_head`, the last axis
    of `w_query`"""
    return sum(_parts(**inputs, width=lambda queries: len(inputs["w_query"])))


@mistake
def scales_by_the_width_of_the_output(**inputs):
    """you divide by the root of `d_model`, the width of the output; divide by the root of `d_head`,
    the last axis of `w_query`"""
    return sum(_parts(**inputs, width=lambda queries: inputs["w_output"].shape[-1]))


@mistake
def divides_by_the_width_itself(**inputs):
    """you divide by `d_head` itself; divide by its root"""
    return sum(_parts(**inputs, width=lambda queries: queries.shape[-1] ** 2))


@mistake(slip=True)
def leaves_a_head_out(**inputs):
    """your loop ends one head too early; add what all heads bring"""
    return sum(_parts(**inputs)[:-1])


@mistake
def multiplies_the_heads(**inputs):
    """you multiply what the heads bring; add it up"""
    return torch.stack(_parts(**inputs)).prod(0)


@mistake
def joins_the_weights_of_all_heads(**inputs):
    """you make one table of weights for all heads, their mean; each head weighs its own values with
    its own weights"""
    tables = []
    _parts(**inputs, weigh=lambda scores: tables.append(scores.softmax(-1)) or scores)
    return sum(_parts(**inputs, weigh=lambda scores: sum(tables) / len(tables)))


@mistake
def adds_the_scores_of_all_heads(**inputs):
    """you add the scores of all heads up and take one softmax; each head has a softmax of its
    own"""
    tables = []
    _parts(**inputs, weigh=lambda scores: tables.append(scores) or scores)
    return sum(_parts(**inputs, weigh=lambda scores: sum(tables).softmax(-1)))


@mistake
def makes_values_of_the_keys(**inputs):
    """you multiply the keys' tokens by `w_value`; it belongs to `value`"""
    return reference(**inputs | {"value": inputs["key"]})


@mistake
def scales_the_weights(**inputs):
    """you divide the weights, or what comes of them, by the root; divide the scores, before the
    softmax"""
    width = inputs["w_query"].shape[-1]
    return sum(_parts(**inputs, width=lambda queries: 1)) / width**0.5


def _turn(query, key, value, w_query, w_key, w_value, w_output, *, turn):
    heads = zip(w_query, w_key, w_value, w_output, strict=True)
    return sum(
        torch.softmax(query @ q @ turn(key @ k) / q.shape[-1] ** 0.5, -1) @ (value @ v) @ o
        for q, k, v, o in heads
    )


@mistake(points=1)
def turns_all_axes_round(**inputs):
    """`.T` reverses the order of all axes, including the batch; `.mT` swaps the last two"""
    return _turn(**inputs, turn=lambda keys: keys.permute(*reversed(range(keys.ndim))))


@mistake(points=1)
def swaps_axes_one_and_two(**inputs):
    """you swap axes 1 and 2 of the keys, which one text alone does not have; `.mT` swaps the last
    two, whatever comes before"""
    return _turn(**inputs, turn=lambda keys: keys.transpose(1, 2))


def _turn_all(matrices: Tensor) -> Tensor:
    return matrices.mT


@mistake(computes=given(reference, w_query=_turn_all, w_key=_turn_all, w_value=_turn_all))
def takes_the_matrices_the_other_way_round():
    """`w_query[j]` has a row for each feature of the tokens, unlike in part B: `query @
    w_query[j]`, without `.mT`, and likewise for keys and values"""


@mistake(points=1)
def multiplies_by_all_heads_at_once(query, key, value, w_query, w_key, w_value, w_output):
    """you multiply by the matrices of all heads at once, and their first axis, which counts the
    heads, meets the axis of the batch; give the tokens an axis for the heads, `query.unsqueeze(-3)
    @ w_query`, or take one head after another"""
    queries, keys, values = query @ w_query, key @ w_key, value @ w_value
    weights = (queries @ keys.mT / keys.shape[-1] ** 0.5).softmax(-1)
    return (weights @ values @ w_output).sum(0)


EXERCISE = Exercise(
    function="sum_of_heads",
    reference=reference,
    title="find the slips: an equation, and a count",
    minutes=18,
    axes={
        "batch": 17,
        "query_len": 43,
        "key_len": 97,
        "d_query": 31,
        "d_key": 31,
        "d_value": 31,
        "d_head": 31,
        "d_model": 31,
    },
    avoid=("attention",),
    may_use=("attn_course.retrieval.masked_softmax",),
    contract=Contract(
        like=1,
        batch=("query", "key", "value"),
        exempts={"cuts off": "gradients are asked of the layer in part B, which this one equals"},
    ),
    checks=(
        Check(
            "one text: every query attends to all keys in each head, and what the heads bring,"
            " each times its own output matrix, is added up",
            1,
            draw_heads,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_query": 2, "d_key": 3, "d_value": 11, **_OUTPUT},
                {
                    **{"query_len": 3, "key_len": 3, "d_query": 6, "d_key": 6, "d_value": 6},
                    **{"num_heads": 2, "d_head": 3, "d_head_value": 3, "d_model": 6},
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 5, "key_len": 7, "d_query": 3, "d_key": 5, "d_value": 2},
                    **{"num_heads": 5, "d_head": 2, "d_head_value": 7, "d_model": 3},
                },
            ),
        ),
        Check(
            "a batch of texts, each by itself; scores may be some hundreds",
            0.5,
            draw_heads,
            sizes=(
                {
                    **{"query_len": 5, "key_len": 2, "d_query": 3, "d_key": 3, "d_value": 5},
                    **{"batch": 2},
                    **_OUTPUT,
                },
                {
                    **{"query_len": 3, "key_len": 5, "d_query": 2, "d_key": 5, "d_value": 3},
                    **{"batch": 3, "loud": 100},
                    **_OUTPUT,
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 2, "key_len": 3, "d_query": 7, "d_key": 5, "d_value": 3},
                    **{"num_heads": 2, "d_head": 3, "d_head_value": 5, "d_model": 11, "batch": 5},
                },
            ),
        ),
    ),
    mistakes=mistake.collected,
)
