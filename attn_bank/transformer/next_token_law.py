"""Part D of problem set 11: from logits to the probabilities that the next token is drawn from."""

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
    name_kind,
    then,
)
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal, in_front
from attn_course import transformer

Kept = Callable[[Tensor, float], Tensor]  # which of the ranked probabilities
Map = Callable[[Tensor], Tensor]


def reference(logits: Tensor, temperature: float, top_p: float) -> Tensor:
    return transformer.next_token_law(logits, temperature, top_p=top_p)


def draw_logits(
    generator: Generator,
    vocab_size: int,
    temperature: float,
    top_p: float,
    batch: int | None = None,
    texts: int | None = None,
) -> Inputs:
    before = in_front(batch, texts)
    return {
        "logits": 2 * draw_normal(generator, *before, vocab_size),
        "temperature": temperature,
        "top_p": top_p,
    }


def draw_equal_logits(generator: Generator, **sizes: int) -> Inputs:
    """The largest logit stands at two tokens."""
    inputs = draw_logits(generator, **sizes)
    logits = inputs["logits"]
    place = torch.randperm(logits.shape[-1], generator=generator)[:2]
    logits[..., place] = logits.max() + 1
    return inputs


def draw_loud_logits(generator: Generator, **sizes: int) -> Inputs:
    """Logits in the hundreds, of which one is far above the others in its row."""
    inputs = draw_logits(generator, **sizes)
    logits = 200 * inputs["logits"] + 300
    best = functional.one_hot(logits.argmax(-1), logits.shape[-1])
    return inputs | {"logits": logits + 100 * best}


def draw_no_opinion(generator: Generator, batch: int, temperature: float, top_p: float) -> Inputs:
    """Logits that are all 0, of four tokens: each has a quarter, to the last digit."""
    return {
        "logits": torch.zeros(batch, 4, dtype=torch.float64),
        "temperature": temperature,
        "top_p": top_p,
    }


def keeps_so_many(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | str | None:
    """Whichever of them it keeps: they are equal."""
    law, expected = call(inputs), reference(**inputs)
    if not isinstance(law, Tensor) or law.shape != expected.shape:
        kind = name_kind(law)
        return f"it returns {kind}; expected probabilities, {tuple(expected.shape)}", kind
    if (law.sort(-1).values - expected.sort(-1).values).abs().max() < 1e-5:
        return None
    kept, enough = ((one > 0).sum(-1).tolist() for one in (law, expected))
    if kept != enough:
        return f"of four equal tokens it keeps {kept}, by rows; expected {enough}", kept
    return "of four equal tokens it keeps so many, but not with equal shares of 1", law.tolist()


def _reaches(ranked: Tensor, top_p: float) -> Tensor:
    return ranked.cumsum(-1) - ranked < top_p


def _over_sum(kept: Tensor) -> Tensor:
    return kept / kept.sum(-1, keepdim=True)


def _heated(logits: Tensor, temperature: float) -> Tensor:
    return torch.softmax(logits / temperature, -1)


def _chosen(probabilities: Tensor, top_p: float, kept: Kept) -> Tensor:
    """Which tokens are kept, at their own places."""
    ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(order).scatter(-1, order, kept(ranked, top_p).long()).bool()


def _law(
    logits: Tensor,
    temperature: float,
    top_p: float,
    *,
    heat: Callable[[Tensor, float], Tensor] = _heated,
    kept: Kept = _reaches,
    share: Map = _over_sum,
) -> Tensor:
    """The law, in one of many ways: right is what the arguments are if nobody says otherwise."""
    if temperature == 0:
        return _greedy(logits)
    probabilities = heat(logits, temperature)
    return share(probabilities * _chosen(probabilities, top_p, kept))


def _greedy(logits: Tensor) -> Tensor:
    return functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits)


def _keeping(kept: Kept) -> Callable[..., Tensor]:
    """The law with another choice of the ranked tokens."""

    def answer(logits: Tensor, temperature: float, top_p: float) -> Tensor:
        return _law(logits, temperature, top_p, kept=kept)

    return answer


def _sharing(share: Map) -> Callable[..., Tensor]:
    """The law with something else done to the probabilities that are kept."""

    def answer(logits: Tensor, temperature: float, top_p: float) -> Tensor:
        return _law(logits, temperature, top_p, share=share)

    return answer


