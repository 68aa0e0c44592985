"""A submission's own process: it runs the cells, and calls the functions that they define.

A submission owns this process, and can make it say what it likes. That is why nothing here knows
the right answers or the hidden inputs in advance, and why the grader compares outputs, gradients
and inputs itself. Three things it has to believe: which functions an answer called, how much memory
and how many operations of torch it used, and what alarms were raised. An answer that was written
by somebody who knows this file can lie about these, and no more: it still has to be right. Lies of
the plainer kinds are noticed (`integrity`).
"""

import contextlib
import sys
from collections.abc import Callable
from functools import partial
from inspect import unwrap
from os import _exit, close, fork  # these, whatever a notebook puts in their places
from socket import recv_fds, socket
from typing import Any

from hintgrader.worker.alarm import Alarm, Kind
from hintgrader.worker.audit_hook import Alarms
from hintgrader.worker.check import published
from hintgrader.worker.level import Level
from hintgrader.worker.limits import limit_this_process
from hintgrader.worker.measurements import measure_here
from hintgrader.worker.points import Points, Row
from hintgrader.worker.process_switches import course_values, set_profiler, write_all
from hintgrader.worker.remarks import remarks
from hintgrader.worker.remote_callable import RemoteCallable
from hintgrader.worker.shell import Shell
from hintgrader.worker.shown import parts_shown
from hintgrader.worker.student_packages import StudentPackages
from hintgrader.worker.submission import LocalSubmission, Outcome
from hintgrader.worker.wall import Wall
from hintgrader.worker.watching import profiled
from hintgrader.worker.wire import BrokenMessage, Message, TooLarge, receive, send

# as Python does, too, when what watches is interrupted
SWITCHED_OFF = (Kind.HOOKED.name, "sys.setprofile")
STOPPING = ("SystemExit", "KeyboardInterrupt")


class NotebookProcess:
    """A notebook as it runs: made before the fork, used after it.

    Args:
        level: How it is confined.
        wall: What it may import, and what is held back.
    """

    def __init__(self, level: Level, wall: Wall) -> None:
        own = {NotebookProcess._snapshot, unwrap(profiled), write_all, set_profiler}
        self.level, self.wall, self.shell = level, wall, Shell()
        self.alarms = Alarms(
            wall, {one.__code__ for one in own}, partial(parts_shown, wall.bank, vars(self))
        )

    def answer(self, connection: socket) -> None:
        """Do what is asked for until the connection ends."""
        if self.level >= Level.LIMITS:
            limit_this_process(count_processes=self.level == Level.SANDBOX)
        alarms = self.alarms  # these, whatever a cell puts in their place
        alarms.listen()
        sys.path.append("")  # modules that a cell writes; last, so that none hides another
        kinds: dict[str, Callable[[Message, socket], Message]] = {
            "cell": self._run,
            "points": self._tell,
            "snapshot": partial(self._snapshot, alarms),
        }
        with contextlib.suppress(BrokenMessage, TimeoutError):
            while True:
                message = receive(connection)
                reply = kinds[message["kind"]](message, connection)
                raised = alarms.take(compare=message["kind"] == "cell")  # else no cell has run
                send(connection, reply | {"alarms": raised})

    def _run(self, message: Message, _: socket) -> Message:
        shown = self.shell.run(message["source"])
        if shown.pop("cut"):
            self.alarms.add(Alarm(Kind.CUT))
        self.alarms.add(*(Alarm(Kind.FORGIVEN, line) for line in shown.pop("forgiven")))
        if shown["error"] and shown["error"][0] in STOPPING:
            self.alarms.add(Alarm(Kind.STOPPED, shown["error"][0]))
        return shown

    def _tell(self, message: Message, _: socket) -> Message:
        """Publish what an exercise has earned so far, for `check` to return."""
        rows = tuple(Row(*row) for row in message["rows"])
        published[message["exercise"]] = Points(rows, message["hint"])
        return {}

    def _snapshot(self, alarms: Alarms, message: Message, connection: socket) -> Message:
        """Fork, and let the fork answer calls of one function as it is now."""
        _, descriptors, _, _ = recv_fds(connection, 1, 1)
        alarms.add(*remarks(self.wall.packages), once=True)
        function = vars(sys.modules["__main__"]).get(message["function"])
        if not callable(function):
            close(descriptors[0])
            return {"missing": None if function is None else f"{function!r:.40}"}
        if fork():
            close(descriptors[0])
            return {}
        try:
            connection.close()
            _answer_calls(socket(fileno=descriptors[0]), function, message, alarms)
        finally:
            _exit(0)


def _answer_calls(
    connection: socket, function: Callable[..., Any], how: Message, alarms: Alarms
) -> None:
    """Call a function as often as it is asked for; say what came of it."""
    packages = StudentPackages(tuple(how["packages"]), tuple(how["wrappers"]))
    submission = LocalSubmission(function, how["avoid"], how["may_use"], packages)
    alarms.take(compare=False)  # the process that forked tells of these
    alarms.in_answer = True
    with contextlib.suppress(BrokenMessage, TimeoutError):
        while True:
            backs: list[RemoteCallable] = []

            def call_back(number: int, backs: list[RemoteCallable] = backs) -> RemoteCallable:
                backs.append(RemoteCallable(connection, number))
                return backs[-1]

            asked = receive(connection, call_back)
            if not asked:  # no call: all are over, and it is time to look what they have changed
                send(connection, {"alarms": alarms.take()})
                continue
            if "overwritten" in asked:
                found = submission.overwritten()
                send(connection, {"overwritten": found, "alarms": alarms.take(compare=False)})
                continue
            with course_values(), measure_here(asked.pop("instruments")) as instruments:
                outcome = submission.call(**asked)
            readings = [instrument.readings() for instrument in instruments]
            piled = [back.number for back in backs if back.has_gradient()]
            raised = alarms.take(compare=False)
            if outcome.late:
                raised = [alarm for alarm in raised if alarm != SWITCHED_OFF]
            reply = {"readings": readings, "piled": piled, "alarms": raised}
            try:
                send(connection, vars(outcome) | reply)
            except (MemoryError, RuntimeError, TooLarge) as error:  # torch raises RuntimeErrors
                outcome = Outcome(error=("TooLarge", f"what it returns is too large: {error}"))
                send(connection, vars(outcome) | reply)
