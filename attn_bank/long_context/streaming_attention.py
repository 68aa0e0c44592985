"""Part C of problem set 13: a softmax in one pass over a window and the first tokens of a text."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import (
    Answer,
    Check,
    Contract,
    Count,
    Exercise,
    Inputs,
    Kept,
    Mistakes,
    Plain,
)
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.scaled_dot_product import UNSEEN, why_not
from attn_bank.scales import scaled_by

Rule = Callable[[Tensor, Tensor, int, int], Tensor]
FAR = 2000  # a score that no mask of -1000 hides


def reference(
    query: Tensor, key: Tensor, value: Tensor, block_len: int, window: int, num_sinks: int
) -> Tensor:
    return _in_blocks(query, key, value, block_len, window, num_sinks)


def _sees(asking: Tensor, place: Tensor, window: int, num_sinks: int) -> Tensor:
    return (place <= asking) & ((place > asking - window) | (place < num_sinks))


def _keep(before: Tensor, best: Tensor) -> Tensor:
    return torch.exp(before - best)


def _keep_all(before: Tensor, best: Tensor) -> Tensor:
    return torch.ones_like(best)


def _grow(before: Tensor, best: Tensor) -> Tensor:
    return torch.exp(best - before)


def _hide(scores: Tensor, seen: Tensor) -> Tensor:
    return scores.masked_fill(~seen, -torch.inf)


def _scores(query: Tensor, key: Tensor) -> Tensor:
    return query @ key.mT / query.shape[-1] ** 0.5


def _run(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_len: int,
    window: int,
    num_sinks: int,
    *,
    sees: Rule = _sees,
    skips: Callable[..., bool] | None = None,
    stops: bool = False,
    late: bool = False,
    shift: Callable[[int, int], int] = lambda query_len, key_len: key_len - query_len,
    lowest: float | None = None,
    maximum: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    measured: Callable[[Tensor, Tensor], Tensor] = _hide,
    summed: Callable[[Tensor, Tensor], Tensor] = _hide,
    blended: Callable[[Tensor, Tensor], Tensor] = _hide,
    keep_total: Callable[[Tensor, Tensor], Tensor] = _keep,
    keep_blend: Callable[[Tensor, Tensor], Tensor] = _keep,
) -> tuple[Tensor, Tensor]:
    """Blend and total, in one of many ways: right is what the arguments are if nobody says else.

    `measured`, `summed` and `blended` make of the scores those that the maximum, the total and the
    blend are taken of. Blocks are left out by `skips`, or if no query sees anything of them; the
    first of these `stops` the loop, or each is left out too `late`, when its scores are made.
    """
    query_len, key_len = query.shape[-2], key.shape[-2]
    first = shift(query_len, key_len)
    asking = torch.arange(first, first + query_len).unsqueeze(-1)
    low = torch.finfo(query.dtype).min if lowest is None else lowest
    best = query.new_full((*query.shape[:-1], 1), low)
    total, blend = torch.zeros_like(best), query.new_zeros(*query.shape[:-1], value.shape[-1])
    for start in range(0, key_len, block_len):
        end = min(start + block_len, key_len)
        seen = sees(asking, torch.arange(start, end), window, num_sinks)
        skipped = skips(start, end, asking, window, num_sinks) if skips else not seen.any()
        if skipped and stops:
            break
        if skipped and not late:
            continue
        scores = _scores(query, key[..., start:end, :])
        if skipped:
            continue
        before, best = best, maximum(best, measured(scores, seen).amax(-1, keepdim=True))
        powers = torch.exp(summed(scores, seen) - best)
        mixing = torch.exp(blended(scores, seen) - best)
        total = total * keep_total(before, best) + powers.sum(-1, keepdim=True)
        blend = blend * keep_blend(before, best) + mixing @ value[..., start:end, :]
    return blend, total


def _in_blocks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_len: int,
    window: int,
    num_sinks: int,
    **how: object,
) -> Tensor:
    blend, total = _run(query, key, value, block_len, window, num_sinks, **how)
    return blend / total


def _weights(query: Tensor, key: Tensor, window: int, num_sinks: int, sees: Rule = _sees) -> Tensor:
    """All weights at once."""
    query_len, key_len = query.shape[-2], key.shape[-2]
    place = torch.arange(key_len)
    seen = sees(place[key_len - query_len :].unsqueeze(-1), place, window, num_sinks)
    return _hide(_scores(query, key), seen).softmax(-1)


def _table(
    query: Tensor, key: Tensor, value: Tensor, block_len: int, window: int, num_sinks: int
) -> Tensor:
    return _weights(query, key, window, num_sinks) @ value


def draw_text(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    d_value: int,
    block_len: int,
    window: int,
    num_sinks: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """Vectors so long that the best key of a row often stands in a later block."""
    before = in_front(batch, num_heads)
    return {
        "query": 2 * draw_normal(generator, *before, query_len, d_key),
        "key": draw_normal(generator, *before, key_len, d_key),
        "value": draw_normal(generator, *before, key_len, d_value),
        "block_len": block_len,
        "window": window,
        "num_sinks": num_sinks,
    }


def draw_far_scores(generator: Generator, query_len: int, key_len: int, **sizes: int) -> Inputs:
    """Rows whose scores are far above or below 0, and one key in five far above its neighbours.

    With a root that is a power of two it does not matter to the rounding when it is divided by.
    """
    inputs = draw_text(generator, query_len, key_len, **sizes)
    root = inputs["query"].shape[-1] ** 0.5
    row, nth = torch.arange(query_len), torch.arange(key_len)
    inputs["query"][..., 0] = root * (1.0 - 2 * (row % 2))
    inputs["query"][..., 1] = root
    inputs["key"][..., 0], inputs["key"][..., 1] = FAR, 512.0 * (nth % 5 == 0)
    return inputs


def reads_what_is_seen(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, str] | str | None:
    """Few keys at a time, and no block of which no query sees anything."""
    with Kept() as blocks, Count() as work:
        output = call(inputs)
    if reason := why_not(output, _table(**inputs), "the output has to be right as well"):
        return reason
    if not blocks.numbers:
        return UNSEEN
    block_len = inputs["block_len"]
    if (most := max(blocks.raised, default=0)) > block_len:
        return f"it takes powers of the scores of {most} keys at once", "many keys at once"
    read, key_len = _keys_to_read(**inputs), inputs["key"].shape[-2]
    of_a_key = inputs["query"].numel() + inputs["query"].shape[-2] * inputs["value"].shape[-1]
    if work.products > 1.1 * read * of_a_key:
        all_scores = key_len * inputs["query"].numel()
        found = {
            key_len * of_a_key: "every block",
            all_scores + read * (of_a_key - inputs["query"].numel()): "all scores",
        }
        return (
            f"its matrix products multiply {work.products} pairs of numbers;"
            f" {read * of_a_key} are enough for the {read} of {key_len} keys in blocks of which a"
            " query sees something",
            found.get(work.products, "other blocks"),
        )
    return None


def _keys_to_read(
    query: Tensor, key: Tensor, value: Tensor, block_len: int, window: int, num_sinks: int
) -> int:
    """The number of keys in blocks of which some query sees something."""
    query_len, key_len = query.shape[-2], key.shape[-2]
    place = torch.arange(key_len)
    seen = _sees(place[key_len - query_len :].unsqueeze(-1), place, window, num_sinks)
    return sum(len(block) for block in seen.any(0).split(block_len) if block.any())


_FACTOR = (
    "; where the maximum rises from `old` to `new`, total and blend shrink by `exp(old - new)`"
)

mistake = Mistakes()


def _with_rule(sees: Rule) -> Callable[..., Tensor]:
    """Another rule of what is seen; a block is skipped if by this rule no query sees anything."""
    return partial(_in_blocks, sees=sees)


@mistake(
    points=1,
    computes=_with_rule(
        lambda asking, place, window, _: (place <= asking) & (place > asking - window)
    ),
    also=(
        _with_rule(
            lambda asking, place, window, num_sinks: (
                (place <= asking) & (place > asking - window) & (place < num_sinks)
            )
        ),
    ),
)
def forgets_the_sinks():
    """your queries do not see the sinks once the window has passed them: a key is seen if it is in
    the window **or** among the first `num_sinks`"""


@mistake(
    slip=True,
    computes=_with_rule(
        lambda asking, place, window, num_sinks: _sees(asking, place, window + 1, num_sinks)
    ),
)
def has_a_window_too_long():
    """your window has one key too many: the query itself is one of its `window` keys"""


@mistake(
    slip=True,
    computes=_with_rule(
        lambda asking, place, window, num_sinks: (
            _sees(asking, place, window - 1, num_sinks) | (place == asking)
        )
    ),
)
def has_a_window_too_short():
    """your window lacks its farthest key: it has `window` keys, the query's own among them"""


