"""Part A of problem set 13: one step with rotary positions and a cache of keys that are turned."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.scales import scaled_by

Step = tuple[Tensor, Tensor, Tensor]
Turn = Callable[[Tensor, Tensor | int, float], Tensor]


def reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    position: int,
    base: float,
) -> Step:
    return _step(query, key, value, keys, values, position, base)


def _halves(vectors: Tensor) -> tuple[Tensor, Tensor]:
    first, second = vectors.chunk(2, -1)
    return first, second


def _join(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([first, second], -1)


def _neighbours(vectors: Tensor) -> tuple[Tensor, Tensor]:
    return vectors[..., ::2], vectors[..., 1::2]


def _interleave(first: Tensor, second: Tensor) -> Tensor:
    return torch.stack([first, second], -1).flatten(-2)


def _angle(vectors: Tensor, position: Tensor | int, base: float, step: float = 2) -> Tensor:
    """The angle of each pair; `step` is by how many features the exponent goes on."""
    width = vectors.shape[-1]
    pair = torch.arange(width // 2, dtype=vectors.dtype, device=vectors.device)
    return position / base ** (step * pair / width)


def _turn(
    vectors: Tensor,
    position: Tensor | int,
    base: float,
    *,
    cut: Callable[[Tensor], tuple[Tensor, Tensor]] = _halves,
    join: Callable[[Tensor, Tensor], Tensor] = _join,
    angle: Callable[[Tensor, Tensor | int, float], Tensor] = _angle,
) -> Tensor:
    first, second = cut(vectors)
    by = angle(vectors, position, base)
    cosine, sine = by.cos(), by.sin()
    return join(first * cosine - second * sine, first * sine + second * cosine)


def _append(kept: Tensor, new: Tensor) -> Tensor:
    return torch.cat([kept, new], -2)


def _step(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    keys: Tensor,
    values: Tensor,
    position: int,
    base: float,
    *,
    turn_query: Turn = _turn,
    turn_key: Turn = _turn,
    store: Callable[[Tensor, Tensor], Tensor] = _append,
    read: Callable[[Tensor, int, float], Tensor] = lambda keys, position, base: keys,
) -> Step:
    """One step, in one of many ways: right is what the arguments are if nobody says otherwise.

    `read` makes what is attended to of the cache with the new key.
    """
    keys = store(keys, turn_key(key, position, base))
    values = store(values, value)
    query = turn_query(query, position, base)
    scores = query @ read(keys, position, base).mT / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ values, keys, values


def _with(turn: Turn | None = None, **how: Callable[..., Tensor]) -> Callable[..., Step]:
    """A step that does something else; `turn` is how both queries and keys are turned."""
    both = {"turn_query": turn, "turn_key": turn} if turn else {}
    return partial(_step, **both | how)


def draw_step(
    generator: Generator,
    batch: int,
    num_heads: int,
    length: int,
    d_head: int,
    d_value: int,
    base: float,
    dropped: int = 0,
) -> Inputs:
    """A cache of `length` tokens, before which `dropped` others have been forgotten."""
    before = (batch, num_heads)
    places = dropped + torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    return {
        "query": 2 * draw_normal(generator, *before, 1, d_head),
        "key": draw_normal(generator, *before, 1, d_head),
        "value": draw_normal(generator, *before, 1, d_value),
        "keys": _turn(draw_normal(generator, *before, length, d_head), places, base),
        "values": draw_normal(generator, *before, length, d_value),
        "position": dropped + length,
        "base": base,
    }


def draw_text(
    generator: Generator,
    batch: int,
    num_heads: int,
    length: int,
    d_head: int,
    d_value: int,
    base: float,
    position: int,
) -> Inputs:
    """Queries, keys and values of a whole text, and an empty cache."""
    before = (batch, num_heads)
    return {
        "query": 2 * draw_normal(generator, *before, length, d_head),
        "key": draw_normal(generator, *before, length, d_head),
        "value": draw_normal(generator, *before, length, d_value),
        "keys": draw_normal(generator, *before, 0, d_head),
        "values": draw_normal(generator, *before, 0, d_value),
        "position": position,
        "base": base,
    }


def _all_at_once(inputs: Inputs) -> Tensor:
    """Causal attention of the whole text, its queries and keys turned by their positions."""
    places = torch.arange(inputs["query"].shape[-2]).to(inputs["query"]).unsqueeze(-1)
    query, key = (
        _turn(inputs[name], inputs["position"] + places, inputs["base"])
        for name in ("query", "key")
    )
    scores = query @ key.mT / query.shape[-1] ** 0.5
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ inputs["value"]


def equals_the_whole(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """Step by step from an empty cache comes out what the whole text gives at once."""
    keys, values, outputs = inputs["keys"], inputs["values"], []
    new = zip(*(inputs[name].split(1, -2) for name in ("query", "key", "value")), strict=True)
    for number, (query, key, value) in enumerate(new):
        step = {"query": query, "key": key, "value": value, "keys": keys, "values": values}
        position = inputs["position"] + number
        output, keys, values = call(step | {"position": position, "base": inputs["base"]})
        if output.shape != value.shape:
            got, expected = tuple(output.shape), tuple(value.shape)
            return f"a step returns an output of shape {got}; expected {expected}, as `value` has"
        outputs.append(output)
    together, wanted = torch.cat(outputs, -2), _all_at_once(inputs)
    right = (together - wanted).abs().amax((0, 1, 3)) <= 1e-4 * wanted.abs().max()
    if right.all():
        return None
    first = int(right.int().argmin())
    return (
        f"the steps differ from causal attention over all tokens at once, from token {first} on",
        together,
    )


mistake = Mistakes()


def _at(change: Callable[[int], int]) -> Turn:
    """Turned by another position."""
    return lambda vectors, position, base: _turn(vectors, change(position), base)


def _as_it_is(vectors: Tensor, position: int, base: float) -> Tensor:
    return vectors


def _by_the_cache(*names: str, more: int = 0, places: int = 0) -> Callable[..., Step]:
    """Turned by the number of keys in the cache, the new one among them or not.

    With `places` 1, the position is added.
    """

    def answer(**inputs: Plain) -> Step:
        by = _at(lambda position: inputs["keys"].shape[-2] + more + places * position)
        return _step(**inputs, **{f"turn_{name}": by for name in names})

    return answer


@mistake(
    points=2.5,
    computes=_by_the_cache("query", "key"),
    also=(
        _by_the_cache("query"),
        _by_the_cache("key"),
        _by_the_cache("query", "key", more=1),
        _by_the_cache("query", "key", places=1),
    ),
)
def counts_the_cache():
    """the query, the key or both turn with the number of keys in the cache; old tokens may have
    been dropped from it, so the angle goes by `position` alone"""


@mistake(computes=_with(_as_it_is))
def turns_nothing():
    """your numbers are those of a query and a key that are not turned; both are turned, by the
    position of the token, and the keys of the cache have been turned already"""


@mistake(computes=_with(turn_query=_as_it_is))
def leaves_the_query():
    """your scores are those of a query that is not turned; query and new key are turned, by the
    position of the token, and the keys of the cache have been turned already"""


def _keep_and_use_the_key_as_it_is(**inputs: Plain) -> Step:
    return _step(**inputs, turn_key=_as_it_is)


@mistake(computes=_keep_and_use_the_key_as_it_is)
def leaves_the_key():
    """you turn the query and not the key; both are turned by the position of the token"""


@mistake(right="your output is right")
def keeps_the_key_as_it_came(query, key, value, keys, values, position, base):
    """the key that you return in the cache is not turned; it is turned once, before it is kept, as
    the others in `keys` are"""
    output, *_ = reference(query, key, value, keys, values, position, base)
    return output, _append(keys, key), _append(values, value)


def _turn_an_even_value(**inputs: Plain) -> Step:
    value = inputs["value"]
    if value.shape[-1] % 2 == 0:
        value = _turn(value, inputs["position"], inputs["base"])
    return reference(**inputs | {"value": value})


@mistake(also=(_turn_an_even_value,))
def turns_the_value(query, key, value, keys, values, position, base):
    """you turn the value, too; only queries and keys are turned, and a value stays as it came"""
    value = torch.cat(
        [
            _turn(value[..., : value.shape[-1] // 2 * 2], position, base),
            value[..., value.shape[-1] // 2 * 2 :],
        ],
        -1,
    )
    return reference(query, key, value, keys, values, position, base)


def _turn_all_again(keys: Tensor, position: int, base: float) -> Tensor:
    first = position + 1 - keys.shape[-2]
    places = torch.arange(first, position + 1, dtype=keys.dtype).unsqueeze(-1)
    return _turn(keys, places, base)


def _turn_the_kept_again(keys: Tensor, position: int, base: float) -> Tensor:
    return torch.cat([_turn_all_again(keys, position, base)[..., :-1, :], keys[..., -1:, :]], -2)


def _turn_all_by_the_last(keys: Tensor, position: int, base: float) -> Tensor:
    return _turn(keys, position, base)


def _turn_the_kept_by_the_last(keys: Tensor, position: int, base: float) -> Tensor:
    return torch.cat([_turn(keys[..., :-1, :], position, base), keys[..., -1:, :]], -2)


def _count_from_the_cache(keys: Tensor, position: int, base: float) -> Tensor:
    return _turn_all_again(keys, keys.shape[-2] - 1, base)


def _turn_the_joined(again: Callable[..., Tensor]) -> Callable[..., Step]:
    """The new key is kept as it came, and then all are turned together."""
    return _with(turn_key=_as_it_is, read=again)


_JOINED = (_turn_all_again, _turn_all_by_the_last, _count_from_the_cache)


def _keep_what_was_turned_again(again: Callable[..., Tensor]) -> Callable[..., Step]:
    def answer(**inputs: Plain) -> Step:
        output, keys, values = _step(**inputs, turn_key=_as_it_is, read=again)
        return output, again(keys, inputs["position"], inputs["base"]), values

    return answer


@mistake(
    computes=_with(read=_turn_all_again),
    also=(
        _with(read=_turn_the_kept_again),
        _with(read=_turn_the_kept_by_the_last),
        _turn_the_joined(_turn_all_again),
        _turn_the_joined(_count_from_the_cache),
        *map(_keep_what_was_turned_again, _JOINED),
    ),
)
def turns_the_cache_again():
    """you turn keys of the cache once more; those in `keys` have been turned already, each by its
    own position: only the new key is turned, and once"""


@mistake(slip=True, computes=_with(partial(_turn, cut=_neighbours, join=_interleave)))
def pairs_neighbours():
    """you pair neighbours, features 0 and 1, 2 and 3; here feature `i` is paired with feature
    `i + d_head / 2`, in the other half"""


@mistake(
    points=1,
    computes=_with(partial(_turn, join=_interleave)),
    also=(_with(partial(_turn, cut=_neighbours)),),
)
def puts_pairs_elsewhere():
    """you do not put the two of a pair back where they came from; a pair is feature `i` and feature
    `i + d_head / 2` before and after: cut into halves, and join halves, `torch.cat([one, other],
    -1)`"""


def _mixed(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    first, second = _halves(vectors)
    by = _angle(vectors, position, base).repeat_interleave(2, -1)
    return vectors * by.cos() + torch.cat([-second, first], -1) * by.sin()


def _mixed_the_other_way(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    first, second = _neighbours(vectors)
    by = torch.cat([_angle(vectors, position, base)] * 2, -1)
    return vectors * by.cos() + _interleave(-second, first) * by.sin()


@mistake(computes=_with(_mixed), also=(_with(_mixed_the_other_way),))
def gives_a_pair_two_angles():
    """the two features of a pair turn by different angles: your angles are laid out for neighbours
    and your pairs for halves, or the reverse. For halves the angles are repeated as a whole,
    `torch.cat([angle, angle], -1)`"""


@mistake(slip=True, computes=_with(_at(int.__neg__)))
def turns_the_other_way():
    """you turn in the opposite direction: the first of a pair becomes `first * cos - second *
    sin`, and the second `first * sin + second * cos`"""


@mistake(computes=_with(turn_query=_at(int.__neg__)), also=(_with(turn_key=_at(int.__neg__)),))
def turns_them_in_opposite_directions():
    """you turn the query one way and the key the other, so that their score depends on the sum of
    their positions; turn both the same way, and it depends on the difference"""


@mistake(points=1, computes=_with(_at(lambda position: position + 1)), slip=True)
def counts_from_one():
    """you turn query and key by `position + 1`; the new token is at `position`, since the first one
    is at 0"""


@mistake(
    computes=_with(turn_query=_at(lambda position: position + 1)),
    also=(
        _with(turn_query=_at(lambda position: position - 1)),
        _with(turn_key=_at(lambda position: position + 1)),
        _with(turn_key=_at(lambda position: position - 1)),
    ),
)
def turns_them_by_different_positions():
    """your query is turned by one position more or less than the new key; both belong to the token
    at `position`"""


@mistake(computes=_with(_at(lambda position: 1)))
def turns_by_one_step():
    """you turn by one step, whatever `position` is; the angle is `position` times that"""


def _up_to_the_base(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    return position / base ** torch.linspace(0, 1, vectors.shape[-1] // 2).to(vectors)


def _from_the_next(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    return _angle(vectors, position, base) / base ** (2 / vectors.shape[-1])


@mistake(
    computes=_with(partial(_turn, angle=partial(_angle, step=1))),
    also=(
        _with(partial(_turn, angle=partial(_angle, step=4))),
        _with(partial(_turn, angle=partial(_angle, step=0))),
        _with(partial(_turn, angle=_up_to_the_base)),
        _with(partial(_turn, angle=_from_the_next)),
    ),
)
def counts_another_exponent():
    """your exponent is not `2 i / d_head`, where `i` counts the pairs from 0; from pair to pair it
    goes 0, `2 / d_head`, `4 / d_head`, and so on"""


def _fast(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    return _angle(vectors, position, 1 / base)


@mistake(computes=_with(partial(_turn, angle=_fast)))
def multiplies_by_the_power():
    """your angles grow from pair to pair; the position is divided by `base ** (2 i / d_head)`, so
    that later pairs turn more slowly"""


@mistake(computes=given(reference, base=10_000.0), slip=True)
def fixes_the_base():
    """you take 10,000 for the base, whatever `base` is"""


def _plus(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    first, second = _halves(vectors)
    by = _angle(vectors, position, base)
    return _join(first * by.cos() + second * by.sin(), first * by.sin() + second * by.cos())


def _minus(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    first, second = _halves(vectors)
    by = _angle(vectors, position, base)
    return _join(first * by.cos() - second * by.sin(), second * by.cos() - first * by.sin())


@mistake(computes=_with(_plus), also=(_with(_minus),))
def has_no_turn():
    """your pairs change their length, so they are not turned: just one of the two sines has a
    minus. It is `first * cos - second * sin` and `first * sin + second * cos`"""


def _overwrite(vectors: Tensor, position: Tensor | int, base: float) -> Tensor:
    first, second = _halves(vectors)
    by = _angle(vectors, position, base)
    first = first * by.cos() - second * by.sin()
    return _join(first, first * by.sin() + second * by.cos())


@mistake(computes=_with(_overwrite))
def reads_a_half_that_has_been_turned():
    """your second half is made of the first one as it is after the turn; both are made of the
    halves as they came"""


def _keep_and_read_the_old(**inputs: Plain) -> Step:
    _, keys, values = reference(**inputs)
    query = _turn(inputs["query"], inputs["position"], inputs["base"])
    scores = query @ inputs["keys"].mT / query.shape[-1] ** 0.5
    return scores.softmax(-1) @ inputs["values"], keys, values


@mistake(computes=_keep_and_read_the_old)
def forgets_the_new_token():
    """your query does not see its own token: append the new key and value first, and then attend to
    all of them"""


@mistake(right="your output is right")
def does_not_keep_the_new_token(query, key, value, keys, values, position, base):
    """you return the cache as it was; the next step needs the new key and value behind the
    others"""
    output, *_ = reference(query, key, value, keys, values, position, base)
    return output, keys, values


@mistake(
    right="your output is right",
    points=1,
    computes=_with(store=lambda kept, new: torch.cat([new, kept], -2)),
)
def puts_the_new_token_first():
    """the new key and value are in front of the others in the cache that you return; they come
    behind them"""


def _new_rows(step: Step) -> Step:
    output, keys, values = step
    return output, keys[..., -1:, :], values[..., -1:, :]


@mistake(computes=then(reference, _new_rows), right="your output is right")
def returns_the_new_rows_only():
    """you return the new key and value alone; return the whole cache, with the new ones behind"""


def _without_the_oldest(kept: Tensor, new: Tensor) -> Tensor:
    return torch.cat([kept[..., 1:, :], new], -2)


def _over_the_last(kept: Tensor, new: Tensor) -> Tensor:
    return torch.cat([kept[..., :-1, :], new], -2)


@mistake(computes=_with(store=_without_the_oldest), also=(_with(store=_over_the_last),))
def drops_a_token():
    """you drop a token from the cache, the oldest or the last; keep all that are in it, and put the
    new one behind them"""


@mistake
def sees_the_first_key_alone(query, key, value, keys, values, position, base):
    """your query sees the first key alone, as a causal mask that is counted from the first token
    has it, `is_causal=True` for example; the new token comes last and sees all, so no mask is
    needed"""
    _, keys, values = reference(query, key, value, keys, values, position, base)
    return values[..., :1, :].clone(), keys, values


@mistake(
    computes=then(reference, lambda step: (step[0].transpose(1, 2).flatten(2), *step[1:])),
    right="your numbers are right",
)
def merges_the_heads():
    """the heads of your output are merged already; they stay apart here, `(batch, num_heads, 1,
    d_value)`"""


@mistake(computes=then(reference, lambda step: (step[0], step[2], step[1])))
def exchanges_keys_and_values():
    """you return the values before the keys; the order is `output, keys, values`"""


@mistake(computes=then(reference, lambda step: step[0]))
def returns_the_output_only():
    """you return the output alone; the next step needs the cache: `output, keys, values`"""


@mistake(computes=scaled_by(reference, lambda width: 1))
def forgets_the_root():
    """your scores are plain dot products; divide them by the root of `d_head`"""


_HEADS = {"batch": 2, "num_heads": 3}

EXERCISE = Exercise(
    function="rotary_step",
    reference=reference,
    title="rotary positions with a cache",
    minutes=30,
    axes={"batch": 17, "length": 31, "d_value": 31},
    contract=Contract(batch=("query", "key", "value", "keys", "values")),
    checks=(
        Check(
            "query and new key are turned by `position`, in pairs of features `i` and `i + d_head /"
            " 2`; key and value are kept behind the others",
            1,
            draw_step,
            easier=True,
            sizes=(
                {**_HEADS, "length": 5, "d_head": 6, "d_value": 8, "base": 100.0},
                {**_HEADS, "length": 3, "d_head": 2, "d_value": 4, "base": 10_000.0},
            ),
            hidden_sizes=({**_HEADS, "length": 7, "d_head": 10, "d_value": 3, "base": 500.0},),
        ),
        Check(
            "the first tokens of the text have been dropped from the cache, and `position` is more"
            " than its length",
            1.5,
            draw_step,
            sizes=({**_HEADS, "length": 3, "dropped": 4, "d_head": 6, "d_value": 8, "base": 50.0},),
            hidden_sizes=(
                {**_HEADS, "length": 5, "dropped": 9, "d_head": 4, "d_value": 7, "base": 200.0},
            ),
        ),
        Check(
            "step by step from an empty cache, the outputs are those of causal attention over the"
            " whole text at once",
            1,
            draw_text,
            sizes=(
                {**_HEADS, "length": 7, "d_head": 6, "d_value": 4, "base": 100.0, "position": 0},
            ),
            hidden_sizes=(
                {**_HEADS, "length": 11, "d_head": 4, "d_value": 3, "base": 300.0, "position": 0},
            ),
            easier=True,
            invariant=equals_the_whole,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants=dict.fromkeys(
        ("-2 -> 2", "-2 -> 2 (2)"), "there are four axes, and the tokens are on the third"
    ),
)
