"""Part C of problem set 14: how many pairs a state gives back, and how many a softmax does."""

from collections.abc import Callable

import torch
from hintgrader.exercise import (
    Check,
    Contract,
    Exercise,
    Inputs,
    Mistakes,
    given,
    then,
)
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal

Shares = tuple[float, float]
Memory = Callable[[Tensor, Tensor, float], Tensor]  # what it answers to all keys
Judge = Callable[[Tensor, Tensor], Tensor]  # from answers and values to what is recalled
TOLERANCE = 1e10  # a share may be a float32, and the next share is thousandths away
MARGIN = 1e-6  # by which one value is nearer than the next, so that rounding decides nothing


def reference(key: Tensor, value: Tensor, sharpness: float) -> Shares:
    return _shares(key, value, sharpness)


def _from_state(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return key @ (key.mT @ value)


def _from_softmax(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return torch.softmax(sharpness * key @ key.mT, -1) @ value


def _distances(answers: Tensor, value: Tensor) -> Tensor:
    """A table with a row for each answer and a column for each value of its trial."""
    return (answers.unsqueeze(-2) - value.unsqueeze(-3)).square().sum(-1)


def _is_nearest(answers: Tensor, value: Tensor) -> Tensor:
    return _are_own(_distances(answers, value).argmin(-1))


def _are_own(places: Tensor) -> Tensor:
    return places == torch.arange(places.shape[-1])


def _shares(
    key: Tensor,
    value: Tensor,
    sharpness: float,
    *,
    state: Memory = _from_state,
    softmax: Memory = _from_softmax,
    judge: Judge = _is_nearest,
) -> Shares:
    """Both shares, in one of many ways: right is what the arguments are if none is given."""
    answers = (memory(key, value, sharpness) for memory in (state, softmax))
    one, other = (judge(answer, value).double().mean().item() for answer in answers)
    return one, other


def _judging(judge: Judge) -> Callable[..., Shares]:
    """The same with another way to say what is recalled."""

    def answer(key: Tensor, value: Tensor, sharpness: float) -> Shares:
        return _shares(key, value, sharpness, judge=judge)

    return answer


def _remembering(
    state: Memory = _from_state, softmax: Memory = _from_softmax
) -> Callable[..., Shares]:
    """The same with another memory."""

    def answer(key: Tensor, value: Tensor, sharpness: float) -> Shares:
        return _shares(key, value, sharpness, state=state, softmax=softmax)

    return answer


def draw_pairs(
    generator: Generator, trials: int, num_pairs: int, d_key: int, d_value: int, sharpness: int
) -> Inputs:
    """Keys of length 1 and values; drawn again where a tie could go either way."""
    key = functional.normalize(draw_normal(generator, trials, num_pairs, d_key), dim=-1)
    value = draw_normal(generator, trials, num_pairs, d_value)
    inputs = {"key": key, "value": value, "sharpness": float(sharpness)}
    for memory in (_from_state, _from_softmax):
        nearest = _distances(memory(**inputs), value).sort(-1).values
        if num_pairs > 1 and (nearest[..., 1] - nearest[..., 0]).min() < MARGIN:
            return draw_pairs(generator, trials, num_pairs, d_key, d_value, sharpness)
    return inputs


mistake = Mistakes()


@mistake(computes=_judging(lambda answers, value: torch.ones_like(answers[..., 0])))
def recalls_everything():
    """every pair is recalled in yours, by both memories; it is each answer that is compared with
    the values, and not a value or a key with itself"""


@mistake(
    computes=_judging(lambda answers, value: _are_own((answers @ value.mT).argmax(-1))),
)
def compares_dot_products():
    """you take the value with the largest dot product, which favours long values; take the nearest
    one, by its distance from the answer"""


def _cosines(answers: Tensor, value: Tensor) -> Tensor:
    return functional.normalize(answers, dim=-1) @ functional.normalize(value, dim=-1).mT


@mistake(computes=_judging(lambda answers, value: _are_own(_cosines(answers, value).argmax(-1))))
def compares_directions():
    """you take the value whose direction is nearest, as a cosine does; an answer too long or too
    short is no good either: take the distance itself"""


@mistake(
    computes=_judging(
        lambda answers, value: _are_own(
            (answers.unsqueeze(-2) - value.unsqueeze(-3)).abs().sum(-1).argmin(-1)
        )
    )
)
def adds_up_sizes():
    """you add up the sizes of the differences; the distance is the root of the sum of their
    squares"""


@mistake(computes=_judging(lambda answers, value: _are_own(_distances(answers, value).argmin(-2))))
def asks_which_answer_is_nearest():
    """you look for the nearest answer to each value; look for the nearest value to each answer"""


@mistake(computes=_judging(lambda answers, value: _are_own(_distances(answers, value).argmax(-1))))
def takes_the_farthest():
    """you take the value that is farthest from the answer; take the nearest one"""


def _among_all(answers: Tensor, value: Tensor) -> Tensor:
    return _are_own(_distances(answers.flatten(0, -2), value.flatten(0, -2)).argmin(-1))


@mistake(computes=_judging(_among_all))
def looks_among_all_trials():
    """you look for the nearest value among those of all trials; each trial has its own pairs"""


def _is_close(answers: Tensor, value: Tensor) -> Tensor:
    return torch.isclose(answers, value, rtol=0.1, atol=0.1).all(-1)


def _is_equal(answers: Tensor, value: Tensor) -> Tensor:
    return torch.isclose(answers, value).all(-1)


@mistake(
    computes=_judging(_is_close),
    also=(
        _judging(_is_equal),
        _judging(lambda answers, value: (answers - value).norm(dim=-1) < 0.1),
        _judging(lambda answers, value: (answers - value).norm(dim=-1) < 0.5),
        _judging(lambda answers, value: (answers - value).norm(dim=-1) < 1),
        _judging(lambda answers, value: _is_nearest(answers, value).all(-1)),
    ),
)
def asks_for_more():
    """you ask for more than that a pair's own value is the nearest, such as how close it is, or
    that all pairs of a trial are recalled; it counts if no other value is nearer, however far away
    it is"""


@mistake(
    computes=then(reference, lambda shares: tuple(1 - share for share in shares)),
)
def counts_what_is_lost():
    """you count the pairs that are lost; count those that are recalled"""


@mistake(computes=then(reference, lambda shares: shares[::-1]))
def returns_them_the_other_way_round():
    """you return the softmax's share first; the state's comes first"""


def _as_doubles(shares: Shares) -> Tensor:
    return torch.tensor(shares, dtype=torch.float64)


@mistake(computes=then(reference, torch.tensor), also=(then(reference, _as_doubles),))
def returns_one_tensor():
    """you return one tensor of two numbers; return the two of them: `return of_state,
    of_softmax`"""


@mistake(also=(lambda key, value, sharpness: _counted(key, value, sharpness, len(key)),))
def counts_pairs(key, value, sharpness):
    """you return how many pairs are recalled; return their share of all pairs, from 0 to 1"""
    return _counted(key, value, sharpness, 1)


def _counted(key: Tensor, value: Tensor, sharpness: float, trials: int) -> Shares:
    one, other = reference(key, value, sharpness)
    number = key.shape[:-1].numel() / trials
    return one * number, other * number


@mistake
def keeps_trials_apart(key, value, sharpness):
    """you return a share for each trial; take the mean over all pairs of all trials, so that two
    numbers are left"""
    answers = (memory(key, value, sharpness) for memory in (_from_state, _from_softmax))
    return tuple(_is_nearest(answer, value).to(value).mean(-1) for answer in answers)


@mistake(computes=given(reference, key=lambda key: key[:1], value=lambda value: value[:1]))
def looks_at_the_first_trial():
    """your shares are those of the first trial; take all of them"""


def _one_state(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return key @ (key.mT @ value).sum(0)


@mistake(computes=_remembering(_one_state))
def writes_all_trials_into_one_state():
    """you write the pairs of all trials into one state; each trial has a state of its own: `key.mT
    @ value`"""


def _mean_state(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return _from_state(key, value, sharpness) / key.shape[-2]


def _over_scores(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return _from_state(key, value, sharpness) / (key @ key.mT).sum(-1, keepdim=True)


def _over_sizes(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return _from_state(key, value, sharpness) / (key @ key.mT).abs().sum(-1, keepdim=True)


def _sharp_state(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return sharpness * _from_state(key, value, sharpness)


@mistake(
    computes=_remembering(_mean_state),
    also=(_remembering(_over_scores), _remembering(_over_sizes), _remembering(_sharp_state)),
)
def scales_the_answers_of_the_state():
    """what your state answers is divided or multiplied by something, such as the number of pairs;
    it is a plain sum of what the pairs have written, and its answer is taken as it is"""


def _so_far(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return (key @ key.mT).tril() @ value


def _softmax_so_far(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    scores = sharpness * key @ key.mT
    later = torch.ones_like(scores).triu(1).bool()
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ value


@mistake(
    computes=_remembering(_so_far),
    also=(
        _remembering(_so_far, _softmax_so_far),
        _remembering(softmax=_softmax_so_far),
        _remembering(lambda key, value, _: (key @ key.mT).tril(-1) @ value),
    ),
)
def asks_while_it_writes():
    """you ask for each pair as soon as it is written; write all pairs first, and then ask for all
    of them"""


def _without_itself(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    scores = sharpness * key @ key.mT
    itself = torch.eye(key.shape[-2], dtype=torch.bool)
    return scores.masked_fill(itself, -torch.inf).softmax(-1) @ value


def _state_without_itself(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return _from_state(key, value, sharpness) - value


@mistake(
    computes=_remembering(softmax=_without_itself),
    also=(
        _remembering(_state_without_itself),
        _remembering(_state_without_itself, _without_itself),
    ),
)
def leaves_the_pair_out():
    """one of your memories, or each of them, answers without the pair that is asked for; it is
    among those that were written"""


def _from_the_best(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    best = (key @ key.mT).argmax(-1, keepdim=True)
    return value.take_along_dim(best, -2)


@mistake(points=1, computes=_remembering(softmax=_from_the_best))
def takes_the_best_key_alone():
    """your second memory answers with the value of one key alone, the most similar one; a softmax
    mixes the values of all keys, by its weights"""


@mistake(
    computes=_remembering(softmax=lambda k, v, sharpness: _from_softmax(k, v, 1.0)),
    also=(_remembering(softmax=lambda k, v, sharpness: sharpness * _from_softmax(k, v, 1.0)),),
)
def forgets_the_sharpness():
    """your softmax is of the plain dot products; multiply them by `sharpness`, before the softmax
    is taken"""


@mistake(computes=_remembering(softmax=lambda k, v, sharpness: _from_softmax(k, v, 1 / sharpness)))
def divides_by_the_sharpness():
    """you divide the dot products by `sharpness`; multiply them by it"""


@mistake(
    points=1,
    computes=_remembering(
        softmax=lambda k, v, sharpness: _from_softmax(k, v, sharpness / k.shape[-1] ** 0.5)
    ),
)
def divides_by_the_root():
    """you divide the scores of the softmax by the root of the width too; `sharpness` is all that
    they are multiplied by"""


def _by_distance(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return torch.softmax(-sharpness * _distances(key, key).sqrt(), -1) @ value


def _by_squared_distance(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return torch.softmax(-sharpness * _distances(key, key), -1) @ value


@mistake(
    points=1,
    computes=_remembering(softmax=_by_distance),
    also=(_remembering(softmax=_by_squared_distance),),
)
def weighs_by_distances():
    """your softmax is of the distances of the keys; take their dot products times `sharpness`"""


def _over_questions(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return torch.softmax(sharpness * key @ key.mT, -2) @ value


@mistake(points=1, computes=_remembering(softmax=_over_questions))
def normalises_over_the_questions():
    """your weights sum to 1 over the keys that ask; for each of them they sum to 1 over the keys
    that are kept, the last axis"""


def _over_trials(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return torch.softmax(sharpness * key @ key.mT, 0) @ value


@mistake(computes=_remembering(softmax=_over_trials))
def normalises_over_the_trials():
    """your softmax runs over the trials; it runs over the keys that are kept, the last axis"""


def _overflowing(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    powers = torch.exp(sharpness * key @ key.mT)
    return powers / powers.sum(-1, keepdim=True) @ value


@mistake(points=2, computes=_remembering(softmax=_overflowing))
def overflows():
    """`exp` of a large score is infinite, and infinity over infinity is `nan`; torch's own
    `softmax` subtracts the largest score first"""


def _with_features(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    features = functional.elu(key) + 1
    return features @ (features.mT @ value)


def _attend_with_features(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    features = functional.elu(key) + 1
    return _with_features(key, value, sharpness) / (features @ features.mT).sum(-1, keepdim=True)


@mistake(
    computes=_remembering(_with_features),
    also=(_remembering(_attend_with_features),),
)
def takes_features():
    """your state has features of the keys, `elu(key) + 1`, as in part A; keys are taken as they are
    here, and nothing is divided"""


def _corrected(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    state = torch.zeros(*key.shape[:-2], key.shape[-1], value.shape[-1]).to(value)
    for place in range(key.shape[-2]):
        k, v = key[..., place : place + 1, :], value[..., place : place + 1, :]
        state = state + k.mT @ (v - k @ state)
    return key @ state


@mistake(computes=_remembering(_corrected))
def writes_by_the_delta_rule():
    """your state is written by the delta rule of part B; here each pair is added as it is, `key.mT
    @ value`"""


@mistake(computes=_remembering(_from_softmax), also=(_remembering(softmax=_from_state),))
def measures_one_memory_twice():
    """your two shares are those of one memory; the first is the state's, the second the
    softmax's"""


def _plain_scores(key: Tensor, value: Tensor, sharpness: float) -> Tensor:
    return sharpness * _from_state(key, value, sharpness)


@mistake(computes=_remembering(softmax=_plain_scores))
def takes_no_softmax():
    """your second answers are sums by the scores themselves; take a softmax of them first"""


_SMALL = {"d_key": 5, "d_value": 7}

EXERCISE = Exercise(
    function="recall",
    reference=reference,
    title="how many pairs a state gives back",
    minutes=30,
    axes={"trials": 17, "num_pairs": 43},
    avoid=("attention",),
    contract=Contract(batch=("key", "value")),
    checks=(
        Check(
            "the share of all pairs that a state gives back, and the share that a softmax gives"
            " back: its own value is the nearest one to the answer",
            1.5,
            draw_pairs,
            sizes=(
                {"trials": 3, "num_pairs": 11, **_SMALL, "sharpness": 3},
                {"trials": 1, "num_pairs": 23, "d_key": 7, "d_value": 3, "sharpness": 5},
                {"trials": 5, "num_pairs": 13, "d_key": 7, "d_value": 5, "sharpness": 2},
            ),
            hidden_sizes=(
                {"trials": 5, "num_pairs": 17, "d_key": 7, "d_value": 5, "sharpness": 4},
                {"trials": 2, "num_pairs": 19, "d_key": 5, "d_value": 11, "sharpness": 3},
            ),
            dtype=torch.float64,
            tolerance=TOLERANCE,
        ),
        Check(
            "with a sharpness in the thousands, where the softmax has all of its weight on one key,"
            " there is no `nan`",
            1,
            draw_pairs,
            sizes=({"trials": 3, "num_pairs": 29, **_SMALL, "sharpness": 4000},),
            hidden_sizes=({"trials": 2, "num_pairs": 31, **_SMALL, "sharpness": 5000},),
            dtype=torch.float64,
            tolerance=TOLERANCE,
        ),
    ),
    mistakes=mistake.collected,
)