@mistake(
    slip=True,
    computes=_with_rule(
        lambda asking, place, window, num_sinks: _sees(asking, place, window, num_sinks + 1)
    ),
    also=(
        _with_rule(
            lambda asking, place, window, num_sinks: _sees(asking, place, window, num_sinks - 1)
        ),
    ),
)
def has_another_number_of_sinks():
    """you have one sink too many or too few: they are the keys 0 to `num_sinks - 1`"""


@mistake(
    computes=_with_rule(
        lambda asking, place, window, num_sinks: (place > asking - window) | (place < num_sinks)
    ),
    also=(
        _with_rule(
            lambda asking, place, window, num_sinks: (
                ((asking - place).abs() < window) | (place < num_sinks)
            )
        ),
    ),
)
def sees_later_keys():
    """your queries see keys that come after them; a query sees none behind its own"""


@mistake(
    points=2,
    computes=_with_rule(
        lambda asking, place, window, num_sinks: (
            ((place <= asking) & (place > asking - window))
            | (place < num_sinks).expand(len(asking), -1)
        )
    ),
)
def sees_sinks_that_are_to_come():
    """a query near the beginning sees sinks that come after it; a sink is seen by its own token and
    by later ones: `place <= asking` goes for sinks, too"""


@mistake(
    computes=_with_rule(
        lambda asking, place, window, num_sinks: (
            _sees(asking, place, window, num_sinks) & ((place < asking) | (asking == 0))
        )
    )
)
def does_not_see_itself():
    """your queries do not see their own keys; the window ends with the query's own"""


