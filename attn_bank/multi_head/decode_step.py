"""Part C of problem set 09: a cache of keys and values, so that no token is read twice."""

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
    mistaking,
    then,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight
from attn_bank.multi_head import merge, rescaled, split
from attn_bank.softmaxes import twice
from attn_course.retrieval import masked_softmax

Step = tuple[Tensor, Tensor, Tensor]


def reference(**inputs: Plain) -> Step:
    return _step(**inputs)


def _after(kept: Tensor, new: Tensor, length: int) -> Tensor:
    """The cache with the new rows behind the first `length`."""
    end = length + new.shape[-2]
    return torch.cat([kept[..., :length, :], new, kept[..., end:, :]], -2)


def _step(
    tokens: Tensor,
    keys: Tensor,
    values: Tensor,
    length: int,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    num_heads: int,
    *,
    store: Callable[[Tensor, Tensor, int], Tensor] = _after,
    last: Callable[[int, int], tuple[int, int]] = lambda length, end: (length, end),
    width: Callable[[Tensor], float] = lambda heads: heads.shape[-1],
    share: Callable[[Tensor, int], Tensor] = lambda t, group: t.repeat_interleave(group, -3),
    keep: Callable[[Tensor, Tensor], Tensor] = lambda made, before: made,
    cut: Callable[[Tensor, int], Tensor] = split,
    weigh: Callable[[Tensor, Tensor], Tensor] = masked_softmax,
) -> Step:
    """One step, in one of many ways: right is what the arguments are if nobody says otherwise.

    `last` says how many places the first new token sees before itself, and how many are read.
    """
    num_kv_heads = keys.shape[-3]
    keys = keep(store(keys, cut(tokens @ w_key.mT, num_kv_heads), length), keys)
    values = keep(store(values, cut(tokens @ w_value.mT, num_kv_heads), length), values)
    before, end = last(length, length + tokens.shape[-2])
    queries = cut(tokens @ w_query.mT, num_heads)
    group = num_heads // num_kv_heads
    scores = queries @ share(keys[..., :end, :], group).mT / width(queries) ** 0.5
    seen = torch.ones_like(scores, dtype=torch.bool).tril(before)
    heads = weigh(scores, seen) @ share(values[..., :end, :], group)
    return merge(heads) @ w_output.mT, keys, values


def draw_step(
    generator: Generator,
    batch: int,
    new_len: int,
    length: int,
    room: int,
    d_model: int,
    num_heads: int,
    num_kv_heads: int,
    d_head: int,
) -> Inputs:
    """A cache whose first `length` places are filled; behind them is what an older text left."""
    shape = (batch, num_kv_heads, room, d_head)
    left = torch.ones(room, 1, dtype=torch.float64)
    left[length:] = 3
    return {
        "tokens": draw_normal(generator, batch, new_len, d_model),
        "keys": left * draw_normal(generator, *shape),
        "values": left * draw_normal(generator, *shape),
        "length": length,
        "w_query": draw_weight(generator, num_heads * d_head, d_model),
        "w_key": draw_weight(generator, num_kv_heads * d_head, d_model),
        "w_value": draw_weight(generator, num_kv_heads * d_head, d_model),
        "w_output": draw_weight(generator, d_model, num_heads * d_head),
        "num_heads": num_heads,
    }


def draw_several_steps(generator: Generator, **sizes: int) -> Inputs:
    """Several new tokens; the last one's key scores hundreds, the very first key exactly 0.

    A feature of its own, which only the last new token has, makes its key loud.
    """
    inputs = draw_step(generator, **sizes)
    inputs["tokens"][..., -1] = 0
    inputs["tokens"][:, -1, -1] = 1
    inputs["w_key"][:, -1] *= 1000
    inputs["keys"][..., 0, :] = 0
    return inputs


def draw_text(generator: Generator, room: int, **sizes: int) -> Inputs:
    """A whole text and an empty cache that has room for just that."""
    return draw_step(generator, new_len=room, length=0, room=room, **sizes)


