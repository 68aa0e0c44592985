"""Part B of problem set 14: the delta rule, which writes what a state does not hold yet."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    given,
    mistaking,
    then,
)
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal, draw_uniform, in_front

Read = tuple[Tensor, Tensor]
# From the state, a key, its value and its rate (*batch, 1) to what the state becomes.
Write = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def reference(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
    outputs = []
    for place in range(key.shape[-2]):
        q, k, v = (t[..., place, :] for t in (query, key, value))
        state = _correct(state, k, v, rate[..., place, None])
        outputs.append(_read(state, q))
    return torch.stack(outputs, -2), state


def _read(state: Tensor, key: Tensor) -> Tensor:
    """The value that the state holds at a key, (*batch, d_value)."""
    return (key.unsqueeze(-2) @ state).squeeze(-2)


def _outer(key: Tensor, value: Tensor) -> Tensor:
    return key.unsqueeze(-1) * value.unsqueeze(-2)


def _correct(state: Tensor, key: Tensor, value: Tensor, rate: Tensor) -> Tensor:
    return state + _outer(key, rate * (value - _read(state, key)))


def _one_by_one(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    rate: Tensor,
    state: Tensor,
    *,
    write: Write = _correct,
    reads_before: bool = False,
) -> Read:
    """Token after token, with something done otherwise."""
    outputs = []
    for place in range(key.shape[-2]):
        q, k, v = (t[..., place, :] for t in (query, key, value))
        before, state = state, write(state, k, v, rate[..., place, None])
        outputs.append(_read(before if reads_before else state, q))
    return torch.stack(outputs, -2), state


def _writing(write: Write) -> Callable[..., Read]:
    """The same with another way to write."""

    def answer(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
        return _one_by_one(query, key, value, rate, state, write=write)

    return answer


def draw_text(
    generator: Generator,
    length: int,
    d_key: int,
    d_value: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """Keys of length 1, rates between 0 and 1, and a state that holds something."""
    before = in_front(batch, num_heads)
    return {
        "query": draw_normal(generator, *before, length, d_key),
        "key": functional.normalize(draw_normal(generator, *before, length, d_key), dim=-1),
        "value": draw_normal(generator, *before, length, d_value),
        "rate": draw_uniform(generator, *before, length),
        "state": draw_normal(generator, *before, d_key, d_value),
    }


def draw_one(generator: Generator, **sizes: int) -> Inputs:
    """One pair is written into a state, as a whole, and its key asks for it."""
    inputs = draw_text(generator, length=1, **sizes)
    return inputs | {"query": inputs["key"].clone(), "rate": torch.ones_like(inputs["rate"])}


def draw_rewritten(generator: Generator, length: int, **sizes: int) -> Inputs:
    """An empty state, and keys of which each comes twice, with another value."""
    inputs = draw_text(generator, length=2 * length, **sizes)
    inputs["key"][..., length:, :] = inputs["key"][..., :length, :]
    inputs["query"][..., length:, :] = inputs["key"][..., :length, :]
    return inputs | {"state": torch.zeros_like(inputs["state"])}


mistake = Mistakes()


@mistake(
    computes=_writing(lambda state, k, v, rate: state + _outer(k, rate * v)),
    also=(_writing(lambda state, k, v, rate: state + _outer(k, v)),),
)
def adds_the_whole_value():
    """you add the value to what the state holds at this key already; read that first, and write the
    difference: `value - key @ state`"""


@mistake(
    points=1, computes=_writing(lambda state, k, v, rate: state + _outer(k, v - _read(state, k)))
)
def forgets_the_rate():
    """your state takes the whole difference, whatever `rate` is; multiply the difference by it"""


@mistake(
    points=1,
    computes=_writing(lambda state, k, v, rate: state + _outer(k, rate * v - _read(state, k))),
    also=(_writing(lambda state, k, v, rate: state + _outer(k, v - rate * _read(state, k))),),
)
def multiplies_one_of_the_two():
    """the rate multiplies the value or what is taken off, and not the other; it multiplies the
    difference of the two"""


def _fade(state: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return (1 - rate.unsqueeze(-1)) * state + _outer(k, rate * v)


def _fade_first(state: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return _correct((1 - rate.unsqueeze(-1)) * state, k, v, rate)


@mistake(
    computes=_writing(_fade),
    also=(
        _writing(lambda state, k, v, rate: (1 - rate.unsqueeze(-1)) * state + _outer(k, v)),
        _writing(_fade_first),
    ),
)
def fades_the_whole_state():
    """you take the share `rate` off the whole state; it comes off in the direction of the key
    alone, and what stands at right angles to it stays"""


@mistake(
    points=1,
    computes=_writing(
        lambda state, k, v, rate: state + _outer(k, rate * v - rate * rate * _read(state, k))
    ),
    also=(
        _writing(lambda state, k, v, rate: state + _outer(k, rate * rate * (v - _read(state, k)))),
    ),
)
def multiplies_by_the_rate_twice():
    """the rate comes in twice; it multiplies the difference once"""


@mistake(
    computes=_writing(lambda state, k, v, rate: state + _outer(k, rate * (v + _read(state, k))))
)
def adds_what_is_there():
    """you add what the state holds at the key to the value; take it off: `value - key @ state`"""


@mistake(
    computes=_writing(lambda state, k, v, rate: state - _outer(k, rate * (v - _read(state, k))))
)
def goes_the_wrong_way():
    """you take the difference off the state, so that it moves away from the value; add it"""


def _read_the_first(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
    return query @ state, reference(query, key, value, rate, state)[1]


@mistake(also=(_read_the_first,))
def reads_before_it_writes(query, key, value, rate, state):
    """you read before the token's own pair is written; write first, then read"""
    return _one_by_one(query, key, value, rate, state, reads_before=True)