@mistake(
    computes=_with_rule(lambda asking, place, window, num_sinks: place <= asking),
)
def has_no_window():
    """your queries see all keys before them; they see `window` keys and the first `num_sinks`"""


@mistake(
    slip=True,
    computes=partial(_in_blocks, shift=lambda query_len, key_len: key_len - query_len - 1),
    also=(partial(_in_blocks, shift=lambda query_len, key_len: key_len - query_len + 1),),
)
def places_the_queries_one_off():
    """your queries stand one place too early or too late; the last one is at `key_len - 1`, and so
    the first one at `key_len - query_len`"""


@mistake(computes=partial(_in_blocks, shift=lambda query_len, key_len: 0))
def counts_from_the_first_key():
    """you take the first query for the first token of the text; the last query is at `key_len -
    1`, and so the first one at `key_len - query_len`"""


@mistake(
    computes=_with_rule(
        lambda asking, place, window, num_sinks: (
            (place <= asking)
            & ((place > asking[-1] - window) | (place < num_sinks) | (place == asking))
        )
    ),
    also=(
        _with_rule(
            lambda asking, place, window, num_sinks: (
                (place <= asking) & ((place > asking[0] - window) | (place < num_sinks))
            )
        ),
        _with_rule(
            lambda asking, place, window, num_sinks: (
                (place <= asking) & ((place > asking[-1] - window) | (place < num_sinks))
            )
        ),
    ),
)
def has_one_window_for_all():
    """all your queries have one window, that of the first or the last of them; each has its own,
    which ends with it"""


def _skipping(late: Callable[[int, int, Tensor, int], bool], kept: int | None = None) -> Answer:
    """Skips blocks by another rule, but for those that begin among the sinks or `kept` keys."""

    def skips(start: int, end: int, asking: Tensor, window: int, num_sinks: int) -> bool:
        return start >= (num_sinks if kept is None else kept) and late(start, end, asking, window)

    return partial(_in_blocks, skips=skips)


def _leaves_the_window(start: int, end: int, asking: Tensor, window: int) -> bool:
    return end <= int(asking[0]) - window + 1


def _unless_all_see(start: int, end: int, asking: Tensor, window: int, num_sinks: int) -> bool:
    return not _sees(asking, torch.arange(start, end), window, num_sinks).any(-1).all()


def _unless_the_first_sees(start: int, end: int, asking: Tensor, *of_it: int) -> bool:
    return _unless_all_see(start, end, asking[:1], *of_it)


def _whole_blocks(**inputs: Plain) -> Tensor:
    """The last block is left out if it is shorter than the others."""
    read = inputs["key"].shape[-2] // inputs["block_len"] * inputs["block_len"]
    return _with_rule(lambda asking, place, *of_it: _sees(asking, place, *of_it) & (place < read))(
        **inputs
    )


