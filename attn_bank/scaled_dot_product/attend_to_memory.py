"""Part E of problem set 07, first snippet: a matrix form that lost the root and the keys' axis."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.softmaxes import lowest, sigmoids, twice, whole_table
from attn_course import scaled_dot_product


def reference(query: Tensor, memory: Tensor) -> Tensor:
    return scaled_dot_product.attention(query, memory, memory)


def draw_memory(
    generator: Generator, query_len: int, memory_len: int, width: int, batch: int | None = None
) -> Inputs:
    before = in_front(batch)
    return {
        "query": draw_normal(generator, *before, query_len, width),
        "memory": draw_normal(generator, *before, memory_len, width),
    }


def _look(query: Tensor, memory: Tensor, factor: float | None = None, dim: int = -1) -> Tensor:
    factor = query.shape[-1] ** -0.5 if factor is None else factor
    return torch.softmax(factor * query @ memory.mT, dim) @ memory


def _look_round(query: Tensor, memory: Tensor, factor: float) -> Tensor:
    """The same with `.T`, as the snippet has it, which turns round the batch as well."""
    turned = memory.permute(*reversed(range(memory.ndim)))
    return torch.softmax(factor * query @ turned, -1) @ memory


_PAIR = "; for each query, every row of the memory counts by its weight: a matrix product"

mistake = Mistakes()


@mistake
def mends_nothing_but_the_pair(query, memory):
    """the pair has become a product, which is right. Two bugs are left: the scores lost something
    on the way from numbers to matrices, and axis 1 is not always the keys'"""
    return _look(query, memory, factor=1, dim=1)


@mistake(ending=_PAIR)
def returns_the_pair(query, memory):
    """the output is still a pair of weights and memory"""
    return torch.softmax(query @ memory.mT, 1), memory


@mistake(ending=_PAIR, right="your weights are right")
def returns_the_right_pair(query, memory):
    """the output is still a pair"""
    return torch.softmax(query @ memory.mT / query.shape[-1] ** 0.5, -1), memory


@mistake
def mends_the_axis_only(query, memory):
    """the axis is right, and the scores still lack what stands in the formula for one pair: the
    root of the width"""
    return _look(query, memory, factor=1)


@mistake(slip=True, points=1, right="the root is right, and without a batch so are the weights")
def mends_the_scale_only(query, memory):
    """with a batch, the queries lie on axis 1: count from the back, `dim=-1`"""
    return _look(query, memory, dim=1)


@mistake
def normalises_over_the_queries(query, memory):
    """your weights sum to 1 over the queries; they should sum to 1 over the rows of the memory, the
    last axis of the scores"""
    return _look(query, memory, dim=-2)


@mistake
def divides_by_the_width(query, memory):
    """you divide by the width; the formula for one pair has its root, `** 0.5`"""
    return _look(query, memory, factor=1 / query.shape[-1])


@mistake
def multiplies_by_the_root(query, memory):
    """you multiply by the root of the width; the formula for one pair divides by it"""
    return _look(query, memory, factor=query.shape[-1] ** 0.5)


@mistake
def takes_the_length_of_the_memory(query, memory):
    """you divide by the root of the number of rows in the memory; it is the root of the width of
    the vectors, the last axis"""
    return _look(query, memory, factor=memory.shape[-2] ** -0.5)


@mistake(slip=True, points=1)
def takes_axis_one_for_the_width(query, memory):
    """you divide by the root of `query.shape[1]`, which is the width only where there is no batch;
    count from the back, `query.shape[-1]`"""
    return _look(query, memory, factor=query.shape[1] ** -0.5)


@mistake
def halves_the_quotient(query, memory):
    """`d ** 1/2` is `(d ** 1) / 2`, so that you divide by the width, and then by 2: write `d **
    (1/2)` or `d ** 0.5`"""
    return _look(query, memory, factor=1 / query.shape[-1] / 2)


@mistake(ending=_PAIR)
def returns_the_weights(query, memory):
    """you return the weights alone"""
    return torch.softmax(query @ memory.mT / query.shape[-1] ** 0.5, -1)