mistake = Mistakes()


@mistake(points=1.5, computes=given(reference, temperature=lambda t: 1.0 if t else 0.0))
def forgets_the_temperature():
    """the temperature changes nothing in your law; it divides the logits, before the softmax"""


def _take_a_power(logits: Tensor, temperature: float, top_p: float) -> Tensor:
    return _law(logits, temperature, top_p, heat=lambda x, t: torch.softmax(x, -1) ** t)


@mistake(
    points=1.5,
    computes=given(reference, temperature=lambda t: 1 / t if t else 0.0),
    also=(_take_a_power,),
)
def multiplies_by_the_temperature():
    """a high temperature makes your law sharper; it should make it flatter: divide the logits by
    it, before the softmax"""


@mistake(points=1)
def divides_the_probabilities(logits, temperature, top_p):
    """you divide probabilities by the temperature, and they no longer sum to 1 where `top_p` is
    counted; divide the logits, before the softmax"""
    return _law(logits, temperature, top_p, heat=lambda x, t: torch.softmax(x, -1) / t)


@mistake(
    points=1,
    also=(
        _sharing(lambda kept: kept.softmax(-1)),
        _sharing(lambda kept: kept.masked_fill(kept == 0, -torch.inf).softmax(-1)),
    ),
)
def takes_the_softmax_twice(logits, temperature, top_p):
    """you take a softmax of probabilities, which makes them nearly alike; one softmax, of the
    logits over the temperature, is enough: what is kept is divided by its sum"""

    def heat(logits, temperature):
        return torch.softmax(torch.softmax(logits, -1) / temperature, -1)

    return _law(logits, temperature, top_p, heat=heat)


def _choose_at_one(logits: Tensor, temperature: float, top_p: float) -> Tensor:
    if temperature == 0:
        return _greedy(logits)
    kept = _chosen(torch.softmax(logits, -1), top_p, _reaches)
    return torch.softmax((logits / temperature).masked_fill(~kept, -torch.inf), -1)


@mistake(points=2.5)
def chooses_before_the_temperature(logits, temperature, top_p):
    """you choose the tokens by the probabilities at temperature 1; the temperature comes first, and
    those that are left have to have `top_p` of what it makes of them"""
    return _choose_at_one(logits, temperature, top_p)


def _stay_below(ranked: Tensor, top_p: float) -> Tensor:
    return torch.ones_like(ranked) > 0 if top_p == 1 else _stay_below_always(ranked, top_p)


def _stay_below_always(ranked: Tensor, top_p: float) -> Tensor:
    return ranked.cumsum(-1) <= top_p


def _stay_strictly_below(ranked: Tensor, top_p: float) -> Tensor:
    return ranked.cumsum(-1) < top_p


def _and_the_first(kept: Kept) -> Kept:
    return lambda ranked, p: kept(ranked, p) | (torch.arange(ranked.shape[-1]) == 0)


@mistake(
    points=2,
    computes=_keeping(_stay_below),
    also=(
        _keeping(_stay_below_always),
        _keeping(_and_the_first(_stay_below_always)),
        _keeping(_and_the_first(_stay_below)),
        _keeping(_stay_strictly_below),
        _keeping(_and_the_first(_stay_strictly_below)),
    ),
)
def drops_the_token_that_crosses():
    """the token with which the sum reaches `top_p` is missing from yours, so those that are left
    have less than `top_p`; keep it: ask for the sum before each token, `ranked.cumsum(-1) -
    ranked`"""


@mistake(points=2)
def keeps_one_too_many(logits, temperature, top_p):
    """you keep a token more than `top_p` needs: the one that reaches it is the last"""

    def kept(ranked, top_p):
        before = ranked.cumsum(-1) - ranked
        return functional.pad(before[..., :-1], (1, 0)) < top_p

    return _keeping(kept)(logits, temperature, top_p)


def _as_probable_as_the_last(ranked: Tensor, top_p: float) -> Tensor:
    least = ranked.masked_fill(~_reaches(ranked, top_p), torch.inf).amin(-1, keepdim=True)
    return ranked >= least


@mistake(points=4.5, computes=_keeping(_as_probable_as_the_last))
def keeps_all_equals():
    """you keep each token that is as probable as the last one needed, by comparing probabilities
    with the smallest of those that are kept; of equal ones so many are kept as `top_p` needs, so
    go by the rank"""


