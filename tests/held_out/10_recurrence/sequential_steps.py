import math
from graphlib import CycleError, TopologicalSorter


def wrong_in_the_order_of_the_list(needs):
    """It goes through the list once, as if all that an operation needs stood before it."""
    turn = [0] * len(needs)
    for one, others in enumerate(needs):
        if one in others:
            return None
        turn[one] = 1 + max((turn[other] for other in others), default=0)
    return max(turn, default=0)


def wrong_calls_itself(needs):
    """It calls itself along the chain, deeper than Python allows."""
    known, open_ = {}, set()

    def turn(one):
        if one in known:
            return known[one]
        if one in open_:
            raise ValueError("a circle")
        open_.add(one)
        known[one] = 1 + max((turn(other) for other in needs[one]), default=0)
        return known[one]

    try:
        return max((turn(one) for one in range(len(needs))), default=0)
    except ValueError:
        return None


def wrong_same_turn(needs):
    """An operation done in this turn counts at once, so a later one joins the same turn."""
    done, turns = set(), 0
    while len(done) < len(needs):
        before = len(done)
        for one, others in enumerate(needs):
            if one not in done and all(other in done for other in others):
                done.add(one)
        if len(done) == before:
            return None
        turns += 1
    return turns


def wrong_circle_is_zero(needs):
    """It returns 0 where operations wait for one another in a circle."""
    waiting = [len(others) for others in needs]
    users = [[] for _ in needs]
    for one, others in enumerate(needs):
        for other in others:
            users[other].append(one)
    ready, turns = [one for one, count in enumerate(waiting) if not count], 0
    while ready:
        turns += 1
        freed = []
        for one in ready:
            for user in users[one]:
                waiting[user] -= 1
                if not waiting[user]:
                    freed.append(user)
        ready = freed
    return 0 if any(waiting) else turns


def wrong_counted_from_zero(needs):
    """It returns the number of the last turn, counted from 0."""
    sorter = TopologicalSorter(dict(enumerate(needs)))
    try:
        sorter.prepare()
    except CycleError:
        return None
    turns = 0
    while sorter.is_active():
        sorter.done(*sorter.get_ready())
        turns += 1
    return max(turns - 1, 0)


def wrong_one_at_a_time(needs):
    """One operation is done in each turn, as by a single processor."""
    sorter = TopologicalSorter(dict(enumerate(needs)))
    try:
        return len(list(sorter.static_order()))
    except CycleError:
        return None


def right_by_the_library(needs):
    """Python's own sorter says who is ready, turn by turn."""
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


def wrong_recursion(needs):
    """Calls itself for what an operation waits for, which is too deep for a chain of 4,000."""
    turns = {}
    open_now = set()

    def turn_of(i):
        if i in turns:
            return turns[i]
        if i in open_now:
            return None
        open_now.add(i)
        latest = 0
        for j in needs[i]:
            before = turn_of(j)
            if before is None:
                return None
            latest = max(latest, before)
        open_now.remove(i)
        turns[i] = latest + 1
        return turns[i]

    most = 0
    for i in range(len(needs)):
        turn = turn_of(i)
        if turn is None:
            return None
        most = max(most, turn)
    return most


