"""Part C of problem set 10: how many layers of attention it takes until a token hears of another.

The longest of the ways is the "maximum path length" of Vaswani et al. 2017 (table 1), for any mask.
"""

import math
from collections.abc import Callable

import torch
from hintgrader.checking.compare import wrong_form
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    Plain,
    given,
    name_kind,
    same,
    then,
    transposed,
)
from torch import Generator, Tensor

from attn_bank.draws import in_front

Tell = Callable[[Tensor, Tensor], Tensor]
# An answer that asks token by token needs a quarter of it.
MOST_SECONDS = 60.0
NEAR = 5  # layers, after which no dtype has run out of numbers


def reference(allowed: Tensor) -> Tensor:
    return _layers(allowed)


def _tell(allowed: Tensor, heard: Tensor) -> Tensor:
    """True where a token may look at one that has heard of the other, (*batch, n, n)."""
    return allowed.float() @ heard.float() > 0


def _layers(
    allowed: Tensor, tell: Tell = _tell, most: float = math.inf, known: Tensor | None = None
) -> Tensor:
    """The least number of layers, -1 for never.

    Args:
        allowed: True where a query may look at a key, (*batch, n, n).
        tell: The news that a layer brings, from `allowed` and from all heard before it.
        most: The number of layers after which to stop.
        known: The tokens heard of before the first layer; None means itself only.
    """
    heard = _itself(allowed) if known is None else known
    layers, layer = heard.long() - 1, 0
    while layer < most and (new := tell(allowed, heard) & ~heard).any():
        layer += 1
        layers, heard = layers.masked_fill(new, layer), heard | new
    return layers


def _itself(allowed: Tensor) -> Tensor:
    return torch.eye(allowed.shape[-1], device=allowed.device).bool().expand_as(allowed)


def draw_masks(
    generator: Generator,
    n: int,
    kinds: str,
    batch: int | None = None,
    groups: int | None = None,
    itself: str = "all",
) -> Inputs:
    """Masks of several kinds in turn; `kinds` has their names, with blanks between.

    Of the tokens "all", "some" or "none" may look at themselves.
    """
    before, names = in_front(groups, batch), kinds.split()
    turn = [names[place % len(names)] for place in range(math.prod(before))]
    masks = torch.stack([KINDS[name](generator, n) for name in turn]).view(*before, n, n)
    own = torch.rand(masks.shape[:-1], generator=generator) < SHARES[itself]
    masks.diagonal(dim1=-2, dim2=-1).copy_(own)
    return {"allowed": masks}


def _draw_sparse(generator: Generator, n: int) -> Tensor:
    """Two looks for a token on average; one token has none, and at another nobody looks."""
    mask = torch.rand(n, n, generator=generator) < 2 / n
    idle, ignored = torch.randperm(n, generator=generator)[:2].tolist()
    mask[idle], mask[:, ignored] = False, False
    return mask


def _number_anew(mask: Tensor, generator: Generator) -> Tensor:
    order = torch.randperm(len(mask), generator=generator)
    return mask[order][:, order]


KINDS: dict[str, Callable[[Generator, int], Tensor]] = {
    "full": lambda _, n: torch.ones(n, n).bool(),
    "causal": lambda _, n: torch.ones(n, n).tril().bool(),
    "pairs": lambda _, n: torch.ones(n, n).tril().triu(-1).bool(),
    "window": lambda _, n: torch.ones(n, n).tril().triu(-3).bool(),
    "chain": lambda generator, n: _number_anew(torch.eye(n).roll(1, 0).tril().bool(), generator),
    "ring": lambda generator, n: _number_anew(torch.eye(n).roll(1, 0).bool(), generator),
    "sparse": _draw_sparse,
}
SHARES = {"all": 2.0, "some": 0.5, "none": -1.0}


def draw_ways(generator: Generator, ends: int, blocks: int = 0, width: int = 0) -> Inputs:
    """Blocks of `width` tokens between two chains; a token looks at its block and the one before.

    The ways become `width` times as many with each block, and with each layer inside of one.
    """
    sizes = torch.tensor([1] * ends + [width] * blocks + [1] * ends)
    block = torch.arange(len(sizes)).repeat_interleave(sizes)
    apart = block.unsqueeze(1) - block
    return {"allowed": _number_anew((apart == 0) | (apart == 1), generator)}


