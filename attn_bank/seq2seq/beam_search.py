"""Part E of problem set 03: beam search, over a model that is a table of log-probabilities.

Every word of a table is as good as any other, so the draws are picked: in each of them the usual
mistakes lead to another sentence.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.seq2seq import FIRST_WORD
from attn_course import decoding
from attn_course.seq2seq import BOS, EOS, PAD, State

Result = tuple[list[int], float]
Answer = Callable[..., Result]


class Sentence(NamedTuple):
    """A sentence or its beginning, without BOS, and its log-probability."""

    words: list[int]
    total: float

    @property
    def has_ended(self) -> bool:
        return self.words[-1:] == [EOS]

    def score(self, length_power: float) -> float:
        return self.total / max(1, len(self.words)) ** length_power


Beam = list[Sentence]
NOTHING_SAID = Sentence([], 0.0)


class TableModel:
    """A table as a model: what it knows of a sentence is how many words it has."""

    def __init__(self, log_probability: Tensor) -> None:
        self.table = log_probability

    def start(self, source: Tensor) -> State:
        return (torch.zeros_like(source[:, 0]),)

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]:
        return self.table[state[0], token], (state[0] + 1,)


def reference(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
    model, source = TableModel(log_probability), torch.full((1, 1), EOS)
    found = decoding.beam_search(
        model, source.to(log_probability.device), len(log_probability), beam_width, length_power
    )
    words = [word for word in found.tokens[0, 0].tolist() if word != PAD]
    return words, found.score[0, 0].item()


def _longer(sentence: Sentence, rows: list[list[float]], impossible: bool = False) -> Beam:
    """The sentence with one more word, whichever the model allows, or any."""
    row = rows[sentence.words[-1] if sentence.words else BOS]
    return [
        Sentence([*sentence.words, word], sentence.total + p)
        for word, p in enumerate(row)
        if impossible or p > -math.inf
    ]


def _extend(beam: Beam, rows: list[list[float]]) -> Beam:
    """All that a beam can become; a sentence that has ended stays as it is."""
    return [new for old in beam for new in ([old] if old.has_ended else _longer(old, rows))]


def _most_probable(beam: Beam, number: int) -> Beam:
    return sorted(beam, key=lambda sentence: -sentence.total)[:number]


def _least_probable(beam: Beam, number: int) -> Beam:
    return sorted(beam, key=lambda sentence: sentence.total)[:number]


def _result(beam: Beam, length_power: float) -> Result:
    best = max(beam, key=lambda sentence: sentence.score(length_power))
    return best.words, best.score(length_power)


def search(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
    """Search as the reference does, without tensors, and therefore fast enough to draw by."""
    return _search(log_probability, beam_width, length_power)


def _search(
    log_probability: Tensor,
    beam_width: int,
    length_power: float,
    extend: Callable[[Beam, list[list[float]]], Beam] = _extend,
    prune: Callable[[Beam, int], Beam] = _most_probable,
) -> Result:
    beam = [NOTHING_SAID]
    for rows in log_probability.tolist():
        beam = prune(extend(beam, rows), beam_width)
    return _result(beam, length_power)


def draw_table(
    generator: Generator, steps: int, num_words: int, ends: bool | None, late: bool = False
) -> Tensor:
    """Draw a table (steps, vocab_size, vocab_size), with PAD and BOS impossible.

    If the sentences end, they do so by the last step; if not, none ever does. With None some end,
    and the table cuts the others off. If `late`, none ends before the last step.
    """
    vocab_size = FIRST_WORD + num_words
    logits = 1.5 * draw_normal(generator, steps, vocab_size, vocab_size)
    logits[..., [PAD, BOS]] = -torch.inf
    if ends:
        logits[-1, :, FIRST_WORD:] = -torch.inf
    elif ends is not None:
        logits[..., EOS] = -torch.inf
    if late:
        logits[:-1, :, EOS] = -torch.inf
    return logits.log_softmax(-1)


def draw_cut_off(generator: Generator, beam_width: int, mixed: int, **sizes: int) -> Inputs:
    """Greedy search misses what a wider beam finds, and what looking at all sentences finds.

    A table has no ends; or it is `mixed`, and one that is cut off wins over others that end with
    the last word, so that what is done with them on the way makes no difference.
    """
    wrong = (extends_each_by_its_best_word, greedy_whatever_the_width)
    wrong = wrong if beam_width > 1 else (keeps_all,)
    if not mixed:
        return _pick(generator, wrong, beam_width, 0.0, ends=False, **sizes)
    wrong = (*wrong, prefers_what_has_ended)
    return _pick(generator, wrong, beam_width, 0.0, ends=None, late=True, **sizes)


def draw_ending(generator: Generator, beam_width: int, other: int, **sizes: int) -> Inputs:
    """Everything depends on what is done with a sentence that has ended."""
    wrong = (
        OTHER_BEAMS[other],
        greedy_whatever_the_width,
        stops_when_anything_ends,
        loses_what_has_ended,
        goes_on_behind_the_end,
    )
    return _pick(generator, wrong, beam_width, 0.0, ends=True, **sizes)


def draw_lengths_that_matter(
    generator: Generator, beam_width: int, mixed: int, **sizes: int
) -> Inputs:
    """A wide beam, where the length decides at the end; or a narrow one, which it must not steer.

    In a `mixed` table one that has ended wins, but one that is cut off would if it were longer by
    a word. It makes no difference whether the beam shrinks.
    """
    wrong = (greedy_whatever_the_width, prunes_by_the_score)
    if mixed:
        wrong = (extends_each_by_its_best_word, counts_the_beginning_of_what_is_cut_off)
    elif beam_width >= WIDE:
        wrong = (
            greedy_whatever_the_width,
            ranks_by_the_total,
            stops_at_the_first_end,
            multiplies_by_the_power,
        )
    power = 0.5 + torch.rand((), generator=generator).item() / 2
    right = (shrinks_with_each_end,)
    ends = None if mixed else True
    return _pick(generator, wrong, beam_width, power, right, ends=ends, **sizes)


def _pick(
    generator: Generator,
    wrong: tuple[Answer, ...],
    beam_width: int,
    length_power: float,
    right: tuple[Answer, ...] = (),
    **sizes: int | None,
) -> Inputs:
    """A table for which all that is wrong comes to another sentence, and all that is right not."""
    while True:
        table = draw_table(generator, **sizes)
        inputs = {
            "log_probability": table,
            "beam_width": beam_width,
            "length_power": length_power,
        }
        words, _ = search(**inputs)
        if all((answer(**inputs)[0] == words) == (answer in right) for answer in (*wrong, *right)):
            return inputs


mistake = Mistakes()


@mistake
def greedy_whatever_the_width(log_probability, beam_width, length_power):
    """your result is what a beam of 1 finds: either you keep one beginning only, or you start with
    several copies of the same, which stay copies for ever"""
    return search(log_probability, 1, length_power)


@mistake
def keeps_all(log_probability, beam_width, length_power):
    """you look at every sentence that there is, and find the best of all; only the `beam_width`
    most probable beginnings may be kept, as a real vocabulary demands"""
    return search(log_probability, 10**9, length_power)


@mistake
def extends_each_by_its_best_word(log_probability, beam_width, length_power):
    """of several sentences that begin alike your beam keeps one, as where each beginning keeps its
    best extension alone; all extensions of all beginnings compete, and two of them may come from
    one beginning"""

    def extend(beam, rows):
        if beam == [NOTHING_SAID]:
            return _extend(beam, rows)
        return [_most_probable(_extend([old], rows), 1)[0] for old in beam]

    return _search(log_probability, beam_width, length_power, extend)


@mistake(points=2)
def frees_the_place_of_what_has_ended(log_probability, beam_width, length_power):
    """you set aside a sentence that has ended, and another beginning gets its place. There are beam
    searches like that, but here it keeps the place"""

    def prune(beam, number):
        new = sorted((s for s in beam if s not in aside), key=lambda sentence: -sentence.total)
        aside.extend(sentence for sentence in new[:number] if sentence.has_ended)
        return aside + [sentence for sentence in new if not sentence.has_ended][:number]

    aside = []
    return _search(log_probability, beam_width, length_power, prune=prune)


def _shrink_and_fill_up(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
    def prune(beam: Beam, number: int) -> Beam:
        new = _most_probable([s for s in beam if s not in aside], len(beam))
        aside.extend(sentence for sentence in new[:number] if sentence.has_ended)
        return aside + [s for s in new if not s.has_ended][: number - len(aside)]

    aside: Beam = []
    return _search(log_probability, beam_width, length_power, prune=prune)


@mistake(points=3.5, also=(_shrink_and_fill_up,))
def shrinks_with_each_end(log_probability, beam_width, length_power):
    """you set aside a sentence that has ended and make the beam narrower by one for good; here it
    keeps its place, and loses it when enough others are more probable"""

    def prune(beam, number):
        new = _most_probable([s for s in beam if s not in aside], number - len(aside))
        going_on = [sentence for sentence in new if not sentence.has_ended]
        aside.extend(sentence for sentence in new if sentence.has_ended)
        return aside + going_on

    aside = []
    return _search(log_probability, beam_width, length_power, prune=prune)


@mistake(points=2, also=(lambda **inputs: goes_on_behind_the_end(**inputs | {"length_power": 0}),))
def goes_on_behind_the_end(log_probability, beam_width, length_power):
    """you extend sentences behind their `EOS`; one that has ended stays as it is"""

    def extend(beam, rows):
        return [new for old in beam for new in _longer(old, rows)]

    return _search(log_probability, beam_width, length_power, extend)


@mistake(points=2)
def loses_what_has_ended(log_probability, beam_width, length_power):
    """a sentence that has ended drops out of your beam: it gets no more words, or ones that cost
    too much; keep it as it is, at no cost"""

    def extend(beam, rows):
        return [new for old in beam if not old.has_ended for new in _longer(old, rows)] or beam

    return _search(log_probability, beam_width, length_power, extend)


@mistake(points=2)
def stops_when_anything_ends(log_probability, beam_width, length_power):
    """you stop as soon as one sentence of the beam has ended; others may still overtake it, so go
    on to the last step"""

    def extend(beam, rows):
        return beam if any(s.has_ended for s in beam) else _extend(beam, rows)

    return _search(log_probability, beam_width, length_power, extend)


@mistake(points=3.5)
def stops_at_the_first_end(log_probability, beam_width, length_power):
    """you stop as soon as the most probable of the beam has ended. No other can become more
    probable, but a longer one can get a better score once the length counts"""

    def extend(beam, rows):
        return beam if beam[0].has_ended else _extend(beam, rows)

    return _search(log_probability, beam_width, length_power, extend)


@mistake(points=3.5)
def prunes_by_the_score(log_probability, beam_width, length_power):
    """you divide by the length at every step, when the beam is cut; cut it by the log-probability,
    and divide once, at the end"""

    def prune(beam, number):
        return sorted(beam, key=lambda sentence: -sentence.score(length_power))[:number]

    return _search(log_probability, beam_width, length_power, prune=prune)


@mistake(points=3.5)
def ranks_by_the_total(log_probability, beam_width, length_power):
    """the sentence with the highest log-probability wins in yours, and the length only divides its
    score; divide the log-probability of every sentence first, then choose"""
    words, total = search(log_probability, beam_width, 0.0)
    return words, Sentence(words, total).score(length_power)


@mistake(points=3.5)
def ignores_the_length(log_probability, beam_width, length_power):
    """you ignore `length_power`; divide each log-probability at the end by the length to this
    power"""
    return search(log_probability, beam_width, 0.0)


@mistake(points=3.5)
def multiplies_by_the_power(log_probability, beam_width, length_power):
    """you multiply by a power of the length, which makes long sentences worse still; divide"""
    return search(log_probability, beam_width, -length_power)


@mistake(points=3.5)
def returns_the_total(log_probability, beam_width, length_power):
    """you choose the right sentence and return its log-probability; return its score, the
    log-probability divided by the power of the length"""
    words, score = search(log_probability, beam_width, length_power)
    return words, score * len(words) ** length_power


@mistake(points=3.5)
def divides_by_the_number_of_steps(log_probability, beam_width, length_power):
    """you divide by the number of steps of the table; divide each sentence by its own length"""
    words, total = search(log_probability, beam_width, 0.0)
    return words, total / len(log_probability) ** length_power


@mistake(points=3.5, also=(lambda **inputs: _rank_by_length(**inputs, more=-1),))
def leaves_the_end_out_of_the_length(log_probability, beam_width, length_power):
    """your length leaves out `EOS`; it counts as a word, for it had to be predicted"""
    return _rank_by_length(log_probability, beam_width, length_power, 0, -1)


@mistake(slip=True, points=3.5)
def counts_the_beginning(log_probability, beam_width, length_power):
    """your length counts `BOS`, which nobody has predicted; it is one too large"""
    return _rank_by_length(log_probability, beam_width, length_power, 1)


@mistake(points=3.5)
def refuses_a_wide_beam(log_probability, beam_width, length_power):
    """`topk` fails when it is asked for more than there are; ask for the smaller of the two
    numbers"""

    def prune(beam, number):
        chosen = torch.tensor([sentence.total for sentence in beam]).topk(number)
        return [beam[index] for index in chosen.indices.tolist()]

    return _search(log_probability, beam_width, length_power, prune=prune)


@mistake(points=3)
def returns_only_what_has_ended(log_probability, beam_width, length_power):
    """you choose among the sentences that have ended only; where the table ends before them, those
    that were cut off count as well"""
    last = _last_beam(log_probability, beam_width, length_power)
    return _result([sentence for sentence in last if sentence.has_ended], length_power)


def _rank_by_length(
    log_probability: Tensor,
    beam_width: int,
    length_power: float,
    more: int,
    more_if_ended: int | None = None,
) -> Result:
    def score(sentence: Sentence) -> float:
        other = sentence.has_ended and more_if_ended is not None
        length = len(sentence.words) + (more_if_ended if other else more)
        return sentence.total / max(1, length) ** length_power

    return _rank(_last_beam(log_probability, beam_width, length_power), score)


def _rank(beam: Beam, score: Callable[[Sentence], float]) -> Result:
    best = max(beam, key=score)
    return best.words, score(best)


def _last_beam(log_probability: Tensor, beam_width: int, length_power: float) -> Beam:
    def prune(beam: Beam, number: int) -> Beam:
        last[:] = _most_probable(beam, number)
        return last

    last: Beam = []
    _search(log_probability, beam_width, length_power, prune=prune)
    return last


@mistake(points=3)
def prefers_what_has_ended(log_probability, beam_width, length_power):
    """you choose among the sentences that have ended as long as there is one; those that were cut
    off compete with them, and the best score of all wins"""
    last = _last_beam(log_probability, beam_width, length_power)
    return _result([sentence for sentence in last if sentence.has_ended] or last, length_power)


@mistake(points=3.5)
def counts_the_beginning_of_what_is_cut_off(log_probability, beam_width, length_power):
    """sentences that were cut off count one word too many (`BOS`, or an `EOS` that they do not
    have); the length of either kind is what has been predicted"""
    return _rank_by_length(log_probability, beam_width, length_power, 1, more_if_ended=0)


@mistake
def takes_the_first_table_always(log_probability, beam_width, length_power):
    """you take the table of the first step at every step; the one of step `t` is
    `log_probability[t]`"""
    return search(log_probability[:1].expand_as(log_probability), beam_width, length_power)


@mistake(slip=True)
def returns_the_beginning_as_well(log_probability, beam_width, length_power):
    """your sentence begins with `BOS`; return what has been predicted, from the first word on"""
    words, score = search(log_probability, beam_width, length_power)
    return [BOS, *words], score


@mistake(points=2)
def drops_the_end(log_probability, beam_width, length_power):
    """you take `EOS` off the end of the sentence; it belongs to it, and tells a sentence that has
    ended from one that was cut off"""
    words, score = search(log_probability, beam_width, length_power)
    return [word for word in words if word != EOS], score


@mistake
def returns_a_probability(log_probability, beam_width, length_power):
    """you return a probability; the score is a logarithm"""
    words, score = search(log_probability, beam_width, length_power)
    return words, math.exp(score)


OTHER_BEAMS = (frees_the_place_of_what_has_ended, shrinks_with_each_end)
# wide enough for all beginnings of the small tables that it is used with
WIDE = 50


@mistake(points=3.5)
def counts_the_beginning_and_prunes_by_the_score(log_probability, beam_width, length_power):
    """you divide by the length at every step, when the beam is cut, and your length counts `BOS`;
    cut the beam by the log-probability, and divide once, at the end, by the words behind `BOS`"""

    def score(sentence):
        return sentence.total / (len(sentence.words) + 1) ** length_power

    def prune(beam, number):
        last[:] = sorted(beam, key=score, reverse=True)[:number]
        return last

    last: Beam = []
    _search(log_probability, beam_width, length_power, prune=prune)
    return last[0].words, score(last[0])


def _raise_the_quotient(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
    beam = _last_beam(log_probability, beam_width, length_power)
    return _rank(beam, lambda s: (s.total / max(1, len(s.words))) ** length_power)


@mistake(also=(_raise_the_quotient,))
def multiplies_by_length_power(log_probability, beam_width, length_power):
    """you multiply by `length_power`, or raise the whole quotient to it; it is the power of the
    length alone"""
    beam = _last_beam(log_probability, beam_width, length_power)
    return _rank(beam, lambda s: s.total / max(1, len(s.words)) * length_power)


@mistake
def divides_by_the_length_itself(log_probability, beam_width, length_power):
    """you divide by the length whatever `length_power` is; divide by the length to this power"""
    return search(log_probability, beam_width, 1.0)


@mistake
def keeps_the_least_probable(log_probability, beam_width, length_power):
    """your beam keeps the beginnings with the lowest totals; sort the highest to the front"""
    return _search(log_probability, beam_width, length_power, prune=_least_probable)


def _find_what_is_impossible(columns: bool, ended_first: bool) -> Answer:
    def extend(beam: Beam, rows: list[list[float]]) -> Beam:
        order = sorted(beam, key=lambda s: not s.has_ended) if ended_first else beam
        longer = ([s] if s.has_ended else _longer(s, rows, impossible=True) for s in order)
        return [new for several in longer for new in several]

    def answer(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
        if columns:
            return _search(log_probability.mT, beam_width, length_power, extend)
        return _search(log_probability, beam_width, length_power, extend, _least_probable)

    return answer


_WAYS = ((False, True), (True, False), (True, True))


@mistake(
    computes=_find_what_is_impossible(columns=False, ended_first=False),
    also=tuple(_find_what_is_impossible(*ways) for ways in _WAYS),
)
def finds_what_is_impossible():
    """a sentence at minus infinity wins in yours: either your sort puts the lowest totals first,
    and lacks `reverse=True`, or you take the column of the last word, not its row, `table[word]`"""


@mistake
def returns_the_worst(log_probability, beam_width, length_power):
    """you return the sentence with the lowest score of the beam; the highest wins"""
    beam = _last_beam(log_probability, beam_width, length_power)
    worst = min(beam, key=lambda sentence: sentence.score(length_power))
    return worst.words, worst.score(length_power)


@mistake(
    computes=lambda log_probability, beam_width, length_power: search(
        log_probability.mT, beam_width, length_power
    )
)
def reads_the_columns():
    """you look up the next word in the row and the last one in the column; `[t, before, word]` has
    the last word first"""


@mistake(
    computes=lambda log_probability, beam_width, length_power: search(
        log_probability[:-1], beam_width, length_power
    ),
    points=1.5,
)
def stops_one_step_early():
    """you leave out the last step of the table"""


@mistake(points=3.5)
def takes_the_penalty_of_another_paper(log_probability, beam_width, length_power):
    """you divide by a power of `(5 + length) / 6`, as some translators do; here it is a power of
    the length itself"""
    beam = _last_beam(log_probability, beam_width, length_power)
    scores = [s.total / ((5 + len(s.words)) / 6) ** length_power for s in beam]
    best = scores.index(max(scores))
    return beam[best].words, scores[best]


@mistake
def returns_the_score_first(log_probability, beam_width, length_power):
    """you return the score first; the words come first, then their score"""
    words, score = search(log_probability, beam_width, length_power)
    return score, words


@mistake(computes=then(reference, lambda found: (torch.tensor(found[0]), found[1])))
def returns_a_tensor_of_words():
    """your words are a tensor; return a list of whole numbers, as `.tolist()` makes it"""


@mistake
def returns_the_words_alone(log_probability, beam_width, length_power):
    """you return the words without their score; return both"""
    return search(log_probability, beam_width, length_power)[0]


def _multiply(total: float, impossible: bool) -> Answer:
    """The logarithms along a sentence are multiplied, and this number is the first factor.

    Of equal scores the last words win. Impossible words are tried too, or not.
    """

    def answer(log_probability: Tensor, beam_width: int, length_power: float) -> Result:
        beam = [Sentence([], total)]
        for rows in log_probability.tolist():
            longer = [old for old in beam if old.has_ended]
            for old in beam:
                if not old.has_ended:
                    row = rows[old.words[-1] if old.words else BOS]
                    longer += [
                        Sentence([*old.words, word], old.total * p)
                        for word, p in enumerate(row)
                        if impossible or p > -math.inf
                    ]
            longer.sort(key=lambda sentence: sentence.total, reverse=True)
            beam = longer[:beam_width]
        score, words = max((one.score(length_power), one.words) for one in beam)
        return words, score

    return answer


@mistake(
    computes=_multiply(1.0, impossible=True),
    also=(_multiply(1.0, impossible=False), _multiply(0.0, impossible=False)),
)
def multiplies_the_logarithms():
    """you multiply logarithms along a sentence; probabilities are multiplied, and their logarithms
    added"""


@mistake(points=1.5)
def cuts_each_beginning_apart(log_probability, beam_width, length_power):
    """each beginning keeps extensions of its own, and your beam grows with every step; cut all
    extensions of all beginnings together, to the `beam_width` most probable"""

    def extend(beam, rows):
        return [new for old in beam for new in _most_probable(_extend([old], rows), beam_width)]

    return _search(log_probability, beam_width, length_power, extend, lambda beam, number: beam)


EXERCISE = Exercise(
    function="beam_search",
    reference=reference,
    title="beam search",
    minutes=30,
    axes={},  # each step may multiply what a wrong answer keeps
    contract=Contract(exempts={"fills with": "no possible sentence is so improbable"}),
    checks=(
        Check(
            "of all beginnings the most probable stay in the beam, as many as it is wide; a"
            " sentence that the table cuts off counts as well",
            1.5,
            draw_cut_off,
            sizes=(
                {"steps": 4, "num_words": 4, "beam_width": 1, "mixed": 0},
                {"steps": 5, "num_words": 3, "beam_width": 2, "mixed": 0},
                {"steps": 4, "num_words": 4, "beam_width": 4, "mixed": 1},
            ),
            hidden_sizes=(
                {"steps": 5, "num_words": 5, "beam_width": 3, "mixed": 0},
                {"steps": 7, "num_words": 2, "beam_width": 2, "mixed": 0},
                {"steps": 3, "num_words": 4, "beam_width": 4, "mixed": 1},
            ),
        ),
        Check(
            "a sentence that has ended keeps its place in the beam until something more probable"
            " takes it",
            1.5,
            draw_ending,
            sizes=(
                {"steps": 5, "num_words": 3, "beam_width": 2, "other": 0},
                {"steps": 5, "num_words": 3, "beam_width": 2, "other": 1},
            ),
            hidden_sizes=(
                {"steps": 5, "num_words": 4, "beam_width": 2, "other": 0},
                {"steps": 6, "num_words": 3, "beam_width": 3, "other": 1},
            ),
        ),
        Check(
            "at the end, and only then, the length decides as well; the beam may be wider than"
            " there are beginnings",
            1.5,
            draw_lengths_that_matter,
            sizes=(
                {"steps": 3, "num_words": 3, "beam_width": WIDE, "mixed": 0},
                {"steps": 5, "num_words": 3, "beam_width": 2, "mixed": 0},
                {"steps": 4, "num_words": 3, "beam_width": 4, "mixed": 1},
            ),
            hidden_sizes=(
                {"steps": 4, "num_words": 2, "beam_width": WIDE, "mixed": 0},
                {"steps": 6, "num_words": 2, "beam_width": 2, "mixed": 0},
                {"steps": 5, "num_words": 3, "beam_width": 3, "mixed": 1},
            ),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "log_probability.tolist() -> log_probability": (
            "a tensor can be read row by row as well, only more slowly"
        ),
    },
)