def _read_at(which: str) -> Callable[..., Read]:
    """The difference is taken from what the state holds for this input."""

    def answer(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
        other = query if which == "query" else key.roll(1, -2)
        outputs = []
        for place in range(key.shape[-2]):
            q, k, v, o = (t[..., place, :] for t in (query, key, value, other))
            state = state + _outer(k, rate[..., place, None] * (v - _read(state, o)))
            outputs.append(_read(state, q))
        return torch.stack(outputs, -2), state

    return answer


@mistake(points=1, computes=_read_at("query"))
def takes_off_what_the_query_reads():
    """you take off what the state holds for the query; take off what it holds at the key, which is
    where you write"""


@mistake(points=1, computes=mistaking(reference, query="key"))
def reads_with_the_key():
    """your output is what the state holds at the key; the query reads"""


@mistake(points=1, computes=mistaking(reference, key="query"))
def writes_at_the_query():
    """you write at the query; write at the key, and let the query read"""


def _all_at_once(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
    written = rate.unsqueeze(-1) * (value - key @ state)
    output = query @ state + (query @ key.mT).tril() @ written
    return output, state + key.mT @ written


@mistake(points=1, computes=_all_at_once)
def corrects_the_first_state():
    """you take all differences from the state that was given; each token meets the state that the
    one before it has left"""


def _add_the_first_at_the_end(
    query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor
) -> Read:
    output, written = reference(query, key, value, rate, torch.zeros_like(state))
    return output + query @ state, written + state


@mistake(
    points=0.5,
    computes=given(reference, state=torch.zeros_like),
    also=(_add_the_first_at_the_end,),
)
def starts_from_nothing():
    """you begin with an empty state; begin with the one that is given"""


def _forget_each_time(
    query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor
) -> Read:
    return _one_by_one(
        query, key, value, rate, state, write=lambda _, *pair: _correct(state, *pair)
    )


@mistake(
    points=1,
    computes=_forget_each_time,
    also=(_writing(lambda state, k, v, rate: _outer(k, rate * (v - _read(state, k)))),),
)
def forgets_what_was_written():
    """what one token has written is gone when the next one comes; add to the state that is there,
    and go on with the sum"""


@mistake(
    computes=_writing(lambda state, k, v, rate: state - _outer(k, rate * _read(state, k))),
)
def erases_only():
    """you take off what the state holds at the key and write nothing in its place; the value comes
    there"""


@mistake(
    computes=_writing(lambda state, k, v, rate: _correct(state, functional.elu(k) + 1, v, rate))
)
def takes_features_of_keys():
    """you write at `elu(key) + 1`; keys are taken as they are here, and have length 1"""


@mistake(
    computes=given(reference, query=lambda q: functional.elu(q) + 1),
    also=(
        given(
            reference,
            query=lambda q: functional.elu(q) + 1,
            key=lambda k: functional.elu(k) + 1,
        ),
    ),
)
def takes_features_of_queries():
    """you read with `elu(query) + 1`; queries are taken as they are here"""


@mistake(points=1, computes=given(reference, query=lambda q: functional.normalize(q, dim=-1)))
def brings_queries_to_length_one():
    """you bring the queries to length 1; only the keys have it, and queries are taken as they
    are"""


def _scale_what_is_held(state: Tensor, k: Tensor, v: Tensor, rate: Tensor) -> Tensor:
    return state + _outer(k, rate * (v - _read(state, k) / k.shape[-1] ** 0.5))


@mistake(
    computes=given(reference, query=lambda q: q / q.shape[-1] ** 0.5),
    also=(_writing(_scale_what_is_held),),
)
def scales():
    """your output, or what the state holds at a key, is divided by the root of the width; nothing
    is scaled here"""


@mistake(computes=given(reference, rate=torch.sigmoid))
def takes_a_sigmoid_of_the_rate():
    """you take a sigmoid of `rate`; it lies between 0 and 1 already, and multiplies as it is"""


def _divide(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
    output, state = reference(query, key, value, rate, state)
    return output / (query * key.cumsum(-2)).sum(-1, keepdim=True), state


@mistake(points=1, computes=_divide)
def divides_by_weights():
    """you divide the output by a sum of weights; the delta rule has no such sum, and its output is
    `query @ state`"""


@mistake(computes=then(reference, lambda made: (made[0], made[1].mT)))
def returns_the_state_transposed():
    """your state has a row for each feature of a value; it is `(d_key, d_value)`, a row for each
    feature of a key"""


@mistake(computes=then(reference, lambda made: made[::-1]))
def returns_the_state_first():
    """you return the state before the output; the order is `output, state`"""


@mistake(computes=then(reference, lambda made: made[0]))
def returns_the_output_only():
    """you return the output alone; the next call needs the state: `output, state`"""


@mistake(right="your output is right")
def returns_the_old_state(query, key, value, rate, state):
    """you return the state as it came; return it as the last token leaves it"""
    return reference(query, key, value, rate, state)[0], state


@mistake
def returns_the_last_output(query, key, value, rate, state):
    """you return the output of the last token alone; each token has one, `(*batch, length,
    d_value)`"""
    output, state = reference(query, key, value, rate, state)
    return output[..., -1, :], state


@mistake(points=1)
def reads_at_the_end(query, key, value, rate, state):
    """all queries read the last state, with later tokens in it; each reads the state that its own
    token leaves"""
    state = reference(query, key, value, rate, state)[1]
    return query @ state, state


@mistake(points=1)
def goes_backwards(query, key, value, rate, state):
    """you go through the text from its end; the first token comes first"""
    flipped = (t.flip(-2) for t in (query, key, value))
    output, state = reference(*flipped, rate.flip(-1), state)
    return output.flip(-2), state


@mistake(
    points=1,
    computes=given(reference, rate=lambda rate: rate[..., :1].expand_as(rate)),
    also=(given(reference, rate=lambda rate: rate.mean(-1, keepdim=True).expand_as(rate)),),
)
def takes_one_rate_for_all():
    """you take one rate for all tokens, such as the first one's; each token has its own"""


def _stack_in_front(query: Tensor, key: Tensor, value: Tensor, rate: Tensor, state: Tensor) -> Read:
    output, state = reference(query, key, value, rate, state)
    return output.movedim(-2, 0), state


@mistake(points=1.5, slip=True, also=(_stack_in_front,))
def knows_no_batch(query, key, value, rate, state):
    """your answer is right for one text and for no other number of axes; count axes from the back:
    `key[..., t, :]`, `unsqueeze(-1)`, `.mT`"""
    (_length, _), (_d_key, _) = query.shape, state.shape
    return reference(query, key, value, rate, state)


_SIZES = {"d_key": 3, "d_value": 5}

EXERCISE = Exercise(
    function="delta_rule",
    reference=reference,
    title="write what the state does not hold yet",
    minutes=25,
    axes={"length": 43, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value", "rate", "state"), like=2),
    checks=(
        Check(
            "one pair, written with the rate 1 into a state that holds something: its key reads its"
            " value, and the state has changed in the direction of that key alone",
            1,
            draw_one,
            sizes=({**_SIZES}, {"d_key": 5, "d_value": 2}),
            hidden_sizes=({"d_key": 2, "d_value": 3},),
            easier=True,
        ),
        Check(
            "an empty state, and keys that come twice: the second time the state moves from what it"
            " holds there towards the new value, by the share `rate`",
            0.5,
            draw_rewritten,
            sizes=({"length": 2, **_SIZES}, {"length": 3, "d_key": 7, "d_value": 2}),
            hidden_sizes=({"length": 4, "d_key": 5, "d_value": 3},),
            easier=True,
        ),
        Check(
            "any text, any state before it, rates from 0 to 1: the output of every token, and the"
            " state that the last one leaves; any number of axes may come before",
            1,
            draw_text,
            sizes=(
                {"length": 7, **_SIZES},
                {"batch": 2, "num_heads": 3, "length": 5, "d_key": 5, "d_value": 2},
                {"batch": 2, "length": 5, **_SIZES},
            ),
            hidden_sizes=(
                {"batch": 2, "num_heads": 2, "length": 4, "d_key": 2, "d_value": 3},
                {"batch": 3, "length": 11, "d_key": 2, "d_value": 7},
            ),
        ),
    ),
    mistakes=mistake.collected,
)