def equals_the_whole(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    keys, values, outputs = inputs["keys"], inputs["values"], []
    for length, tokens in enumerate(inputs["tokens"].split(1, 1)):
        step = {"tokens": tokens, "keys": keys, "values": values, "length": length}
        output, keys, values = call(inputs | step)
        if output.shape != tokens.shape:
            got, expected = tuple(output.shape), tuple(tokens.shape)
            return f"a step returns an output of shape {got}, not {expected}, as `tokens` have it"
        outputs.append(output)
    together, wanted = torch.cat(outputs, 1), reference(**inputs)[0]
    right = (together - wanted).abs().amax((0, 2)) <= 1e-4 * wanted.abs().max()
    if right.all():
        return None
    first = int(right.int().argmin())
    return (
        f"the steps differ from the causal attention of all tokens at once, from token {first} on",
        together,
    )


mistake = Mistakes()


def _softmax(scores: Tensor, seen: Tensor) -> Tensor:
    """The softmax as torch takes it: `nan` where nothing is seen."""
    return scores.masked_fill(~seen, -torch.inf).softmax(-1)


def _shift_too_little(**inputs: Tensor) -> Step:
    return _step(**inputs, last=lambda length, end: (length - 1, end), weigh=_softmax)


def _see_the_old_places(**inputs: Tensor) -> Step:
    return _step(**inputs, last=lambda length, end: (length, length), weigh=_softmax)


def _mask_the_old_places(**inputs: Tensor) -> Step:
    return _step(**inputs, last=lambda length, end: (length, length))


def _shift_too_little_but_at_the_start(**inputs: Tensor) -> Step:
    return _step(**inputs, last=lambda length, end: (max(length - 1, 0), end), weigh=_softmax)


@mistake(
    also=(
        _shift_too_little,
        _see_the_old_places,
        _mask_the_old_places,
        _shift_too_little_but_at_the_start,
    )
)
def forgets_the_new_token(**inputs):
    """your new token does not see itself: its own key and value belong to those it looks at,
    `length + 1` of them for the first new token"""
    return _step(**inputs, last=lambda length, end: (length - 1, end))


@mistake(right="your output is right")
def does_not_keep_the_new_token(**inputs):
    """you return the cache as it was; the next step needs the keys and values of the new tokens,
    in the places `length` to `length + new_len`"""
    output, _, _ = reference(**inputs)
    return output, inputs["keys"], inputs["values"]


@mistake(computes=given(reference, length=0))
def starts_over():
    """you take the cache for empty, whatever `length` says, and write over its first tokens; the
    new ones come behind the first `length`"""


@mistake(slip=True)
def writes_one_place_too_late(**inputs):
    """you write one place too late and leave a gap; with `length` tokens in the places 0 to `length
    - 1`, the first free place is `length`"""
    return _step(**inputs, store=lambda kept, new, length: _after(kept, new, length + 1))


@mistake
def writes_at_the_end_of_the_memory(**inputs):
    """you write into the last places of the cache; the new tokens come behind the first `length`,
    and what lies behind them belongs to nobody"""

    def store(kept, new, length):
        return _after(kept, new, kept.shape[-2] - new.shape[-2])

    return _step(**inputs, store=store)


@mistake(points=1)
def puts_the_new_ones_first(**inputs):
    """you put the new tokens before the old ones; a softmax does not ask for the order of the keys,
    so single steps come out right, but the cache is out of order and a mask falls on the wrong
    tokens: they come behind the first `length`"""

    def store(kept, new, length):
        return torch.cat([new, kept], -2)[..., : kept.shape[-2], :]

    return _step(**inputs, store=store, last=lambda length, end: (end, end))


def _append_to_the_room(**inputs: Plain) -> Step:
    output, *caches = reference(**inputs)
    start, end = inputs["length"], inputs["length"] + inputs["tokens"].shape[-2]
    old = inputs["keys"], inputs["values"]
    pairs = zip(old, caches, strict=True)
    return output, *(torch.cat([kept, new[..., start:end, :]], -2) for kept, new in pairs)


def _return_what_is_filled(**inputs: Plain) -> Step:
    output, keys, values = reference(**inputs)
    end = inputs["length"] + inputs["tokens"].shape[-2]
    return output, keys[..., :end, :], values[..., :end, :]


def _append_and_see_all(**inputs: Plain) -> Step:
    def store(kept: Tensor, new: Tensor, length: int) -> Tensor:
        return torch.cat([kept, new], -2)

    def everything(scores: Tensor, seen: Tensor) -> Tensor:
        return scores.softmax(-1)

    room = inputs["keys"].shape[-2] + inputs["tokens"].shape[-2]
    return _step(**inputs, store=store, last=lambda *_: (room, room), weigh=everything)


@mistake(points=1, also=(_append_to_the_room, _return_what_is_filled, _append_and_see_all))
def makes_the_memory_longer(**inputs):
    """you return a cache of another length; the room is there already: write into the places
    `length` to `length + new_len` of a copy, and leave the rest"""

    def store(kept, new, length):
        return torch.cat([kept[..., :length, :], new], -2)

    return _step(**inputs, store=store)


def _see_all_alone(**inputs: Tensor) -> Step:
    """A lone new token sees all; of several, each sees what it may."""
    room, alone = inputs["keys"].shape[-2], inputs["tokens"].shape[-2] == 1
    return _step(**inputs, last=lambda length, end: (room if alone else length, room))


@mistake(also=(_see_all_alone,))
def sees_the_whole_memory(**inputs):
    """your token looks at all places of the cache; those from `length + new_len` on hold what an
    older text has left: cut them off, `[..., :end, :]`"""
    room = inputs["keys"].shape[-2]
    return _step(**inputs, last=lambda length, end: (room, room))


@mistake(points=3)
def sees_later_tokens(**inputs):
    """of several new tokens, yours see the later ones; new token `i` sees `length + i + 1` places:
    `tril(length)`"""
    return _step(**inputs, last=lambda length, end: (end, end))


def _mask_several_from_the_top_left(**inputs: Tensor) -> Step:
    return _step(**inputs, last=lambda length, end: (length if end - length == 1 else 0, end))


@mistake(also=(_mask_several_from_the_top_left,))
def counts_the_mask_from_the_top_left(**inputs):
    """your causal mask starts at the top left, as if the new tokens were the first of the text, so
    the first of them sees one key only; shift its diagonal by what is there already:
    `tril(length)`"""
    return _step(**inputs, last=lambda length, end: (0, end))


@mistake(points=3)
def masks_after_the_softmax(**inputs):
    """you mask after the softmax, when later tokens have taken their share of the weight; mask the
    scores, before it"""
    return _step(**inputs, weigh=lambda scores, seen: scores.softmax(-1) * seen)


@mistake(points=3)
def shares_out_again_after_the_softmax(**inputs):
    """you mask after the softmax and divide by what is left; where a later token scores high,
    nothing is left. Mask the scores, before the softmax"""

    def weigh(scores, seen):
        weights = scores.softmax(-1) * seen
        total = weights.sum(-1, keepdim=True)
        return weights / total.where(total > 0, 1)

    return _step(**inputs, weigh=weigh)


@mistake(points=3)
def takes_powers_as_they_are(**inputs):
    """you take the powers of the scores as they are; `exp(100)` is more than a number can hold, and
    infinity times 0 is `nan`; `torch.softmax` takes the largest score of the row off first"""

    def weigh(scores, seen):
        powers = scores.exp() * seen
        return powers / powers.sum(-1, keepdim=True)

    return _step(**inputs, weigh=weigh)


@mistake(points=3)
def takes_a_score_of_zero_for_forbidden(**inputs):
    """you take every score of 0 for a forbidden one, as after `tril` on the scores themselves; a
    score may well be 0. Let a mask say what is forbidden"""

    def weigh(scores, seen):
        below = scores * seen
        return below.masked_fill(below == 0, -torch.inf).softmax(-1)

    return _step(**inputs, weigh=weigh)


@mistake(points=3)
def multiplies_scores_by_the_mask(**inputs):
    """a forbidden score is about 0 in yours; the softmax gives weight to a score of 0, too.
    Put minus infinity there"""
    return _step(**inputs, weigh=lambda scores, seen: (scores * seen).softmax(-1))


@mistake(points=3)
def reaches_one_place_too_far(**inputs):
    """each of your new tokens sees the one behind it; new token `i` sees `length + i + 1` places:
    `tril(length)`"""
    return _step(**inputs, last=lambda length, end: (length + 1, end))


@mistake
def sees_the_new_tokens_only(**inputs):
    """your new tokens look at each other and not at the cache; attend to the first `length +
    new_len` places of it, after you have written"""
    new = {**inputs, "keys": inputs["keys"][..., :0, :], "values": inputs["values"][..., :0, :]}
    output, _, _ = reference(**new | {"length": 0})
    return output, *reference(**inputs)[1:]


@mistake
def keeps_the_queries_too(**inputs):
    """you return an output for the tokens so far as well; their queries are done with, and nobody
    asks again: only the new tokens ask, `(batch, new_len, d_model)`"""
    _, keys, values = reference(**inputs)
    end = inputs["length"] + inputs["tokens"].shape[1]
    queries = split(inputs["tokens"] @ inputs["w_query"].mT, inputs["num_heads"])
    old = keys[..., : inputs["length"], :]
    group = inputs["num_heads"] // keys.shape[-3]
    all_queries = torch.cat([old.repeat_interleave(group, -3), queries], -2)
    shared = [t[..., :end, :].repeat_interleave(group, -3) for t in (keys, values)]
    scores = all_queries @ shared[0].mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf).softmax(-1)
    return merge(weights @ shared[1]) @ inputs["w_output"].mT, keys, values


