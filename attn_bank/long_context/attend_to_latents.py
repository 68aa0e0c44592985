"""Part B of problem set 13: attention to latents, whose keys and values are never made."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Count,
    Exercise,
    Inputs,
    Largest,
    Mistakes,
    Plain,
    given,
    mistaking,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.scaled_dot_product import UNSEEN, why_not
from attn_bank.scales import scaled_by
from attn_bank.softmaxes import best, lowest, powers, twice, whole_table

Weigh = Callable[[Tensor], Tensor]


def reference(query: Tensor, latents: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return _folded(query, latents, w_key, w_value)


def _plain(query: Tensor, latents: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    """The form in which the keys and values of all heads are made."""
    key, value = (latents.unsqueeze(1) @ weight.mT for weight in (w_key, w_value))
    return _weights(query @ key.mT / query.shape[-1] ** 0.5) @ value


def _weights(scores: Tensor) -> Tensor:
    return torch.softmax(scores, -1)


def _folded(
    query: Tensor,
    latents: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    *,
    weigh: Weigh = _weights,
    unfold: Callable[[Tensor, Tensor], Tensor] = lambda mixed, w_value: mixed @ w_value.mT,
) -> Tensor:
    """Latents alone are read, in one of many ways."""
    folded = query @ w_key / query.shape[-1] ** 0.5
    mixed = weigh(torch.einsum("bhqr,bkr->bhqk", folded, latents))
    return unfold(torch.einsum("bhqk,bkr->bhqr", mixed, latents), w_value)


def draw_latents(
    generator: Generator,
    batch: int,
    num_heads: int,
    query_len: int,
    key_len: int,
    rank: int,
    d_head: int,
    d_value: int,
) -> Inputs:
    """Matrices that keep the size of what they are multiplied with."""
    return {
        "query": 2 * draw_normal(generator, batch, num_heads, query_len, d_head),
        "latents": draw_normal(generator, batch, key_len, rank),
        "w_key": draw_normal(generator, num_heads, d_head, rank) / rank**0.5,
        "w_value": draw_normal(generator, num_heads, d_value, rank) / rank**0.5,
    }


def makes_no_keys(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, str] | str | None:
    """No tensor has room for the keys or the values of all heads, nor are they made in turn."""
    with Largest() as largest, Count() as work:
        output = call(inputs)
    if reason := why_not(output, _plain(**inputs), "the output has to be right as well"):
        return reason
    if not largest.numbers:
        return UNSEEN
    made, folded = _products(inputs)
    found = _made(work.products, made, folded)
    batch, key_len, _ = inputs["latents"].shape
    widths = inputs["query"].shape[-1], inputs["w_value"].shape[1]
    keys = batch * inputs["query"].shape[1] * key_len * min(widths)
    if largest.numbers >= keys:
        return (
            f"it makes a tensor of shape {largest.shape}, {largest.numbers} numbers; with keys or"
            f" values of all heads it takes {keys}, and without them far fewer",
            found,
        )
    if work.products > 1.25 * sum(folded):
        return (
            f"its matrix products multiply {work.products} pairs of numbers; {sum(folded)} are"
            " enough if neither keys nor values are made",
            found,
        )
    return None


def _products(inputs: Inputs) -> tuple[list[int], list[int]]:
    """Multiplications for scores and for outputs, with keys and values made, and without."""
    batch, num_heads, query_len, d_head = inputs["query"].shape
    key_len, rank = inputs["latents"].shape[1:]
    widths, heads = (d_head, inputs["w_value"].shape[1]), batch * num_heads
    made = [heads * key_len * width * (rank + query_len) for width in widths]
    return made, [heads * query_len * rank * (width + key_len) for width in widths]


def _made(products: int, made: list[int], folded: list[int]) -> str:
    """The numbers made for each token and head, told by the number of multiplications."""
    ways = {
        sum(made): "keys and values",
        made[0] + folded[1]: "keys",
        folded[0] + made[1]: "values",
    }
    return ways.get(products, "something else")


mistake = Mistakes()


def _make_head_by_head(query: Tensor, latents: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    heads = zip(query.unbind(1), w_key, w_value, strict=True)
    root = query.shape[-1] ** 0.5
    return torch.stack(
        [_weights(one @ (latents @ k.mT).mT / root) @ (latents @ v.mT) for one, k, v in heads], 1
    )


@mistake(points=2, right="your output is right", also=(_make_head_by_head,))
def makes_keys_and_values(query, latents, w_key, w_value):
    """you make keys and values of the latents; multiply the query with `w_key` instead, and what
    comes out of the softmax and the latents with `w_value`"""
    return _plain(query, latents, w_key, w_value)


@mistake(points=2, right="your output is right")
def makes_the_values(query, latents, w_key, w_value):
    """you still make a value for each token and head; let the weights mix the latents, and multiply
    what comes out with `w_value`, once for each query"""
    folded = query @ w_key / query.shape[-1] ** 0.5
    value = latents.unsqueeze(1) @ w_value.mT
    return _weights(torch.einsum("bhqr,bkr->bhqk", folded, latents)) @ value


@mistake(points=2, right="your output is right")
def makes_the_keys(query, latents, w_key, w_value):
    """you still make a key for each token and head; multiply the query with `w_key`, and what comes
    out with the latents"""
    key = latents.unsqueeze(1) @ w_key.mT
    weights = _weights(query @ key.mT / query.shape[-1] ** 0.5)
    return torch.einsum("bhqk,bkr->bhqr", weights, latents) @ w_value.mT


def _scale_by_both(query: Tensor, latents: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return reference(query / w_key.shape[-1] ** 0.5, latents, w_key, w_value)


@mistake(also=(_scale_by_both,))
def scales_by_the_rank(query, latents, w_key, w_value):
    """you divide by the root of `rank`, the width of the folded query, as torch's attention does by
    itself; the scores are those of queries and keys, so it is the root of `d_head`, and no other"""
    return reference(query * (query.shape[-1] / w_key.shape[-1]) ** 0.5, latents, w_key, w_value)


@mistake(computes=scaled_by(reference, lambda width: 1))
def forgets_the_root():
    """your scores are plain dot products; divide them by the root of `d_head`"""


@mistake(
    computes=scaled_by(reference, lambda width: 1 / width),
    also=(scaled_by(reference, lambda width: width**0.5),),
)
def divides_by_something_else():
    """your scores are not divided by the root of `d_head` once: you divide by it twice, or multiply
    by it"""


@mistake
def scales_the_output(query, latents, w_key, w_value):
    """you divide the output by the root, or the weights, which no longer sum to 1; divide the
    scores, before the softmax"""
    root = query.shape[-1] ** 0.5
    return reference(query * root, latents, w_key, w_value) / root


@mistake
def scales_by_the_values(query, latents, w_key, w_value):
    """you divide by the root of the width of the values; it is the root of `d_head`, the width of a
    query"""
    return reference(query * (query.shape[-1] / w_value.shape[1]) ** 0.5, latents, w_key, w_value)


def _scale_by_their_number(
    query: Tensor, latents: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return reference(query * (query.shape[-1] / query.shape[1]) ** 0.5, latents, w_key, w_value)


@mistake(also=(_scale_by_their_number,))
def scales_by_all_heads(query, latents, w_key, w_value):
    """you divide by the root of the number of heads, or of the width of all heads together; it is
    the root of `d_head`, the last axis of `query`"""
    return reference(query / query.shape[1] ** 0.5, latents, w_key, w_value)


def _mask(from_the_end: bool) -> Weigh:
    def weigh(scores: Tensor) -> Tensor:
        shift = scores.shape[-1] - scores.shape[-2] if from_the_end else 0
        later = torch.ones_like(scores, dtype=torch.bool).triu(shift + 1)
        return scores.masked_fill(later, -torch.inf).softmax(-1)

    return weigh


@mistake(computes=partial(_folded, weigh=_mask(False)), also=(partial(_folded, weigh=_mask(True)),))
def hides_tokens():
    """you hide tokens from some queries, as a causal mask does; here every query sees every
    token"""


@mistake(computes=partial(_folded, unfold=lambda mixed, w_value: mixed))
def returns_mixed_latents():
    """you return mixed latents, whose last axis is `rank`; each head makes an output of width
    `d_value` of them: `w_value.mT`"""


@mistake(computes=partial(_folded, unfold=lambda mixed, w_value: mixed @ w_value[0].mT))
def makes_all_values_with_one_matrix():
    """your values come from the matrix of the first head in all heads; each has its own,
    `w_value[h]`"""


@mistake
def makes_all_keys_with_one_matrix(query, latents, w_key, w_value):
    """your queries meet the matrix of the first head in all heads; each has its own, `w_key[h]`"""
    return reference(query, latents, w_key[:1].expand_as(w_key), w_value)


def _mean(weight: Tensor) -> Tensor:
    return weight.mean(0, keepdim=True).expand_as(weight)


def _sum(weight: Tensor) -> Tensor:
    return weight.sum(0, keepdim=True).expand_as(weight)


@mistake(
    computes=given(reference, w_key=_mean, w_value=_mean),
    also=tuple(
        given(reference, **{name: joined})
        for name in ("w_key", "w_value")
        for joined in (_mean, _sum)
    ),
)
def averages_the_matrices():
    """you take the mean of the matrices of all heads, or their sum; each head has its own"""


@mistake(computes=mistaking(reference, w_value="w_key"))
def makes_values_with_the_matrix_of_the_keys():
    """your output comes from `w_key`; what the latents are mixed to goes through `w_value`"""


@mistake(computes=mistaking(reference, w_key="w_value", w_value="w_key"))
def exchanges_the_matrices():
    """`w_key` and `w_value` have changed places: the query meets `w_key`"""


@mistake(computes=mistaking(reference, w_key="w_value"))
def folds_the_matrix_of_the_values():
    """your queries meet `w_value`; the matrix that would make the keys is `w_key`"""


@mistake(
    computes=then(reference, lambda output: output.sum(1)),
    also=(then(reference, lambda output: output.mean(1)),),
)
def joins_the_heads():
    """you add the outputs of the heads up, or take their mean; each head keeps its own, `(batch,
    num_heads, query_len, d_value)`"""


@mistake(
    computes=then(reference, lambda output: output.transpose(1, 2).flatten(2)),
    right="your numbers are right",
)
def merges_the_heads():
    """the heads are merged already; they stay apart here, `(batch, num_heads, query_len,
    d_value)`"""


@mistake(
    computes=then(reference, lambda output: output.transpose(1, 2)), right="your numbers are right"
)
def puts_the_queries_first():
    """the axes of heads and queries have changed places: the heads come first, `(batch, num_heads,
    query_len, d_value)`"""


@mistake(
    computes=partial(_folded, weigh=lambda scores: scores.softmax(-2)),
    also=(partial(_folded, weigh=lambda scores: scores.softmax(1)),),
)
def compares_other_things_than_tokens():
    """the weights of a query do not sum to 1 over the tokens: your softmax runs over queries or
    heads. It runs over the last axis of the scores"""


@mistake(computes=partial(_folded, weigh=lambda scores: scores))
def takes_no_softmax():
    """you mix the latents with the scores themselves; a softmax over the tokens comes between"""


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake(**best(reference))
def takes_the_best_alone(): ...


@mistake(**powers(reference))
def takes_powers(): ...


EXERCISE = Exercise(
    function="attend_to_latents",
    reference=reference,
    title="keys and values that are never made",
    minutes=25,
    axes={"batch": 17, "query_len": 31, "key_len": 97, "rank": 31, "d_head": 31, "d_value": 31},
    contract=Contract(
        batch=("query", "latents"),
        exempts={"cuts off": "latents are read while a model writes, and nothing learns then"},
    ),
    checks=(
        Check(
            "the output is that of the keys and values that each head would make of the latents",
            1.5,
            draw_latents,
            sizes=(
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 2, "key_len": 7, "rank": 5},
                    **{"d_head": 11, "d_value": 13},
                },
                {
                    **{"batch": 3, "num_heads": 2, "query_len": 3, "key_len": 5, "rank": 7},
                    **{"d_head": 3, "d_value": 3},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 2, "num_heads": 5, "query_len": 3, "key_len": 11, "rank": 3},
                    **{"d_head": 7, "d_value": 2},
                },
            ),
        ),
        Check(
            "neither keys nor values are made: no tensor has room for those of all heads, and no"
            " more is multiplied than it takes without them",
            1,
            draw_latents,
            sizes=(
                {
                    **{"batch": 2, "num_heads": 5, "query_len": 1, "key_len": 101, "rank": 7},
                    **{"d_head": 31, "d_value": 29},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 2, "key_len": 127, "rank": 5},
                    **{"d_head": 37, "d_value": 41},
                },
            ),
            dtype=torch.float64,
            invariant=makes_no_keys,
            sizes_matter=True,
        ),
    ),
    mistakes=mistake.collected,
)
