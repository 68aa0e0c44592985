"""Part C of problem set 10: how many turns operations take that wait for one another."""

from collections.abc import Callable

import torch
from torch import Generator

from attn_course.grading.spec import Check, Exercise, Inputs, Mistake, Plain

Needs = list[list[int]]


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
    """A chain of `number`, and others that wait for one of its end, but not for the last.

    They keep those busy who look through all that wait in every turn. A longer chain would do so
    too, but a function that calls itself deeper than this can end Python without a word.
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
        found = call(inputs)
    except Exception as failed:  # the judge's, of what a student reads and what it is known by
        if "RecursionError" not in failed.args[0]:
            raise
        return "it calls itself inside itself, deeper than Python allows", "too deep"
    wanted = reference(**inputs)
    return None if found == wanted else (f"it is {found!r:.20} and should be {wanted}", found)


def counts_operations(needs: Needs) -> int:
    return len(needs)


def counts_waits(needs: Needs) -> int:
    return sum(map(len, needs))


def counts_arrows(needs: Needs) -> int | None:
    turns = reference(needs)
    return turns and turns - 1


def counts_one_turn_more(needs: Needs) -> int | None:
    turns = reference(needs)
    return None if turns is None else turns + 1


def takes_the_longest_list(needs: Needs) -> int:
    return max(map(len, needs), default=0)


def counts_those_that_wait(needs: Needs) -> int:
    return sum(map(bool, needs))


def starts_as_soon_as_one_is_done(needs: Needs) -> int | None:
    turns = _turns(needs, lambda done, _: done > 0)
    return None if None in turns else max(turns, default=0)


def asks_the_last_number(needs: Needs) -> int | None:
    turns = _turns(needs)
    return None if None in turns else turns[-1]


def adds_all_that_came_before(needs: Needs) -> int | None:
    when = _turns(needs)
    if None in when:
        return None
    turns = [0] * len(needs)
    for number in sorted(range(len(needs)), key=when.__getitem__):
        turns[number] = 1 + sum(turns[before] for before in needs[number])
    return max(turns, default=0)


def counts_doubles_once(needs: Needs) -> int | None:
    turns = _turns(needs, lambda done, all_of_them: done >= all_of_them, once=True)
    return None if None in turns else max(turns, default=0)


def stumbles_over_nothing(needs: Needs) -> int | None:
    turns = _turns(needs)
    return None if None in turns else max(turns)


def trusts_the_numbers(needs: Needs) -> int:
    turns: list[int] = []
    for before in needs:
        known = [turns[number] for number in before if number < len(turns)]
        turns.append(1 + max(known, default=0))
    return max(turns, default=0)


def calls_itself(needs: Needs) -> int:
    known: dict[int, int] = {}

    def turn(number: int, depth: int = 1) -> int:
        if depth > 900:  # Python's limit, also where an answer has lifted that
            raise RecursionError("maximum recursion depth exceeded")
        if number not in known:
            before = (turn(earlier, depth + 1) for earlier in needs[number])
            known[number] = 1 + max(before, default=0)
        return known[number]

    return max(map(turn, range(len(needs))), default=0)


def calls_itself_and_stumbles(needs: Needs) -> int:
    calls_itself(needs)
    return max(turn for turn in _turns(needs))


def calls_itself_and_gives_up(needs: Needs) -> int | None:
    try:
        return calls_itself(needs)
    except RecursionError:
        return None


def goes_on_in_a_circle(needs: Needs) -> int:
    return max((turn for turn in _turns(needs) if turn), default=0)


def says_one_turn_for_each_in_a_circle(needs: Needs) -> int | None:
    return len(needs) if reference(needs) is None else reference(needs)


EXERCISE = Exercise(
    function="sequential_steps",
    reference=reference,
    equivalent_mutants={
        "1 -> 2": "a turn to spare: the loop ends with the first in which nobody is ready"
    },
    checks=(
        Check(
            "operations that wait for one another, numbered as they come",
            2,
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
            "a chain of 4,000 among 20,000 operations takes 4,000 turns, and you no long time",
            0.5,
            draw_chain,
            sizes=({"number": 4000, "others": 16_000},),
            hidden_sizes=({"number": 2003, "others": 500},),
            law=takes_as_many_turns,
        ),
    ),
    mistakes=(
        Mistake(
            counts_operations,
            "you count the operations; those that do not wait for one another are done in the same"
            " turn",
            score=0,
        ),
        Mistake(
            counts_waits,
            "you count how often something waits; the longest chain of waiting is asked",
            score=0,
        ),
        Mistake(
            counts_arrows,
            "you count the steps from one operation to the next; a chain of `n` has `n - 1` of"
            " them and takes `n` turns",
            score=1,
        ),
        Mistake(
            counts_one_turn_more,
            "you count one turn too many; the first operations are done in turn 1",
            score=1,
        ),
        Mistake(
            takes_the_longest_list,
            "you look for the operation that waits for most others; that many can be done in one"
            " turn. Follow what waits for what",
            score=0,
        ),
        Mistake(
            counts_those_that_wait,
            "you count the operations that wait; several of them may be done in one turn",
            score=0,
        ),
        Mistake(
            starts_as_soon_as_one_is_done,
            "your operations start once one of those that they wait for is done; they have to wait"
            " for all of them",
            score=2,
        ),
        Mistake(
            asks_the_last_number,
            "you return the turn of the operation with the last number; the last turn of all is"
            " asked",
            score=1,
        ),
        Mistake(
            adds_all_that_came_before,
            "you add up the turns of those that an operation waits for; they may be done side by"
            " side, so the latest of them counts",
            score=2,
        ),
        Mistake(
            counts_doubles_once,
            "an operation may wait for the same one twice, as a square does; count it twice in"
            " both places, or once in both",
            score=2,
        ),
        Mistake(
            stumbles_over_nothing,
            "without operations there is no largest turn; nothing is done in 0 turns:"
            " `max(..., default=0)`",
            score=3.5,
        ),
        Mistake(
            trusts_the_numbers,
            "you go through the operations once, in the order of their numbers; an operation may"
            " wait for one of a larger number",
            score=0.5,
        ),
        Mistake(
            calls_itself,
            "your function calls itself; Python gives up after some thousand calls inside one"
            " another, and a circle has no end. Go turn by turn instead",
            score=2.5,
        ),
        Mistake(
            calls_itself_and_stumbles,
            "your function calls itself; Python gives up after some thousand calls inside one"
            " another, and a circle has no end. Go turn by turn instead; and think of the case that"
            " there are no operations at all",
            score=2,
        ),
        Mistake(
            calls_itself_and_gives_up,
            "you take a chain that is too long for Python's calls for a circle; go turn by turn,"
            " without calling the function in itself",
            score=3.5,
        ),
        Mistake(
            goes_on_in_a_circle,
            "you return the last turn in which something was done, though some operations are still"
            " waiting; for those in a circle, and those behind it, return `None`",
            score=3,
        ),
        Mistake(
            says_one_turn_for_each_in_a_circle,
            "you let a circle end after one round; its operations wait for one another, and none"
            " can be the first: return `None`",
            score=3,
        ),
    ),
)