@mistake
def keeps_queries_for_keys(**inputs):
    """you keep queries in the place of keys; what is kept is `tokens @ w_key.mT`"""
    group = inputs["num_heads"] // inputs["keys"].shape[-3]
    heads = split(inputs["w_query"].mT, inputs["num_heads"])[..., ::group, :, :]
    return reference(**inputs | {"w_key": merge(heads).mT})


@mistake
def exchanges_keys_and_values(**inputs):
    """you return the values before the keys; the order is `output, keys, values`"""
    output, keys, values = reference(**inputs)
    return output, values, keys


@mistake
def returns_the_new_rows_only(**inputs):
    """you return the new keys and values alone; return the whole cache, with the new ones in their
    places from `length` on"""
    output, keys, values = reference(**inputs)
    length, end = inputs["length"], inputs["length"] + inputs["tokens"].shape[1]
    return output, keys[..., length:end, :], values[..., length:end, :]


@mistake(computes=then(reference, lambda output: output[0]))
def returns_the_output_only():
    """you return the output alone; the next step needs the cache: `output, keys, values`"""


@mistake(points=2)
def keeps_shared_heads(**inputs):
    """you keep the keys and values after they have been repeated for all query heads; fewer key
    heads are there to save that room: repeat for the scores, after you have written"""
    output, keys, values = reference(**inputs)
    group = inputs["num_heads"] // keys.shape[-3]
    return output, keys.repeat_interleave(group, -3), values.repeat_interleave(group, -3)


