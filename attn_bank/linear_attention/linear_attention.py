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
    outputs = []
    for chunk in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        output, state, total = _all_pairs(*chunk, state, total)
        outputs.append(output)
    return torch.cat(outputs, -2), state, total


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
) -> Read:
    """One table of all tokens: right is what the arguments are if nobody says otherwise."""
    query, key = of_query(query), of_key(key)
    table = seen(query @ key.mT)
    blend = table @ value + query @ state
    weight = table.sum(-1, keepdim=True) + query @ total.unsqueeze(-1)
    return blend / weight, state + key.mT @ value, total + key.sum(-2)


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
    step: Callable[..., Read],
) -> Read:
    """Chunk by chunk, each taken by `step`."""
    outputs = []
    for chunk in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        output, state, total = step(*chunk, state, total)
        outputs.append(output)
    return torch.cat(outputs, -2), state, total


def _by(step: Callable[..., Read]) -> Callable[..., Read]:
    """Chunk by chunk, each taken by `step`."""

    def answer(
        query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
    ) -> Read:
        return _chunk_by_chunk(query, key, value, state, total, chunk_len, step)

    return answer


def _add(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
    return state + k.mT @ v, total + k.sum(-2)


def _doing(
    blend: Callable[..., Tensor] = lambda table, q, k, v, state: table @ v + q @ state,
    weight: Callable[..., Tensor] = lambda table, q, k, state, total: _weight(table, q, total),
    add: Callable[..., tuple[Tensor, Tensor]] = _add,
) -> Callable[..., Read]:
    """The chunks with something done otherwise; all are given features."""

    def step(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
        q, k = _features(q), _features(k)
        table = (q @ k.mT).tril()
        output = blend(table, q, k, v, state) / weight(table, q, k, state, total)
        return output, *add(q, k, v, state, total)

    return _by(step)


def _weight(table: Tensor, q: Tensor, total: Tensor) -> Tensor:
    return table.sum(-1, keepdim=True) + q @ total.unsqueeze(-1)


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


mistake = Mistakes()


def _divide_by_the_number(**inputs: Plain) -> Read:
    blend, *after = _doing(weight=lambda *_: 1)(**inputs)
    return blend / torch.arange(1, blend.shape[-2] + 1).to(blend).unsqueeze(-1), *after


@mistake(computes=_doing(weight=lambda *_: 1), also=(_divide_by_the_number,))
def forgets_to_divide():
    """your weights do not sum to 1: the output is the blend of the values divided by the sum of the
    weights, `features(q) @ total` with the keys so far"""


def _forget_the_total(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    alone = _all_pairs(query, key, value, state, torch.zeros_like(total))[0]
    return alone, *_all_pairs(query, key, value, state, total)[1:]


@mistake(
    points=1,
    computes=_doing(weight=lambda table, *_: table.sum(-1, keepdim=True)),
    also=(_forget_the_total,),
)
def forgets_the_total():
    """what you divide by lacks the weights of tokens that were read before, in earlier chunks or in
    earlier calls; `total` holds their features: add `features(q) @ total`"""


def _row_sums(table: Tensor) -> Tensor:
    return table.sum(-1, keepdim=True)


@mistake(
    points=1,
    computes=_doing(
        weight=lambda table, q, k, state, total: (
            _row_sums(table) + (q @ state).sum(-1, keepdim=True)
        )
    ),
    also=(
        _doing(
            weight=lambda table, q, k, state, total: (
                _row_sums(table) + total.sum(-1)[..., None, None]
            )
        ),
    ),
)
def divides_by_something_else():
    """what you divide by is right for a text with nothing before it, and not with earlier tokens;
    their weight is `features(q) @ total`"""


def _columns(table: Tensor, q: Tensor, k: Tensor, state: Tensor, total: Tensor) -> Tensor:
    return table.sum(-2).unsqueeze(-1) + q @ total.unsqueeze(-1)


def _along_features(table: Tensor, q: Tensor, k: Tensor, state: Tensor, total: Tensor) -> Tensor:
    return (q * (k.cumsum(-1) + total.unsqueeze(-2))).sum(-1, keepdim=True)


@mistake(computes=_doing(weight=_columns), also=(_doing(weight=_along_features),))
def adds_up_along_another_axis():
    """the weights that you divide by are added up along another axis; those of one token are a row
    of the table, `sum(-1)`, and a total of keys runs over the tokens, axis -2"""


def _read_nothing_at_first(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    """Only the chunks of this call are read; what was given comes back with them."""
    output = _all_pairs(query, key, value, 0 * state, 0 * total)[0]
    return output, *_all_pairs(query, key, value, state, total)[1:]


@mistake(points=2.5, also=(_read_nothing_at_first,))
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


@mistake(
    points=1,
    computes=_by(_start_from_nothing),
    also=(_doing(blend=lambda table, q, k, v, state: table @ v),),
)
def sees_its_own_chunk_only():
    """the values of earlier chunks are missing from the output of a token; they are in the state:
    its blend takes `features(q) @ state` as well, and its weights `features(q) @ total`"""


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


def _read_at_the_end(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    return _all_pairs(query, key, value, state, total, seen=lambda table: table)


@mistake(
    computes=_seeing(lambda table: table),
    also=(
        _by(_read_after_alone),
        _read_at_the_end,
        _seeing(torch.triu),
        _doing(blend=lambda table, q, k, v, state: (q @ k.mT).triu() @ v + q @ state),
        _doing(blend=lambda table, q, k, v, state: q @ k.mT @ v + q @ state),
    ),
)
def sees_later_tokens():
    """a token sees later ones; in the table of a chunk keep what is on the diagonal and below,
    `tril()`, and read the state from before the chunk"""


def _without_itself(table: Tensor, q: Tensor, k: Tensor, state: Tensor, total: Tensor) -> Tensor:
    return _weight(table.tril(-1), q, total)


@mistake(
    computes=_seeing(lambda table: table.tril(-1)),
    also=(
        _doing(
            blend=lambda table, q, k, v, state: table.tril(-1) @ v + q @ state,
            weight=lambda *parts: _without_itself(*parts) + 1e-6,
        ),
        _seeing(lambda table: 0 * table),
        _doing(weight=_without_itself),
        _doing(blend=lambda table, q, k, v, state: table.tril(-1) @ v + q @ state),
    ),
)
def does_not_see_itself():
    """a token does not count itself, in the blend of the values or in the weights that you divide
    by; it sees all tokens up to itself"""


def _blend_after(table: Tensor, q: Tensor, k: Tensor, v: Tensor, state: Tensor) -> Tensor:
    return table @ v + q @ (state + k.mT @ v)


def _weight_after(table: Tensor, q: Tensor, k: Tensor, state: Tensor, total: Tensor) -> Tensor:
    return _weight(table, q, total + k.sum(-2))


@mistake(computes=_by(_read_after), also=(_doing(blend=_blend_after), _doing(weight=_weight_after)))
def counts_the_chunk_twice():
    """the tokens of a chunk count twice, and later ones with them: you add the chunk to the state
    or to the total before you read it. Read what the chunks before have left, then add"""


def _divide_apart(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    q_features = _features(q)
    inner = _all_pairs(q, k, v, 0 * state, 0 * total)[0]
    weight = q_features @ total.unsqueeze(-1)
    cross = (q_features @ state) / weight.where(weight > 0, 1)
    return inner + cross, *_all_pairs(q, k, v, state, total)[1:]


def _divide_the_table(table: Tensor, q: Tensor, k: Tensor, v: Tensor, state: Tensor) -> Tensor:
    return (table / _row_sums(table)) @ v + q @ state


@mistake(
    points=1,
    computes=_by(_divide_apart),
    also=(_doing(blend=_divide_the_table, weight=lambda *_: 1),),
)
def divides_each_part_by_itself():
    """you divide what the chunk gives by the weights of the chunk alone, before you add what the
    state gives; add both blends and both weights first, and divide once"""


def _of_the_chunk(table: Tensor, q: Tensor, k: Tensor, state: Tensor, total: Tensor) -> Tensor:
    return q @ (total + k.sum(-2)).unsqueeze(-1)


@mistake(computes=_doing(weight=_of_the_chunk))
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


def _both(features: Map) -> Callable[..., Read]:
    return _mapping(features, features)


@mistake(
    computes=_both(torch.exp),
    also=(
        _both(torch.relu),
        _both(lambda x: torch.relu(x) + 1e-6),
        _both(lambda x: torch.relu(x) + 1),
        _both(lambda x: torch.softmax(x, -1)),
        _both(torch.sigmoid),
        _both(functional.softplus),
        _both(torch.square),
        _both(functional.elu),
        _both(lambda x: _features(_features(x))),
    ),
)
def takes_other_features():
    """your features are others, such as `elu(x)` without the 1, `exp(x)`, `relu(x)` or a softmax;
    take `elu(x) + 1` of both, once"""


def _map_the_values(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    return _all_pairs(query, key, _features(value), state, total)


@mistake(computes=_map_the_values)
def maps_the_values():
    """you take features of the values too; a value goes into the blend and into the state as it
    is"""


@mistake(
    computes=_doing(add=lambda q, k, v, state, total: (state + q.mT @ v, total + k.sum(-2))),
    also=(
        _doing(add=lambda q, k, v, state, total: (state + q.mT @ v, total + q.sum(-2))),
        _doing(add=lambda q, k, v, state, total: (state + k.mT @ v, total + q.sum(-2))),
    ),
)
def writes_at_the_queries():
    """queries go into your state or into your total; a token writes its value at the features of
    its key, and its query reads"""


def _add_keys(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    output = _all_pairs(q, k, v, state, total)[0]
    return output, state + k.mT @ v, total + k.sum(-2)


def _add_keys_to_the_state(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    output, _, total = _all_pairs(q, k, v, state, total)
    return output, state + k.mT @ v, total


def _add_keys_to_the_total(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    output, state, _ = _all_pairs(q, k, v, state, total)
    return output, state, total + k.sum(-2)


def _return_keys(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    return _add_keys(query, key, value, state, total)


@mistake(
    computes=_by(_add_keys),
    also=(_by(_add_keys_to_the_state), _by(_add_keys_to_the_total), _return_keys),
)
def adds_keys_without_features():
    """keys go into your state, or into your total, as they are; their features go in"""


def _by_the_root(vectors: Tensor) -> Tensor:
    return _features(vectors / vectors.shape[-1] ** 0.5)


def _scale_the_table(q: Tensor, k: Tensor, v: Tensor, state: Tensor, total: Tensor) -> Read:
    root = q.shape[-1] ** 0.5
    output = _all_pairs(q, k, v, state, total, seen=lambda table: table.tril() / root)[0]
    return output, *_all_pairs(q, k, v, state, total)[1:]


@mistake(
    computes=_mapping(_by_the_root, _features),
    also=(
        _mapping(_by_the_root, _by_the_root),
        _both(lambda x: _features(x / x.shape[-1] ** 0.25)),
        _by(_scale_the_table),
        _doing(
            blend=lambda table, q, k, v, state: table @ v + q / q.shape[-1] ** 0.5 @ state,
            weight=lambda table, q, k, state, total: _weight(table, q / q.shape[-1] ** 0.5, total),
        ),
        _doing(
            weight=lambda table, q, k, state, total: _weight(table, q, total) * q.shape[-1] ** 0.5
        ),
        _doing(
            weight=lambda table, q, k, state, total: _weight(table, q, total) / q.shape[-1] ** 0.5
        ),
    ),
)
def scales():
    """something is divided by a root of the width, the queries, the keys, the table, the blend or
    its weights; nothing is scaled here"""


def _softmax(table: Tensor) -> Tensor:
    later = torch.ones_like(table).triu(1).bool()
    return table.masked_fill(later, -torch.inf).softmax(-1)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, total: Tensor, chunk_len: int
) -> Read:
    weights = _softmax(_features(query) @ _features(key).mT)
    return weights @ value, *_all_pairs(query, key, value, state, total)[1:]


def _attend_in_chunks(table: Tensor, q: Tensor, k: Tensor, v: Tensor, state: Tensor) -> Tensor:
    return _softmax(q @ k.mT) @ v + q @ state


@mistake(also=(_attend, _doing(blend=_attend_in_chunks)))
def takes_a_softmax(query, key, value, state, total, chunk_len):
    """there is a softmax in your weights; they are products of features, divided by their sum, and
    no `exp` is taken of a score"""
    weights = _softmax(query @ key.mT)
    return weights @ value, *_all_pairs(query, key, value, state, total)[1:]


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


def _only(state: bool) -> Callable[..., Read]:
    """Only the state, or only the total, goes on."""

    def add(q: Tensor, k: Tensor, v: Tensor, kept: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        after, after_total = _add(q, k, v, kept, total)
        return (after, total) if state else (kept, after_total)

    return _doing(add=add)


@mistake(computes=_only(state=True), also=(_only(state=False),))
def updates_one_of_the_two():
    """one of state and total stays as it came; each chunk goes into both"""


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
    return reference(query, key, value, state, total, 1)


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
