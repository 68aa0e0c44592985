"""Part C of problem set 01: a lookup with a mask, and a default where no key is allowed."""

import math

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Tensor


def reference(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    some = mask.any(-1, keepdim=True)
    # a row of minus infinities has no softmax and no gradient: let such a row see every key, and
    # replace its output
    weights = torch.softmax(scores.masked_fill(some & ~mask, -math.inf), dim=-1)
    return torch.where(some, weights @ value, default)


def draw_masked_table(
    generator: torch.Generator,
    query_len: int,
    key_len: int,
    d_value: int,
    mask_query_len: int | None = None,
    **batch: int,
) -> Inputs:
    """Every query may attend to some key; the last key is forbidden to the last query."""
    front = tuple(batch.values())

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    mask = torch.rand(mask_query_len or query_len, key_len, generator=generator) < 0.6
    mask[torch.arange(len(mask)), torch.arange(len(mask)) % (key_len - 1)] = True
    mask[-1, -1] = False
    return {
        "scores": draw(*front, query_len, key_len),
        "value": draw(*front, key_len, d_value),
        "mask": mask.expand(*front, -1, -1).clone() if mask_query_len is None else mask,
        "default": 3 + draw(d_value),
    }


def draw_queries_without_keys(
    generator: torch.Generator, blank: bool = False, **sizes: int
) -> Inputs:
    """Every second query may attend to no key, and the others to all, whose values may be blank."""
    table = draw_masked_table(generator, **sizes)
    table["value"] *= not blank
    table["mask"][:] = (torch.arange(sizes["query_len"]) % 2 == 1).unsqueeze(-1)
    return table


def draw_some_queries_without_keys(generator: torch.Generator, **sizes: int) -> Inputs:
    table = draw_masked_table(generator, **sizes)
    table["mask"][::2] = False
    return table


def draw_high_forbidden_scores(
    generator: torch.Generator, level: float = 0.0, **sizes: int
) -> Inputs:
    table = draw_masked_table(generator, **sizes)
    table["scores"] += level + 1000.0 * ~table["mask"]
    return table


mistake = Mistakes()


def _forbid_what_is_allowed(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    """And look for queries without keys in the mask as it is."""
    weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


@mistake(computes=given(reference, mask=torch.logical_not), also=(_forbid_what_is_allowed,))
def takes_the_mask_the_other_way_round():
    """you read the mask the other way round: True means that the query may attend"""


@mistake
def takes_any_mask_as_causal(scores, value, mask, default):
    """you forbid the keys that come after the query, whatever the mask says. That is one mask of
    many: use the `mask` that you are given"""
    past = torch.ones_like(scores, dtype=torch.bool).tril()
    some = mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~past, -math.inf), dim=-1)
    return torch.where(some, weights @ value, default)


@mistake(points=1, right="your queries without keys are right", slip=False)
def forgets_the_mask(scores, value, mask, default):
    """queries that have keys attend to forbidden ones too: the mask has to act before the
    softmax"""
    return torch.where(mask.any(-1, keepdim=True), torch.softmax(scores, -1) @ value, default)


@mistake(points=1)
def multiplies_the_scores_by_the_mask(scores, value, mask, default):
    """forbidden scores are about 0. A score of 0 is a score like any other, and `exp(0)` is 1; the
    score whose power is 0 is minus infinity"""
    some = mask.any(-1, keepdim=True)
    return torch.where(some, torch.softmax(scores * mask, -1) @ value, default)


@mistake(points=1)
def masks_the_weights_only(scores, value, mask, default):
    """you took the weights of forbidden keys away after the softmax, so what is left does not sum
    to 1. Forbid them before the softmax"""
    some = mask.any(-1, keepdim=True)
    return torch.where(some, torch.softmax(scores, -1) * mask @ value, default)


@mistake(points=3.5)
def normalises_twice(scores, value, mask, default):
    """you took forbidden keys away after `exp` or softmax, and normalised what was left. On paper
    that is right; but a forbidden key with a high score overflows, or leaves the others weights
    that round to 0, and the quotient is `nan`. Forbid the keys before"""
    weights = torch.softmax(scores, -1) * mask
    some = mask.any(-1, keepdim=True)
    total = weights.sum(-1, keepdim=True).masked_fill(~some, 1)
    return torch.where(some, weights / total @ value, default)