@mistake(points=2)
def deals_the_key_heads_round(**inputs):
    """you repeat the row of key heads as a whole, 0 1 2 0 1 2; neighbours share a key head, 0 0 1 1
    2 2: `repeat_interleave`"""
    return _step(**inputs, share=lambda t, group: torch.cat([t] * group, -3))


@mistake(computes=rescaled(reference, lambda inputs: inputs["keys"].shape[-1] ** 0.5))
def does_not_scale():
    """you do not scale the scores; divide by the root of the width of one head, `d_head`"""


@mistake
def scales_by_all_heads_together(**inputs):
    """you divide by the root of the width of all heads together; divide by the root of `d_head`,
    the last axis of `keys`"""
    return _step(**inputs, width=lambda heads: heads.shape[-1] * heads.shape[-3])


@mistake(points=3)
def counts_places_from_the_end(**inputs):
    """you count the places from the end; at the last one of the cache your negative index becomes
    0, which is the first place: count from the front, `length` to `length + new_len`"""

    def store(kept, new, length):
        kept, room, end = kept.clone(), kept.shape[-2], length + new.shape[-2]
        kept[..., length - room : end - room, :] = new
        return kept

    return _step(**inputs, store=store)


_FULL_ROOM = {"batch": 2, "d_model": 5, "num_heads": 3, "num_kv_heads": 3, "d_head": 2}


@mistake(points=2)
def wants_as_many_key_heads(**inputs):
    """there are fewer key heads than query heads, and the two axes do not fit; repeat keys and
    values for the heads that share them: `repeat_interleave` along axis `-3`"""
    return _step(**inputs, share=lambda heads, group: heads)


@mistake
def writes_to_the_front(**inputs):
    """you write the new tokens over the first places of the cache; they belong behind those that
    are there, from `length` on"""

    def store(kept, new, length):
        return torch.cat([new, kept[..., new.shape[-2] :, :]], -2)

    return _step(**inputs, store=store)


@mistake(**twice(reference))
def takes_softmax_twice(): ...


@mistake
def scales_by_the_width_of_the_tokens(**inputs):
    """you divide by the root of the width of the tokens; divide by the root of `d_head`, the width
    of one head"""
    return _step(**inputs, width=lambda heads: inputs["tokens"].shape[-1])


@mistake
def scales_by_the_share_of_the_tokens(**inputs):
    """you divide by the root of `d_model // num_heads`; a head may have another width: the last
    axis of `keys`"""
    width = inputs["tokens"].shape[-1] // inputs["num_heads"]
    return _step(**inputs, width=lambda heads: max(width, 1))


@mistake(points=1)
def clears_the_rest_of_the_memory(**inputs):
    """you write zeros behind the new tokens; all other places stay as they were"""
    output, *caches = reference(**inputs)
    end = inputs["length"] + inputs["tokens"].shape[-2]
    for cache in caches:
        cache[..., end:, :] = 0
    return output, *caches


@mistake(points=3)
def returns_the_last_output_only(**inputs):
    """you return the output of the last new token alone; each new token has one"""
    output, *caches = reference(**inputs)
    return output[:, -1:], *caches