@mistake(points=1)
def needs_a_batch(query, memory):
    """your answer needs a batch; one table of queries, `(query_len, width)`, should do as well: `@`
    and `.mT` take both"""
    scores = torch.bmm(query, memory.transpose(1, 2)) / query.shape[-1] ** 0.5
    return torch.bmm(torch.softmax(scores, 2), memory)


@mistake(points=1)
def turns_all_axes_round(query, memory):
    """`.T` reverses the order of all axes, including the batch; only the last two should swap,
    which is `.mT`"""
    return _look_round(query, memory, query.shape[-1] ** -0.5)


@mistake
def keeps_the_code_of_the_scores(query, memory):
    """the scores lack the root of the width, which the formula for one pair has; and `.T` reverses
    all axes of the memory, including the batch: `.mT` swaps the last two. Is the axis of the
    softmax the last one, with a batch too?"""
    return _look_round(query, memory, 1)


@mistake(points=1)
def squeezes_the_batch_together(query, memory):
    """you put the memories of the whole batch together, so that each query sees the memories of the
    others too"""
    width = query.shape[-1]
    output = _look(query.reshape(-1, width), memory.reshape(-1, width))
    return output.reshape(query.shape)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**sigmoids(reference))
def takes_sigmoids(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake
def takes_the_number_of_queries(query, memory):
    """you divide by the root of the number of queries; it is the root of the width of the vectors,
    the last axis"""
    return _look(query, memory, factor=query.shape[-2] ** -0.5)


@mistake
def scales_the_weights(query, memory):
    """you divide the weights by the root, and they no longer sum to 1; divide the scores, before
    the softmax"""
    return _look(query, memory, factor=1) / query.shape[-1] ** 0.5


@mistake
def leaves_the_softmax_out(query, memory):
    """you multiply the memory by the scores themselves; a softmax turns each row of them into
    weights"""
    return query @ memory.mT / query.shape[-1] ** 0.5 @ memory


@mistake(ending=_PAIR)
def returns_weights_and_output(query, memory):
    """you return the weights beside the output"""
    weights = torch.softmax(query @ memory.mT / query.shape[-1] ** 0.5, -1)
    return weights, weights @ memory


@mistake
def blends_the_queries(query, memory):
    """your weights multiply the queries, one row for each row of the memory; they multiply the rows
    of the memory"""
    weights = torch.softmax(query @ memory.mT / query.shape[-1] ** 0.5, -1)
    return weights.mT @ query


@mistake(points=1)
def takes_bmm(query, memory):
    """`bmm` takes tables with a batch only; `@` takes a single table as well"""
    scores = torch.bmm(query, memory.mT) / query.shape[-1] ** 0.5
    return torch.bmm(torch.softmax(scores, -1), memory)


@mistake(points=1)
def exchanges_the_first_two_axes(query, memory):
    """`transpose(0, 1)` exchanges the batch and the rows where there is a batch; the last two axes
    swap: `.mT`"""
    return torch.softmax(query @ memory.transpose(0, 1) / query.shape[-1] ** 0.5, -1) @ memory


EXERCISE = Exercise(
    function="attend_to_memory",
    reference=reference,
    title="repair three snippets",
    minutes=5,
    axes={"batch": 17, "query_len": 43, "memory_len": 97, "width": 31},
    avoid=("attention",),
    contract=Contract(
        like=1,
        batch=("query", "memory"),
        exempts={"cuts off": "gradients are asked in part A, whose formula this is"},
    ),
    checks=(
        Check(
            "one table of queries, one memory: a row of the output for each query",
            1,
            draw_memory,
            sizes=(
                {"query_len": 3, "memory_len": 5, "width": 7},
                {"query_len": 5, "memory_len": 5, "width": 3},
            ),
            hidden_sizes=({"query_len": 2, "memory_len": 7, "width": 11},),
        ),
        Check(
            "a batch of them: each table keeps to its own memory",
            0.5,
            draw_memory,
            sizes=(
                {"batch": 2, "query_len": 3, "memory_len": 5, "width": 7},
                {"batch": 3, "query_len": 2, "memory_len": 7, "width": 5},
            ),
            hidden_sizes=({"batch": 5, "query_len": 5, "memory_len": 3, "width": 2},),
        ),
    ),
    mistakes=mistake.collected,
)
