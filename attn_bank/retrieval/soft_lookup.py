"""Part B of problem set 01: the soft lookup, for all queries at once."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given
from torch import Tensor


def reference(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    return torch.softmax(query @ key.mT / temperature, dim=-1) @ value


def draw_table(
    generator: torch.Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    d_value: int,
    scale: float = 1.0,
    temperature: float = 1.0,
    **batch: int,
) -> Inputs:
    def draw(*shape: int) -> Tensor:
        return torch.randn(*batch.values(), *shape, generator=generator, dtype=torch.float64)

    return {
        "query": scale * draw(query_len, d_key),
        "key": draw(key_len, d_key),
        "value": draw(key_len, d_value),
        "temperature": temperature,
    }


def draw_any_temperature(generator: torch.Generator, **sizes: int) -> Inputs:
    """A temperature between 0.3 and 0.7, or between 2 and 5, so that it cannot pass for 1."""
    table = draw_table(generator, **sizes)
    low, chance = torch.rand(2, generator=generator).tolist()
    table["temperature"] = round(0.3 + 0.4 * low if chance < 0.5 else 2 + 3 * low, 2)
    return table


def draw_large_queries(generator: torch.Generator, **sizes: int) -> Inputs:
    """Scores in the thousands, of both signs; the highest of each query wins by far.

    So it does with another temperature, or by distance: other rows are there to see that.
    """
    while True:
        table = draw_table(generator, scale=2000.0, temperature=0.5, **sizes)
        best = (table["query"] @ table["key"].mT).topk(2).values
        if (best[..., 0] - best[..., 1]).min() > 200:
            return table


mistake = Mistakes()


@mistake
def mixes_the_keys(query, key, value, temperature):
    """you mixed the keys. Keys decide the proportions; what is mixed are the values"""
    return torch.softmax(query @ key.mT / temperature, dim=-1) @ key


@mistake
def returns_the_weights(query, key, value, temperature):
    """you returned the weights. They are the proportions of the blend: multiply them by the values,
    `weights @ value`"""
    return torch.softmax(query @ key.mT / temperature, dim=-1)


@mistake
def normalises_over_the_queries(query, key, value, temperature):
    """your weights sum to 1 over the queries; they should sum to 1 over the keys, the last axis of
    the scores"""
    return torch.softmax(query @ key.mT / temperature, dim=-2) @ value


@mistake
def normalises_over_the_first_axis(query, key, value, temperature):
    """your softmax runs over the first axis; the weights of a query should sum to 1 over the keys,
    the last axis of the scores (`dim=-1`)"""
    return torch.softmax(query @ key.mT / temperature, dim=0) @ value


@mistake(computes=given(reference, query=torch.neg))
def turns_the_sign():
    """your scores have the sign reversed: the key that suits a query best gets the smallest weight.
    The score is the dot product as it is"""


@mistake
def divides_without_exponential(query, key, value, temperature):
    """you divided the scores by their sum; scores may be negative, and so are weights then. Raise e
    to the scores first, as softmax does"""
    scores = query @ key.mT / temperature
    return scores / scores.sum(-1, keepdim=True) @ value


@mistake
def mixes_with_the_scores(query, key, value, temperature):
    """you mixed the values by the scores themselves. Scores may be negative and do not sum to 1:
    softmax makes weights of them"""
    return query @ key.mT / temperature @ value


@mistake(points=0.5)
def takes_the_nearest_key(query, key, value, temperature):
    """you returned the value of the best key only. That is the lookup at temperature 0; the soft
    lookup blends all values"""
    best = (query @ key.mT).argmax(-1, keepdim=True)
    return value.gather(-2, best.expand(*best.shape[:-1], value.shape[-1]))


@mistake(points=3)
def ignores_the_temperature(query, key, value, temperature):
    """your blend stays at temperature 1, whatever temperature is asked for: divide the scores by
    `temperature` before the softmax"""
    return torch.softmax(query @ key.mT, dim=-1) @ value


@mistake(points=3)
def multiplies_by_the_temperature(query, key, value, temperature):
    """you multiplied the scores by the temperature; divide. A low temperature makes the differences
    between scores large, so that the best key wins"""
    return torch.softmax(query @ key.mT * temperature, dim=-1) @ value


@mistake(points=3, computes=given(reference, temperature=lambda temperature: temperature**2))
def divides_by_the_temperature_twice():
    """you divide by the temperature twice, as happens if query and key are divided by it; divide
    their product once"""


@mistake(points=2.5)
def cools_the_weights(query, key, value, temperature):
    """you divided by the temperature after the softmax, which makes the whole output smaller or
    larger: divide the scores, before the softmax"""
    return torch.softmax(query @ key.mT, dim=-1) / temperature @ value


@mistake(points=0.5, computes=given(reference, query=lambda query: query / query.shape[-1] ** 0.5))
def divides_by_the_root_of_d_key():
    """you divided the scores by the root of `d_key` as well, as a Transformer does. Here the
    temperature is all that divides them"""


@mistake(points=0.5)
def scores_by_distance(query, key, value, temperature):
    """you scored by squared distance; this part asks for the dot product of query and key"""
    scores = -(query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return torch.softmax(scores / temperature, dim=-1) @ value


@mistake
def scores_by_angle(query, key, value, temperature):
    """you brought queries and keys to length 1 before the dot product, so that only their angle
    counts. Take them as they are"""
    query, key = (each / each.norm(dim=-1, keepdim=True) for each in (query, key))
    return torch.softmax(query @ key.mT / temperature, dim=-1) @ value


@mistake(points=3.5, right="your formula is right")
def overflows(query, key, value, temperature):
    """`exp` overflows where scores are in the thousands: subtract the row's maximum first, as in
    part A"""
    raised = torch.exp(query @ key.mT / temperature)
    return raised / raised.sum(-1, keepdim=True) @ value


@mistake(slip=True, points=2)
def reverses_all_axes(query, key, value, temperature):
    """your key is transposed as a whole, and that is right only without batch axes: swap the last
    two axes and leave the others, `key.mT`"""
    reverse = key.permute(*reversed(range(key.ndim)))
    return torch.softmax(query @ reverse / temperature, dim=-1) @ value


@mistake(slip=True, points=2)
def normalises_axis_1(query, key, value, temperature):
    """you took axis 1, which is the keys only where no batch axis comes before: count from the
    back, `dim=-1`"""
    return torch.softmax(query @ key.mT / temperature, dim=1) @ value


@mistake(points=0.5)
def forgets_to_normalise(query, key, value, temperature):
    """your powers are not divided by their sum, so the weights of a query do not sum to 1"""
    scores = query @ key.mT / temperature
    return torch.exp(scores - scores.amax(-1, keepdim=True)) @ value


@mistake(points=3.5)
def cuts_scores_off(query, key, value, temperature):
    """you cut scores off at some number, so those beyond it tie; the softmax of torch takes them
    as they are"""
    return torch.softmax((query @ key.mT / temperature).clamp(-80, 80), -1) @ value


@mistake(points=3)
def raises_the_weights_to_a_power(query, key, value, temperature):
    """you raise the weights to the power 1 / temperature, and they no longer sum to 1; divide the
    scores by the temperature, before the softmax"""
    return torch.softmax(query @ key.mT, -1) ** (1 / temperature) @ value


EXERCISE = Exercise(
    function="soft_lookup",
    reference=reference,
    title="the soft lookup, for all queries at once",
    minutes=15,
    axes={"query_len": 43, "key_len": 97, "d_key": 31, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "every query gets its blend of the values, whatever axes come before",
            1.5,
            draw_table,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},
                {"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2, "batch": 2},
                {"query_len": 2, "key_len": 5, "d_key": 7, "d_value": 2, "a": 3, "b": 2},
            ),
            hidden_sizes=(
                {"query_len": 1, "key_len": 7, "d_key": 3, "d_value": 11},
                {"query_len": 7, "key_len": 2, "d_key": 5, "d_value": 1, "a": 3, "b": 2},
            ),
        ),
        Check(
            "the temperature divides the scores",
            1,
            draw_any_temperature,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},) * 2,
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_key": 2, "d_value": 7},) * 2,
        ),
        Check(
            "scores in the thousands give the right output, and no `nan`",
            0.5,
            draw_large_queries,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 7, "d_key": 11, "d_value": 3},),
        ),
        Check(
            "the right gradient reaches queries, keys and values",
            0.5,
            draw_table,
            sizes=({"query_len": 3, "key_len": 5, "d_key": 7, "d_value": 2},),
            hidden_sizes=({"query_len": 5, "key_len": 3, "d_key": 2, "d_value": 7},),
            gradient=("query", "key", "value"),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={},
)
