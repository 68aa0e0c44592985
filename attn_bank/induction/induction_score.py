"""Part A of problem set 12: how far a head looks at what followed last time."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal


def reference(weights: Tensor, tokens: Tensor) -> Tensor:
    return _mean(*_found(weights, _wanted(tokens)))


def _wanted(tokens: Tensor, shift: int = 1) -> Tensor:
    """True where the token `shift` places before a key is the query's, (batch, query, key)."""
    return _same(tokens).roll(shift, -1) & _at_least(tokens, shift) & _behind(tokens)


def _same(tokens: Tensor) -> Tensor:
    return tokens.unsqueeze(-1) == tokens.unsqueeze(-2)


def _at_least(tokens: Tensor, least: int) -> Tensor:
    place = torch.arange(tokens.shape[-1])
    return (place >= least) & (place < tokens.shape[-1] + min(least, 0))


def _behind(tokens: Tensor, reach: int = 0) -> Tensor:
    """True where a key is not after the query, or ends `reach` places beyond it."""
    length = tokens.shape[-1]
    return torch.ones(length, length, dtype=torch.bool).tril(reach)


def _found(weights: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """The weight of each query on wanted keys, and which queries have one."""
    return (weights * wanted.unsqueeze(1)).sum(-1), wanted.any(-1)


def _mean(found: Tensor, counts: Tensor) -> Tensor:
    """Over the queries that count, for each head."""
    return (found * counts.unsqueeze(1)).sum((0, 2)) / counts.sum()


def draw_weights(
    generator: Generator, tokens: Tensor, num_heads: int, sharpness: float = 1.5
) -> Inputs:
    batch, length = tokens.shape
    scores = sharpness * draw_normal(generator, batch, num_heads, length, length)
    weights = scores.masked_fill(~_behind(tokens), -torch.inf).softmax(-1)
    return {"weights": weights, "tokens": tokens}


def draw_repeats(generator: Generator, batch: int, num_heads: int, length: int) -> Inputs:
    """Different tokens, which come a second time in the same order."""
    once = torch.stack([torch.randperm(2 * length, generator=generator) for _ in range(batch)])
    return draw_weights(generator, once[:, :length].repeat(1, 2), num_heads)


def draw_texts(
    generator: Generator, batch: int, num_heads: int, length: int, apart: int = 2
) -> Inputs:
    """Each text has more tokens to choose from than the one before; like ones lie `apart`.

    Every third query looks at itself alone.
    """
    tokens = torch.empty(batch, length, dtype=torch.long)
    for row, text in enumerate(tokens):
        kinds = 3 + 2 * row
        for place in range(length):
            last = text[max(0, place - apart + 1) : place].tolist()
            left = [kind for kind in range(kinds) if kind not in last]
            text[place] = left[int(torch.randint(len(left), (), generator=generator))]
    inputs = draw_weights(generator, tokens, num_heads)
    inputs["weights"][..., ::3, :] = torch.eye(length)[::3]
    return inputs


def draw_doubles(generator: Generator, batch: int, num_heads: int, length: int) -> Inputs:
    """Some tokens stand twice or three times side by side."""
    inputs = draw_texts(generator, batch, num_heads, length, apart=1)
    inputs["tokens"][:, 3] = inputs["tokens"][:, 2] = inputs["tokens"][:, 1]
    inputs["tokens"][:, -1] = inputs["tokens"][:, -2]
    return inputs


def _looking(wanted: Callable[[Tensor], Tensor]) -> Answer:
    """The mean weight on other keys, over the queries that have any."""

    def answer(weights: Tensor, tokens: Tensor) -> Tensor:
        return _mean(*_found(weights, wanted(tokens)))

    return answer


def _same_queries(wanted: Callable[[Tensor], Tensor]) -> Answer:
    """Likewise, over the queries that count in the right answer."""

    def answer(weights: Tensor, tokens: Tensor) -> Tensor:
        found, _ = _found(weights, wanted(tokens))
        return _mean(found, _wanted(tokens).any(-1))

    return answer


def _earlier(tokens: Tensor) -> Tensor:
    return _same(tokens) & _behind(tokens, -1)


mistake = Mistakes()


@mistake(
    computes=_looking(_earlier),
    also=(
        _looking(lambda tokens: _same(tokens) & _behind(tokens)),
        _same_queries(lambda tokens: _same(tokens) & _behind(tokens)),
        _looking(lambda tokens: _same(tokens) & _behind(tokens) & _at_least(tokens, -1)),
    ),
)
def looks_at_the_token_itself():
    """you count the weight on tokens that are the query's own; the weight on the token after each
    of those is asked, one key further on"""


@mistake(
    computes=_looking(partial(_wanted, shift=2)),
    also=(_same_queries(partial(_wanted, shift=2)),),
)
def looks_two_places_on():
    """you count the weight two places after earlier tokens like the query's; one place after them
    is asked"""


def _before_the_same(tokens: Tensor, reach: int = -2) -> Tensor:
    """True where the token after a key is the query's, and by `reach` an earlier one."""
    return _wanted(tokens, -1) & _behind(tokens, reach)


@mistake(
    computes=_looking(_before_the_same),
    also=(
        _same_queries(_before_the_same),
        _looking(partial(_wanted, shift=-1)),
        _same_queries(partial(_wanted, shift=-1)),
    ),
)
def looks_at_the_token_before():
    """you count the weight on the token before each earlier one like the query's; the token after
    it is asked"""


def _like_the_one_before(tokens: Tensor, reach: int = -1) -> Tensor:
    """True where a key is like the token before the query."""
    same = (_same(tokens) & _behind(tokens, reach)).roll(1, -2)
    return same & _at_least(tokens, 1).unsqueeze(-1)


@mistake(
    computes=_looking(_like_the_one_before),
    also=(_looking(partial(_like_the_one_before, reach=0)), _same_queries(_like_the_one_before)),
)
def shifts_the_queries():
    """you count the weight on tokens like the one before the query; the weight on the tokens that
    came after those like the query itself is asked"""


def _comes_next(tokens: Tensor) -> Tensor:
    """True where a key is the token that follows the query."""
    return (_same(tokens).roll(-1, -2) & _behind(tokens)) & _at_least(tokens, -1).unsqueeze(-1)


@mistake(computes=_looking(_comes_next), also=(_same_queries(_comes_next),))
def looks_for_what_comes_next():
    """you count the weight on keys that are the token after the query; a head has not seen that
    yet. It is asked what followed earlier tokens that are the query's own, whatever comes now"""


def _after_the_same_pair(tokens: Tensor) -> Tensor:
    return _wanted(tokens) & _comes_next(tokens)


@mistake(
    computes=_looking(_after_the_same_pair),
    also=(_same_queries(_after_the_same_pair),),
)
def asks_that_it_comes_again():
    """you count a key only if the next token is the same as the key's, that is, where the text
    repeats itself; the token after each earlier one is asked, whatever comes now"""


def _after_itself_too(tokens: Tensor) -> Tensor:
    return _same(tokens).roll(1, -1) & _at_least(tokens, 1)


def _over_repeated(weights: Tensor, tokens: Tensor) -> Tensor:
    """Over the queries whose token stands a second time anywhere in the text."""
    found, _ = _found(weights, _wanted(tokens))
    return _mean(found, _same(tokens).sum(-1) > 1)


@mistake(
    also=(
        _over_repeated,
        _looking(_after_itself_too),
        _looking(lambda tokens: _after_itself_too(tokens) & _behind(tokens, 1)),
    ),
)
def averages_over_all_queries(weights, tokens):
    """queries whose token has not occurred before count in your mean, as a 0; they have nothing to
    look at, so leave them out of the number by which you divide"""
    return _found(weights, _wanted(tokens))[0].mean((0, 2))


@mistake
def averages_over_all_but_the_first(weights, tokens):
    """you divide by all queries but one of each text; every query whose token has not occurred
    before is left out, and no other"""
    found, _ = _found(weights, _wanted(tokens))
    return found.sum((0, 2)) / (len(tokens) * (tokens.shape[-1] - 1))


@mistake(
    computes=_looking(lambda tokens: _same(tokens).roll(1, -1) & _behind(tokens)),
)
def comes_round_at_the_end():
    """your shift by one brings the last column to the front: the first key follows no token, so it
    is never one of those asked, and the last query does not count for it"""


def _same_of_earlier(tokens: Tensor) -> Tensor:
    """Likewise, without the last key, and the query itself counts."""
    return _same(tokens).roll(1, -1) & _behind(tokens) & (torch.arange(tokens.shape[-1]) > 1)


@mistake(computes=_looking(_same_of_earlier))
def leaves_the_second_key_out():
    """you leave out the key at position 1, which follows the first token; only the key at position
    0 follows none"""


@mistake
def leaves_the_last_query_out(weights, tokens):
    """you leave out the last query of each text; it counts like all others if its token has
    occurred before"""
    found, counts = _found(weights[..., :-1, :], _wanted(tokens)[:, :-1])
    return _mean(found, counts)


@mistake(points=0.5)
def averages_over_pairs(weights, tokens):
    """you take the mean over all pairs of a query and a key that fit; where several keys fit one
    query, their weights are added up, and the mean is over the queries"""
    wanted = _wanted(tokens)
    return (weights * wanted.unsqueeze(1)).sum((0, 2, 3)) / wanted.sum()


@mistake(points=0.5)
def averages_over_the_keys(weights, tokens):
    """you average the weights of the keys that fit a query; they are added up, since a head may
    share its weight out among them"""
    wanted = _wanted(tokens)
    found, counts = _found(weights, wanted)
    return _mean(found / wanted.sum(-1).clamp_min(1).unsqueeze(1), counts)


@mistake(points=0.5)
def takes_the_largest_weight(weights, tokens):
    """you take the largest weight among the keys that fit a query; add up all of them"""
    wanted = _wanted(tokens)
    return _mean((weights * wanted.unsqueeze(1)).amax(-1), wanted.any(-1))


def _last(tokens: Tensor) -> Tensor:
    wanted = _wanted(tokens)
    return wanted & (wanted.flip(-1).cumsum(-1).flip(-1) == 1)


def _first(tokens: Tensor) -> Tensor:
    wanted = _wanted(tokens)
    return wanted & (wanted.cumsum(-1) == 1)


@mistake(points=0.5, computes=_looking(_last))
def knows_the_last_time_only():
    """you count the weight on what followed the latest earlier token alone; all earlier tokens like
    the query's count"""


@mistake(points=0.5, computes=_looking(_first))
def knows_the_first_time_only():
    """you count the weight on what followed the first such token alone; all earlier tokens like the
    query's count"""


def _diagonal(back: int) -> Answer:
    def answer(weights: Tensor, tokens: Tensor) -> Tensor:
        half = tokens.shape[-1] // 2
        return weights.diagonal(back - half, -2, -1).mean((0, -1))

    return answer


def _second_half(weights: Tensor, tokens: Tensor) -> Tensor:
    half = tokens.shape[-1] // 2
    return weights.diagonal(1 - half, -2, -1)[..., 1:].mean((0, -1))


@mistake(
    points=0.5,
    computes=_second_half,
    also=(_diagonal(1), _diagonal(0), _diagonal(2)),
)
def reads_a_diagonal():
    """you read the weights at one fixed distance, which says something only if the text is one half
    that comes twice; look where the tokens are the same, at any distance"""


@mistake
def looks_one_place_back(weights, tokens):
    """you take the weight on the token right before the query, which is the previous-token score;
    compare the tokens"""
    return weights.diagonal(-1, -2, -1).mean((0, -1))


@mistake(computes=given(reference, weights=lambda weights: weights.mT))
def exchanges_queries_and_keys():
    """you take the rows of the weights for keys and the columns for queries; a row belongs to a
    query: `weights[b, h, query, key]`"""


@mistake
def adds_all_up(weights, tokens):
    """you add up the weight over all queries; divide by the number of those that count"""
    return _found(weights, _wanted(tokens))[0].sum((0, 2))


def _by_the_length(weights: Tensor, tokens: Tensor) -> Tensor:
    return averages_over_all_queries(weights, tokens) * len(tokens)


@mistake(points=0.5, also=(_by_the_length,))
def averages_text_by_text(weights, tokens):
    """you take a mean for each text, and then put these together; a text with few queries that
    count then counts as much as one with many. Take one mean over all queries of the batch"""
    found, counts = _found(weights, _wanted(tokens))
    each = (found * counts.unsqueeze(1)).sum(-1) / counts.sum(-1, keepdim=True).clamp_min(1)
    return each.mean(0)


@mistake
def keeps_the_texts_apart(weights, tokens):
    """you return the scores of every text, `(batch, num_heads)`; one number for each head is asked,
    from all texts together"""
    found, counts = _found(weights, _wanted(tokens))
    return (found * counts.unsqueeze(1)).sum(-1) / counts.sum(-1, keepdim=True).clamp_min(1)


def _one_number_of_each(weights: Tensor, tokens: Tensor) -> Tensor:
    return reference(weights, tokens).mean().expand(weights.shape[1])


@mistake(computes=then(reference, torch.mean), also=(_one_number_of_each,))
def mixes_the_heads():
    """you make one number of all heads; each head has its own score"""


@mistake(
    computes=given(reference, weights=lambda weights: weights[:1], tokens=lambda texts: texts[:1])
)
def scores_the_first_text_only():
    """you score the first text alone; the mean is over the queries of all of them"""


@mistake(
    points=0.5,
    computes=given(reference, tokens=lambda texts: texts[:1].expand_as(texts)),
)
def reads_the_first_tokens_for_all():
    """you compare the tokens of the first text for all texts; each text has tokens of its own"""


@mistake
def counts_how_often_it_is_largest(weights, tokens):
    """you count how often the largest weight of a query lies on a key that fits; how much weight
    lies there is asked"""
    wanted = _wanted(tokens)
    best = weights.argmax(-1, keepdim=True)
    hit = wanted.unsqueeze(1).expand(weights.shape).gather(-1, best)[..., 0]
    return _mean(hit.to(weights.dtype), wanted.any(-1))


def _not_itself(tokens: Tensor) -> Tensor:
    return _wanted(tokens) & _behind(tokens, -1)


@mistake(computes=_looking(_not_itself), also=(_same_queries(_not_itself),), points=2.5)
def leaves_the_query_out():
    """you leave out the query itself as a key; where a token stands twice side by side, the second
    is what followed the first, and the weight on itself counts"""


@mistake(points=0.5)
def counts_queries_with_some_weight(weights, tokens):
    """you leave out queries whose weight there is 0; they count, as 0, if their token has stood
    before"""
    found, _ = _found(weights, _wanted(tokens))
    looks = found > 0
    return (found * looks).sum((0, 2)) / looks.sum((0, 2))


EXERCISE = Exercise(
    function="induction_score",
    reference=reference,
    title="measure how far a head looks at what came next last time",
    minutes=25,
    axes={"batch": 17, "length": 41},
    contract=Contract(
        like=1,
        exempts={"cuts off": "the score is read, and nothing is learned through it"},
    ),
    checks=(
        Check(
            "of texts that are different tokens twice over: the mean weight on what followed a"
            " query's token the first time",
            0.5,
            draw_repeats,
            sizes=({"batch": 2, "num_heads": 3, "length": 5},),
            hidden_sizes=({"batch": 3, "num_heads": 2, "length": 4},),
            easier=True,
        ),
        Check(
            "of any texts: the weights on what followed all earlier tokens like the query's, added"
            " up; their mean over the queries that have such tokens, one number for each head",
            1.5,
            draw_texts,
            sizes=(
                {"batch": 3, "num_heads": 2, "length": 11},
                {"batch": 1, "num_heads": 1, "length": 7},
                {"batch": 2, "num_heads": 2, "length": 13},
            ),
            hidden_sizes=({"batch": 4, "num_heads": 3, "length": 9},),
        ),
        Check(
            "where a token stands twice side by side, the second of them is what followed the"
            " first",
            0.5,
            draw_doubles,
            sizes=({"batch": 2, "num_heads": 3, "length": 9},),
            hidden_sizes=({"batch": 3, "num_heads": 2, "length": 11},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "found.transpose(0, 1) -> found.transpose(1, 0)": "the same two axes change places",
        "-1 -> 1 (5)": "of the heads and the queries that count, the last axis is axis 1",
    },
)