@mistake
def returns_the_length_too(**inputs):
    """you return four things; three are asked for, without the new length"""
    return *reference(**inputs), inputs["length"] + inputs["tokens"].shape[-2]


@mistake
def exchanges_what_it_writes(**inputs):
    """keys and values have changed places when you write: `w_key` makes what `keys` keeps"""
    return reference(**inputs | {"w_key": inputs["w_value"], "w_value": inputs["w_key"]})


@mistake
def takes_the_output_matrix_the_other_way_round(**inputs):
    """`w_output` has a row for each output, as in `nn.Linear`: multiply by `w_output.mT`"""
    return reference(**inputs | {"w_output": inputs["w_output"].mT})


@mistake
def leaves_the_output_projection_out(**inputs):
    """you stop before `w_output`, which brings the heads back to the width of the tokens"""
    width = inputs["w_output"].shape[-1]
    eye = torch.eye(width, dtype=inputs["tokens"].dtype, device=inputs["tokens"].device)
    return reference(**inputs | {"w_output": eye})


@mistake(computes=mistaking(reference, w_value="w_key"))
def makes_values_with_the_matrix_of_the_keys():
    """you make the values with `w_key`; they are `tokens @ w_value.mT`"""


def _allow_what_is_later(**inputs: Tensor) -> Step:
    return _step(**inputs, weigh=lambda scores, seen: masked_softmax(scores, ~seen))


@mistake(also=(_allow_what_is_later,))
def forbids_what_is_seen(**inputs):
    """you forbid the places where `tril(length)` has a one, which are those that a token sees;
    forbid all others"""
    return _step(
        **inputs, weigh=lambda scores, seen: scores.masked_fill(seen, -torch.inf).softmax(-1)
    )


@mistake(points=3)
def has_room_for_one_new_token(**inputs):
    """you write into one place, `length`, and there may be several new tokens: the places `length`
    to `length + new_len`"""

    def store(kept, new, length):
        kept = kept.clone()
        kept[..., length : length + 1, :] = new
        return kept

    return _step(**inputs, store=store)


def _view(tokens: Tensor, num_heads: int) -> Tensor:
    return tokens.reshape(*tokens.shape[:-2], num_heads, tokens.shape[-2], -1)


def _cut_the_keys_by_view(**inputs: Tensor) -> Step:
    def store(kept, new, length):
        new = _view(merge(new), kept.shape[-3])
        return _after(kept, new, length)

    return _step(**inputs, store=store)


@mistake(points=3, also=(_cut_the_keys_by_view,))
def cuts_the_list_of_all_numbers(**inputs):
    """you cut several new tokens by `view` or `reshape` to `(num_heads, new_len, d_head)` at once,
    which deals out tokens and not features; let `split_heads` of part A do it"""
    return _step(**inputs, cut=_view)


EXERCISE = Exercise(
    function="decode_step",
    reference=reference,
    title="a cache for keys and values",
    minutes=30,
    axes={"batch": 17, "room": 43, "d_model": 31, "d_head": 31},
    avoid=("attention",),
    may_use=("attn_course.retrieval.masked_softmax",),
    contract=Contract(
        batch=("tokens", "keys", "values"),
        exempts={"fills with": "nothing that is allowed is said to score low"},
    ),
    checks=(
        Check(
            "one new token, with shared key heads: it sees all tokens so far and itself, and"
            " nothing else that lies in the cache; its key and value are kept behind theirs",
            1.5,
            draw_step,
            sizes=(
                {
                    **{"batch": 2, "new_len": 1, "length": 3, "room": 7, "d_model": 5},
                    **{"num_heads": 6, "num_kv_heads": 3, "d_head": 2},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "new_len": 1, "length": 2, "room": 11, "d_model": 7},
                    **{"num_heads": 4, "num_kv_heads": 2, "d_head": 5},
                },
            ),
        ),
        Check(
            "several new tokens at once: none of them sees a later one, however high that scores",
            1,
            draw_several_steps,
            sizes=(
                {
                    **{"batch": 2, "new_len": 3, "length": 5, "room": 11, "d_model": 5},
                    **{"num_heads": 2, "num_kv_heads": 2, "d_head": 7},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "new_len": 5, "length": 2, "room": 13, "d_model": 3},
                    **{"num_heads": 3, "num_kv_heads": 3, "d_head": 2},
                },
            ),
        ),
        Check(
            "token by token from an empty cache to a full one, all steps together are the causal"
            " attention of the whole text",
            1,
            draw_text,
            sizes=({"room": 7, **_FULL_ROOM},),
            hidden_sizes=({"room": 11, **_FULL_ROOM},),
            invariant=equals_the_whole,
        ),
    ),
    mistakes=mistake.collected,
)
