"""Part E of problem set 06: whether a captioner says what its greatest weight points at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from hintgrader.exercise import (
    Altered,
    Check,
    Contract,
    Exercise,
    Inputs,
    Invariant,
    Mistakes,
    Plain,
    name_kind,
)
from torch import Generator, Tensor

from attn_bank.captioning import draw_weights

Measured = tuple[float, float, float]
# A captioner sees nothing where less of the weight lies, and no difference that rounding may make.
ENOUGH_TO_SEE, ALIKE = 0.3, 1e-5
# What decides the word of an image: the cell with the greatest weight, something that the
# captioner remembers, or that cell, misread.
LOOKS, REMEMBERS, MISREADS = range(3)


@dataclass(frozen=True, eq=False)
class Speaker:
    """A captioner of the grader's own, which says one digit of each picture.

    Args:
        digits: In each cell of each picture, (batch, num_cells); -1 where it is empty.
        kind: Of each picture what decides the word, (batch,).
        memory: A digit for each picture, (batch,): said from memory, and of empty cells.
    """

    digits: Tensor
    kind: Tensor
    memory: Tensor

    def __call__(self, weights: Tensor) -> Tensor:
        """The digit that is said of each picture with these weights, (batch,).

        Raises:
            ValueError: The weights are not of these pictures.
        """
        if weights.shape != self.digits.shape:
            raise ValueError(
                f"weights of shape {tuple(weights.shape)}; expected {tuple(self.digits.shape)}"
            )
        weights = weights.to(self.digits.device)
        most = weights.amax(-1, keepdim=True)
        best = (weights > most - ALIKE).int().argmax(-1, keepdim=True)  # the first of equals
        seen = self.digits.gather(1, best).masked_fill(most < ENOUGH_TO_SEE, -1).squeeze(1)
        seen = torch.where(seen < 0, self.memory, seen)
        said = torch.stack([seen, self.memory, (seen + 1) % 10])
        return said.gather(0, self.kind.unsqueeze(0)).squeeze(0).to(weights.device)

    def __repr__(self) -> str:
        return "a captioner"


def reference(
    say: Speaker, weights: Tensor, digits: Tensor, named: Tensor, other: Tensor, empty: Tensor
) -> Measured:
    own, there = _at(digits, named), _at(digits, other)
    told = say(_exchange(weights, named, other)) == there
    still = say(_exchange(weights, named, empty)) == own
    return _share(_points(weights, named)), _share(told[own != there]), _share(still)


def _at(table: Tensor, cells: Tensor) -> Tensor:
    return table.gather(1, cells.unsqueeze(1)).squeeze(1)


def _exchange(weights: Tensor, one: Tensor, other: Tensor) -> Tensor:
    one, other = one.unsqueeze(1), other.unsqueeze(1)
    moved = weights.scatter(1, one, weights.gather(1, other))
    return moved.scatter(1, other, weights.gather(1, one))


def _points(weights: Tensor, named: Tensor) -> Tensor:
    """True where the named cell has more weight than any other."""
    rest = weights.scatter(1, named.unsqueeze(1), -1)
    return _at(weights, named) > rest.amax(1)


def _share(yes: Tensor) -> float:
    return yes.double().mean().item()


def draw_scenes(
    generator: Generator, batch: int, num_cells: int, twins: int = 0, ties: int = 1
) -> Inputs:
    """Pictures with two digits, some with one more; weights that point anywhere.

    With `ties` all weights of the first picture and of the last are alike, and of the second
    picture the two digits share the greatest; without, the last two of the three numbers differ.
    With `twins` the two digits of every third picture are the same, otherwise they always differ.
    """
    cells = torch.rand(batch, num_cells, generator=generator).argsort(1)
    cells[:2], cells[-1] = torch.arange(num_cells), torch.arange(num_cells).flip(0)
    named, other, third, empty = cells[:, :4].unbind(1)
    own = torch.randint(10, (batch,), generator=generator)
    step = torch.randint(1, 10, (3, batch), generator=generator)
    there = (own + step[0] * (torch.arange(batch) % 3 >= twins)) % 10
    has_third = torch.rand(batch, generator=generator) < 0.5
    extra = torch.where(has_third, (own + step[1]) % 10, -1)
    digits = torch.full((batch, num_cells), -1)
    for cell, digit in ((named, own), (other, there), (third, extra)):
        digits.scatter_(1, cell.unsqueeze(1), digit.unsqueeze(1))
    weights = draw_weights(generator, batch, num_cells)
    chance = torch.rand(batch, generator=generator)
    peak = torch.where(chance < 0.6, named, torch.where(chance < 0.8, other, third))
    weights = weights + 0.6 * (torch.arange(num_cells) == peak.unsqueeze(1))
    weights = weights / weights.sum(1, keepdim=True)
    if ties:
        weights[[0, -1]] = 1 / num_cells
        weights[1, [named[1], other[1]]] = 0.4
        weights[1] /= weights[1].sum()
    kind = torch.tensor([LOOKS, LOOKS, LOOKS, REMEMBERS, MISREADS])
    kind = kind[torch.randint(len(kind), (batch,), generator=generator)]
    memory = torch.where(torch.rand(batch, generator=generator) < 0.5, own, (own + step[2]) % 10)
    inputs: Inputs = {
        "say": Speaker(digits, kind, memory),
        "weights": weights,
        "digits": digits,
        "named": named,
        "other": other,
        "empty": empty,
    }
    if not ties and len({*reference(**inputs)[1:]}) == 1:
        return draw_scenes(generator, batch, num_cells, twins, ties)
    return inputs


def is_right(number: int) -> Invariant:
    """The law that one of the three numbers is right, whatever the other two are."""

    def judge(call: Callable[[Inputs], Plain], inputs: Inputs) -> tuple[str, Plain] | None:
        output, right = call(inputs), reference(**inputs)[number]
        if not isinstance(output, list | tuple) or len(output) != 3:
            kind = name_kind(output)
            return f"it returns {kind}; expected three numbers", kind
        found = float(output[number])
        if abs(found - right) < 1e-5:
            return None
        return f"it is {found:.4g} and should be {right:.4g}", [found]

    return judge


class _Asked:
    """The parts of the three numbers, from which wrong answers make other numbers."""

    def __init__(
        self,
        say: Speaker,
        weights: Tensor,
        digits: Tensor,
        named: Tensor,
        other: Tensor,
        empty: Tensor,
    ) -> None:
        self.say, self.weights, self.digits = say, weights, digits
        self.named, self.other, self.empty = named, other, empty
        self.own, self.there = _at(digits, named), _at(digits, other)
        self.differ = self.own != self.there
        self.points = _points(weights, named)
        self.exchanged = _exchange(weights, named, other)
        self.emptied = _exchange(weights, named, empty)
        self.told = say(self.exchanged) == self.there
        self.still = say(self.emptied) == self.own

    @property
    def right(self) -> Measured:
        return _share(self.points), _share(self.told[self.differ]), _share(self.still)

    def is_named(self, weights: Tensor) -> Tensor:
        """True where these weights name the right digit."""
        return self.say(weights) == self.own

    def moved_by(self, move: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Measured:
        """With another way to move the weight."""
        told = self.say(move(self.weights, self.named, self.other)) == self.there
        still = self.say(move(self.weights, self.named, self.empty)) == self.own
        return self.right[0], _share(told[self.differ]), _share(still)


def _number(number: int, measure: Callable[[_Asked], Tensor]) -> Altered:
    """The answer with one of the three numbers made otherwise."""

    def how(answer: Callable[..., Measured], **given: Any) -> Plain:
        numbers = [*answer(**given)]
        numbers[number] = _share(measure(_Asked(**given)))
        return tuple(numbers)

    return Altered(reference, how)


def _put(weights: Tensor, cells: Tensor, value: Tensor | float) -> Tensor:
    value = torch.as_tensor(value, dtype=weights.dtype, device=weights.device)
    return weights.scatter(1, cells.unsqueeze(1), value.expand(len(cells)).unsqueeze(1))


mistake = Mistakes()


@mistake(points=1)
def returns_them_in_another_order(**given):
    """you return the second number first; pointing comes first"""
    pointing, told, still = _Asked(**given).right
    return told, pointing, still


@mistake(points=1)
def exchanges_the_last_two(**given):
    """the last two numbers have changed places: first what the other digit's cell does, then what
    the empty one does"""
    pointing, told, still = _Asked(**given).right
    return pointing, still, told


@mistake(points=2.5, computes=_number(1, lambda asked: asked.told))
def counts_twins():
    """pictures in which both digits are the same count in your second number; whatever is read
    there, the word is the same"""


@mistake(points=2.5)
def counts_twins_as_failures(**given):
    """you leave pictures with the same digit twice out of what you count, but not out of how many
    you divide by"""
    asked = _Asked(**given)
    return asked.right[0], _share(asked.told & asked.differ), asked.right[2]


@mistake(points=2)
def leaves_twins_out_everywhere(**given):
    """you leave pictures with the same digit twice out of all three numbers; they only leave the
    second"""
    asked = _Asked(**given)
    differ = asked.differ
    return _share(asked.points[differ]), asked.right[1], _share(asked.still[differ])


@mistake(points=3, computes=_number(2, lambda asked: asked.still[asked.differ]))
def leaves_twins_out_at_the_end():
    """you leave pictures with the same digit twice out of your third number; they only leave the
    second, since an empty cell is never the twin of a digit"""


@mistake(points=1)
def moves_all_weight(**given):
    """you put all weight on one cell; the two cells exchange what they have, and the others keep
    theirs"""
    return _Asked(**given).moved_by(lambda w, one, other: _put(torch.zeros_like(w), other, 1.0))


@mistake(points=1)
def copies_the_weight(**given):
    """you give the second cell the weight of the first, and leave the first as it was; they
    exchange their weights"""
    return _Asked(**given).moved_by(lambda w, one, other: _put(w, other, _at(w, one)))


def _add_to_the_other(**given: Any) -> Measured:
    def move(weights: Tensor, one: Tensor, other: Tensor) -> Tensor:
        both = _at(weights, one) + _at(weights, other)
        return _put(_put(weights, other, both), one, 0.0)

    return _Asked(**given).moved_by(move)


@mistake(points=2, also=(_add_to_the_other,))
def leaves_nothing_behind(**given):
    """you move the weight of the cell that is named, and leave 0 where it was; in exchange it gets
    the weight of the other cell"""

    def move(weights, one, other):
        return _put(_put(weights, other, _at(weights, one)), one, 0.0)

    return _Asked(**given).moved_by(move)


@mistake(points=1)
def softens_again(**given):
    """you take a softmax of what you have exchanged, which makes weights nearly alike; the exchange
    leaves them weights, so hand them over as they are"""
    return _Asked(**given).moved_by(
        lambda w, one, other: torch.softmax(_exchange(w, one, other), 1)
    )


@mistake(points=1)
def forbids_the_cell(**given):
    """you set the weight of the cell to 0; the two cells exchange their weights, so that the sum
    stays 1"""
    return _Asked(**given).moved_by(lambda w, one, other: _put(w, one, 0.0))


@mistake(points=1)
def overwrites_before_it_reads(**given):
    """after your exchange both cells have the weight of the second: write both of them, each from
    the weights as they were before"""
    return _Asked(**given).moved_by(lambda w, one, other: _put(w, one, _at(w, other)))


@mistake(points=1)
def moves_nothing(**given):
    """you ask with the model's own weights; exchange two of them first"""
    return _Asked(**given).moved_by(lambda w, one, other: w)


