"""Part E of problem set 01: how well colours guess the names of others, at each temperature."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Tensor

from attn_course.data.colours import load_colours

WORDS = ["red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "grey"]


def reference(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    return mean_squared_errors(torch.softmax(scores, dim=-1) @ value, truth)


def squared_distances(query: Tensor, key: Tensor) -> Tensor:
    return (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)


def mean_squared_errors(guesses: Tensor, truth: Tensor) -> Tensor:
    return (guesses - truth).square().sum(-1).mean(-1)


def one_hot(group: Tensor, groups: int) -> Tensor:
    return torch.nn.functional.one_hot(group, groups).double()


def draw_groups(
    generator: torch.Generator, query_len: int, key_len: int, d_key: int, groups: int
) -> Inputs:
    """Keys in overlapping groups, values that name the group; temperatures in any order."""
    group = torch.arange(query_len + key_len) % groups
    centre, noise = torch.randn(2, len(group), d_key, generator=generator, dtype=torch.float64)
    points, words = 1.5 * centre[group] + noise, one_hot(group, groups)
    order = torch.randperm(3, generator=generator)
    return {
        "query": points[:query_len],
        "truth": words[:query_len],
        "key": points[query_len:],
        "value": words[query_len:],
        "temperatures": torch.tensor([0.5, 4, 32], dtype=torch.float64)[order],
    }


def draw_colours(generator: torch.Generator, query_len: int, key_len: int) -> Inputs:
    """Colours whose name ends in a word of `WORDS`: some are asked, others are the table."""
    names, rgb = load_colours()
    last = [name.split()[-1] for name in names]
    found = torch.tensor([index for index, word in enumerate(last) if word in WORDS])
    found = found[torch.randperm(len(found), generator=generator)[: query_len + key_len]]
    word = torch.tensor([WORDS.index(last[index]) for index in found])
    return {
        "query": rgb[found[:query_len]].double(),
        "truth": one_hot(word[:query_len], len(WORDS)),
        "key": rgb[found[query_len:]].double(),
        "value": one_hot(word[query_len:], len(WORDS)),
        "temperatures": torch.tensor([1, 30, 1000, 30000], dtype=torch.float64),
    }


mistake = Mistakes()


@mistake(points=3, right="your formula is right")
def rounds_to_nothing(query, truth, key, value, temperatures):
    """the squared distances of colours are in the thousands: at temperature 1 the powers of all
    rows round to 0, and 0 over 0 is `nan`. Use a softmax that subtracts the maximum, as in part
    A"""
    raised = torch.exp(-squared_distances(query, key) / temperatures[:, None, None])
    return mean_squared_errors(raised / raised.sum(-1, keepdim=True) @ value, truth)


@mistake(points=2)
def writes_out_three_coordinates(query, truth, key, value, temperatures):
    """you wrote out three coordinates, as colours have them; other tables have other numbers: sum
    over the last axis, however long it is"""
    return reference(query[:, [0, 1, 2]], truth, key[:, [0, 1, 2]], value, temperatures)


@mistake
def takes_the_nearest_key(query, truth, key, value, temperatures):
    """you let the nearest row guess alone, so your error is the same at every temperature: let all
    rows vote, by a softmax of their scores"""
    nearest = squared_distances(query, key).argmin(-1)
    return mean_squared_errors(value[nearest].expand(len(temperatures), -1, -1), truth)


@mistake
def forgets_the_square(query, truth, key, value, temperatures):
    """you scored by distance; the temperature here divides the squared distance"""
    scores = -squared_distances(query, key).sqrt() / temperatures[:, None, None]
    return mean_squared_errors(torch.softmax(scores, dim=-1) @ value, truth)


@mistake
def prefers_what_is_far(query, truth, key, value, temperatures):
    """the rows that are far away have your highest scores: the score is minus the squared
    distance"""
    scores = squared_distances(query, key) / temperatures[:, None, None]
    return mean_squared_errors(torch.softmax(scores, dim=-1) @ value, truth)


@mistake(computes=given(reference, temperatures=lambda temperatures: 1 / temperatures))
def multiplies_by_the_temperature():
    """you multiplied the scores by the temperature; divide"""


def _divided_by_255(colours: Tensor) -> Tensor:
    return colours / 255


@mistake(computes=given(reference, query=_divided_by_255, key=_divided_by_255))
def divides_the_colours():
    """you divided query and key by 255, as the chapter does; here they are compared as they are,
    and the temperatures are larger for it"""


@mistake
def scores_by_dot_product(query, truth, key, value, temperatures):
    """you scored by the dot product, by which a bright colour is close to everything: score by
    minus the squared distance"""
    scores = query @ key.mT / temperatures[:, None, None]
    return mean_squared_errors(torch.softmax(scores, dim=-1) @ value, truth)


@mistake
def normalises_over_the_queries(query, truth, key, value, temperatures):
    """your weights sum to 1 over the queries; the votes on one query should, so take the softmax
    over the keys, the last axis of the scores"""
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    return mean_squared_errors(torch.softmax(scores, dim=-2) @ value, truth)


@mistake
def counts_wrong_words(query, truth, key, value, temperatures):
    """you counted the queries whose first guess is wrong. The squared error asks for more: how sure
    the guess was, and that is what changes with the temperature"""
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    guesses = torch.softmax(scores, dim=-1) @ value
    return (guesses.argmax(-1) != truth.argmax(-1)).to(key.dtype).mean(-1)


@mistake
def takes_absolute_errors(query, truth, key, value, temperatures):
    """you summed the sizes of the differences; sum their squares"""
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    return (torch.softmax(scores, dim=-1) @ value - truth).abs().sum(-1).mean(-1)


@mistake
def averages_over_the_words(query, truth, key, value, temperatures):
    """you took the mean over the numbers of a value as well: sum the squares over them, then take
    the mean over the queries"""
    return reference(query, truth, key, value, temperatures) / value.shape[-1]


@mistake
def exchanges_the_mean_and_the_sum(query, truth, key, value, temperatures):
    """you took the mean over the numbers of a value and the sum over the queries: sum over the
    numbers of a value, and take the mean over the queries"""
    return reference(query, truth, key, value, temperatures) * len(query) / value.shape[-1]


def _divide_by_277(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    return reference(query, truth, key, value, temperatures) * len(query) / 277


@mistake(also=(_divide_by_277,))
def divides_by_the_number_of_keys(query, truth, key, value, temperatures):
    """you divide by another number than the number of queries, such as the number of keys; for the
    colours both are 277, elsewhere not: take the mean over the queries"""
    return reference(query, truth, key, value, temperatures) * len(query) / len(key)


@mistake
def sums_over_the_queries(query, truth, key, value, temperatures):
    """your errors grow with the number of queries: take the mean over them, not the sum"""
    return reference(query, truth, key, value, temperatures) * len(query)


@mistake(computes=then(reference, torch.sqrt))
def takes_the_root():
    """you took the root of the mean at the end: leave it out"""


@mistake(computes=given(reference, temperatures=lambda temperatures: temperatures[:1]))
def stops_at_the_first_temperature():
    """you return the error of the first temperature only: `temperatures` holds several, and each
    has an error"""


@mistake(computes=then(reference, torch.min))
def returns_the_smallest_error():
    """you return the smallest error; return the errors of all temperatures, in their order"""


@mistake
def lets_each_guess_decide(query, truth, key, value, temperatures):
    """you turn each guess into its most likely word before you compare; compare the shares
    themselves, by which a guess shows its doubt"""
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    guesses = torch.softmax(scores, dim=-1) @ value
    return mean_squared_errors(one_hot(guesses.argmax(-1), value.shape[-1]).to(value), truth)


@mistake
def takes_the_length_of_the_error(query, truth, key, value, temperatures):
    """you take the length of the difference, as `norm` does; the error is its square, the sum of
    the squared differences without a root"""
    scores = -squared_distances(query, key) / temperatures[:, None, None]
    return (torch.softmax(scores, dim=-1) @ value - truth).norm(dim=-1).mean(-1)


@mistake(computes=given(reference, temperatures=lambda temperatures: 2 * temperatures))
def divides_by_twice_the_temperature():
    """you divide by twice the temperature, as a Gaussian kernel does by twice the square of its
    width; here the squared distance is divided by the temperature itself"""


def _errors_by(
    query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
) -> Tensor:
    """The squared error of each query at each temperature."""
    squared = squared_distances(query, key)
    guesses = torch.softmax(-squared / temperatures[:, None, None], -1) @ value
    return (guesses - truth).square().sum(-1)


@mistake(computes=lambda **inputs: _errors_by(**inputs))
def keeps_the_queries_apart():
    """you return the error of each query; take the mean over them"""


@mistake(computes=lambda **inputs: _errors_by(**inputs).mean(0))
def averages_over_the_temperatures():
    """you take the mean over the temperatures; take it over the queries"""


@mistake(computes=lambda **inputs: _errors_by(**inputs).mean())
def makes_one_number_of_all():
    """you return one number; each temperature has an error of its own"""


@mistake(
    computes=lambda **inputs: _errors_by(**inputs).amax(-1),
    also=(lambda **inputs: _errors_by(**inputs).median(-1).values,),
)
def takes_no_mean_over_the_queries():
    """you take the largest or the median of the errors; it is their mean over the queries"""


@mistake
def divides_by_twice_the_square(query, truth, key, value, temperatures):
    """you divide by twice the square of the temperature, as if it were a width; divide by the
    temperature"""
    return _errors_by(query, truth, key, value, 2 * temperatures**2).mean(-1)


@mistake
def averages_the_features(query, truth, key, value, temperatures):
    """you take the mean over the numbers of a key for a squared distance; it is the sum"""
    return _errors_by(query, truth, key, value, temperatures * key.shape[-1]).mean(-1)


@mistake(points=2)
def sorts_the_temperatures(query, truth, key, value, temperatures):
    """you sort the temperatures; the errors are wanted in the order in which they were given"""
    return _errors_by(query, truth, key, value, temperatures.sort().values).mean(-1)


@mistake
def asks_the_table(query, truth, key, value, temperatures):
    """you ask about the table and look it up in the queries; it is the other way round"""
    return _errors_by(key, value, query, truth, temperatures).mean(-1)


@mistake
def takes_the_logarithm(query, truth, key, value, temperatures):
    """you take minus the logarithm of the share of the true word; the squared error is asked"""
    squared = squared_distances(query, key)
    guesses = torch.softmax(-squared / temperatures[:, None, None], -1) @ value
    return -(truth * (guesses + 1e-9).log()).sum(-1).mean(-1)


@mistake
def looks_at_the_true_word_alone(query, truth, key, value, temperatures):
    """you count the error at the true word alone; what the guess gives to other words counts too"""
    squared = squared_distances(query, key)
    guesses = torch.softmax(-squared / temperatures[:, None, None], -1) @ value
    return (guesses * truth - truth).square().sum(-1).mean(-1)


@mistake
def counts_right_words(query, truth, key, value, temperatures):
    """you count how often the word with the largest share is right; the squared error is asked"""
    return 1 - counts_wrong_words(query, truth, key, value, temperatures)


@mistake(points=3)
def guesses_nothing_where_all_underflows(query, truth, key, value, temperatures):
    """where all powers round to 0 your guess is 0 for every word; the nearest key decides there:
    take the softmax of the scores"""
    powers = torch.exp(-squared_distances(query, key) / temperatures[:, None, None])
    guesses = (powers @ value / powers.sum(-1, keepdim=True)).nan_to_num()
    return mean_squared_errors(guesses, truth)


def _with_a_floor(floor: float, adds: bool) -> Callable[..., Tensor]:
    """Powers are divided by their sum and a tiny number, or by that if the sum is less."""

    def answer(
        query: Tensor, truth: Tensor, key: Tensor, value: Tensor, temperatures: Tensor
    ) -> Tensor:
        powers = torch.exp(-squared_distances(query, key) / temperatures[:, None, None])
        total = powers.sum(-1, keepdim=True)
        total = total + floor if adds else total.clamp(min=floor)
        return mean_squared_errors(powers @ value / total, truth)

    return answer


_FLOORS = [
    _with_a_floor(10.0**-digits, adds) for digits in (12, 10, 9, 8, 6) for adds in (True, False)
]


@mistake(computes=_FLOORS[0], also=(*_FLOORS[1:],))
def keeps_the_sum_from_zero_by_a_tiny_number():
    """you add a tiny number to the sum of the powers, or let it fall no lower: where all powers
    underflow, the shares of a guess then sum to less than 1, or are all 0. Take a softmax of the
    scores, which subtracts the largest first"""


@mistake(computes=then(reference, lambda errors: errors[0]))
def returns_inside_the_loop():
    """you return one number, the error of the first temperature: does your `return` stand inside
    the loop? There is an error for each temperature"""


EXERCISE = Exercise(
    function="guess_errors",
    reference=reference,
    title="let colours guess each other's names",
    minutes=30,
    avoid=("attention", "estimators"),
    may_use=(
        "attn_course.retrieval.attend",
        "attn_course.retrieval.distance_scores",
        "attn_course.retrieval.masked_softmax",
    ),
    axes={},  # it reads hundreds of colours as it is
    contract=Contract(
        batch=("temperatures",),
        exempts={"cuts off": "what it returns is read, and nothing is learned through it"},
    ),
    checks=(
        Check(
            "the error of the guesses is right at every temperature",
            2.5,
            draw_groups,
            sizes=(
                {"query_len": 3, "key_len": 5, "d_key": 7, "groups": 2},
                {"query_len": 7, "key_len": 11, "d_key": 2, "groups": 3},
            ),
            hidden_sizes=(
                {"query_len": 5, "key_len": 17, "d_key": 3, "groups": 4},
                {"query_len": 13, "key_len": 7, "d_key": 1, "groups": 2},
            ),
            tolerance=1024,
        ),
        Check(
            "the colours give it too, at temperatures from 1 to 30000",
            2,
            draw_colours,
            sizes=({"query_len": 277, "key_len": 277},),
            hidden_sizes=({"query_len": 101, "key_len": 211},),
            tolerance=1024,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "-1 -> 1 (3)": "what the mean is taken of has two axes, temperatures and queries",
    },
)
