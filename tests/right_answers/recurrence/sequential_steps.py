"""Right answers to part C: each earns every point."""

from collections import deque
from graphlib import CycleError, TopologicalSorter


def turn_by_turn(needs):
    waiting = [len(before) for before in needs]
    users = [[] for _ in needs]
    for number, before in enumerate(needs):
        for earlier in before:
            users[earlier].append(number)
    ready, turns = [number for number, left in enumerate(waiting) if not left], 0
    while ready:
        turns += 1
        finished, ready = ready, []
        for number in finished:
            for user in users[number]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
    return None if any(waiting) else turns


def by_a_queue(needs):
    users = {number: set() for number in range(len(needs))}
    left = [set(before) for before in needs]
    for number, before in enumerate(left):
        for earlier in before:
            users[earlier].add(number)
    turn, queue, longest = [1] * len(needs), deque(i for i, b in enumerate(left) if not b), 0
    done = 0
    while queue:
        number = queue.popleft()
        done, longest = done + 1, max(longest, turn[number])
        for user in users[number]:
            left[user].discard(number)
            turn[user] = max(turn[user], turn[number] + 1)
            if not left[user]:
                queue.append(user)
    return longest if done == len(needs) else None


def by_graphlib(needs):
    sorter = TopologicalSorter(dict(enumerate(needs)))
    try:
        sorter.prepare()
    except CycleError:
        return None
    turns = 0
    while sorter.is_active():
        sorter.done(*sorter.get_ready())
        turns += 1
    return turns


def by_a_stack(needs):
    turn, opened = {}, set()
    for start in range(len(needs)):
        stack = [start]
        while stack:
            number = stack[-1]
            if number in turn:
                stack.pop()
            elif number in opened:
                before = needs[number]
                if any(earlier not in turn for earlier in before):
                    return None
                turn[number] = 1 + max((turn[earlier] for earlier in before), default=0)
            else:
                opened.add(number)
                stack += [earlier for earlier in needs[number] if earlier not in turn]
    return max(turn.values(), default=0)


def looks_through_all_in_every_turn(needs):
    done, left, turns = set(), set(range(len(needs))), 0
    while left:
        ready = {number for number in left if done.issuperset(needs[number])}
        if not ready:
            return None
        done, left, turns = done | ready, left - ready, turns + 1
    return turns
