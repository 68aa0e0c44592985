"""Part C of problem set 10: how many turns operations take that wait for one another."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator

from attn_grade.exercise import Check, Exercise, Promises
from attn_grade.inside.plain import Inputs, Plain
from attn_grade.law import Failed
from attn_grade.mistakes import Mistakes

Needs = list[list[int]]
# An answer that looks through all operations in every turn needs a twentieth of it.
MOST_SECONDS = 60.0


def reference(needs: Needs) -> int | None:
    turns = _turns(needs)
    return None if None in turns else max(turns, default=0)


def _turns(
    needs: Needs, enough: Callable[[int, int], bool] = int.__eq__, *, once: bool = False
) -> list[int | None]:
    """In which turn each operation is done, from 1; None for those that never are.

    An operation starts once `enough(done, all)` of those that it waits for are done; whether one
    that it waits for twice counts once in `all` says `once`.
    """
    size = [len(set(before) if once else before) for before in needs]
    turns: list[int | None] = [None] * len(needs)
    users, done = _users(needs), [0] * len(needs)
    ready = [number for number, before in enumerate(needs) if not before]
    turn = 0
    while ready:
        turn, finished, ready = turn + 1, ready, []
        for number in finished:
            turns[number] = turn
        for user in (user for number in finished for user in users[number]):
            done[user] += 1
            if turns[user] is None and enough(done[user], size[user]) and user not in ready:
                ready.append(user)
    return turns


def _users(needs: Needs) -> Needs:
    users: Needs = [[] for _ in needs]
    for number, before in enumerate(needs):
        for earlier in before:
            users[earlier].append(number)
    return users


def draw_operations(
    generator: Generator, number: int, most: int = 3, near: int = 6, ends: int = 2
) -> Inputs:
    """Operations that wait for up to `most` of the `near` ones made before them, numbered anew.

    The first `ends` wait for none; one may wait for the same one twice.
    """
    needs: Needs = []
    for place in range(number):
        size = int(torch.randint(1, most + 1, (), generator=generator)) if place >= ends else 0
        back = torch.randint(1, min(near, place) + 1, (size,), generator=generator) if size else ()
        needs.append([place - int(step) for step in back])
    return {"needs": _renumber(needs, generator)}


def draw_free(generator: Generator, number: int) -> Inputs:
    return {"needs": [[] for _ in range(number)]}


def draw_chain(generator: Generator, number: int, others: int) -> Inputs:
    """A chain of `number`, more than JupyterLab lets a function call itself, and a few others.

    These wait for its end, but not for the last. There are few, because to look through all that
    wait in every turn is slow, and not wrong. In a much longer chain a function that calls itself
    can end Python without a word.
    """
    chain = [[place - 1] * (place > 0) for place in range(number)]
    waiting = [[number - 2 - other % 100] for other in range(others)]
    return {"needs": _renumber(chain + waiting, generator)}


def draw_circle(generator: Generator, number: int, free: int, behind: int) -> Inputs:
    """A circle of `number`, a chain of `behind` that wait for it, and others that are free."""
    circle = [[(place - 1) % number] for place in range(number)]
    chain = [[place - 1] for place in range(number, number + behind)]
    return {"needs": _renumber(circle + chain + [[] for _ in range(free)], generator)}


def _renumber(needs: Needs, generator: Generator) -> Needs:
    new = torch.randperm(len(needs), generator=generator).tolist()
    moved: Needs = [[] for _ in needs]
    for number, before in enumerate(needs):
        moved[new[number]] = [new[earlier] for earlier in before]
    return moved


def takes_as_many_turns(
    call: Callable[[Inputs], Plain], inputs: Inputs
) -> tuple[str, Plain] | None:
    """The law that the number is right, for answers that may call themselves too often.

    Where exactly Python gives up depends on who called the answer; its words are not compared.
    """
    try:
        found = call(inputs, seconds=MOST_SECONDS)
    except Failed as failed:
        if failed.wrong.raised != RecursionError.__name__:
            raise
        return "it calls itself inside itself, deeper than Python allows", "too deep"
    wanted = reference(**inputs)
    return None if found == wanted else (f"it is {found!r:.20} and should be {wanted}", found)


mistake = Mistakes()


def _count_operations_in_order(needs: Needs) -> int | None:
    return None if reference(needs) is None else len(needs)


@mistake(also=(_count_operations_in_order,))
def counts_operations(needs):
    """you count the operations; those that do not wait for one another are done in the same turn"""
    return len(needs)


@mistake
def counts_waits(needs):
    """you count how often something waits; the longest chain of waiting is asked"""
    return sum(map(len, needs))


def _count_arrows_of_nothing(needs: Needs) -> int | None:
    turns = reference(needs)
    return None if turns is None else turns - 1


@mistake(points=1, also=(_count_arrows_of_nothing,))
def counts_arrows(needs):
    """you count the arrows from one operation to the next; a chain of `n` has `n - 1` of them and
    takes `n` turns"""
    turns = reference(needs)
    return turns and turns - 1


@mistake(points=1)
def counts_one_turn_more(needs):
    """you count one turn too many; the first operations are done in turn 1"""
    turns = reference(needs)
    return None if turns is None else turns + 1


@mistake
def takes_the_longest_list(needs):
    """you look for the operation that waits for most others; that many can be done in one turn.
    Follow what waits for what"""
    return max(map(len, needs), default=0)


@mistake
def counts_those_that_wait(needs):
    """you count the operations that wait; several of them may be done in one turn"""
    return sum(map(bool, needs))


@mistake(points=2)
def starts_as_soon_as_one_is_done(needs):
    """your operations start once one of those that they wait for is done; they have to wait for all
    of them"""
    turns = _turns(needs, lambda done, _: done > 0)
    return None if None in turns else max(turns, default=0)


@mistake(points=1)
def asks_the_last_number(needs):
    """you return the turn of the operation with the last number; the last turn of all is asked"""
    turns = _turns(needs)
    return None if None in turns else turns[-1]


@mistake(points=2)
def adds_all_that_came_before(needs):
    """you add up the turns of those that an operation waits for; they may be done side by side, so
    the latest of them counts"""
    when = _turns(needs)
    if None in when:
        return None
    turns = [0] * len(needs)
    for number in sorted(range(len(needs)), key=when.__getitem__):
        turns[number] = 1 + sum(turns[before] for before in needs[number])
    return max(turns, default=0)


def _crosses_doubles_off_once(needs: Needs) -> int | None:
    return None if any(len({*before}) < len(before) for before in needs) else reference(needs)


@mistake(points=2, also=(_crosses_doubles_off_once,))
def counts_doubles_once(needs):
    """some of your operations never start. One may wait for the same one twice, as a square does:
    count it twice in both places, or once in both. And do each operation once"""
    turns = _turns(needs, lambda done, all_of_them: done >= all_of_them, once=True)
    return None if None in turns else max(turns, default=0)


@mistake(points=3.5)
def stumbles_over_nothing(needs):
    """without operations there is no largest turn; nothing is done in 0 turns: `max(...,
    default=0)`"""
    turns = _turns(needs)
    return None if None in turns else max(turns)


def _trust_the_numbers(needs: Needs) -> int | None:
    turns = [0] * len(needs)
    for number, before in enumerate(needs):
        if number in before:
            return None
        turns[number] = 1 + max((turns[earlier] for earlier in before), default=0)
    return max(turns, default=0)


def _look_up_in(kind: Callable[[list[int]], Any]) -> Callable[[Needs], int]:
    """The answer that looks up the turns so far in a list or a dict, where later ones are not."""

    def answer(needs: Needs) -> int:
        turns: list[int] = []
        for before in needs:
            known = kind(turns)
            turns.append(1 + max((known[earlier] for earlier in before), default=0))
        return max(turns, default=0)

    return answer


_LOOKED_UP = _look_up_in(list), _look_up_in(lambda turns: dict(enumerate(turns)))


@mistake(points=0.5, also=(_trust_the_numbers, *_LOOKED_UP))
def trusts_the_numbers(needs):
    """you go through the operations once, in the order of their numbers; an operation may wait for
    one of a larger number"""
    turns = []
    for before in needs:
        known = [turns[number] for number in before if number < len(turns)]
        turns.append(1 + max(known, default=0))
    return max(turns, default=0)


@mistake(points=1.5)
def takes_a_larger_number_for_a_circle(needs):
    """you return `None` as soon as an operation waits for one of a larger number; the numbers say
    nothing of the order, and only what waits for itself in the end is in a circle"""
    waits = ((number, earlier) for number, before in enumerate(needs) for earlier in before)
    return None if any(earlier >= number for number, earlier in waits) else reference(needs)


@mistake(points=2.5)
def calls_itself(needs):
    """your function calls itself; Python gives up after some thousand calls inside one another, and
    a circle has no end. Go turn by turn instead"""
    known = {}

    def turn(number, depth=1):
        if depth > 900:  # Python's limit, also where an answer has lifted that
            raise RecursionError("maximum recursion depth exceeded")
        if number not in known:
            before = (turn(earlier, depth + 1) for earlier in needs[number])
            known[number] = 1 + max(before, default=0)
        return known[number]

    return max(map(turn, range(len(needs))), default=0)


@mistake(points=3.5)
def calls_itself_and_knows_circles(needs):
    """your function calls itself; Python gives up after some thousand calls inside one another. Go
    turn by turn instead"""
    return reference(needs) if None in _turns(needs) else calls_itself(needs)


@mistake(points=2)
def calls_itself_and_stumbles(needs):
    """your function calls itself; Python gives up after some thousand calls inside one another, and
    a circle has no end. Go turn by turn instead; and think of the case that there are no operations
    at all"""
    calls_itself(needs)
    return max(turn for turn in _turns(needs))


@mistake(points=3.5)
def calls_itself_and_gives_up(needs):
    """you take a chain that is too long for Python's calls for a circle; go turn by turn, without
    calling the function in itself"""
    try:
        return calls_itself(needs)
    except RecursionError:
        return None


@mistake(points=3)
def goes_on_in_a_circle(needs):
    """you return the last turn in which something was done, though some operations are still
    waiting; for those in a circle, and those behind it, return `None`"""
    return max((turn for turn in _turns(needs) if turn), default=0)


@mistake(points=3)
def says_none_for_a_circle(needs):
    """you return 0 where operations wait for one another in a circle; no number of turns is enough
    for them: return `None`"""
    return reference(needs) or 0


@mistake(points=1.5)
def goes_on_in_the_same_turn(needs):
    """what is done in a turn counts at once with you, so that an operation behind it in the list is
    done in the same turn; it has to wait for the next. Collect those that are ready first"""
    done: set[int] = set()
    turn = 0
    while len(done) < len(needs):
        before = len(done)
        for number, earlier in enumerate(needs):
            if number not in done and done.issuperset(earlier):
                done.add(number)
        if len(done) == before:
            return None
        turn += 1
    return turn


@mistake(points=3)
def says_one_turn_for_each_in_a_circle(needs):
    """you let a circle end after one round; its operations wait for one another, and none can be
    the first: return `None`"""
    return len(needs) if reference(needs) is None else reference(needs)


def _numbers_circles(number: float) -> Callable[..., float]:
    def answer(needs: Needs) -> float:
        turns = reference(needs)
        return number if turns is None else turns

    return answer


@mistake(points=3, computes=_numbers_circles(-1), also=(_numbers_circles(float("inf")),))
def returns_a_number_for_a_circle():
    """you return a number for operations that wait in a circle; return `None`"""


@mistake(points=3.5)
def counts_a_turn_for_nothing(needs):
    """without operations there are 0 turns; you return something else"""
    return reference(needs) if needs else 1


@mistake(points=3.5)
def returns_none_for_nothing(needs):
    """without operations there are 0 turns; you return `None`, perhaps because 0 counts as
    false"""
    return reference(needs) or None


EXERCISE = Exercise(
    function="sequential_steps",
    reference=reference,
    title="how many turns attention and a recurrence take",
    minutes=20,
    may_use=None,  # no package does it, and watching makes loops ten times as slow
    equivalent_mutants={
        "1 -> 2": "a turn to spare: the loop ends with the first in which nobody is ready"
    },
    promises=Promises(),
    checks=(
        Check(
            "operations that wait for one another, some of them for one with a larger number",
            1.5,
            draw_operations,
            sizes=({"number": 7}, {"number": 29, "ends": 4}, {"number": 53, "near": 9, "ends": 5}),
            hidden_sizes=({"number": 17, "most": 5}, {"number": 41, "near": 4, "ends": 3}),
        ),
        Check(
            "operations that wait for none, and no operations at all",
            0.5,
            draw_free,
            sizes=({"number": 5}, {"number": 0}),
            hidden_sizes=({"number": 0}, {"number": 1}, {"number": 11}),
        ),
        Check(
            "operations that wait for one another in a circle are never done: `None`",
            1,
            draw_circle,
            sizes=(
                {"number": 3, "free": 2, "behind": 0},
                {"number": 2, "free": 0, "behind": 5},
                {"number": 1, "free": 2, "behind": 1},
            ),
            hidden_sizes=(
                {"number": 1, "free": 3, "behind": 0},
                {"number": 5, "free": 1, "behind": 2},
            ),
            law=takes_as_many_turns,
        ),
        Check(
            "a chain of 3,500 operations, more than the calls that Python lets a function make to"
            " itself",
            0.5,
            draw_chain,
            sizes=({"number": 3500, "others": 50},),
            hidden_sizes=({"number": 3203, "others": 20},),
            law=takes_as_many_turns,
        ),
    ),
    mistakes=mistake.collected,
)