def finds_far_ways(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
    """The law that all is right, by which those are alike who lose what is far.

    Where numbers of ways run out depends on how they are multiplied.
    """
    found, wanted = call(inputs, seconds=MOST_SECONDS), reference(**inputs)
    if same(found, wanted):
        return None
    if form := wrong_form(found, wanted):
        return form, name_kind(found)
    assert isinstance(found, Tensor)
    wrong, last = found != wanted, wanted.numel()
    least = torch.where(wrong, wanted.where(wanted >= 0, last), last + 1).argmin()
    right, said = (layers.flatten()[least].item() for layers in (wanted, found))
    place = divmod(int(least), wanted.shape[-1])
    words = f"entry {place} is {said} and should be {right}"
    if 0 <= right <= NEAR or _in_bytes(found, wanted):
        return words, found
    return f"{words}; all smaller ones are right" if right > 0 else words, "far ways are wrong"


def _in_bytes(found: Tensor, wanted: Tensor) -> bool:
    return torch.equal(found, wanted.to(torch.int8).long())


mistake = Mistakes()


@mistake(computes=transposed(reference))
def exchanges_rows_and_columns():
    """rows and columns have changed places: entry (i, j) should say how output `i` depends on token
    `j`, and row `i` of `allowed` is what query `i` may look at"""


@mistake(computes=given(reference, allowed=torch.logical_not))
def takes_true_for_forbidden():
    """you take True for forbidden, as PyTorch's attention does; here it is True where a query may
    look at a key"""


def _follow_cycles(allowed: Tensor) -> Tensor:
    layers = _layers(allowed)
    back = torch.where(allowed & (layers.mT >= 0), layers.mT + 1, allowed.shape[-1] + 1)
    least = back.amin(-1)
    own = torch.where(least <= allowed.shape[-1], least, -1)
    return torch.where(_itself(allowed), own.unsqueeze(-1), layers)


def _begin_with_ones(allowed: Tensor) -> Tensor:
    return torch.where(_itself(allowed), 1, _layers(allowed))


def _begin_with_looks_at_itself(allowed: Tensor) -> Tensor:
    return _layers(allowed) + (_itself(allowed) & allowed)


@mistake(also=(_begin_with_ones, _begin_with_looks_at_itself))
def needs_a_layer_for_itself(allowed):
    """your diagonal is 1 where a token may look at itself; it knows itself before the first layer,
    so there it is 0"""
    return _follow_cycles(allowed)


@mistake
def leaves_itself_out(allowed):
    """your diagonal is -1; a token knows itself before the first layer, so there it is 0"""
    return torch.where(_itself(allowed), -1, _layers(allowed))


def _begin_with_those_allowed(allowed: Tensor) -> Tensor:
    return _layers(allowed, known=_itself(allowed) & allowed)


def _look_at_itself_or_never(allowed: Tensor) -> Tensor:
    return torch.where(_itself(allowed) & ~allowed, -1, _layers(allowed))


def _look_at_itself_or_in_a_circle(allowed: Tensor) -> Tensor:
    looks = _itself(allowed) & allowed
    return torch.where(looks, 0, _follow_cycles(allowed))


@mistake(
    points=2.5,
    also=(_look_at_itself_or_never, _look_at_itself_or_in_a_circle),
)
def asks_for_a_look_at_itself(allowed):
    """a token that may not look at itself does not know itself with you; each layer adds to what
    was there, so every token knows itself from the start, in 0 layers, whatever the mask says"""
    return _begin_with_those_allowed(allowed)


@mistake(points=2.5)
def forgets_what_it_has_heard(allowed):
    """a token keeps only what the last layer told it; each layer adds to what was there, so go on
    from `heard | told`"""
    heard = _itself(allowed)
    layers = heard.long() - 1
    for layer in range(1, allowed.shape[-1]):
        told = _tell(allowed, heard)
        layers, heard = layers.masked_fill(told & ~heard, layer), told
    return layers


def _add_one(layers: Tensor, more: int) -> Tensor:
    return torch.where(layers > 0, layers + more, layers)


@mistake(slip=True, computes=then(reference, lambda layers: _add_one(layers, 1)))
def counts_one_layer_more():
    """you count one layer too many between two tokens; where a query may look at a key, one layer
    is enough"""


@mistake(slip=True, computes=then(reference, lambda layers: _add_one(layers, -1)))
def counts_one_layer_less():
    """you count one layer too few between two tokens: where a query may look at a key, it takes 1
    layer, and 0 layers are for the token itself"""


@mistake(computes=then(reference, lambda layers: torch.where(layers < 0, -1, layers + 1)))
def counts_the_tokens():
    """you count the tokens on the way, with both ends; count the layers, of which there is one
    fewer"""


@mistake(computes=then(reference, lambda layers: layers.clamp_min(0)))
def says_zero_for_never():
    """you say 0 where a token is never heard of; that is the number for a token itself. For never
    it is -1"""


def _say(number: Callable[[int], float]) -> Callable[[Tensor], Tensor]:
    """An answer with a number for never that may depend on how many tokens there are."""

    def answer(allowed: Tensor) -> Tensor:
        layers, other = _layers(allowed), number(allowed.shape[-1])
        real = layers.float() if isinstance(other, float) else layers
        return real.masked_fill(layers < 0, other)

    return answer


_OTHERS = (
    lambda n: n - 1,
    lambda n: n + 1,
    lambda n: -2,
    lambda n: 999,
    lambda n: 10**9,
    lambda n: 2**63 - 1,
    lambda n: math.inf,
    lambda n: math.nan,
)


@mistake(computes=_say(lambda n: n), also=tuple(map(_say, _OTHERS)))
def says_another_number_for_never():
    """your number for a token that is never heard of is another one; it is -1, a whole number"""


def _stop_after(most: Callable[[int], float]) -> Callable[[Tensor], Tensor]:
    return lambda allowed: _layers(allowed, most=most(allowed.shape[-1]))


@mistake(points=0.5, computes=_stop_after(lambda n: 1))
def stops_after_one_layer():
    """you count one layer only, in which a token hears of what it may look at; in the next it hears
    of what those have heard. Go on until nothing is new"""


_SOON = [lambda n, most=most: most for most in (3, 4, 5, 6, 8, 10)]
_BY_LENGTH = (lambda n: n // 2, lambda n: math.ceil(math.log2(n)), lambda n: n**0.5)


@mistake(
    points=0.5,
    computes=_stop_after(lambda n: 2),
    also=tuple(map(_stop_after, (*_SOON, *_BY_LENGTH))),
)
def stops_too_soon():
    """you stop after some layers, though later ones bring something new; a way may take `n - 1` of
    them"""


@mistake(points=0.5, computes=_stop_after(lambda n: max(n - 2, 0)))
def stops_one_layer_short():
    """your last layer is missing: a way through all `n` tokens takes `n - 1` layers, and the end of
    a range does not belong to it"""


def _double(allowed: Tensor, heard: Tensor) -> Tensor:
    return _tell(heard, heard) if (heard & ~_itself(heard)).any() else allowed


def _number_doubled(allowed: Tensor) -> Tensor:
    rounds = _layers(allowed, _double)
    return torch.where(rounds > 0, 2 ** (rounds - 1).clamp_min(0), rounds)


@mistake(points=0.5, also=(_number_doubled,))
def doubles_the_ways(allowed):
    """you multiply what has been heard with itself, so the ways become twice as long in each round;
    a layer goes one look farther: multiply with `allowed`"""
    return _layers(allowed, _double)


@mistake(computes=given(reference, allowed=lambda allowed: allowed | allowed.mT))
def lets_looks_lead_both_ways():
    """you let what is heard go both ways along a look; `i` hears of `j` if it looks at `j`, and `j`
    hears nothing by that"""


@mistake(computes=given(reference, allowed=torch.tril))
def looks_back_only():
    """you cross out what lies ahead; the mask alone says what a query may look at"""


@mistake
def takes_the_distance_in_the_text(allowed):
    """you return how far apart two tokens are in the text; one layer may lead far, if the mask
    allows that look"""
    place = torch.arange(allowed.shape[-1], device=allowed.device)
    apart = (place.unsqueeze(1) - place).abs()
    return torch.where(_layers(allowed) < 0, -1, apart)


def _write_in_each_layer(allowed: Tensor) -> Tensor:
    heard = _itself(allowed)
    layers = heard.long() - 1
    for layer in range(1, allowed.shape[-1]):
        told = _tell(allowed, heard)
        layers, heard = layers.masked_fill(told, layer), heard | told
    return layers


@mistake(also=(_write_in_each_layer,))
def writes_over(allowed):
    """you write the number of each layer over those before; the first layer counts, so write where
    nothing has been heard before"""
    layers, last = _layers(allowed), allowed.shape[-1] - 1
    return torch.where(layers < 0, -1, last)


def _go_token_by_token(allowed: Tensor, places: range) -> Tensor:
    looks, heard = allowed.float(), _itself(allowed).float().clone()
    layers = heard.long() - 1
    for layer in range(1, allowed.shape[-1]):
        for place in places:
            row = heard[..., place, :]
            row += (looks[..., place : place + 1, :] @ heard).squeeze(-2)
            row.clamp_(max=1)
        new = (heard > 0) & (layers < 0)
        if not new.any():
            break
        layers = layers.masked_fill(new, layer)
    return layers


def _go_from_the_last(allowed: Tensor) -> Tensor:
    return _go_token_by_token(allowed, range(allowed.shape[-1])[::-1])


@mistake(points=0.5, also=(_go_from_the_last,))
def passes_on_within_a_layer(allowed):
    """what a token has just heard, others hear in the same layer with you; a layer reads what was
    there before it, so write into a copy"""
    return _go_token_by_token(allowed, range(allowed.shape[-1]))


@mistake
def returns_whether(allowed):
    """you return whether a token ever hears of another; the number of layers is asked"""
    return _layers(allowed) >= 0


def _count_in_the_end(allowed: Tensor) -> Tensor:
    return _layers(allowed).amax()


@mistake(also=(_count_in_the_end,))
def returns_the_longest(allowed):
    """you return the longest of the ways; there is a number for each pair of tokens"""
    return _layers(allowed).amax((-2, -1))


@mistake
def returns_floats(allowed):
    """your numbers are floating-point; they count layers, so make them whole numbers, `.long()`"""
    return _layers(allowed).float()


@mistake(slip=True)
def returns_short_numbers(allowed):
    """your whole numbers have another dtype; it should be `torch.int64`, as `.long()` makes it"""
    return _layers(allowed).int()


@mistake(slip=True, points=3)
def knows_one_mask_only(allowed):
    """your answer takes one mask; there may be any number of axes in front of it, so count axes
    from the right: `allowed.shape[-1]`, and `@`, which multiplies the last two"""
    _rows, _columns = allowed.shape
    return _layers(allowed)


def _as_many(allowed: Tensor, mask: Tensor) -> Tensor:
    return _layers(mask).expand_as(allowed).clone()


def _merge(allowed: Tensor) -> Tensor:
    return _as_many(allowed, allowed.flatten(0, -3).any(0) if allowed.ndim > 2 else allowed)


def _meet(allowed: Tensor) -> Tensor:
    return _as_many(allowed, allowed.flatten(0, -3).all(0) if allowed.ndim > 2 else allowed)


@mistake(points=3.5, also=(_merge, _meet))
def takes_one_mask_for_all(allowed):
    """you take one mask for the whole batch; each has ways of its own"""
    return _as_many(allowed, allowed.flatten(0, -3)[0] if allowed.ndim > 2 else allowed)


@mistake(points=3.5)
def stops_with_the_first(allowed):
    """you stop as soon as one mask of the batch brings nothing new; go on while any of them does"""
    layers = _layers(allowed)
    return layers.where(layers <= layers.flatten(-2).amax(-1).amin(), -1)


def _count_ways_in(dtype: torch.dtype, more: int = 0) -> Callable[[Tensor], Tensor]:
    """The answer that multiplies numbers of ways, of which `more` stay at a token."""

    def answer(allowed: Tensor) -> Tensor:
        step = (allowed | _itself(allowed)).to(dtype) + more * _itself(allowed).to(dtype)
        ways = _itself(allowed).to(dtype)
        layers = _itself(allowed).long() - 1
        for layer in range(1, allowed.shape[-1]):
            ways = step @ ways
            layers = layers.masked_fill((ways > 0) & (layers < 0), layer)
        return layers

    return answer


@mistake(
    points=3.5,
    computes=_count_ways_in(torch.float32),
    also=(_count_ways_in(torch.int64), _count_ways_in(torch.float32, more=1)),
)
def counts_the_ways():
    """you count the ways from one token to another, and in a long text there are more than the
    dtype can hold: they turn into infinity, `nan`, 0 or negative numbers. Whether there is one is
    enough: make the product boolean after each layer, `> 0`"""


@mistake(points=3.5)
def holds_layers_in_bytes(allowed):
    """you hold the numbers of layers in a dtype that ends at 127; hold them in `torch.int64`"""
    return _layers(allowed).to(torch.int8).long()


EXERCISE = Exercise(
    function="layers_to_hear",
    reference=reference,
    title="how many layers until one token hears of another",
    minutes=20,
    axes={"n": 23},
    may_use=None,  # no package does it, and watching makes loops ten times as slow
    equivalent_mutants={
        "1 -> 2": "the last axis is as long as the one before it",
        "allowed.float() @ heard.float() -> heard.float() @ allowed.float()": "a way may be walked"
        " from either end",
    },
    contract=Contract(batch=("allowed",), any_axes=True, like=2),
    checks=(
        Check(
            "one layer where every token may look at all, or at all before it; 0 for itself, and -1"
            " for what lies ahead",
            0.5,
            draw_masks,
            sizes=({"kinds": "full", "n": 3}, {"kinds": "causal", "n": 4}),
            hidden_sizes=(
                {"kinds": "full", "n": 7},
                {"kinds": "causal", "n": 11},
                {"kinds": "full", "n": 1},
            ),
            easier=True,
        ),
        Check(
            "several layers where a token may look at a few, up to `n - 1`",
            1,
            draw_masks,
            sizes=(
                {"kinds": "pairs", "n": 4},
                {"kinds": "sparse", "n": 7},
                {"kinds": "window", "n": 13},
                {"kinds": "chain", "n": 13},
            ),
            hidden_sizes=(
                {"kinds": "pairs", "n": 19},
                {"kinds": "sparse", "n": 23},
                {"kinds": "window", "n": 17},
                {"kinds": "chain", "n": 14},
                {"kinds": "chain", "n": 2},
            ),
            easier=True,
        ),
        Check(
            "a token knows itself from the start and keeps what it has heard, whether or not it may"
            " look at itself",
            1,
            draw_masks,
            sizes=(
                {"kinds": "full", "n": 3, "itself": "none"},
                {"kinds": "full", "n": 1, "itself": "none"},
                {"kinds": "ring", "n": 13, "itself": "none"},
                {"kinds": "sparse", "n": 11, "itself": "some"},
            ),
            hidden_sizes=(
                {"kinds": "full", "n": 1, "itself": "none"},
                {"kinds": "ring", "n": 16, "itself": "none"},
                {"kinds": "chain", "n": 15, "itself": "some"},
                {"kinds": "sparse", "n": 19, "itself": "none"},
            ),
        ),
        Check(
            "any number of axes in front, and each mask by itself",
            0.5,
            draw_masks,
            sizes=(
                {"kinds": "full chain sparse", "batch": 3, "n": 12},
                {"kinds": "chain causal", "groups": 2, "batch": 3, "n": 5},
                {"kinds": "full", "batch": 2, "n": 1},
            ),
            hidden_sizes=(
                {"kinds": "causal sparse chain", "batch": 5, "n": 13},
                {"kinds": "chain full pairs", "groups": 3, "batch": 2, "n": 4},
                {"kinds": "full", "groups": 2, "batch": 4, "n": 1},
            ),
        ),
        Check(
            "ways that take more than 100 layers, and more of them than a dtype can count",
            0.5,
            draw_ways,
            invariant=finds_far_ways,
            sizes=(
                {"ends": 0, "blocks": 67, "width": 2},
                {"ends": 30, "blocks": 1, "width": 40},
                {"ends": 65},
            ),
            # one alone: an answer that asks token by token takes seconds for each
            hidden_sizes=({"ends": 37, "blocks": 1, "width": 31},),
        ),
    ),
    mistakes=mistake.collected,
)