@mistake(
    points=1,
    computes=_skipping(lambda start, end, asking, window: end <= int(asking[-1]) - window + 1),
    also=(
        _skipping(lambda start, end, asking, window: end <= int(asking[0]) - window + 2),
        _skipping(lambda start, end, asking, window: start <= int(asking[0]) - window),
        _skipping(_leaves_the_window, 0),
        _skipping(_leaves_the_window, 1),
        partial(_in_blocks, skips=_unless_all_see),
        partial(_in_blocks, skips=_unless_the_first_sees),
        _whole_blocks,
    ),
)
def skips_what_is_seen():
    """you skip a block of which some query sees something; skip it only if its first key is no
    sink, and its last one lies before the window of the **first** query. The last block is
    read even if it is short"""


@mistake(points=3, computes=partial(_in_blocks, lowest=-torch.inf))
def subtracts_infinities():
    """a query that sees nothing of its first block has `nan`: its largest score is minus infinity
    before and after, and their difference is `nan`. Begin with a number that is very low and
    finite, or skip the row"""


def _as_they_are(scores: Tensor, seen: Tensor) -> Tensor:
    return scores


def _clamp_the_total(**inputs: Tensor) -> Tensor:
    blend, total = _run(**inputs, measured=_as_they_are)
    return blend / total.clamp_min(1e-9)


@mistake(
    points=3,
    computes=partial(_in_blocks, measured=_as_they_are),
    also=(_clamp_the_total,),
)
def measures_against_what_is_hidden():
    """you take the largest score before you mask; a key out of sight may score so high that all
    powers of the others are 0. Mask first"""


def _one_for_all(scores: Tensor, seen: Tensor) -> Tensor:
    return _hide(scores, seen).amax().expand(scores.shape)


@mistake(points=3, computes=partial(_in_blocks, measured=_one_for_all))
def takes_one_maximum_for_all():
    """you subtract the largest score of the whole block from every row; in a row far below it every
    power is 0. Each query has its own: `amax(-1, keepdim=True)`"""


@mistake(
    points=3,
    computes=partial(_in_blocks, lowest=0.0),
    also=(partial(_in_blocks, lowest=-100.0), partial(_in_blocks, lowest=-1000.0)),
)
def starts_too_high():
    """your largest score starts from a number such as 0 or -100, and there are rows whose scores
    all lie far below it: every power is 0 there, and 0/0 is `nan`. Start from minus the largest
    number of the dtype"""


@mistake(
    points=3,
    computes=partial(_in_blocks, lowest=0.0, maximum=lambda before, _: before),
)
def subtracts_nothing():
    """`exp` of a score above 88 is infinite in float32. Subtract the largest score met so far"""


@mistake(computes=partial(_in_blocks, summed=_as_they_are))
def counts_what_is_hidden():
    """the powers of keys out of sight are in your total, and so the weights of those in sight sum
    to less than 1: mask before you take powers"""


def _zero(scores: Tensor, seen: Tensor) -> Tensor:
    return scores * seen


@mistake(computes=partial(_in_blocks, measured=_zero, summed=_zero, blended=_zero))
def hides_with_zero():
    """a score out of sight is 0 in yours, and `exp(0)` is 1: such a key takes weight. Put minus
    infinity there"""


def _lower(scores: Tensor, seen: Tensor) -> Tensor:
    return scores.masked_fill(~seen, -1000)


@mistake(points=3, computes=partial(_in_blocks, measured=_lower, summed=_lower, blended=_lower))
def hides_with_a_number():
    """where a key is out of sight you put a number such as -1000, and there are rows in which all
    that is in sight scores lower; put minus infinity there"""


@mistake(computes=partial(_in_blocks, keep_total=_keep_all, keep_blend=_keep_all), ending=_FACTOR)
def rescales_nothing():
    """what you have added up so far was measured against an older maximum, and you never shrink
    it"""


@mistake(
    computes=partial(_in_blocks, keep_blend=_keep_all),
    also=(partial(_in_blocks, keep_total=_keep_all),),
    ending=_FACTOR,
)
def rescales_one_of_two():
    """you shrink either the total or the blend when the maximum rises, and not both"""


@mistake
def forgets_to_divide(query, key, value, block_len, window, num_sinks):
    """the weights in your blend do not sum to 1: divide the blend by the total of the powers, at
    the end"""
    return _run(query, key, value, block_len, window, num_sinks)[0]


