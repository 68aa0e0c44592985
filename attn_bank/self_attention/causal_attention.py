"""Part B of problem set 08: no token looks ahead, and none at padding, wherever that is."""

import math
from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, given, same
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.scales import scaled_by
from attn_bank.softmaxes import lowest, twice
from attn_course.retrieval import attend
from attn_course.scaled_dot_product import attention, causal_mask, scaled_dot_scores


def reference(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    return attention(query, key, value, _seen(real))


def _seen(real: Tensor) -> Tensor:
    return causal_mask(real.shape[-1], device=real.device) & real.unsqueeze(-2)


def draw_sequences(
    generator: Generator,
    length: int,
    d_key: int,
    d_value: int,
    batch: int | None = None,
    beams: int | None = None,
) -> Inputs:
    """All tokens are real; the last one's scores are all exactly 0, a score like any other."""
    before = in_front(batch, beams)
    asks = torch.arange(length).unsqueeze(-1) < max(length - 1, 1)
    return {
        "query": asks * draw_normal(generator, *before, length, d_key),
        "key": draw_normal(generator, *before, length, d_key),
        "value": draw_normal(generator, *before, length, d_value),
        "real": torch.ones(*before, length, dtype=torch.bool),
    }


def draw_padded_sequences(generator: Generator, length: int, **sizes: int) -> Inputs:
    """Padding in front of all, at the end of some, and in between."""
    inputs = draw_sequences(generator, length, **sizes)
    shape = inputs["real"].shape[:-1]
    place = torch.arange(length)
    first = torch.randint(1, length // 2, shape, generator=generator).unsqueeze(-1)
    gap = torch.randint(2, length, shape, generator=generator).unsqueeze(-1)
    inputs["real"] = (place >= first) & (place != gap) & (place != first + 1)
    return inputs


def draw_loud_futures(generator: Generator, length: int, d_value: int, low: int) -> Inputs:
    """Keys ahead score 200 above the keys behind, or 8 million."""
    ahead = ~causal_mask(length)
    root = 2 if length <= 4 else 4  # of the width: a power of 2, so that scaling rounds nothing
    eye = torch.eye(length, root**2, dtype=torch.float64)
    near = draw_normal(generator, length, length)
    scores = near.round() - 2.0**23 * ~ahead if low else near + 200 * ahead
    return {
        "query": root * (scores @ eye).unsqueeze(0),
        "key": eye.unsqueeze(0),
        "value": draw_normal(generator, 1, length, d_value),
        "real": torch.ones(1, length, dtype=torch.bool),
    }


def hides_the_future(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """Other keys and values from some place on: what comes before must not notice."""
    output = call(inputs)
    exact = reference(**inputs)
    for place in range(1, output.shape[-2]):
        before = torch.arange(output.shape[-2]).unsqueeze(-1) < place
        changed = {n: torch.where(before, inputs[n], 3 - inputs[n]) for n in ("key", "value")}
        if not same(call(inputs | changed)[..., :place, :], output[..., :place, :]):
            return f"keys and values from place {place} on change outputs before it", output
    if same(output, exact):
        return None
    off = (output - exact).abs().nan_to_num(math.inf)
    place = tuple((off == off.max()).nonzero()[0].tolist())
    said = f"at {[*place]} it is {output[place]:.4g} and should be {exact[place]:.4g}"
    return f"nothing leaks, but it is not right: {said}", output


def _masked(scores: Tensor, seen: Tensor, value: Tensor, fill: float) -> Tensor:
    return torch.softmax(scores.masked_fill(~seen, fill), -1) @ value


mistake = Mistakes()


@mistake
def sees_the_future(query, key, value, real):
    """every token looks at all tokens, even at those behind it; token `i` may look at `j` only if
    `j` is at most `i`"""
    return attention(query, key, value, real.unsqueeze(-2))


@mistake
def sees_the_future_only(query, key, value, real):
    """your triangle is the wrong one: tokens look at what comes after them. Rows are queries, so
    token `i` may look at the columns up to `i`: the lower triangle"""
    ahead = causal_mask(real.shape[-1], device=real.device).mT
    return attention(query, key, value, ahead & real.unsqueeze(-2))


@mistake(slip=True)
def leaves_itself_out(query, key, value, real):
    """your triangle leaves the diagonal out; a token looks at itself as well as at those before
    it"""
    before = _seen(real).tril(-1)
    return attention(query, key, value, before)


@mistake
def looks_one_place_ahead(query, key, value, real):
    """your triangle reaches one place too far: each token sees the next one, which is the very word
    that it must guess"""
    ones = torch.ones(real.shape[-1], real.shape[-1], dtype=torch.bool, device=real.device)
    return attention(query, key, value, ones.tril(1) & real.unsqueeze(-2))


@mistake
def hides_the_last_token_only(query, key, value, real):
    """you hide the last token alone; each token has a future of its own, and so each query its own
    row of the mask"""
    length = real.shape[-1]
    seen = torch.ones(length, length, dtype=torch.bool, device=real.device)
    seen[:-1, -1] = False
    return attention(query, key, value, seen & real.unsqueeze(-2))


@mistake
def masks_after_the_softmax(query, key, value, real):
    """you mask after the softmax, when the future has taken its share of the weight already, and
    what is left sums to less than 1; mask the scores, before it"""
    weights = torch.softmax(scaled_dot_scores(query, key), -1)
    return (weights * _seen(real)) @ value


@mistake(points=4)
def shares_out_again_after_the_softmax(query, key, value, real):
    """you mask after the softmax and divide by what is left; where the future scores high, nothing
    is left. Mask the scores, before the softmax"""
    weights = torch.softmax(scaled_dot_scores(query, key), -1) * _seen(real)
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1) @ value


@mistake
def multiplies_scores_by_the_mask(query, key, value, real):
    """a forbidden score is about 0 in yours; the softmax gives weight to a score of 0, too.
    Put minus infinity there"""
    return _masked(scaled_dot_scores(query, key), _seen(real), value, 0.0)


@mistake
def adds_the_mask_to_the_scores(query, key, value, real):
    """you add the mask to the scores as 0 and 1, which only favours what may be seen; put minus
    infinity in the place of what may not, with `masked_fill`"""
    scores = scaled_dot_scores(query, key) + _seen(real).to(query.dtype)
    return torch.softmax(scores, -1) @ value


@mistake
def takes_a_score_of_zero_for_forbidden(query, key, value, real):
    """you take every score of 0 for a forbidden one; a query may well be at right angles to a key
    that it may see. Let the mask say what is forbidden"""
    scores = scaled_dot_scores(query, key) * _seen(real)
    weights = torch.softmax(scores.masked_fill(scores == 0, -torch.inf), -1)
    return weights.masked_fill(weights.isnan(), 0) @ value


@mistake(points=4, right="the output is right")
def adds_minus_infinity(query, key, value, real):
    """the gradient of the output is `nan`: it passes through the sum with minus infinity, in rows
    where nothing is seen. `masked_fill` lets none through to what it has overwritten"""
    seen = _seen(real)
    walls = torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, -torch.inf)
    weights = torch.softmax(scaled_dot_scores(query, key) + walls.to(query.dtype), -1)
    return weights.masked_fill(~seen, 0) @ value


@mistake(points=4)
def adds_minus_ten_thousand(query, key, value, real):
    """a large negative number, added or filled in, is not low enough: what is forbidden may still
    score highest. Put minus infinity in its place, with `masked_fill`"""
    seen = _seen(real)
    weights = torch.softmax(scaled_dot_scores(query, key) - 1e4 * ~seen, -1)
    return weights.masked_fill(~seen, 0) @ value


@mistake(points=4)
def fills_with_minus_ten_thousand(query, key, value, real):
    """a large negative number is not low enough: scores may be lower still, and the future then
    gets all the weight. Put minus infinity there"""
    seen = _seen(real)
    output = _masked(scaled_dot_scores(query, key), seen, value, -1e4)
    return output * seen.any(-1, keepdim=True)


@mistake(points=3)
def spreads_an_empty_row(query, key, value, real):
    """a token that may look nowhere gets the mean of all values, the future's and the padding's;
    where a row of the mask is empty, set its weights to 0"""
    return _masked(scaled_dot_scores(query, key), _seen(real), value, -1e30)


@mistake(points=3)
def divides_nothing_by_nothing(query, key, value, real):
    """a row of scores that are all minus infinity has no softmax: it becomes `nan`. Set the weights
    to 0 where the mask forbids, after the softmax as well, with `masked_fill`: times 0, `nan` is
    still `nan`"""
    return _masked(scaled_dot_scores(query, key), _seen(real), value, -torch.inf)


@mistake(points=4, right="the output is right")
def replaces_nan_afterwards(query, key, value, real):
    """the gradient of the output is `nan`: you replace `nan` after it has been multiplied by the
    values. Overwrite the weights themselves, with `masked_fill`"""
    return divides_nothing_by_nothing(query, key, value, real).nan_to_num(0)


def _softmax_of_seen(query: Tensor, key: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    seen = _seen(real)
    scores = scaled_dot_scores(query, key).masked_fill(~seen, -torch.inf)
    return torch.softmax(scores, -1), seen


def _fill_weights_in_place(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    weights, seen = _softmax_of_seen(query, key, real)
    return weights.masked_fill_(~seen, 0) @ value


@mistake(points=4, right="the output is right", also=(_fill_weights_in_place,))
def writes_zeros_into_the_weights(query, key, value, real):
    """you write the zeros into the weights themselves, which the gradient of the softmax needs as
    they were; make new ones: `weights.masked_fill(~seen, 0)`"""
    weights, seen = _softmax_of_seen(query, key, real)
    weights[~seen] = 0
    return weights @ value


@mistake(points=3)
def lets_empty_rows_see_themselves(query, key, value, real):
    """you let a token that may look nowhere look at itself; it is padding, so its output is 0"""
    seen = _seen(real)
    itself = torch.eye(real.shape[-1], dtype=torch.bool, device=real.device)
    return attention(query, key, value, seen | (itself & ~seen.any(-1, keepdim=True)))


@mistake(points=3)
def lets_padding_see_itself(query, key, value, real):
    """padding looks at itself; nobody looks at padding, itself included. Where it stands behind
    real tokens, it sees these alone"""
    itself = torch.eye(real.shape[-1], dtype=torch.bool, device=real.device)
    output = attention(query, key, value, _seen(real) | itself)
    return output * _seen(real).any(-1, keepdim=True)


@mistake(points=4)
def marks_empty_rows(query, key, value, real):
    """where a token may look nowhere you return `nan`; 0 is asked, since `nan` spreads to all that
    is computed from it"""
    empty = ~_seen(real).any(-1, keepdim=True)
    return reference(query, key, value, real).masked_fill(empty, torch.nan)


@mistake(points=3, computes=given(reference, real=torch.ones_like))
def forgets_the_padding():
    """padding takes part in the mean; nobody may look at it, so both masks together say what is
    seen"""


def _masks_padded_queries_once(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """And leaves the rows of padding `nan`."""
    seen = causal_mask(real.shape[-1], device=real.device) & real.unsqueeze(-1)
    return _masked(scaled_dot_scores(query, key), seen, value, -torch.inf)


@mistake(points=3, also=(_masks_padded_queries_once,))
def masks_padded_queries(query, key, value, real):
    """you forbid padding to look, and not others to look at it: `real` belongs to the columns, the
    keys, so its new axis is the one before the last"""
    seen = causal_mask(real.shape[-1], device=real.device) & real.unsqueeze(-1)
    return attention(query, key, value, seen)


@mistake(points=3)
def silences_padding(query, key, value, real):
    """you set the output to 0 at all padding; it is 0 only where no real token is in sight. Padding
    after real tokens sees them, and its output is what they give"""
    return attention(query, key, value, _seen(real) & real.unsqueeze(-1))


@mistake(points=3)
def zeroes_padded_values(query, key, value, real):
    """you make the values of padding 0, but it still takes weight from the others; forbid it before
    the softmax"""
    value = value * real.unsqueeze(-1)
    return attention(query, key, value, _seen(torch.ones_like(real)))


@mistake(computes=scaled_by(reference, lambda width: 1))
def forgets_the_scale():
    """nothing is divided by the root of `d_key`, so your weights are too sharp"""


def _divided_by(scale: float, query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    """Scores of millions round differently if the queries are scaled instead."""
    return attend(query @ key.mT / scale, value, seen)


def _times_root_of_values(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    return attend(query @ key.mT * value.shape[-1] ** -0.5, value, _seen(real))


def _root_of_values_alone(
    query: Tensor, key: Tensor, value: Tensor, real: Tensor, times: bool = False
) -> Tensor:
    """And without a look at the padding."""
    answer = _times_root_of_values if times else takes_the_scale_from_the_values
    return answer(query, key, value, torch.ones_like(real))


@mistake(
    also=(
        _times_root_of_values,
        _root_of_values_alone,
        partial(_root_of_values_alone, times=True),
    )
)
def takes_the_scale_from_the_values(query, key, value, real):
    """you divide by the root of the values' width; the scores come from queries and keys, so it is
    `d_key` that counts"""
    return _divided_by(math.sqrt(value.shape[-1]), query, key, value, _seen(real))


@mistake(slip=True, points=3)
def counts_axes_from_the_left(query, key, value, real):
    """you give `real` its new axis counted from the left, which fits three axes only; count from
    the right, with `unsqueeze(-2)`"""
    causal = causal_mask(real.shape[-1], device=real.device)
    return attention(query, key, value, causal & real[:, None, :])


@mistake(points=1)
def forgets_the_new_axis(query, key, value, real):
    """`real` has one row for each sentence, and your triangle one for each query; give `real` a new
    axis before the last, with `unsqueeze(-2)`, and the two fit"""
    return attention(query, key, value, causal_mask(real.shape[-1], device=real.device) & real)


@mistake(points=2)
def shares_out_nothing(query, key, value, real):
    """you mask after the softmax and divide by what is left; where nothing may be seen, or what is
    forbidden scores high, that is 0/0. Mask the scores, before the softmax"""
    weights = torch.softmax(scaled_dot_scores(query, key), -1) * _seen(real)
    return weights / weights.sum(-1, keepdim=True) @ value


def _fill_with_infinity(query: Tensor, key: Tensor, value: Tensor, real: Tensor) -> Tensor:
    """And with neither scale nor padding."""
    return _masked(query @ key.mT, _seen(torch.ones_like(real)), value, math.inf)


@mistake(also=(_fill_with_infinity,))
def fills_with_plus_infinity(query, key, value, real):
    """you fill with plus infinity, which is the highest score there is, and its softmax is `nan`;
    the sign is missing: `-torch.inf`"""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return _masked(scores, _seen(real), value, math.inf)


def _forbid_what_may_be_seen(
    query: Tensor, key: Tensor, value: Tensor, real: Tensor, clear: bool = False
) -> Tensor:
    seen = _seen(real)
    weights = torch.softmax(scaled_dot_scores(query, key).masked_fill(seen, -torch.inf), -1)
    return (weights.masked_fill(seen, 0) if clear else weights) @ value


@mistake(also=(_forbid_what_may_be_seen, partial(_forbid_what_may_be_seen, clear=True)))
def forbids_what_may_be_seen(query, key, value, real):
    """you forbid what may be seen, and allow the future and the padding: `masked_fill` fills where
    its mask is True, so hand it the opposite of what is seen, `~seen`"""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return _masked(scores, ~_seen(real), value, -1e9)


@mistake
def lets_one_mask_be_enough(query, key, value, real):
    """you see what one of the two masks allows; both have to allow it: `&`, not `|`"""
    seen = causal_mask(real.shape[-1], device=real.device) | real.unsqueeze(-2)
    return attention(query, key, value, seen)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake(**lowest(reference))
def favours_the_lowest(): ...


@mistake
def masks_nothing(query, key, value, real):
    """you mask nothing: neither the future nor padding may be looked at"""
    return attention(query, key, value)


@mistake
def keeps_the_padding(query, key, value, real):
    """you look at the padding and not at the tokens: `real` is True at tokens"""
    return reference(query, key, value, ~real)


@mistake
def fills_with_zero_and_clears(query, key, value, real):
    """what is forbidden takes weight with the score 0 before you clear its weight, so that the rest
    sums to less than 1; fill the scores with minus infinity"""
    seen = _seen(real)
    return torch.softmax(scaled_dot_scores(query, key) * seen, -1) * seen @ value


@mistake(points=3)
def zeroes_padded_keys(query, key, value, real):
    """you make the keys of padding 0, which gives them the score 0 and still some weight; forbid
    padding before the softmax"""
    real = real.unsqueeze(-1)
    return reference(query, key * real, value * real, torch.ones_like(real.squeeze(-1)))


@mistake(computes=scaled_by(reference, lambda width: 1 / width))
def divides_by_the_width():
    """you divide by `d_key` itself; divide by its root"""


@mistake(computes=scaled_by(reference, lambda width: width**0.5))
def multiplies_by_the_root():
    """you multiply by the root of `d_key`; divide by it"""


@mistake
def takes_the_scale_from_the_length(query, key, value, real):
    """you divide by the root of the number of tokens; the sum in a score runs over `d_key`
    features"""
    return _divided_by(math.sqrt(query.shape[-2]), query, key, value, _seen(real))


@mistake
def takes_softmax_over_the_queries(query, key, value, real):
    """your weights sum to 1 over the queries, down each column; they should over the keys, along
    the last axis"""
    scores = scaled_dot_scores(query, key).masked_fill(~_seen(real), -math.inf)
    return torch.softmax(scores, -2).masked_fill(~_seen(real), 0) @ value


@mistake(points=3)
def expects_padding_in_front(query, key, value, real):
    """you count the padding and hide as many places in front; it may be anywhere, so use `real`
    itself"""
    return reference(query, key, value, real.sort(-1).values)


@mistake(points=3)
def expects_padding_behind(query, key, value, real):
    """you count the tokens and see as many places from the first on; padding may be anywhere, so
    use `real` itself"""
    return reference(query, key, value, real.sort(-1, descending=True).values)


@mistake(points=4)
def takes_powers_as_they_are(query, key, value, real):
    """you take the powers of the scores as they are; at some hundreds they are more than a number
    can hold, so take the largest off first, or let `torch.softmax` do it"""
    powers = torch.exp(scaled_dot_scores(query, key)) * _seen(real)
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-12) @ value


@mistake(slip=True, points=3.5)
def changes_query_and_its_gradient(query, key, value, real):
    """you divide the caller's `query` in place, so that the scale is missing in its gradient too;
    make a new tensor: `query / ...`"""
    query.data /= query.shape[-1] ** 0.5
    return reference(query * query.shape[-1] ** 0.5, key, value, real)


@mistake
def multiplies_infinity_by_zero(query, key, value, real):
    """minus infinity times 0 is `nan`, and your mask makes it so wherever a token may look; use
    `masked_fill`"""
    scores = scaled_dot_scores(query, key)
    return torch.softmax(scores + ~_seen(real) * -math.inf, -1) @ value


@mistake
def transposes_the_weights(query, key, value, real):
    """your weights are transposed where they meet the values: a row of them belongs to a query, and
    sums to 1 over the keys, so it is `weights @ value`"""
    seen = _seen(real)
    scores = scaled_dot_scores(query, key).masked_fill(~seen, -math.inf)
    return torch.softmax(scores, -1).masked_fill(~seen, 0).mT @ value


EXERCISE = Exercise(
    function="causal_attention",
    reference=reference,
    title="no token looks ahead, and none at padding",
    minutes=25,
    axes={"batch": 17, "length": 31, "d_key": 31, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value", "real"), any_axes=True),
    checks=(
        Check(
            "every token gets the mean of the values up to its own, weighted by the softmax of the"
            " scores; any number of axes may come before",
            1.5,
            draw_sequences,
            sizes=(
                {"length": 5, "d_key": 3, "d_value": 2},
                {"batch": 2, "length": 7, "d_key": 5, "d_value": 3},
                {"batch": 3, "beams": 2, "length": 3, "d_key": 5, "d_value": 2},
            ),
            hidden_sizes=(
                {"length": 1, "d_key": 2, "d_value": 5},
                {"batch": 3, "beams": 2, "length": 3, "d_key": 7, "d_value": 2},
            ),
        ),
        Check(
            "nothing leaks: whatever comes later, and however high it scores, the outputs before it"
            " stay as they are",
            1,
            draw_loud_futures,
            sizes=(
                {"length": 5, "d_value": 3, "low": 0},
                {"length": 3, "d_value": 2, "low": 1},
            ),
            hidden_sizes=(
                {"length": 7, "d_value": 2, "low": 0},
                {"length": 5, "d_value": 3, "low": 1},
            ),
            invariant=hides_the_future,
        ),
        Check(
            "padding gets no weight; where a token and all before it are padding, the output is 0",
            1,
            draw_padded_sequences,
            sizes=({"batch": 3, "length": 7, "d_key": 2, "d_value": 5},),
            hidden_sizes=({"batch": 5, "length": 11, "d_key": 3, "d_value": 2},),
        ),
        Check(
            "the right gradient reaches `query`, `key` and `value`, and is finite where the output"
            " is 0",
            1,
            draw_padded_sequences,
            sizes=({"batch": 2, "length": 5, "d_key": 3, "d_value": 2},),
            hidden_sizes=({"batch": 3, "length": 7, "d_key": 2, "d_value": 5},),
            gradient=("query", "key", "value"),
        ),
    ),
    mistakes=mistake.collected,
)
