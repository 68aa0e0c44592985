"""Part A of problem set 08: self-attention, as it was published and as it should be."""

import math

import torch
from torch import Generator, Tensor

from attn_course.grading.exercises.self_attention import draw_normal, draw_projection, in_front
from attn_course.grading.spec import Check, Exercise, Inputs, Mistake
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


def takes_the_scale_from_the_tokens(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    scale = math.sqrt(tokens.shape[-1])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


def takes_the_scale_from_the_values(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    scale = math.sqrt(w_value.shape[-1])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


def takes_the_scale_from_the_length(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    scale = math.sqrt(tokens.shape[-2])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


def forgets_the_scale(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return _divided_by(1.0, *_project(tokens, w_query, w_key, w_value))


def forgets_the_root(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    scale = w_key.shape[-1]
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


def multiplies_by_the_root(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    scale = 1 / math.sqrt(w_key.shape[-1])
    return _divided_by(scale, *_project(tokens, w_query, w_key, w_value))


def scales_after_the_softmax(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    output = _divided_by(1.0, *_project(tokens, w_query, w_key, w_value))
    return output / math.sqrt(w_key.shape[-1])


def copies_the_published_lines(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = query @ key.transpose(1, 2) / math.sqrt(tokens.shape[-1])
    return torch.softmax(scores, dim=2) @ value


def counts_axes_from_the_left(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(scaled_dot_scores(query, key), dim=2) @ value


def transposes_axes_one_and_two(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return torch.softmax(scores, -1) @ value


def knows_no_batch(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = torch.einsum("ik,jk->ij", query, key) / math.sqrt(key.shape[-1])
    return torch.softmax(scores, -1) @ value


def takes_softmax_over_the_queries(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(scaled_dot_scores(query, key), -2) @ value


def asks_with_the_keys(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return reference(tokens, w_key, w_query, w_value)


def compares_queries_with_queries(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return reference(tokens, w_query, w_query, w_value)


def forgets_to_project_the_values(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return attention(tokens @ w_query, tokens @ w_key, tokens)


def projects_nothing(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return attention(tokens, tokens, tokens)


def transposes_the_weights(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return reference(tokens, w_query.mT, w_key.mT, w_value.mT)


def looks_at_the_others_only(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    others = ~torch.eye(tokens.shape[-2], dtype=torch.bool, device=tokens.device)
    return attention(*_project(tokens, w_query, w_key, w_value), others)


def looks_back_only(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    length = tokens.shape[-2]
    back = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
    return attention(*_project(tokens, w_query, w_key, w_value), back)


def adds_the_tokens(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return value + attention(query, key, value)


def returns_weights(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    return attention_weights(tokens @ w_query, tokens @ w_key)


def leaves_the_softmax_out(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return scaled_dot_scores(query, key) @ value


def divides_by_the_sum_of_scores(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = scaled_dot_scores(query, key)
    return scores / scores.sum(-1, keepdim=True) @ value


def takes_powers_as_they_are(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    powers = torch.exp(scaled_dot_scores(query, key))
    return powers / powers.sum(-1, keepdim=True) @ value


def takes_the_largest_of_all_off(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    scores = scaled_dot_scores(query, key)
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(-1, keepdim=True) @ value


def names_no_axis(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.nn.functional.softmax(scaled_dot_scores(query, key)) @ value


def transposes_all_axes(tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return torch.softmax(query @ key.T / math.sqrt(key.shape[-1]), -1) @ value


def takes_the_weights_for_constants(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    query, key, value = _project(tokens, w_query, w_key, w_value)
    return attention(query.detach(), key.detach(), value)


def takes_the_projections_for_constants(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return reference(tokens, w_query.detach(), w_key.detach(), w_value.detach())


def works_in_double_precision(
    tokens: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
) -> Tensor:
    return reference(tokens.double(), w_query.double(), w_key.double(), w_value.double())


EXERCISE = Exercise(
    function="self_attention",
    reference=reference,
    avoid=("scaled_dot_product_attention", "multi_head_attention_forward", "MultiheadAttention"),
    checks=(
        Check(
            "queries, keys and values are made of the same tokens, by their three matrices, and"
            " every token attends to all; any number of axes may come before",
            2,
            draw_tokens,
            sizes=(
                {"length": 5, "d_model": 7, "d_key": 3, "d_value": 2},
                {"batch": 2, "length": 3, "d_model": 5, "d_key": 11, "d_value": 7},
                {"batch": 3, "beams": 2, "length": 7, "d_model": 2, "d_key": 3, "d_value": 5},
            ),
            hidden_sizes=(
                {"length": 3, "d_model": 5, "d_key": 5, "d_value": 5},
                {"batch": 2, "beams": 3, "length": 11, "d_model": 3, "d_key": 2, "d_value": 7},
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
    mistakes=(
        Mistake(
            takes_the_scale_from_the_tokens,
            "you divide by the root of `d_model`, as the published class does; what is multiplied"
            " and summed is a query and a key, so it is their width that counts, `d_key`",
            score=0,
        ),
        Mistake(
            copies_the_published_lines,
            "these are the published lines, slips and all: axes that are counted from the left fit"
            " three axes only, so count from the right; and divide by the root of the width of a"
            " key, `d_key`, not of a token",
            score=0,
        ),
        Mistake(
            takes_the_scale_from_the_values,
            "you divide by the root of the values' width; the scores come from queries and keys,"
            " so it is `d_key` that counts",
            score=0,
        ),
        Mistake(
            takes_the_scale_from_the_length,
            "you divide by the root of the number of tokens; the sum in a score runs over the"
            " features of a key, `d_key` of them",
            score=0,
        ),
        Mistake(
            forgets_the_scale,
            "nothing is divided by the root of `d_key`, so your weights are too sharp",
            score=0,
        ),
        Mistake(
            forgets_the_root,
            "you divide by `d_key` itself; divide by its root",
            score=0,
        ),
        Mistake(
            multiplies_by_the_root,
            "you multiply by the root of `d_key`; divide by it",
            score=0,
        ),
        Mistake(
            scales_after_the_softmax,
            "you divide the weights, or the output, by the root of `d_key`; divide the scores, so"
            " that the weights sum to 1 afterwards",
            score=0,
        ),
        Mistake(
            counts_axes_from_the_left,
            "your softmax names its axis by a number counted from the left, which is that of the"
            " keys if there are three axes, and only then; count from the right: -1",
            score=2,
        ),
        Mistake(
            transposes_axes_one_and_two,
            "you swap axes 1 and 2 of the keys, which are the right ones if there are three axes,"
            " and only then; count from the right: -1 and -2, or `.mT`",
            score=2,
        ),
        Mistake(
            knows_no_batch,
            "your scores are written for two axes; with a batch there are more. `@` and `.mT` work"
            " on the last two, and leave the others alone",
            score=0,
        ),
        Mistake(
            takes_softmax_over_the_queries,
            "your weights sum to 1 over the queries; for each query they should over the keys, the"
            " last axis",
            score=0,
        ),
        Mistake(
            asks_with_the_keys,
            "queries and keys have changed places: row `i` of the scores belongs to the query of"
            " token `i`, column `j` to the key of token `j`",
            score=0,
        ),
        Mistake(
            compares_queries_with_queries,
            "you compare queries with queries; the keys are made by `w_key`, and are what makes"
            " the scores of a pair differ with who asks",
            score=0,
        ),
        Mistake(
            forgets_to_project_the_values,
            "you average the tokens themselves; the values are made of them, by `w_value`",
            score=0,
        ),
        Mistake(
            projects_nothing,
            "you attend with the tokens as they are; queries, keys and values are made of them, by"
            " the three matrices",
            score=0,
        ),
        Mistake(
            transposes_the_weights,
            "the matrices are the wrong way round: rows are tokens here, so it is"
            " `tokens @ w_query`, without a transpose. (`nn.Linear` stores its weight transposed)",
            score=0,
        ),
        Mistake(
            looks_at_the_others_only,
            "you keep each token from looking at itself; it is one of its own keys",
            score=0,
        ),
        Mistake(
            looks_back_only,
            "you keep each token from looking at those behind it; that is part B",
            score=0,
        ),
        Mistake(
            adds_the_tokens,
            "you add each token's own value to its output; the mean of the values is asked, no"
            " more",
            score=0,
        ),
        Mistake(
            returns_weights,
            "you return the weights; multiply the values by them",
            score=0,
        ),
        Mistake(
            leaves_the_softmax_out,
            "there is no softmax in it: scores are not weights, and do not sum to 1",
            score=0,
        ),
        Mistake(
            divides_by_the_sum_of_scores,
            "you divide the scores by their sum, which may be zero or negative; the softmax makes"
            " weights of them",
            score=0,
        ),
        Mistake(
            takes_powers_as_they_are,
            "you take the powers of the scores as they are; that of 200 is more than a number can"
            " hold, and infinity divided by infinity is `nan`; `torch.softmax` takes the largest"
            " score of the row off first",
            score=3,
        ),
        Mistake(
            takes_the_largest_of_all_off,
            "you take the largest of all scores off, and rows that are much lower become zeros,"
            " and 0 / 0 is `nan`; take the largest of its own row off each, or let `torch.softmax`"
            " do it",
            score=3,
        ),
        Mistake(
            names_no_axis,
            "your softmax names no axis, and torch takes the first one of two or three; name the"
            " last, `-1`",
            score=0,
        ),
        Mistake(
            transposes_all_axes,
            "`.T` turns all axes round, those of the batch too; `.mT` swaps the last two",
            score=0,
        ),
        Mistake(
            takes_the_weights_for_constants,
            "your weights are cut off from the graph, so queries and keys will never learn; drop"
            " `detach`, `data` and `no_grad`",
            score=3,
        ),
        Mistake(
            takes_the_projections_for_constants,
            "the matrices are cut off from the graph, so they will never learn; drop `detach`,"
            " `data` and `no_grad`",
            score=3,
        ),
        Mistake(
            works_in_double_precision,
            "you compute in float64 and return it; the output has the dtype of the inputs",
            score=1,
        ),
    ),
)