def _each_block(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_len: int,
    window: int,
    num_sinks: int,
    hide: Callable[[Tensor, Tensor], Tensor] = _hide,
) -> list[Tensor]:
    """The output of each block of which some query sees something, by a softmax of its own."""
    asking = torch.arange(key.shape[-2])[-query.shape[-2] :].unsqueeze(-1)
    outputs = []
    for place in torch.arange(key.shape[-2]).split(block_len):
        seen = _sees(asking, place, window, num_sinks)
        if seen.any():
            scores = hide(_scores(query, key[..., place, :]), seen)
            outputs.append(scores.softmax(-1).nan_to_num(0) @ value[..., place, :])
    return outputs


def _average_all_blocks(**inputs: Plain) -> Tensor:
    """A query that sees nothing of a block has the mean of its values."""
    outputs = _each_block(**inputs, hide=lambda scores, seen: scores.masked_fill(~seen, -1e9))
    return sum(outputs) / len(outputs)


def _attend_twice(**inputs: Tensor) -> Tensor:
    """Sinks and window by themselves, and the mean of both."""
    alone = _in_blocks(**inputs | {"num_sinks": 0})
    sinks = _with_rule(lambda asking, place, _, num_sinks: (place <= asking) & (place < num_sinks))
    return (alone + sinks(**inputs).nan_to_num(0)) / 2


def _divide_blocks(
    query: Tensor, key: Tensor, value: Tensor, block_len: int, window: int, num_sinks: int
) -> Tensor:
    """The blend, divided by the total after each block."""
    asking = torch.arange(key.shape[-2])[-query.shape[-2] :].unsqueeze(-1)
    best = torch.full_like(query[..., :1], torch.finfo(query.dtype).min)
    total, blend = torch.zeros_like(best), 0.0
    for place in torch.arange(key.shape[-2]).split(block_len):
        seen = _sees(asking, place, window, num_sinks)
        if seen.any():
            scores = _hide(_scores(query, key[..., place, :]), seen)
            before, best = best, torch.maximum(best, scores.amax(-1, keepdim=True))
            powers = torch.exp(scores - best)
            total = total * _keep(before, best) + powers.sum(-1, keepdim=True)
            blend = (blend * _keep(before, best) + powers @ value[..., place, :]) / total
    return blend


@mistake(
    also=(
        lambda **inputs: sum(_each_block(**inputs)),
        _average_all_blocks,
        _attend_twice,
        _divide_blocks,
    ),
)
def divides_each_part(query, key, value, block_len, window, num_sinks):
    """you divide after each block, or sinks and window by themselves, and put together what comes
    out; one softmax goes over all keys in sight, so add up powers, and divide once, at the end"""
    outputs = _each_block(query, key, value, block_len, window, num_sinks)
    return sum(outputs) / len(outputs)


@mistake(computes=scaled_by(reference, lambda width: 1))
def forgets_the_root():
    """your scores are plain dot products; divide them by the root of `d_key`"""


def _count_twice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_len: int,
    window: int,
    num_sinks: int,
    first_window: bool = False,
) -> Tensor:
    """Sinks in the window of their query, or in that of the first query, have twice the weight."""
    key_len, place = key.shape[-2], torch.arange(key.shape[-2])
    asking = place[key_len - query.shape[-2] :].unsqueeze(-1)
    begins = (asking[:1] if first_window else asking) - window
    both = ((place > begins) & (place < num_sinks)).expand(len(asking), -1)
    if not both.any():
        return reference(query, key, value, block_len, window, num_sinks)
    powers = _weights(query, key, window, num_sinks) * (1 + both.to(query))
    return powers / powers.sum(-1, keepdim=True) @ value


@mistake(points=2, computes=_count_twice, also=(partial(_count_twice, first_window=True),))
def counts_sinks_twice():
    """a sink that is in the window as well counts twice in yours; each key counts once"""


def _gather(
    query: Tensor, key: Tensor, value: Tensor, block_len: int, window: int, num_sinks: int
) -> Tensor:
    """One softmax over the sinks and what any of the queries has in its window."""
    first = max(num_sinks, key.shape[-2] - query.shape[-2] - window + 1)
    kept = torch.cat([torch.arange(key.shape[-2])[:num_sinks], torch.arange(first, key.shape[-2])])
    place = torch.arange(key.shape[-2])
    seen = _sees(place[-query.shape[-2] :].unsqueeze(-1), place[kept], window, num_sinks)
    scores = _hide(_scores(query, key[..., kept, :]), seen)
    return scores.softmax(-1) @ value[..., kept, :]