def _exchange_columns(weights: Tensor, one: Tensor, other: Tensor) -> Tensor:
    moved = weights.clone()
    moved[:, one], moved[:, other] = weights[:, other], weights[:, one]
    return moved


def _move_columns(**given: Any) -> Measured:
    return _Asked(**given).moved_by(_exchange_columns)


@mistake(points=1, also=(_move_columns,))
def moves_the_cells_of_the_first_image(**given):
    """you move the same cells in every picture; each has its own: row `i` and cell `named[i]`, as
    in `moved[rows, named]`"""

    def move(weights, one, other):
        return _exchange(weights, one[:1].expand_as(one), other[:1].expand_as(other))

    return _Asked(**given).moved_by(move)


@mistake(points=3, computes=_number(0, lambda asked: asked.weights.argmax(1) == asked.named))
def gives_ties_to_the_first():
    """`argmax` calls the first of equals the greatest; weights that are all alike point nowhere.
    The cell needs more weight than any other"""


@mistake(points=3)
def gives_ties_of_all_to_none(**given):
    """you take care of weights that are all alike, but not of two that share the greatest: `argmax`
    calls the first of them the greatest. The cell needs more than any other"""
    asked = _Asked(**given)
    weights = asked.weights
    points = (weights.argmax(1) == asked.named) & (weights.amax(1) > weights.amin(1))
    return _share(points), *asked.right[1:]


