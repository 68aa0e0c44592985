"""Part A of problem set 14: causal linear attention, as many tokens at a time as one likes."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    then,
)
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal, draw_uniform, in_front
from attn_bank.linear_attention import takes_chunks

Read = tuple[Tensor, Tensor, Tensor]
Map = Callable[[Tensor], Tensor]


def reference(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    return _chunk_by_chunk(query, key, value, state, total, chunk_len)


def _features(vectors: Tensor) -> Tensor:
    return functional.elu(vectors) + 1


def _all_pairs(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: Tensor,
    total: Tensor,
    *,
    of_query: Map = _features,
    of_key: Map = _features,
    seen: Map = torch.tril,
    divide: Callable[[Tensor, Tensor], Tensor] = torch.div,
) -> Read:
    """One table of all tokens: right is what the arguments are if nobody says otherwise."""
    query, key = of_query(query), of_key(key)
    table = seen(query @ key.mT)
    blend = table @ value + query @ state
    weight = table.sum(-1, keepdim=True) + query @ total.unsqueeze(-1)
    return divide(blend, weight), state + key.mT @ value, total + key.sum(-2)


def _mapping(of_query: Map, of_key: Map) -> Callable[..., Read]:
    def answer(
        query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
    ) -> Read:
        return _all_pairs(query, key, value, state, total, of_query=of_query, of_key=of_key)

    return answer


def _seeing(seen: Map) -> Callable[..., Read]:
    """Each chunk sees others of its own tokens."""

    def answer(
        query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
    ) -> Read:
        def step(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
            return _all_pairs(q, k, v, state, total, seen=seen)

        return _chunk_by_chunk(query, key, value, state, total, chunk_len, step)

    return answer


def _chunk_by_chunk(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    state: Tensor,
    total: Tensor,
    chunk_len: int,
    step: Callable[..., Read] = _all_pairs,
) -> Read:
    outputs = []
    for chunk in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        output, state, total = step(*chunk, state, total)
        outputs.append(output)
    return torch.cat(outputs, -2), state, total


def draw_text(
    generator: Generator,
    length: int,
    d_key: int,
    d_value: int,
    chunk_len: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """A text with nothing before it."""
    before = in_front(batch, num_heads)
    return {
        "query": draw_normal(generator, *before, length, d_key),
        "key": draw_normal(generator, *before, length, d_key),
        "value": draw_normal(generator, *before, length, d_value),
        "state": torch.zeros(*before, d_key, d_value, dtype=torch.float64),
        "total": torch.zeros(*before, d_key, dtype=torch.float64),
        "chunk_len": chunk_len,
    }


def draw_continued(
    generator: Generator, d_key: int, d_value: int, earlier: int = 3, **sizes: int
) -> Inputs:
    """A text that goes on: a few tokens have been read."""
    inputs = draw_text(generator, d_key=d_key, d_value=d_value, **sizes)
    before = inputs["state"].shape[:-2]
    key = 0.3 + draw_uniform(generator, *before, earlier, d_key)
    value = draw_normal(generator, *before, earlier, d_value)
    return inputs | {"state": key.mT @ value, "total": key.sum(-2)}


def _takes_chunks(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, str] | str | None:
    return takes_chunks(call, inputs, reference(**inputs))


def _by(step: Callable[..., Read]) -> Callable[..., Read]:
    """Chunk by chunk, each taken by `step`."""

    def answer(
        query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
    ) -> Read:
        return _chunk_by_chunk(query, key, value, state, total, chunk_len, step)

    return answer


mistake = Mistakes()


def _leave_the_blend(blend: Tensor, weight: Tensor) -> Tensor:
    return blend


@mistake
def forgets_to_divide(query, key, value, state, total, chunk_len):
    """your weights do not sum to 1: the output is the blend of the values divided by the sum of the
    weights, `features(q) @ total` with the keys so far"""
    return _all_pairs(query, key, value, state, total, divide=_leave_the_blend)


@mistake(points=2.5)
def forgets_the_total_so_far(query, key, value, state, total, chunk_len):
    """you divide by the weights of the tokens given alone; those that were read before have weight
    too, which `total` holds: add `features(q) @ total`"""
    alone = _all_pairs(query, key, value, state, torch.zeros_like(total))[0]
    return alone, *_all_pairs(query, key, value, state, total)[1:]


@mistake(points=1)
def divides_by_each_chunk(query, key, value, state, total, chunk_len):
    """you divide by the weights within each chunk; the tokens of earlier chunks have weight too:
    add `features(q) @ total`"""

    def step(q, k, v, state, total):
        output = _all_pairs(q, k, v, state, torch.zeros_like(total))[0]
        return output, *_all_pairs(q, k, v, state, total)[1:]

    return _chunk_by_chunk(query, key, value, state, total, chunk_len, step)


@mistake(points=2.5)
def starts_from_nothing(query, key, value, state, total, chunk_len):
    """you begin with an empty state; earlier tokens have left one: begin with the `state` and
    `total` that are given"""
    return _all_pairs(query, key, value, torch.zeros_like(state), torch.zeros_like(total))


def _start_from_nothing(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    output = _all_pairs(q, k, v, 0 * state, 0 * total)[0]
    return output, *_all_pairs(q, k, v, state, total)[1:]


def _overwrite(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    k_features = _features(k)
    output = _all_pairs(q, k, v, state, total)[0]
    return output, k_features.mT @ v, k_features.sum(-2)


@mistake(points=1, computes=_by(_start_from_nothing))
def sees_its_own_chunk_only():
    """a token sees the tokens of its own chunk alone; earlier ones are in the state: add
    `features(q) @ state` to the blend, and `features(q) @ total` to the weights"""


def _carry_nothing(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    """Every chunk reads the state that is given."""

    def step(q: Tensor, k: Tensor, v: Tensor, *_: Tensor) -> Read:
        return _all_pairs(q, k, v, state, total)

    output = _chunk_by_chunk(query, key, value, state, total, chunk_len, step)[0]
    return output, *_all_pairs(query, key, value, state, total)[1:]


@mistake(points=2.5, computes=_carry_nothing)
def reads_what_is_given_in_every_chunk():
    """every chunk reads the state that was given, without the chunks between; the next chunk reads
    what this one has left"""


@mistake(points=1, computes=_by(_overwrite))
def keeps_the_last_chunk_only():
    """your state holds the last chunk alone; add what a chunk brings to what is there"""


def _read_after(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    after = _all_pairs(q, k, v, state, total)[1:]
    return _all_pairs(q, k, v, *after)[0], *after


def _read_after_alone(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    after = _all_pairs(q, k, v, state, total)[1:]
    return _all_pairs(q, k, v, *after, seen=torch.zeros_like)[0], *after


@mistake(computes=_seeing(lambda table: table), also=(_by(_read_after_alone),))
def sees_later_tokens():
    """a token sees later ones of its own chunk; in the table of a chunk keep what is on the
    diagonal and below, `tril()`, and read the state from before the chunk"""


@mistake(computes=_seeing(lambda table: table.tril(-1)), also=(_seeing(lambda t: 0 * t),))
def does_not_see_itself():
    """a token does not see itself in yours; it sees all tokens up to itself, so the state that it
    reads has its own key and value in it"""


@mistake(computes=_by(_read_after))
def counts_the_chunk_twice():
    """the tokens of a chunk count twice, and later ones are seen: you add the chunk to the state
    before you read it. Read the state of the chunks before, then add"""


def _divide_apart(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    q_features = _features(q)
    inner = _all_pairs(q, k, v, 0 * state, 0 * total)[0]
    weight = q_features @ total.unsqueeze(-1)
    cross = (q_features @ state) / weight.where(weight > 0, 1)
    return inner + cross, *_all_pairs(q, k, v, state, total)[1:]


@mistake(points=1, computes=_by(_divide_apart))
def divides_each_part_by_itself():
    """you divide what the chunk gives by its own weights and what the state gives by its own, and
    add the two; add both blends and both weights first, and divide once"""


def _divide_by_the_end(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    blend, *after = _all_pairs(q, k, v, state, total, divide=_leave_the_blend)
    return blend / (_features(q) @ after[1].unsqueeze(-1)), *after


@mistake(computes=_by(_divide_by_the_end))
def divides_by_the_total_behind_the_chunk():
    """you divide by the weights of the whole chunk, later tokens included; a token divides by the
    weights of those that it sees, up to itself"""


@mistake(computes=_mapping(lambda x: x, lambda x: x))
def takes_no_features():
    """you take queries and keys as they are, and weights may be negative; take `elu(x) + 1` of
    both"""


@mistake(computes=_mapping(_features, lambda x: x), also=(_mapping(lambda x: x, _features),))
def maps_one_of_the_two():
    """you take the features of queries or of keys alone; take those of both"""


@mistake(computes=_mapping(functional.elu, functional.elu))
def forgets_the_one():
    """your features are `elu(x)`, which may be negative; add 1"""


@mistake(
    computes=_mapping(torch.exp, torch.exp),
    also=(
        _mapping(torch.relu, torch.relu),
        _mapping(lambda x: torch.softmax(x, -1), lambda x: torch.softmax(x, -1)),
        _mapping(lambda x: torch.relu(x) + 1, lambda x: torch.relu(x) + 1),
    ),
)
def takes_other_features():
    """your features are others, such as `exp(x)`, `relu(x)` or a softmax; take `elu(x) + 1`"""


@mistake(computes=_mapping(lambda x: _features(_features(x)), lambda x: _features(_features(x))))
def takes_features_of_features():
    """you take the features twice; once is enough, of the vectors that are given"""


@mistake(computes=given(reference, value=_features))
def maps_the_values_too():
    """you take features of the values as well; they stay as they are"""


def _by_the_root(vectors: Tensor) -> Tensor:
    return _features(vectors / vectors.shape[-1] ** 0.5)


@mistake(
    computes=_mapping(_by_the_root, _features),
    also=(
        _mapping(_by_the_root, _by_the_root),
        _mapping(
            lambda q: _features(q / q.shape[-1] ** 0.25),
            lambda k: _features(k / k.shape[-1] ** 0.25),
        ),
    ),
)
def scales_before_the_features():
    """you divide queries or keys by a root before you take features; nothing is scaled here"""


@mistake
def takes_a_softmax(query, key, value, state, total, chunk_len):
    """your output is softmax attention; the weights here are products of features, divided by their
    sum, and no `exp` is taken of a score"""
    scores = query @ key.mT
    later = torch.ones_like(scores).triu(1).bool()
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return weights @ value, *_all_pairs(query, key, value, state, total)[1:]


@mistake
def takes_a_softmax_of_weights(query, key, value, state, total, chunk_len):
    """you take a softmax of the products of features; divide them by their sum"""
    scores = _features(query) @ _features(key).mT
    later = torch.ones_like(scores).triu(1).bool()
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)
    return weights @ value, *_all_pairs(query, key, value, state, total)[1:]


def _count_tokens(blend: Tensor, weight: Tensor) -> Tensor:
    return blend / torch.arange(1, blend.shape[-2] + 1).to(blend).unsqueeze(-1)


@mistake
def divides_by_the_number_of_tokens(query, key, value, state, total, chunk_len):
    """you divide by the number of tokens so far; divide by the sum of their weights"""
    return _all_pairs(query, key, value, state, total, divide=_count_tokens)


@mistake(computes=then(reference, lambda made: (made[0], made[1].mT, made[2])))
def returns_the_state_transposed():
    """your state has a row for each feature of a value; it is `(d_key, d_value)`, a row for each
    feature of a key: `features(k).mT @ v`"""


@mistake(computes=then(reference, lambda made: made[0]))
def returns_the_output_only():
    """you return the output alone; the next call needs what you have added up: `output, state,
    total`"""


@mistake(right="your output is right")
def returns_the_old_state(query, key, value, state, total, chunk_len):
    """you return the state and the total as they came; return them with all tokens of this call in
    them"""
    return reference(query, key, value, state, total, chunk_len)[0], state, total


@mistake(points=2.5, right="your output is right")
def returns_what_was_added(query, key, value, state, total, chunk_len):
    """the state that you return lacks what was in it before; add the tokens of this call to it"""
    output, after, after_total = reference(query, key, value, state, total, chunk_len)
    return output, after - state, after_total - total


@mistake(points=3.5)
def leaves_the_rest_out(query, key, value, state, total, chunk_len):
    """the last tokens are left out where `chunk_len` does not divide their number; the last chunk
    is shorter"""
    length = query.shape[-2]
    whole = max(length // chunk_len * chunk_len, min(chunk_len, length))
    cut = (t[..., :whole, :] for t in (query, key, value))
    return reference(*cut, state, total, chunk_len)


@mistake(points=4, right="your numbers are right", evidence="all pairs")
def makes_a_table_of_all_pairs(query, key, value, state, total, chunk_len):
    """you make one table of all tokens against all; go from chunk to chunk, so that a table has
    `chunk_len` rows and columns"""
    return _all_pairs(query, key, value, state, total)


@mistake(points=4, right="your numbers are right", evidence="all states")
def makes_a_state_for_each_token(query, key, value, state, total, chunk_len):
    """you hold the states of all tokens at once, as `cumsum` over outer products does; one state
    goes from chunk to chunk"""
    query, key = _features(query), _features(key)
    states = (key.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(-3) + state.unsqueeze(-3)
    totals = key.cumsum(-2) + total.unsqueeze(-2)
    output = (query.unsqueeze(-2) @ states).squeeze(-2) / (query * totals).sum(-1, keepdim=True)
    return output, states[..., -1, :, :], totals[..., -1, :]


@mistake(points=4, right="your numbers are right", evidence="many calls")
def takes_one_token_at_a_time(query, key, value, state, total, chunk_len):
    """you call torch far more often than a loop over chunks does, as a loop over the tokens would:
    take `chunk_len` tokens at a time (`split` asks for a length, `chunk` for a number)"""
    return _chunk_by_chunk(query, key, value, state, total, 1)


_SMALL = {"length": 7, "d_key": 3, "d_value": 5}

EXERCISE = Exercise(
    function="linear_attention",
    reference=reference,
    title="attention as a state, in chunks of any length",
    minutes=35,
    axes={"length": 43},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value", "state", "total"), like=2),
    checks=(
        Check(
            "a text that is one chunk, with nothing before it: each token sees all up to itself,"
            " by weights of features; the state and the total hold all of them",
            1,
            draw_text,
            sizes=({"batch": 2, **_SMALL, "chunk_len": 7}, {**_SMALL, "chunk_len": 11}),
            hidden_sizes=({"length": 5, "d_key": 2, "d_value": 3, "chunk_len": 97},),
            easier=True,
        ),
        Check(
            "the same for chunks of any length, of one token too; the last may be shorter; any"
            " number of axes may come before",
            1.5,
            draw_text,
            sizes=(
                {"batch": 2, **_SMALL, "chunk_len": 3},
                {**_SMALL, "chunk_len": 1},
                {"batch": 2, "num_heads": 3, "length": 5, "d_key": 5, "d_value": 2, "chunk_len": 2},
            ),
            hidden_sizes=(
                {"batch": 3, "length": 11, "d_key": 2, "d_value": 3, "chunk_len": 4},
                {"batch": 2, "num_heads": 2, "length": 3, "d_key": 3, "d_value": 5, "chunk_len": 1},
            ),
        ),
        Check(
            "a text that goes on: `state` and `total` hold the tokens that were read before",
            1,
            draw_continued,
            sizes=(
                {**_SMALL, "length": 1, "chunk_len": 1},
                {"batch": 2, **_SMALL, "chunk_len": 7},
            ),
            hidden_sizes=(
                {"length": 4, "d_key": 2, "d_value": 3, "chunk_len": 97},
                {"batch": 3, "length": 5, "d_key": 5, "d_value": 2, "chunk_len": 5},
            ),
        ),
        Check(
            "`chunk_len` tokens at a time: no tensor holds more than three times the numbers of the"
            " largest input or of the table of a chunk, and no loop goes over the tokens",
            1,
            draw_continued,
            sizes=({"length": 192, "d_key": 11, "d_value": 13, "chunk_len": 64},),
            hidden_sizes=({"length": 177, "d_key": 13, "d_value": 11, "chunk_len": 59},),
            dtype=torch.float64,
            invariant=_takes_chunks,
            sizes_matter=True,
        ),
    ),
    mistakes=mistake.collected,
)