@mistake(points=3, right="your output is right", also=(_gather,))
def takes_more_than_a_block(query, key, value, block_len, window, num_sinks):
    """you take powers of more than `block_len` keys at once; go from block to block, and correct
    what you have added up where a larger score comes"""
    return _table(query, key, value, block_len, window, num_sinks)


@mistake(points=3, right="your output is right", computes=partial(_in_blocks, late=True))
def skips_after_the_scores():
    """you skip a block when its scores have been made already; whether a query sees anything of it
    is known from the positions, before any product"""


@mistake(computes=partial(_in_blocks, stops=True))
def stops_at_the_first_gap():
    """you stop at the first block of which no query sees anything, and the window is still to come;
    `continue` goes on to the next block, and `break` ends the loop"""


@mistake(
    points=3,
    right="your output is right",
    computes=partial(_in_blocks, skips=lambda *_: False),
    also=(_skipping(lambda start, end, asking, window: end < int(asking[0]) - window - 9),),
)
def reads_what_nobody_sees():
    """you read blocks of which no query sees anything; skip a block that begins behind the sinks
    and ends before the window of the first query begins"""


EXERCISE = Exercise(
    function="streaming_attention",
    reference=reference,
    title="a window, a few sinks, and blocks",
    minutes=35,
    axes={"key_len": 97},
    avoid=("attention",),
    contract=Contract(
        batch=("query", "key", "value"),
        any_axes=True,
        exempts={
            "cuts off": "a window is kept while a model writes, and nothing learns then",
            "fills with -1e+09": "scores are hundreds above or below 0, the statement says",
        },
    ),
    checks=(
        Check(
            "each query sees its window and the sinks, whatever the length of a block; any number"
            " of axes may come before",
            1.5,
            draw_text,
            sizes=(
                {
                    **{"query_len": 7, "key_len": 11, "d_key": 5, "d_value": 3, "block_len": 3},
                    **{"window": 3, "num_sinks": 2},
                },
                {
                    **{"batch": 2, "query_len": 7, "key_len": 7, "d_key": 3, "d_value": 2},
                    **{"block_len": 2, "window": 2, "num_sinks": 3},
                },
                {
                    **{"batch": 2, "num_heads": 3, "query_len": 3, "key_len": 13, "d_key": 2},
                    **{"d_value": 5, "block_len": 1, "window": 4, "num_sinks": 2},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "query_len": 5, "key_len": 17, "d_key": 7, "d_value": 2},
                    **{"block_len": 2, "window": 5, "num_sinks": 3},
                },
                {
                    **{"query_len": 5, "key_len": 5, "d_key": 3, "d_value": 7},
                    **{"block_len": 7, "window": 2, "num_sinks": 1},
                },
            ),
        ),
        Check(
            "without sinks, with scores far above or below 0 and louder ones out of sight, there is"
            " no `nan`",
            1,
            draw_far_scores,
            sizes=(
                {
                    **{"batch": 2, "query_len": 13, "key_len": 17, "d_key": 4, "d_value": 3},
                    **{"block_len": 3, "window": 3, "num_sinks": 0},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "query_len": 11, "key_len": 19, "d_key": 4, "d_value": 2},
                    **{"block_len": 2, "window": 4, "num_sinks": 0},
                },
            ),
        ),
        Check(
            "at most `block_len` keys at a time, and only blocks of which a query sees something",
            1,
            draw_text,
            sizes=(
                {
                    **{"query_len": 3, "key_len": 211, "d_key": 11, "d_value": 13, "block_len": 8},
                    **{"window": 17, "num_sinks": 8},
                },
            ),
            hidden_sizes=(
                {
                    **{"query_len": 2, "key_len": 223, "d_key": 13, "d_value": 11, "block_len": 7},
                    **{"window": 12, "num_sinks": 7},
                },
            ),
            dtype=torch.float64,
            invariant=reads_what_is_seen,
            sizes_matter=True,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "torch.finfo(query.dtype) -> torch.finfo()": "any number below all scores will do",
        **dict.fromkeys(
            ("0.0 -> 1.0", "0.0 -> -1.0", "0.0 -> 1.0 (2)", "0.0 -> -1.0 (2)"),
            "what the sums begin with is multiplied by 0 where the first score comes",
        ),
        "min(start + block_len, key_len) -> min(key_len, start + block_len)": "the smaller of two"
        " has no order",
        "torch.maximum(best, scores.amax(-1, keepdim=True)) ->"
        " torch.maximum(scores.amax(-1, keepdim=True), best)": "the larger of two has no order",
    },
)