def wrong_named_twice(needs):
    """Counts an operation that is named twice as two to wait for, but crosses it off only once."""
    waiting = [len(need) for need in needs]
    users = [set() for _ in needs]
    for i, need in enumerate(needs):
        for j in need:
            users[j].add(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    turns = done = 0
    while ready:
        turns += 1
        done += len(ready)
        following = []
        for i in ready:
            for user in users[i]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    following.append(user)
        ready = following
    return turns if done == len(needs) else None


def wrong_one_pass_and_no_circle(needs):
    """Two mistakes: one pass in the order of the numbers, as if nobody waited for a larger one, and
    a circle gets a number, not None."""
    turn = [0] * len(needs)
    for i, need in enumerate(needs):
        turn[i] = 1 + max((turn[j] for j in need), default=0)
    return max(turn, default=0)


def right_one_at_a_time(needs):
    """Takes finished operations off a list one at a time, and remembers the turn of each."""
    left = [set(need) for need in needs]
    asked_by = {i: [] for i in range(len(needs))}
    for i, names in enumerate(left):
        for name in names:
            asked_by[name].append(i)
    missing = [len(names) for names in left]
    turn = [1] * len(needs)
    finished = [i for i, number in enumerate(missing) if number == 0]
    at = 0
    while at < len(finished):
        now = finished[at]
        at += 1
        for user in asked_by[now]:
            turn[user] = max(turn[user], turn[now] + 1)
            missing[user] -= 1
            if missing[user] == 0:
                finished.append(user)
    if len(finished) < len(needs):
        return None
    return max(turn) if turn else 0


def wrong_number_of_operations(needs):
    """It counts the operations, as if each took a turn of its own."""
    from graphlib import CycleError, TopologicalSorter

    try:
        order = list(TopologicalSorter(dict(enumerate(needs))).static_order())
    except CycleError:
        return None
    return len(order)


def wrong_edges_not_nodes(needs):
    """It counts the arrows of the longest chain, one fewer than its operations."""
    from graphlib import CycleError, TopologicalSorter

    try:
        order = list(TopologicalSorter(dict(enumerate(needs))).static_order())
    except CycleError:
        return None
    turn = {}
    for one in order:
        turn[one] = max((turn[other] + 1 for other in needs[one]), default=0)
    return max(turn.values(), default=0)


def wrong_calls_itself_sixth(needs: list[list[int]]) -> int | None:
    """Asks for the turns by recursion, too deep for a chain of thousands."""
    turns = {}

    def turn(i: int) -> float:
        if i not in turns:
            turns[i] = math.inf  # stays if i waits for itself
            turns[i] = 1 + max(map(turn, needs[i]), default=0)
        return turns[i]

    longest = max(map(turn, range(len(needs))), default=0)
    return None if longest == math.inf else longest


def wrong_done_at_once(needs: list[list[int]]) -> int | None:
    """Counts an operation as done within the turn, so the next ones need not wait."""
    done, turns = set(), 0
    while len(done) < len(needs):
        before = len(done)
        for i, names in enumerate(needs):
            if i not in done and done.issuperset(names):
                done.add(i)
        if len(done) == before:
            return None
        turns += 1
    return turns


def wrong_crosses_off_once(needs: list[list[int]]) -> int | None:
    """Crosses a name off once though it is counted twice, so a * a is never done."""
    waiting = [len(names) for names in needs]
    users = [set() for _ in needs]
    for i, names in enumerate(needs):
        for name in names:
            users[name].add(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    turns, done = 0, 0
    while ready:
        turns, done = turns + 1, done + len(ready)
        freed = []
        for i in ready:
            for user in users[i]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    freed.append(user)
        ready = freed
    return turns if done == len(needs) else None


def right_topological_sorter(needs: list[list[int]]) -> int | None:
    """Lets graphlib of the standard library say what is ready, turn by turn."""
    sorter = TopologicalSorter({i: set(names) for i, names in enumerate(needs)})
    try:
        sorter.prepare()
    except CycleError:
        return None
    turns = 0
    while sorter.is_active():
        sorter.done(*sorter.get_ready())
        turns += 1
    return turns


def wrong_larger_number_is_a_circle(needs: list[list[int]]) -> int | None:
    """Takes an operation that waits for a larger number to be in a circle."""
    turn = []
    for i, waits_for in enumerate(needs):
        if any(other >= i for other in waits_for):
            return None
        turn.append(1 + max((turn[other] for other in waits_for), default=0))
    return max(turn, default=0)


def wrong_circle_is_ignored(needs: list[list[int]]) -> int | None:
    """Stops when nothing is ready, and does not ask whether some are still waiting."""
    waiting = [len(one) for one in needs]
    users = [[] for _ in needs]
    for i, one in enumerate(needs):
        for other in one:
            users[other].append(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    turns = 0
    while ready:
        turns += 1
        freed = []
        for i in ready:
            for user in users[i]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    freed.append(user)
        ready = freed
    return turns


def wrong_same_one_twice(needs: list[list[int]]) -> int | None:
    """An operation that names another twice waits for two, but is crossed off only once."""
    waiting = [len(one) for one in needs]
    users = [[] for _ in needs]
    for i, one in enumerate(needs):
        for other in set(one):
            users[other].append(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    turns = 0
    while ready:
        turns += 1
        freed = []
        for i in ready:
            for user in users[i]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    freed.append(user)
        ready = freed
    return None if any(waiting) else turns


def right_topological_sorter_seventh(needs: list[list[int]]) -> int | None:
    """Python's own sorter says which operations are ready, and refuses circles."""
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