@mistake(points=4.5, computes=_keeping(lambda ranked, p: ranked.cumsum(-1) - ranked <= p))
def goes_on_at_the_sum():
    """where the sum is `top_p` exactly you keep a token more, and it is enough: the sum before a
    token has to be below `top_p`"""


@mistake(points=2, computes=given(reference, top_p=1.0))
def keeps_every_token():
    """`top_p` changes nothing in your law: every token keeps some probability. Rank them, and keep
    the most probable ones that have `top_p` together"""


@mistake(points=2, computes=_sharing(lambda kept: kept))
def does_not_share_out():
    """your probabilities sum to less than 1: what the others had is lost. Divide those that are
    kept by their sum"""


def _rank_at_zero_too(logits: Tensor, temperature: float, top_p: float) -> Tensor:
    return reference(logits, temperature, top_p).sort(-1, descending=True).values


@mistake(points=1, also=(_rank_at_zero_too,))
def returns_the_ranks(logits, temperature, top_p):
    """your probabilities are in the order of their ranks; each belongs at the place of its token:
    undo the sort, with `scatter` and the order that it returned"""
    if temperature == 0:
        return _greedy(logits)
    return _rank_at_zero_too(logits, temperature, top_p)


@mistake(points=1)
def undoes_the_order_by_itself(logits, temperature, top_p):
    """you bring the ranks back by indexing with the order once more, which is another shuffle; the
    order says where each rank came from, so write there: `scatter`, or index with
    `order.argsort(-1)`"""
    if temperature == 0:
        return _greedy(logits)
    ranked, order = _heated(logits, temperature).sort(-1, descending=True)
    return _over_sum(ranked * _reaches(ranked, top_p)).gather(-1, order)


@mistake(points=2)
def chooses_in_the_order_of_ranks(logits, temperature, top_p):
    """you choose among the ranked probabilities, and apply the choice to the tokens as they stand,
    so others are kept; bring the choice back to the places of the tokens first"""
    if temperature == 0:
        return _greedy(logits)
    probabilities = _heated(logits, temperature)
    ranked = probabilities.sort(-1, descending=True).values
    return _over_sum(probabilities * _reaches(ranked, top_p))


@mistake(points=2.5)
def keeps_the_least_probable(logits, temperature, top_p):
    """you keep the least probable tokens: `sort` begins with the smallest, unless you ask for
    `descending=True`"""
    if temperature == 0:
        return _greedy(logits)
    probabilities = _heated(logits, temperature)
    return _over_sum(probabilities * _chosen(-probabilities, top_p, lambda r, p: _reaches(-r, p)))


def _drop_up_to(ranked: Tensor, top_p: float) -> Tensor:
    """All but the smallest that have at most `top_p` together."""
    return ranked.flip(-1).cumsum(-1).flip(-1) > top_p


@mistake(
    points=1,
    computes=_keeping(_drop_up_to),
    also=(
        _keeping(lambda ranked, p: ranked.flip(-1).cumsum(-1).flip(-1) >= p),
        _keeping(lambda ranked, p: ranked.cumsum(-1) - ranked < 1 - p),
    ),
)
def drops_top_p():
    """you drop the least probable tokens as long as they have less than `top_p` together, or keep
    the others until they have `1 - top_p`; those that are kept have `top_p`"""


@mistake(points=0.5, computes=_keeping(lambda ranked, p: ~_reaches(ranked, p)))
def keeps_the_others():
    """you keep just those tokens that should go, or nothing at all"""


@mistake(points=2.5)
def does_not_rank(logits, temperature, top_p):
    """you add up in the order of the vocabulary; rank the tokens first, the most probable in
    front"""
    if temperature == 0:
        return _greedy(logits)
    probabilities = _heated(logits, temperature)
    return _over_sum(probabilities * _reaches(probabilities, top_p))


@mistake(
    points=1,
    computes=_keeping(lambda ranked, p: ranked >= p * ranked[..., :1]),
    also=(
        _keeping(lambda ranked, p: (ranked >= p) | (ranked == ranked[..., :1])),
        _keeping(lambda ranked, p: (ranked >= 1 - p) | (ranked == ranked[..., :1])),
        _keeping(lambda ranked, p: ranked >= (1 - p) * ranked[..., :1]),
        _keeping(lambda ranked, p: ranked >= 1 - p),
        _keeping(lambda ranked, p: ranked >= p),
    ),
)
def cuts_at_a_probability():
    """you compare each probability by itself with a bound; it is the sum of the most probable ones
    that has to reach `top_p`"""


