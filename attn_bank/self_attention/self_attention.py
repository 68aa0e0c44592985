"""Part A of problem set 08: self-attention, as it was published and as it should be."""

import math

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, mistaking, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.scales import scaled_by
from attn_bank.self_attention import draw_projection
from attn_bank.softmaxes import instead_of_softmax, lowest, sigmoids, twice, whole_table
from attn_course.scaled_dot_product import attention, attention_weights, scaled_dot_scores


def reference(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return attention(*_project(tokens, w_query, w_key, w_value))


def draw_tokens(
    generator: Generator,
    length: int,
    d_model: int,
    d_key: int,
    d_value: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    return {
        "tokens": draw_normal(generator, *in_front(batch, beams), length, d_model),
        "w_query": 1.5 * draw_projection(generator, d_model, d_key),
        "w_key": 1.5 * draw_projection(generator, d_model, d_key),
        "w_value": draw_projection(generator, d_model, d_value),
    }


def draw_large_tokens(generator: Generator, **sizes: int) -> Inputs:
    """Scores of some hundreds, which in each row differ as others do."""
    inputs = draw_tokens(generator, **sizes)
    inputs["tokens"][..., -1] = 1
    inputs["w_key"][-1] *= 300  # the same is added to all keys
    return inputs


def _project(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return tokens @ w_query, tokens @ w_key, tokens @ w_value


def _divided_by(scale: float, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return torch.softmax(query @ key.mT / scale, -1) @ value


mistake = Mistakes()


@mistake
def takes_the_scale_from_the_tokens(tokens, w_query, w_key, w_value):
    """you divide by the root of `d_model`, as the published class does; what is multiplied and
    summed is a query and a key, so it is their width that counts, `d_key`"""
    scale = math.sqrt(tokens.shape[-1])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


@mistake
def copies_the_published_lines(tokens, w_query, w_key, w_value):
    """these are the published lines, slips and all: axes that are counted from the left fit three
    axes only, so count from the right; and divide by the root of the width of a key, `d_key`, not
    of a token"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = query @ key.transpose(1, 2) / math.sqrt(tokens.shape[-1])
    return torch.softmax(scores, dim=2) @ value


@mistake
def takes_the_scale_from_the_values(tokens, w_query, w_key, w_value):
    """you divide by the root of the values' width; the scores come from queries and keys, so it is
    `d_key` that counts"""
    scale = math.sqrt(w_value.shape[-1])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


@mistake
def takes_the_scale_from_the_length(tokens, w_query, w_key, w_value):
    """you divide by the root of the number of tokens; the sum in a score runs over the features of
    a key, `d_key` of them"""
    scale = math.sqrt(tokens.shape[-2])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


@mistake(computes=scaled_by(reference, lambda d_key: 1, "w_query"))
def forgets_the_scale():
    """nothing is divided by the root of `d_key`, so your weights are too sharp"""


@mistake(computes=scaled_by(reference, lambda d_key: 1 / d_key, "w_query"))
def forgets_the_root():
    """you divide by `d_key` itself; divide by its root"""


@mistake(computes=scaled_by(reference, lambda d_key: d_key**0.5, "w_query"))
def multiplies_by_the_root():
    """you multiply by the root of `d_key`; divide by it"""


@mistake
def scales_after_the_softmax(tokens, w_query, w_key, w_value):
    """you divide the weights, or the output, by the root of `d_key`; divide the scores, so that the
    weights sum to 1 afterwards"""
    output = _divided_by(1.0, *_project(tokens, w_query, w_key, w_value))
    return output / math.sqrt(w_key.shape[-1])


@mistake(slip=True, points=2)
def counts_axes_from_the_left(tokens, w_query, w_key, w_value):
    """your softmax counts its axis from the left, and finds the keys only if there are three axes;
    count from the right: -1"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(scaled_dot_scores(query, key), dim=2) @ value


@mistake(slip=True, points=2)
def transposes_axes_one_and_two(tokens, w_query, w_key, w_value):
    """you swap axes 1 and 2 of the keys, which are the right ones if there are three axes, and only
    then; count from the right: -1 and -2, or `.mT`"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return torch.softmax(scores, -1) @ value


@mistake(slip=True)
def knows_no_batch(tokens, w_query, w_key, w_value):
    """your scores are written for two axes; with a batch there are more. `@` and `.mT` work on the
    last two, and leave the others alone"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = torch.einsum("ik,jk->ij", query, key) / math.sqrt(key.shape[-1])
    return torch.softmax(scores, -1) @ value


@mistake(computes=instead_of_softmax(reference, lambda scores, axis: scores.softmax(-2)))
def takes_softmax_over_the_queries():
    """your weights sum to 1 over the queries; for each query they should over the keys, the last
    axis"""


@mistake(slip=True)
def takes_axis_one(tokens, w_query, w_key, w_value):
    """your softmax runs over axis 1, where the keys lie only without a batch; count from the back,
    `dim=-1`"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(scaled_dot_scores(query, key), 1) @ value


@mistake
def transposes_the_attention_weights(tokens, w_query, w_key, w_value):
    """your weights are transposed where they meet the values: a row of them belongs to a query, and
    sums to 1 over the keys, so it is `weights @ value`"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return attention_weights(query, key).mT @ value


@mistake(computes=mistaking(reference, w_query="w_key", w_key="w_query"))
def asks_with_the_keys():
    """queries and keys have changed places: row `i` of the scores belongs to the query of token
    `i`, column `j` to the key of token `j`"""


@mistake(computes=mistaking(reference, w_key="w_query"))
def compares_queries_with_queries():
    """you compare queries with queries; the keys are made by `w_key`, and are what makes the scores
    of a pair differ with who asks"""


@mistake
def forgets_to_project_the_values(tokens, w_query, w_key, w_value):
    """you average the tokens themselves; the values are made of them, by `w_value`"""
    return attention(tokens @ w_query, tokens @ w_key, tokens)


@mistake
def projects_nothing(tokens, w_query, w_key, w_value):
    """you attend with the tokens as they are; queries, keys and values are made of them, by the
    three matrices"""
    return attention(tokens, tokens, tokens)


@mistake(
    computes=given(reference, **dict.fromkeys(("w_query", "w_key", "w_value"), lambda w: w.mT))
)
def transposes_the_weights():
    """the matrices are the wrong way round: rows are tokens here, so it is `tokens @ w_query`,
    without a transpose. (`nn.Linear` stores its weight transposed)"""


@mistake
def looks_at_the_others_only(tokens, w_query, w_key, w_value):
    """you keep each token from looking at itself; it is one of its own keys"""
    others = ~torch.eye(tokens.shape[-2], dtype=torch.bool, device=tokens.device)
    return attention(*_project(tokens, w_query, w_key, w_value), others)


@mistake
def looks_back_only(tokens, w_query, w_key, w_value):
    """you keep each token from looking at those behind it; that is part B"""
    length = tokens.shape[-2]
    back = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
    return attention(*_project(tokens, w_query, w_key, w_value), back)


@mistake
def adds_the_tokens(tokens, w_query, w_key, w_value):
    """you add each token's own value to its output; the mean of the values is asked, no more"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return value + attention(query, key, value)


@mistake
def returns_weights(tokens, w_query, w_key, w_value):
    """you return the weights; multiply the values by them"""
    return attention_weights(tokens @ w_query, tokens @ w_key)


@mistake
def leaves_the_softmax_out(tokens, w_query, w_key, w_value):
    """there is no softmax in it: scores are not weights, and do not sum to 1"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return scaled_dot_scores(query, key) @ value


@mistake
def divides_by_the_sum_of_scores(tokens, w_query, w_key, w_value):
    """you divide the scores by their sum, which may be zero or negative; the softmax makes weights
    of them"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = scaled_dot_scores(query, key)
    return scores / scores.sum(-1, keepdim=True) @ value


@mistake(points=3)
def takes_powers_as_they_are(tokens, w_query, w_key, w_value):
    """you take the powers of the scores as they are; `exp(200)` is more than a number can hold, and
    infinity divided by infinity is `nan`; `torch.softmax` takes the largest score of the row off
    first"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    powers = torch.exp(scaled_dot_scores(query, key))
    return powers / powers.sum(-1, keepdim=True) @ value


@mistake(points=3)
def takes_the_largest_of_all_off(tokens, w_query, w_key, w_value):
    """you take the largest of all scores off, and rows that are much lower become zeros, and 0 / 0
    is `nan`; take the largest of its own row off each, or let `torch.softmax` do it"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = scaled_dot_scores(query, key)
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True) @ value


@mistake(slip=True)
def names_no_axis(tokens, w_query, w_key, w_value):
    """your softmax runs over the first axis, which torch takes of two or three if none is named;
    name the last, `-1`"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.nn.functional.softmax(scaled_dot_scores(query, key)) @ value


@mistake(slip=True)
def transposes_all_axes(tokens, w_query, w_key, w_value):
    """`.T` reverses the order of all axes, including the batch; `.mT` swaps the last two"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(query @ key.T / math.sqrt(key.shape[-1]), -1) @ value


@mistake(points=3)
def takes_the_weights_for_constants(tokens, w_query, w_key, w_value):
    """your weights are cut off from the graph, so queries and keys will never learn; drop `detach`,
    `data` and `no_grad`"""
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return attention(query.detach(), key.detach(), value)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**sigmoids(reference))
def takes_sigmoids(): ...


@mistake(**whole_table(reference))
def takes_one_softmax_for_all_queries(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake(computes=mistaking(reference, w_value="w_key"))
def returns_keys():
    """you blend the keys; the values are made by `w_value`, and are what the weights blend"""


@mistake
def compares_the_tokens_themselves(tokens, w_query, w_key, w_value):
    """your scores compare the tokens as they are; queries and keys are made of them, by `w_query`
    and `w_key`"""
    return _divided_by(tokens.shape[-1] ** 0.5, tokens, tokens, tokens @ w_value)


@mistake
def asks_the_tokens_for_keys(tokens, w_query, w_key, w_value):
    """your queries meet the tokens as they are, which are of another width; keys are made of them,
    by `w_key`"""
    return _divided_by(w_query.shape[-1] ** 0.5, tokens @ w_query, tokens, tokens @ w_value)


@mistake
def returns_two_things(tokens, w_query, w_key, w_value):
    """you return the weights as well; the output alone is asked for"""
    weights = returns_weights(tokens, w_query, w_key, w_value)
    return weights @ (tokens @ w_value), weights


@mistake(computes=then(reference, lambda output: output.mean(-2)))
def averages_over_the_tokens():
    """you return one row, the mean over the tokens; each token has an output of its own"""


EXERCISE = Exercise(
    function="self_attention",
    reference=reference,
    title="find the slips: self-attention as it was published",
    minutes=20,
    axes={"batch": 17, "length": 97, "d_model": 31, "d_key": 31, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("tokens",), any_axes=True),
    checks=(
        Check(
            "queries, keys and values are made of the same tokens, by their three matrices, and"
            " every token attends to all; any number of axes may come before",
            1.5,
            draw_tokens,
            sizes=(
                {"length": 5, "d_model": 7, "d_key": 3, "d_value": 2},
                {"batch": 2, "length": 3, "d_model": 5, "d_key": 11, "d_value": 7},
                {"batch": 3, "beams": 2, "length": 7, "d_model": 4, "d_key": 6, "d_value": 5},
            ),
            hidden_sizes=(
                {"length": 3, "d_model": 5, "d_key": 5, "d_value": 5},
                {"batch": 2, "beams": 3, "length": 11, "d_model": 5, "d_key": 4, "d_value": 7},
            ),
        ),
        Check(
            "scores may be some hundreds, and still no number is NaN",
            1,
            draw_large_tokens,
            sizes=({"batch": 2, "length": 5, "d_model": 7, "d_key": 3, "d_value": 2},),
            hidden_sizes=({"batch": 3, "length": 7, "d_model": 3, "d_key": 5, "d_value": 2},),
        ),
        Check(
            "the right gradient reaches the tokens and all three matrices",
            1,
            draw_tokens,
            sizes=({"batch": 2, "length": 5, "d_model": 3, "d_key": 7, "d_value": 2},),
            hidden_sizes=({"batch": 3, "length": 2, "d_model": 5, "d_key": 3, "d_value": 7},),
            gradient=("tokens", "w_query", "w_key", "w_value"),
        ),
    ),
    mistakes=mistake.collected,
)