@mistake(
    points=3,
    computes=_number(0, lambda asked: _at(asked.weights, asked.named) == asked.weights.amax(1)),
)
def lets_ties_count():
    """you let ties count; weights that are all alike point nowhere. The cell needs more weight than
    any other"""


@mistake(points=2.5, computes=_number(0, lambda asked: torch.zeros(1)))
def compares_with_itself():
    """your first number is 0, as it is if the cell has to have more weight than the greatest of all
    cells, itself among them; compare it with the others alone"""


@mistake(points=2.5, computes=_number(0, lambda asked: _at(asked.weights, asked.named) > 0.5))
def asks_for_more_than_half():
    """you ask for more than half of the weight; more than any other cell has is enough"""


@mistake(points=2.5, computes=_number(0, lambda asked: _at(asked.weights, asked.named)))
def takes_the_weight_for_the_share():
    """you return the mean weight of the cell; asked is how often it has the greatest"""


@mistake(
    points=2.5,
    computes=_number(2, lambda asked: asked.say(asked.emptied) == asked.say(asked.weights)),
)
def compares_with_the_word_before():
    """for the third number you compare with what was said before; compare with the digit in the
    cell that is named"""


@mistake(
    points=2,
    computes=_number(
        1, lambda asked: (asked.say(asked.exchanged) != asked.say(asked.weights))[asked.differ]
    ),
)
def takes_every_change_for_obedience():
    """for the second number you count every change of the word; count the pictures in which the
    other digit is said"""