@mistake(points=2.5)
def normalises_what_may_be_nothing(scores, value, mask, default):
    """you took forbidden keys away after `exp` or softmax, and divided by the sum of what was left.
    That sum is 0 for a query without keys; and a forbidden key with a high score overflows, or
    leaves powers that round to 0. Then the quotient or its gradient is `nan`. Forbid the keys
    before"""
    weights = torch.softmax(scores, -1) * mask
    shares = weights / weights.sum(-1, keepdim=True)
    return torch.where(mask.any(-1, keepdim=True), shares @ value, default)


def _share_out_powers(scores: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    powers = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    total = powers.sum(-1, keepdim=True)
    return powers / total.where(total > 0, 1) @ value, total > 0


@mistake(points=3.5)
def finds_empty_rows_by_their_sum(scores, value, mask, default):
    """a query gets the default from you although it has keys: a forbidden key has the highest score
    of all, and beside it the powers of the allowed ones round to 0. Forbid keys before the softmax,
    and ask the mask whether there is any"""
    output, some = _share_out_powers(scores, value, mask)
    return torch.where(some, output, default)


@mistake(points=3.5)
def takes_the_highest_forbidden_score_off(scores, value, mask, default):
    """a forbidden key has the highest score of all, and beside it the powers of the allowed
    ones round to 0, so that the output is 0; forbid keys before the softmax"""
    output, _ = _share_out_powers(scores, value, mask)
    return torch.where(mask.any(-1, keepdim=True), output, default)


@mistake(points=2, computes=given(reference, default=torch.zeros_like))
def returns_zero_without_keys():
    """a query that may attend to no key gets zero from you; here it should get `default`"""


@mistake(points=2)
def returns_nan_without_keys(scores, value, mask, default):
    """a row in which all scores are minus infinity has no softmax: 0 over 0 is `nan`. Find those
    rows with `mask.any(-1)`, and put the default in their place, with `torch.where`: what is added
    to `nan`, or multiplied by it, is `nan` again"""
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ value


@mistake(points=2)
def returns_the_mean_without_keys(scores, value, mask, default):
    """you forbid keys by a large negative score. Where every key has it, all scores are alike, and
    the output is the plain mean of all values. Give such rows the default"""
    return torch.softmax(scores.masked_fill(~mask, -1e9), -1) @ value


@mistake
def adds_the_default_everywhere(scores, value, mask, default):
    """you added the default to every query; only those without keys get it, in place of a blend"""
    return reference(scores, value, mask, torch.zeros_like(default)) + default


@mistake(points=1)
def returns_the_default_if_any_key_is_forbidden(scores, value, mask, default):
    """you give the default as soon as one key is forbidden; it is for queries to which all are
    (`mask.any(-1)`, not `mask.all(-1)`)"""
    return torch.where(mask.all(-1, keepdim=True), torch.softmax(scores, -1) @ value, default)


def _add_the_logarithm_of_the_mask(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor
) -> Tensor:
    output = torch.softmax(scores + mask.to(scores.dtype).log(), -1) @ value
    return torch.where(mask.any(-1, keepdim=True), output, default)


@mistake(points=3, right="your output is right", also=(_add_the_logarithm_of_the_mask,))
def replaces_nan_at_the_end(scores, value, mask, default):
    """your gradient is `nan`: the weights of a query without keys are `nan` and meet the values
    before you replace the output, and on the way back 0 times `nan` is `nan`. Give such a row
    harmless scores before the softmax"""
    output = returns_nan_without_keys(scores, value, mask, default)
    return torch.where(output.isnan(), default, output)


def _write_the_output(
    scores: Tensor, value: Tensor, mask: Tensor, default: Tensor, low: float, axis: int = -1
) -> Tensor:
    output = torch.softmax(scores.masked_fill(~mask, low), -1) @ value
    output[~mask.any(axis)] = default.to(output.dtype)
    return output


def _write_the_scores(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    scores[~mask] = -math.inf
    return torch.where(mask.any(-1, keepdim=True), torch.softmax(scores, -1) @ value, default)


@mistake(
    points=2.5,
    computes=lambda **inputs: _write_the_output(**inputs, low=-1e9),
    also=(
        lambda **inputs: _write_the_output(**inputs, low=-1e9, axis=1),
        lambda **inputs: _write_the_output(**inputs, low=-math.inf),
        _write_the_scores,
        lambda scores, **others: _write_the_scores(scores.clone(), **others),
    ),
)
def picks_by_a_mask_of_another_shape():
    """you write into the places that the mask picks out, which takes a mask of the full shape; here
    it may have one row for all queries, and lack the axes in front. `masked_fill` and `torch.where`
    broadcast it"""


@mistake(points=3)
def takes_0_for_no_key(scores, value, mask, default):
    """you give the default where the blend is 0; a blend of allowed values may be 0 as well. Ask
    the mask whether there is a key: `mask.any(-1, keepdim=True)`"""
    some = mask.any(-1, keepdim=True)
    blend = reference(scores, value, mask, torch.zeros_like(default))
    return torch.where((blend == 0).all(-1, keepdim=True) | ~some, default, blend)


@mistake(points=3.5)
def fills_with_a_number_not_low_enough(scores, value, mask, default):
    """you fill forbidden scores with a number that is low only as long as the allowed ones are
    higher; minus infinity is lower than everything"""
    some = mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask, -1000.0), dim=-1)
    return torch.where(some, weights @ value, default)


