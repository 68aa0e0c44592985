"""Part D of problem set 14: a program for retention in chunks, with two slips to be found."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, Plain, given
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front
from attn_bank.linear_attention import takes_chunks

# From the length of a chunk, the places in it and the decay to a factor for each place.
Factor = Callable[[int, Tensor, float], Tensor | float]


def reference(query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int) -> Tensor:
    return _in_chunks(query, key, value, decay, chunk_len)


def _table(places: Tensor, decay: float) -> Tensor:
    return (decay ** (places.unsqueeze(-1) - places)).tril()


def _to_read(length: int, places: Tensor, decay: float) -> Tensor:
    return decay ** (places + 1)


def _to_write(length: int, places: Tensor, decay: float) -> Tensor:
    return decay ** (length - 1 - places)


def _to_keep(length: int, places: Tensor, decay: float) -> float:
    return float(decay) ** length


def _in_chunks(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    decay: float,
    chunk_len: int,
    *,
    table: Callable[[Tensor, float], Tensor] = _table,
    read: Factor = _to_read,
    write: Factor = _to_write,
    keep: Factor = _to_keep,
    reads_behind: bool = False,
    blend: Callable[[Tensor, Tensor], Tensor] = torch.add,
) -> Tensor:
    """In chunks, in one of many ways: right is what the arguments are if nobody says otherwise."""
    state = torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :])
    outputs = []
    for q, k, v in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        length = q.shape[-2]
        places = torch.arange(length).to(q)
        written = torch.as_tensor(write(length, places, decay), dtype=q.dtype).expand(length)
        after = keep(length, places, decay) * state + (written.unsqueeze(-1) * k).mT @ v
        factor = torch.as_tensor(read(length, places, decay), dtype=q.dtype).expand(length)
        cross = factor.unsqueeze(-1) * (q @ (after if reads_behind else state))
        outputs.append(blend((q @ k.mT * table(places, decay)) @ v, cross))
        state = after
    return torch.cat(outputs, -2)


def _doing(**otherwise: object) -> Callable[..., Tensor]:
    """The program with something done otherwise."""

    def answer(query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int) -> Tensor:
        return _in_chunks(query, key, value, decay, chunk_len, **otherwise)

    return answer


def draw_text(
    generator: Generator,
    length: int,
    d_key: int,
    d_value: int,
    tenths: int,
    chunk_len: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    """A text; the decay comes in tenths."""
    before = in_front(batch, num_heads)
    return {
        "query": draw_normal(generator, *before, length, d_key),
        "key": draw_normal(generator, *before, length, d_key),
        "value": draw_normal(generator, *before, length, d_value),
        "decay": tenths / 10,
        "chunk_len": chunk_len,
    }


def _takes_chunks(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, str] | str | None:
    return takes_chunks(call, inputs, reference(**inputs))


def _same_place(length: int, places: Tensor, decay: float) -> Tensor:
    return decay**places


def _nothing(length: int, places: Tensor, decay: float) -> float:
    return 1.0


mistake = Mistakes()


@mistake(computes=_doing(read=_same_place, reads_behind=True))
def changes_nothing():
    """your output is the printed program's, with both slips. What does the first token of all read,
    and by which power of the decay should the first token of a chunk read the one before it?"""


@mistake(computes=_doing(read=_same_place), right="a chunk is read once", slip=0.5)
def mends_the_order_only():
    """what comes from the state has one power of the decay too few: the first token of a chunk is
    one step away from the last one before it, and not none"""


@mistake(computes=_doing(reads_behind=True), right="the powers of the decay are right", slip=0.5)
def mends_the_powers_only():
    """a chunk is still read twice, by its table and in the state, where later tokens are seen as
    well; read the state before the chunk is added to it"""


def _strictly(places: Tensor, decay: float) -> Tensor:
    return _table(places, decay).tril(-1)


def _cross(inner: Tensor, cross: Tensor) -> Tensor:
    return cross


@mistake(
    computes=_doing(blend=_cross, reads_behind=True),
    also=(
        _doing(blend=_cross, reads_behind=True, read=_same_place),
        _doing(table=_strictly, reads_behind=True),
        _doing(table=_strictly, reads_behind=True, read=_same_place),
    ),
)
def takes_from_the_table():
    """the state that is read has the chunk in it, where a token sees later ones, whatever you take
    out of the table; keep the table, and read the state before the chunk is added to it"""


def _faded(length: int, places: Tensor, decay: float) -> Tensor:
    return decay ** (places + 1 + length)


@mistake(
    computes=_doing(read=_faded),
    also=(_doing(read=lambda length, places, decay: decay ** (places + length)),),
)
def reads_a_state_that_has_faded():
    """the state that is read has faded for the whole chunk already, as only what is left of it
    behind the chunk should; read it as it was before the chunk came"""


@mistake(computes=_doing(blend=lambda inner, cross: inner))
def sees_its_own_chunk_only():
    """a token sees its own chunk alone; the chunks before it are in the state"""


@mistake(computes=_doing(blend=lambda inner, cross: cross))
def sees_earlier_chunks_only():
    """a token sees the chunks before its own alone; those before it in its own chunk come from the
    table"""


@mistake(computes=_doing(read=lambda length, places, decay: decay ** (places - 1)))
def reads_the_state_too_fresh():
    """what comes from the state has two powers of the decay too few; the first token of a chunk
    reads the last one before it by `decay ** 1`"""


def _one_more(length: int, places: Tensor, decay: float) -> float:
    return decay ** (length + 1)


@mistake(
    computes=_doing(read=lambda length, places, decay: decay ** (places + 2)),
    also=(
        _doing(write=lambda length, places, decay: decay ** (length - places)),
        _doing(write=lambda length, places, decay: decay ** (length - places), keep=_one_more),
    ),
)
def fades_the_chunks_before_once_more():
    """what comes from the chunks before has one power of the decay too many, from where it is read
    or from where it is written; the first token of a chunk reads the last one before it by `decay
    ** 1`"""


@mistake(
    computes=_doing(read=lambda length, places, decay: decay ** (length - places)),
    also=(
        _doing(read=lambda length, places, decay: decay ** (length - 1 - places)),
        _doing(read=lambda length, places, decay: decay**length),
        _doing(read=lambda length, places, decay: decay),
        _doing(read=lambda length, places, decay: decay ** -(places + 1)),
    ),
)
def reads_by_another_power():
    """the state is read by powers that do not grow with the place in the chunk; the later a token
    is, the less is left: `decay ** (place + 1)`"""


def _read_by_the_place_in_the_text(
    query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int
) -> Tensor:
    """A part from the state fades once more for each token before the chunk."""
    text = key, value, decay, chunk_len
    before = (torch.arange(query.shape[-2]) // chunk_len * chunk_len).to(query).unsqueeze(-1)
    inner = _doing(blend=lambda inner, cross: inner)(query, *text)
    return inner + decay**before * _doing(blend=_cross)(query, *text)


@mistake(computes=_doing(read=_nothing), also=(_read_by_the_place_in_the_text,))
def reads_the_state_as_it_is():
    """the state is read without decay, or by another place than the one in the chunk; the token at
    `place` there is `place + 1` steps away from the last one before the chunk"""


@mistake(
    computes=_doing(write=_same_place),
    also=(
        _doing(write=_to_read),
        _doing(write=_same_place, read=_same_place),
        _doing(write=_nothing),
    ),
)
def writes_by_another_power():
    """the tokens of a chunk are written without decay, or the later ones are faded most; the first
    ones have faded most by its end, as printed: `decay ** (length - 1 - place)`"""


@mistake(
    points=0.5, computes=_doing(keep=_nothing), also=(_doing(keep=_nothing, read=_same_place),)
)
def does_not_fade_the_state():
    """the state does not fade while a chunk passes; it fades for `length` steps, as printed"""


def _once(length: int, places: Tensor, decay: float) -> float:
    return decay


@mistake(
    points=0.5,
    computes=_doing(keep=_once),
    also=(
        _doing(keep=lambda length, places, decay: decay ** (length - 1)),
        _doing(keep=_one_more),
        _doing(keep=_one_more, read=_same_place),
        _doing(keep=_once, read=_same_place),
    ),
)
def fades_the_state_otherwise():
    """the state fades for another number of steps than the chunk has tokens; `decay ** length` is
    right, as printed"""


def _forget(length: int, places: Tensor, decay: float) -> float:
    return 0.0


@mistake(points=0.5, computes=_doing(keep=_forget), also=(_doing(keep=_forget, read=_same_place),))
def keeps_one_chunk_only():
    """your state holds one chunk alone; of what was there before, `decay ** length` is left"""


def _both_ways(places: Tensor, decay: float) -> Tensor:
    return decay ** (places.unsqueeze(-1) - places).abs()


@mistake(
    computes=_doing(table=_both_ways),
    also=(_doing(table=lambda places, decay: _table(places, decay).mT),),
)
def sees_later_tokens():
    """a token sees later ones of its own chunk; keep what is on the diagonal and below: `tril()`"""


def _one_step_less(places: Tensor, decay: float) -> Tensor:
    return _strictly(places, decay) / decay


@mistake(
    computes=_doing(table=_strictly),
    also=(
        _doing(table=_strictly, read=_same_place),
        _doing(table=_one_step_less, read=_same_place),
    ),
)
def does_not_see_itself():
    """a token does not see itself; the diagonal of the table belongs to it, with the factor 1"""


def _one_step_more(places: Tensor, decay: float) -> Tensor:
    return decay * _table(places, decay)


@mistake(
    computes=_doing(table=_one_step_more),
    also=(
        _doing(table=_one_step_more, read=_same_place),
        _doing(table=_one_step_more, read=lambda length, places, decay: decay ** (places + 2)),
    ),
)
def fades_itself():
    """a token fades itself, and all of its chunk by one step too many; within a chunk the power is
    the difference of the places, as printed"""


def _ones(places: Tensor, decay: float) -> Tensor:
    return torch.ones_like(_table(places, decay)).tril()


def _by_one_place(places: Tensor, decay: float) -> Tensor:
    return (decay**places).expand(len(places), -1)


@mistake(
    computes=_doing(table=_ones),
    also=(
        _doing(table=lambda places, decay: _by_one_place(places, decay).tril()),
        _doing(table=lambda places, decay: _by_one_place(places, decay).mT.tril()),
        _doing(table=lambda places, decay: (decay ** (places - places.unsqueeze(-1))).tril()),
    ),
)
def forgets_the_decay_in_the_table():
    """within a chunk nothing fades, or by other powers; the power is the difference of the places,
    `place[:, None] - place`, as printed"""


@mistake(computes=given(reference, decay=1.0))
def forgets_the_decay():
    """nothing fades in yours; with each step what was written before is multiplied by `decay`"""


@mistake
def divides_by_the_weights(query, key, value, decay, chunk_len):
    """you divide by the sum of the weights; retention does not"""
    ones = torch.ones_like(value[..., :1])
    total = reference(query, key, ones, decay, chunk_len)
    return reference(query, key, value, decay, chunk_len) / total


@mistake(computes=given(reference, query=lambda query: query / query.shape[-1] ** 0.5))
def scales():
    """you divide by the root of the width; nothing is scaled here"""


@mistake
def leaves_the_rest_out(query, key, value, decay, chunk_len):
    """the last tokens have no output where `chunk_len` does not divide their number; the last chunk
    is shorter"""
    whole = max(query.shape[-2] // chunk_len, 1) * chunk_len
    return reference(*(t[..., :whole, :] for t in (query, key, value)), decay, chunk_len)


def _powers_apart(places: Tensor, decay: float) -> Tensor:
    """Infinity times 0 is nan, where a place has a power that no number can hold."""
    up, down = decay ** places.unsqueeze(-1), decay**-places
    return (up * down).tril()


def _times_a_mask(places: Tensor, decay: float) -> Tensor:
    powers = decay ** (places.unsqueeze(-1) - places)
    return powers * torch.ones_like(powers).tril()


def _powers_divided(places: Tensor, decay: float) -> Tensor:
    return (decay ** places.unsqueeze(-1) / decay**places).tril()


def _products_divided(places: Tensor, decay: float) -> Tensor:
    products = torch.full_like(places, decay).cumprod(0)
    return (products.unsqueeze(-1) / products).tril()


def _fading_both(seen: Callable[[Tensor], Tensor], divides: bool = False) -> Callable[..., Tensor]:
    """The powers multiply queries and keys, before a table is made of them."""

    def answer(query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int) -> Tensor:
        places = (torch.arange(query.shape[-2]) % chunk_len).to(query).unsqueeze(-1)
        later = key / decay**places if divides else key * decay**-places
        faded = query * decay**places, later, value
        chunks = zip(*(t.split(chunk_len, -2) for t in faded), strict=True)
        inner = torch.cat([seen(q @ k.mT) @ v for q, k, v in chunks], -2)
        return inner + _doing(blend=_cross)(query, key, value, decay, chunk_len)

    return answer


def _cut_afterwards(
    query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int
) -> Tensor:
    """The product is cut, and its gradient has the powers above the diagonal still."""
    inner = []
    for q, k, v in zip(*(t.split(chunk_len, -2) for t in (query, key, value)), strict=True):
        places = torch.arange(q.shape[-2]).to(q)
        table = (q @ k.mT * decay ** (places.unsqueeze(-1) - places)).tril()
        inner.append(table @ v)
    return torch.cat(inner, -2) + _doing(blend=_cross)(query, key, value, decay, chunk_len)


def _mask(table: Tensor) -> Tensor:
    return table * torch.ones_like(table).tril()


@mistake(
    points=2.5,
    computes=_doing(table=_powers_apart),
    also=(
        _doing(table=_times_a_mask),
        _doing(table=_powers_divided),
        _doing(table=_products_divided),
        _fading_both(torch.tril),
        _fading_both(_mask),
        _fading_both(torch.tril, divides=True),
        _cut_afterwards,
    ),
)
def overflows():
    """`decay ** -100` may be infinite and `decay ** 100` may be 0, and infinity times 0 is `nan`,
    as is 0 over 0, in the output or in a gradient: take the power of the difference of two places,
    and let `tril` put zeros above the diagonal of the powers, before they meet the products"""


def _cut(query: Tensor, key: Tensor, value: Tensor, decay: float, chunk_len: int) -> Tensor:
    """A part from the state has no gradient of keys and values."""
    cross = _doing(blend=_cross)(query, key.detach(), value.detach(), decay, chunk_len)
    return _doing(blend=lambda inner, cross: inner)(query, key, value, decay, chunk_len) + cross


@mistake(
    points=2.5,
    computes=_cut,
    also=(_doing(blend=lambda inner, cross: inner + cross.detach()),),
    right="your numbers are right",
)
def cuts_the_state_off():
    """no gradient goes through the state to the keys and the values of earlier chunks; leave
    `detach`, `data` and `no_grad` out"""


@mistake(points=2.5, right="your numbers are right", evidence="all pairs")
def makes_a_table_of_all_pairs(query, key, value, decay, chunk_len):
    """you make one table of all tokens against all; go from chunk to chunk, as the program does"""
    return reference(query, key, value, decay, query.shape[-2])


@mistake(points=2.5, right="your numbers are right", evidence="many calls")
def takes_one_token_at_a_time(query, key, value, decay, chunk_len):
    """you call torch far more often than a loop over chunks does, as a loop over the tokens would;
    take `chunk_len` tokens at a time"""
    return reference(query, key, value, decay, 1)


@mistake(computes=_doing(write=_nothing, read=_to_read, keep=_nothing, table=_ones))
def fades_at_the_reading_only():
    """what is read from the state fades by the place of the token alone; each token there has its
    own age: fade it when it is written, and the state with each chunk"""


def _round_the_table(places: Tensor, decay: float) -> Tensor:
    return _table(places.float(), decay)


def _round_the_reading(length: int, places: Tensor, decay: float) -> Tensor:
    return _to_read(length, places.float(), decay)


def _round_the_writing(length: int, places: Tensor, decay: float) -> Tensor:
    return _to_write(length, places.float(), decay)


@mistake(
    slip=True,
    points=2.5,
    computes=_doing(table=_round_the_table, read=_round_the_reading, write=_round_the_writing),
    also=(
        _doing(table=_round_the_table),
        _doing(read=_round_the_reading),
        _doing(table=_round_the_table, read=_round_the_reading),
    ),
)
def rounds_the_powers():
    """powers of the decay are held in float32 on the way, as those of a Python number and whole
    numbers are; float64 has more digits: `torch.arange(length).to(q)`, as printed"""


@mistake(points=1.5, slip=True)
def knows_no_batch(query, key, value, decay, chunk_len):
    """your answer is right for one text and for no other number of axes; count axes from the back:
    `split(chunk_len, -2)`, `shape[-2]`, `.mT`"""
    _length, _d_key = query.shape
    return reference(query, key, value, decay, chunk_len)


EXERCISE = Exercise(
    function="retain",
    reference=reference,
    title="find two slips: a state that fades",
    minutes=20,
    axes={"length": 43, "d_value": 31},
    avoid=("attention",),
    contract=Contract(batch=("query", "key", "value"), any_axes=True),
    checks=(
        Check(
            "for any decay and chunks of any length the output is that of the recurrence; any"
            " number of axes may come before",
            1,
            draw_text,
            sizes=(
                {"length": 7, "d_key": 3, "d_value": 5, "tenths": 5, "chunk_len": 3},
                {"length": 5, "d_key": 2, "d_value": 3, "tenths": 9, "chunk_len": 1},
                {"length": 5, "d_key": 3, "d_value": 2, "tenths": 8, "chunk_len": 7},
                {"length": 3, "d_key": 5, "d_value": 2, "tenths": 6, "chunk_len": 3},
                {
                    **{"batch": 3, "num_heads": 2, "length": 5, "d_key": 3, "d_value": 2},
                    **{"tenths": 7, "chunk_len": 2},
                },
            ),
            hidden_sizes=(
                {"length": 11, "d_key": 2, "d_value": 3, "tenths": 6, "chunk_len": 4},
                {
                    **{"batch": 2, "num_heads": 2, "length": 7, "d_key": 5, "d_value": 3},
                    **{"tenths": 9, "chunk_len": 3},
                },
            ),
        ),
        Check(
            "a long chunk and a small decay give no `nan`, in the output or in a gradient",
            0.5,
            draw_text,
            gradient=("query",),
            sizes=({"length": 211, "d_key": 3, "d_value": 2, "tenths": 3, "chunk_len": 199},),
            hidden_sizes=(
                {"length": 223, "d_key": 2, "d_value": 3, "tenths": 2, "chunk_len": 193},
            ),
            sizes_matter=True,
        ),
        Check(
            "`chunk_len` tokens at a time: no tensor holds more than three times the numbers of the"
            " largest input or of the table of a chunk, and no loop goes over the tokens",
            0.5,
            draw_text,
            sizes=({"length": 191, "d_key": 11, "d_value": 13, "tenths": 9, "chunk_len": 64},),
            hidden_sizes=(
                {"length": 173, "d_key": 13, "d_value": 11, "tenths": 8, "chunk_len": 59},
            ),
            dtype=torch.float64,
            invariant=_takes_chunks,
            sizes_matter=True,
        ),
        Check(
            "the right gradient reaches `query`, `key` and `value`",
            0.5,
            draw_text,
            sizes=({"length": 7, "d_key": 3, "d_value": 2, "tenths": 7, "chunk_len": 3},),
            hidden_sizes=({"length": 5, "d_key": 2, "d_value": 3, "tenths": 6, "chunk_len": 2},),
            gradient=("query", "key", "value"),
        ),
    ),
    mistakes=mistake.collected,
)