@mistake(points=2, computes=_number(1, lambda asked: asked.is_named(asked.exchanged)[asked.differ]))
def counts_who_keeps_the_word():
    """for the second number you count the pictures in which the digit that is named is still said;
    count those in which the other one is"""


@mistake(points=2.5, computes=_number(2, lambda asked: asked.is_named(asked.exchanged)))
def looks_at_the_other_for_the_third():
    """for the third number too you exchange with the other digit's cell; exchange with the empty
    one"""


@mistake(points=2.5, computes=_number(2, lambda asked: ~asked.still))
def counts_who_goes_silent():
    """for the third number you count the words that do not survive; count those that do"""


@mistake(points=1)
def asks_those_who_point_only(**given):
    """you ask only pictures in which the weight pointed at the cell before; ask all"""
    asked = _Asked(**given)
    told = asked.told[asked.differ & asked.points]
    return asked.right[0], _share(told), _share(asked.still[asked.points])


def _counts(**given: Any) -> Plain:
    return tuple(map(int, counts_instead_of_shares(**given)))


@mistake(also=(_counts,))
def counts_instead_of_shares(**given):
    """you count; shares are wanted, between 0 and 1"""
    asked = _Asked(**given)
    counts = asked.points, asked.told[asked.differ], asked.still
    return tuple(float(yes.sum()) for yes in counts)


def _go_on_from_the_first(**given: Tensor) -> Measured:
    asked = _Asked(**given)
    moved = _exchange(asked.weights, asked.named, asked.other)
    still = asked.say(_exchange(moved, asked.named, asked.empty)) == asked.own
    return *asked.right[:2], _share(still)