def _share(ranked: Tensor, share: float) -> Tensor:
    return (torch.arange(ranked.shape[-1]) < share * ranked.shape[-1]).expand_as(ranked)


@mistake(
    points=2.5,
    computes=_keeping(_share),
    also=(
        _keeping(lambda ranked, p: _share(ranked, int(p * ranked.shape[-1]) / ranked.shape[-1])),
    ),
)
def keeps_a_share_of_the_tokens():
    """you keep the share `top_p` of the tokens, whatever they are worth; it is the share of the
    probability that counts"""


@mistake(points=1.5, computes=_sharing(lambda kept: _over_sum((kept > 0).to(kept))))
def shares_out_evenly():
    """all tokens that are kept have the same probability in yours; they keep their proportions:
    divide by their sum"""


@mistake(points=2)
def sets_logits_to_zero(logits, temperature, top_p):
    """you set the logits of the others to 0, and a softmax gives such a token something, too; minus
    infinity makes its probability 0"""
    if temperature == 0:
        return _greedy(logits)
    kept = _chosen(_heated(logits, temperature), top_p, _reaches)
    return torch.softmax(logits / temperature * kept, -1)


def _keeping_what_every_row_keeps(kept: Kept) -> Callable[..., Tensor]:
    def answer(logits: Tensor, temperature: float, top_p: float) -> Tensor:
        if temperature == 0:
            return _greedy(logits)
        law = _heated(logits, temperature)
        of_each = _chosen(law, top_p, kept).reshape(-1, law.shape[-1])
        return _over_sum(law * of_each.all(0))

    return answer


@mistake(
    points=2.5,
    also=(
        _keeping_what_every_row_keeps(_reaches),
        # as it is published: an exact sum is not enough
        _keeping_what_every_row_keeps(lambda ranked, p: ranked.cumsum(-1) - ranked <= p),
    ),
)
def cuts_all_rows_alike(logits, temperature, top_p):
    """what you keep in a row depends on others: as many tokens as in the first, or those alone that
    every row keeps; each row has a cut of its own. An index of tokens alone, such as `[...,
    order[cut]]`, reaches into all rows"""

    def kept(ranked, top_p):
        return _reaches(ranked.flatten(0, -2)[0], top_p).expand_as(ranked)

    return (
        _keeping(kept)(logits, temperature, top_p)
        if logits.ndim > 1
        else reference(logits, temperature, top_p)
    )


@mistake(points=0.5, also=(_keeping(lambda ranked, p: ranked.cumsum(0) - ranked < p),))
def takes_the_softmax_over_the_batch(logits, temperature, top_p):
    """your softmax, or your sum of probabilities, runs over another axis than the vocabulary, which
    is the last"""
    return _law(logits, temperature, top_p, heat=lambda x, t: torch.softmax(x / t, 0))


def _at_zero(law: Callable[[Tensor, float], Tensor]) -> Callable[..., Tensor]:
    """The reference, with another law at temperature 0."""

    def answer(logits: Tensor, temperature: float, top_p: float) -> Tensor:
        return reference(logits, temperature, top_p) if temperature else law(logits, top_p)

    return answer


def _unless_at_zero(change: Map) -> Callable[..., Tensor]:
    """The reference, and something done to what it returns at other temperatures than 0."""

    def answer(logits: Tensor, temperature: float, top_p: float) -> Tensor:
        law = reference(logits, temperature, top_p)
        return change(law) if temperature else law

    return answer


@mistake(computes=then(reference, torch.log), also=(_unless_at_zero(torch.log),))
def returns_logarithms():
    """you return logarithms of probabilities; return the probabilities"""


@mistake(
    computes=then(reference, lambda law: law.argmax(-1)),
    also=(_at_zero(lambda logits, _: logits.argmax(-1)),),
)
def returns_a_token():
    """you return tokens; return the probabilities from which one is drawn"""