def _weights(scores: Tensor, mask: Tensor) -> Tensor:
    some = mask.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(some & ~mask, -math.inf), -1)


@mistake(points=2)
def returns_a_blend_without_keys(scores, value, mask, default):
    """a query that may attend to no key gets a blend of all values in yours; it gets `default`"""
    return _weights(scores, mask) @ value


def _ask_without_an_axis(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    return torch.where(mask.any(-1), _weights(scores, mask) @ value, default)


@mistake(also=(_ask_without_an_axis,))
def loses_the_axis_of_the_keys(scores, value, mask, default):
    """`mask.any(-1)` has one axis fewer, so that its queries meet the keys or the numbers of a
    value: keep the axis, `mask.any(-1, keepdim=True)`"""
    weights = torch.softmax(scores.masked_fill(mask.any(-1) & ~mask, -math.inf), -1)
    return torch.where(mask.any(-1), weights @ value, default)


def _ask_the_columns(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    return torch.where(mask.any(-2, keepdim=True), _weights(scores, mask) @ value, default)


def _ask_the_columns_turned(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    return torch.where(mask.any(-2, keepdim=True).mT, _weights(scores, mask) @ value, default)


@mistake(points=1, also=(_ask_the_columns, _ask_the_columns_turned))
def asks_the_wrong_places_whether_there_is_a_key(scores, value, mask, default):
    """which rows get `default` is wrong: ask each query whether any key of its own row is allowed,
    `mask.any(-1, keepdim=True)`"""
    return torch.where(mask[..., :1], _weights(scores, mask) @ value, default)


@mistake
def gives_the_default_a_share(scores, value, mask, default):
    """the default is one more value in yours, with the score 0, and every query gets a share of it;
    only a query without keys gets it, and that all of it"""
    low = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(torch.cat([low, torch.zeros_like(low[..., :1])], -1), -1)
    return weights[..., :-1] @ value + weights[..., -1:] * default


@mistake(points=1)
def gives_the_default_what_forbidden_keys_had(scores, value, mask, default):
    """you give the weight of the forbidden keys to the default; the allowed keys share the whole
    weight among them"""
    weights = torch.softmax(scores, -1) * mask
    return weights @ value + (1 - weights.sum(-1, keepdim=True)) * default


@mistake
def takes_the_best_key_alone(scores, value, mask, default):
    """you return the value of the best allowed key; the answer is a blend of the allowed values"""
    best = scores.masked_fill(~mask, -math.inf).argmax(-1)
    weights = torch.nn.functional.one_hot(best, scores.shape[-1]).to(value.dtype)
    return torch.where(mask.any(-1, keepdim=True), weights @ value, default)


@mistake(points=2)
def returns_the_mean_of_the_default(scores, value, mask, default):
    """a query without keys gets the mean of `default` in every place; it gets `default` itself"""
    some = mask.any(-1, keepdim=True)
    return torch.where(some, _weights(scores, mask) @ value, default.mean())


@mistake(points=3.5)
def takes_powers_as_they_are(scores, value, mask, default):
    """you take the powers of the scores as they are, which overflow where a score is high and are
    all 0 where all are low; mask the scores, and let `torch.softmax` take the highest off"""
    powers = scores.exp() * mask
    total = powers.sum(-1, keepdim=True)
    some = mask.any(-1, keepdim=True)
    return torch.where(some, powers @ value / total.where(total > 0, 1), default)


def _exchanged_after(low: float) -> Answer:
    """The default for queries with keys, and what a fill of `low` leaves the others."""

    def answer(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
        weights = torch.softmax(scores.masked_fill(~mask, low), -1)
        return torch.where(mask.any(-1, keepdim=True), default, weights @ value)

    return answer


@mistake(also=(_exchanged_after(-1e9), _exchanged_after(-math.inf)))
def exchanges_default_and_blend(scores, value, mask, default):
    """queries that have keys get `default` in yours, and those without a key the blend: the two are
    exchanged. `torch.where(some, blend, default)` takes the first where the condition is
    True"""
    some = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -math.inf)
    return torch.where(some, default, torch.softmax(scores, -1) @ value)


def _add_to_the_mean(scores: Tensor, value: Tensor, mask: Tensor, default: Tensor) -> Tensor:
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1)
    return weights @ value + default * ~mask.any(-1, keepdim=True)


@mistake(points=2, also=(_add_to_the_mean,))
def leaves_the_blend_beside_the_default(scores, value, mask, default):
    """a query without keys gets `default` and a blend of values on top: a sum of the two needs
    zeros where the blend is not wanted; `torch.where` takes one or the other"""
    some = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(some & ~mask, -math.inf)
    return torch.softmax(scores, -1) @ value + default * ~some


EXERCISE = Exercise(
    function="lookup_with_default",
    reference=reference,
    title="a lookup that knows when to say nothing",
    minutes=25,
    axes={"query_len": 43, "key_len": 97, "d_value": 31},
    avoid=("attention",),
    contract=Contract(
        batch=("scores", "value"),
        any_axes=True,
        exempts={"fills with -1e+09": "scores are in the thousands, far above it"},
    ),
    checks=(
        Check(
            "only allowed keys count, whatever axes come before, and with one row of mask for all",
            1,
            draw_masked_table,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_value": 2},
                {"query_len": 3, "key_len": 5, "d_value": 2, "mask_query_len": 1, "batch": 2},
                {"query_len": 3, "key_len": 5, "d_value": 2, "mask_query_len": 3, "batch": 2},
                {"query_len": 3, "key_len": 5, "d_value": 2, "a": 2, "b": 3},
            ),
            hidden_sizes=(
                {"query_len": 2, "key_len": 7, "d_value": 3, "a": 3, "b": 5},
                {"query_len": 7, "key_len": 3, "d_value": 1, "mask_query_len": 7, "batch": 2},
            ),
        ),
        Check(
            "a query that may attend to no key gets the default, and no other does, even where all"
            " values are 0",
            1,
            draw_queries_without_keys,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_value": 2},
                {"query_len": 3, "key_len": 5, "d_value": 2, "blank": True},
            ),
            hidden_sizes=({"query_len": 5, "key_len": 2, "d_value": 3},),
        ),
        Check(
            "the gradients that reach scores, values and default are right and finite, whether or"
            " not a query has keys",
            1,
            draw_some_queries_without_keys,
            sizes=({"query_len": 3, "key_len": 5, "d_value": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 7, "d_value": 3},),
            gradient=("scores", "value", "default"),
        ),
        Check(
            "a forbidden key changes nothing, however high its score, and however low the others",
            0.5,
            draw_high_forbidden_scores,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_value": 2},
                {"query_len": 3, "key_len": 5, "d_value": 2, "level": -2000.0},
            ),
            hidden_sizes=({"query_len": 5, "key_len": 7, "d_value": 3},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={},
)