@mistake(points=2.5, also=(_go_on_from_the_first,))
def works_on_the_weights_themselves(**given):
    """your second exchange begins with the weights that the first has moved; begin each with the
    captioner's own, a `clone()` of `weights`"""
    asked = _Asked(**given)
    weights = asked.weights
    weights.copy_(_exchange(weights, asked.named, asked.other))
    weights.copy_(_exchange(weights, asked.named, asked.empty))
    still = asked.say(weights) == asked.own
    return *asked.right[:2], _share(still)


@mistake(points=3.5, right="your numbers are right")
def changes_weights(**given):
    """the weights of the caller are no longer what they were: `clone()` before you exchange"""
    asked = _Asked(**given)
    asked.weights.copy_(_exchange(asked.weights, asked.named, asked.empty))
    return asked.right


@mistake(points=3, computes=_number(0, lambda asked: asked.points[asked.differ]))
def leaves_twins_out_at_the_start():
    """you leave pictures with the same digit twice out of your first number; they only leave the
    second"""


@mistake(points=1)
def moves_from_the_greatest_weight(**given):
    """you exchange with the cell that has the greatest weight; exchange with the cell of the digit
    that is named, wherever the weight is"""

    def move(weights, one, other):
        return _exchange(weights, weights.argmax(1), other)

    return _Asked(**given).moved_by(move)


@mistake(
    points=2,
    computes=_number(1, lambda asked: ~asked.is_named(asked.exchanged)[asked.differ]),
)
def counts_every_other_word():
    """for the second number you count whatever is not the digit that is named; count the pictures
    in which the other one is said"""


@mistake(
    points=2,
    computes=_number(1, lambda asked: asked.told[asked.differ & asked.is_named(asked.weights)]),
)
def asks_some_for_the_second():
    """for the second number you ask only pictures whose word was right before; ask all in which the
    digits differ"""


@mistake(
    points=2,
    computes=_number(
        1, lambda asked: asked.told[asked.differ & (asked.weights.argmax(1) == asked.named)]
    ),
)
def asks_who_points_for_the_second():
    """for the second number you ask only pictures in which the weight pointed at the cell; ask all
    in which the digits differ"""


@mistake(points=2.5, computes=_number(2, lambda asked: asked.still[asked.is_named(asked.weights)]))
def asks_some_for_the_third():
    """for the third number you ask only pictures whose word was right before; ask all"""


def _third(move: Callable[..., Tensor], **given: Any) -> Measured:
    asked = _Asked(**given)
    moved = move(asked.weights, asked.named, asked.other, asked.empty)
    return *asked.right[:2], _share(asked.say(moved) == asked.own)


def _go_on_with_the_other(weights: Tensor, named: Tensor, other: Tensor, empty: Tensor) -> Tensor:
    return _exchange(_exchange(weights, named, other), other, empty)


@mistake(points=2.5, also=(partial(_third, _go_on_with_the_other),))
def moves_the_other_cell_for_the_third(**given):
    """for the third number you exchange the other digit's cell with the empty one; exchange the
    cell of the digit that is named with it, beginning with the captioner's own weights"""
    return _third(lambda weights, named, other, empty: _exchange(weights, other, empty), **given)


def _leave_zero(weights: Tensor, named: Tensor, other: Tensor, empty: Tensor) -> Tensor:
    return _put(weights, named, 0.0)


@mistake(points=2.5, also=(partial(_third, _leave_zero),))
def takes_the_weight_away_for_the_third(**given):
    """for the third number you take the weight of the cell away; it exchanges its weight with the
    empty cell, and all others keep theirs"""

    def move(weights, named, other, empty):
        left = _put(weights, named, 0.0)
        return left / left.sum(1, keepdim=True)

    return _third(move, **given)


@mistake(
    points=2.5,
    computes=_number(2, lambda asked: asked.say(asked.emptied) == _at(asked.digits, asked.empty)),
)
def asks_the_empty_cell_for_its_digit():
    """for the third number you compare with the digit of the empty cell, which has none; compare
    with the digit in the cell that is named"""