@mistake(
    points=4.5,
    computes=_at_zero(lambda logits, p: _law(logits, 1e-30, p)),
    also=(_at_zero(lambda logits, _: torch.full_like(logits, torch.nan)),),
)
def divides_by_zero():
    """at temperature 0 you divide by 0, or by next to nothing, which gives `nan` or lets equals
    share; there the first of the most probable tokens has the probability 1, without any
    division"""


@mistake(points=4.5, computes=_at_zero(lambda logits, p: reference(logits, 1.0, p)))
def takes_zero_for_no_temperature():
    """at temperature 0 you leave the logits as they are; there the most probable token has the
    probability 1"""


@mistake(
    points=4.5,
    computes=_at_zero(lambda logits, _: _over_sum((logits == logits.amax(-1, True)).to(logits))),
    also=(_at_zero(lambda logits, _: _greedy(logits.flip(-1)).flip(-1)),),
)
def shares_between_equals():
    """where several tokens have the largest logit, the first of them has everything at temperature
    0, as with `argmax`; in yours others have some of it, or all"""


@mistake(points=4.5)
def takes_powers_as_they_are(logits, temperature, top_p):
    """you take the powers of the logits as they are; at some hundreds they are more than a number
    can hold: `torch.softmax` takes the largest off first"""
    return _law(logits, temperature, top_p, heat=lambda x, t: _over_sum((x / t).exp()))


EXERCISE = Exercise(
    function="next_token_law",
    reference=reference,
    title="temperature and top-p",
    minutes=25,
    axes={"batch": 17, "vocab_size": 97},
    contract=Contract(
        batch=("logits",),
        any_axes=True,
        like=1,
        exempts={"cuts off": "a token is drawn from it, and nothing is learned through the draw"},
    ),
    checks=(
        Check(
            "`top_p` is 1: the softmax of the logits over the temperature",
            1,
            draw_logits,
            sizes=(
                {"batch": 3, "vocab_size": 7, "temperature": 0.5, "top_p": 1.0},
                {"vocab_size": 5, "temperature": 2.0, "top_p": 1.0},
            ),
            hidden_sizes=({"batch": 2, "vocab_size": 11, "temperature": 0.7, "top_p": 1.0},),
            easier=True,
        ),
        Check(
            "of these probabilities the largest that reach `top_p` together are left, as few as"
            " possible, at their places, and sum to 1",
            2,
            draw_logits,
            sizes=(
                {"batch": 5, "vocab_size": 11, "temperature": 0.7, "top_p": 0.8},
                {"batch": 2, "texts": 3, "vocab_size": 7, "temperature": 1.5, "top_p": 0.6},
            ),
            hidden_sizes=(
                {"batch": 7, "vocab_size": 13, "temperature": 1.3, "top_p": 0.9},
                {"vocab_size": 17, "temperature": 1.0, "top_p": 0.7},
            ),
        ),
        Check(
            "at temperature 0 the most probable token has everything, the first if there are"
            " several",
            0.5,
            draw_equal_logits,
            sizes=(
                {"batch": 2, "vocab_size": 7, "temperature": 0.0, "top_p": 0.9},
                {"batch": 2, "texts": 3, "vocab_size": 5, "temperature": 0.0, "top_p": 0.5},
            ),
            hidden_sizes=({"batch": 3, "vocab_size": 11, "temperature": 0.0, "top_p": 0.5},),
        ),
        Check(
            "logits may be in the hundreds, and one token may have more than `top_p`: it is left"
            " alone",
            0.5,
            draw_loud_logits,
            sizes=({"batch": 3, "vocab_size": 5, "temperature": 0.5, "top_p": 0.9},),
            hidden_sizes=({"batch": 5, "vocab_size": 11, "temperature": 0.7, "top_p": 0.8},),
        ),
        Check(
            "a sum that is `top_p` exactly is enough: of four equal tokens two are left at 0.5",
            0.5,
            draw_no_opinion,
            sizes=({"batch": 3, "temperature": 0.5, "top_p": 0.5},),
            hidden_sizes=({"batch": 2, "temperature": 2.0, "top_p": 0.75},),
            invariant=keeps_so_many,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "law.sort(-1, descending=True) -> law.sort(descending=True)": (
            "it sorts along the last axis unless another is named"
        ),
        "torch.zeros_like -> torch.ones_like (2)": (
            "the order holds every place, so that each is overwritten"
        ),
    },
)