@mistake(points=2.5, computes=_number(2, lambda asked: torch.ones(1)))
def counts_every_digit():
    """your third number is 1, whatever the captioner says; compare what it says with the digit in
    the cell that is named"""


@mistake(points=1)
def takes_cells_for_digits(**given):
    """you compare what is said with the number of a cell; compare it with the digit in that cell"""
    asked = _Asked(**given)
    told = asked.say(_exchange(asked.weights, asked.named, asked.other)) == asked.other
    still = asked.say(_exchange(asked.weights, asked.named, asked.empty)) == asked.named
    return asked.right[0], _share(told[asked.differ]), _share(still)


@mistake(
    points=2.5,
    computes=_number(
        0, lambda asked: _at(asked.weights, asked.named) > _at(asked.weights, asked.other)
    ),
)
def compares_with_the_other_cell_alone():
    """for the first number you compare with the other digit's cell alone; the weight has to be
    greater than every other cell's"""


@mistake(
    points=3,
    computes=_number(0, lambda asked: _at(asked.digits, asked.weights.argmax(1)) == asked.own),
)
def looks_for_the_digit_anywhere():
    """for the first number you ask whether the digit with the greatest weight is the one that is
    named; it may stand in another cell too, so compare cells"""


@mistake(
    points=2.5,
    computes=_number(0, lambda asked: asked.points & asked.is_named(asked.weights)),
    also=(_number(0, lambda asked: asked.is_named(asked.weights)),),
)
def asks_for_the_word_when_it_points():
    """for the first number you ask whether the word is right; only the weights count"""


@mistake
def returns_percentages(**given):
    """your numbers are percentages; shares are wanted, between 0 and 1"""
    return tuple(100 * share for share in _Asked(**given).right)


@mistake
def returns_one_tensor(**given):
    """you return one tensor; three things are wanted, each a number: `return first, second,
    third`"""
    return torch.tensor(_Asked(**given).right, dtype=torch.float64)


EXERCISE = Exercise(
    function="look_elsewhere",
    reference=reference,
    title="move the weight, and see the word",
    minutes=30,
    axes={"batch": 17, "num_cells": 97},
    may_use=(f"{__name__}.__call__",),  # the captioner that is given is the grader's own
    equivalent_mutants={
        "1 -> 2": "-2 is below every weight, as -1 is",
        "1 -> 0": "0 is below every weight of a softmax, as -1 is",
        "exchanged(named, other) -> exchanged(other, named)": "an exchange has no direction",
        "exchanged(named, empty) -> exchanged(empty, named)": "an exchange has no direction",
    },
    contract=Contract(points=0),
    checks=(
        Check(
            "pointing: how often the cell that is named has more weight than every other",
            1,
            draw_scenes,
            sizes=({"batch": 60, "num_cells": 9, "twins": 1},),
            hidden_sizes=({"batch": 83, "num_cells": 16, "twins": 1},),
            invariant=is_right(0),
        ),
        Check(
            "following: how often the other digit is said once the two cells have exchanged their"
            " weights; pictures with the same digit twice do not count",
            1.5,
            draw_scenes,
            sizes=({"batch": 60, "num_cells": 9}, {"batch": 51, "num_cells": 5, "twins": 1}),
            hidden_sizes=({"batch": 83, "num_cells": 16, "twins": 1},),
            invariant=is_right(1),
        ),
        Check(
            "surviving: how often the digit is said all the same once its cell has exchanged"
            " weights with an empty one",
            1,
            draw_scenes,
            sizes=({"batch": 60, "num_cells": 9, "twins": 1},),
            hidden_sizes=({"batch": 83, "num_cells": 16, "twins": 1},),
            invariant=is_right(2),
        ),
        Check(
            "the weights of the caller stay as they were",
            0.5,
            draw_scenes,
            sizes=({"batch": 60, "num_cells": 9, "ties": 0},),
            hidden_sizes=({"batch": 71, "num_cells": 5, "ties": 0},),
            untouched=True,
        ),
    ),
    mistakes=mistake.collected,
)
