"""Questions to a submission's process."""

import socket
import time
from collections.abc import Callable
from contextlib import suppress

from hintgrader.supervisor.budget import Budget, Request
from hintgrader.supervisor.processor_time import Usage
from hintgrader.supervisor.termination import Cause, Termination
from hintgrader.worker.alarm import Alarm, Kind, most_severe
from hintgrader.worker.time_limits import GONE_SECONDS, TICK_SECONDS
from hintgrader.worker.wire import BrokenMessage, Callback, Message, NobodyThere, receive, send

MAX_ALARMS, MAX_DETAIL = 20, 200


class Channel:
    """Questions to a submission's process.

    Args:
        why_stopped: Says why the process was ended from here, if it was.
        usage: Gives the latest that is known of what the process has used.
        budget: Of what it may use in all; None for no limit.

    Attributes:
        ended: Why nobody answers any more, if so.
        alarms: What it reached for.
        left: What it left behind, once it is over: `processes`, `files`.
    """

    def __init__(
        self,
        why_stopped: Callable[[], Termination | None],
        usage: Callable[[], Usage | None] = lambda: None,
        budget: Budget | None = None,
    ) -> None:
        self._why_stopped, self._usage, self._budget = why_stopped, usage, budget or Budget()
        self.ended: Termination | None = None
        self.alarms: list[Alarm] = []
        self.left: Message = {}
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(TICK_SECONDS)

    def take_other_end(self) -> int:
        """The descriptor for the process; its new owner closes it."""
        return self._theirs.fileno()

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self._theirs.close()

    def send_end(self, other: "Channel") -> None:
        """Hand this process the other end of a new channel, for a fork of it."""
        socket.send_fds(self._ours, [b"s"], [other.take_other_end()])
        other._theirs.close()

    def ask(
        self,
        message: Message,
        seconds: float,
        answer: Callable[[Message], Message] | None = None,
        name_of: Callable[[Callback], int] | None = None,
        then: Callable[[], None] | None = None,
    ) -> Message:
        """Send a request, and wait for what comes of it.

        Args:
            message: The request.
            seconds: How long it may compute.
            answer: Answers what is asked in between.
            name_of: Numbers the callables of the message.
            then: Called when the request is sent.

        Raises:
            Termination: Nobody answers, or not in time, or what comes is no answer.
        """
        if self.ended:
            raise self.ended
        self._theirs.close()
        request = Request(seconds, self._budget, self._usage)
        try:
            send(self._ours, message, name_of, request.check)
            if then:
                then()
            while True:
                reply = receive(self._ours, tick=request.check)
                if answer is None or ("callback" not in reply and "gradient" not in reply):
                    self._hear_alarms(reply.pop("alarms", []))
                    return reply
                with request.answering():
                    answered = answer(reply)
                send(self._ours, answered, tick=request.check)
        except Termination as ended:
            self.ended = ended
        except (BrokenMessage, OSError) as error:
            self.ended = self._find_reason(error)
        except MemoryError:
            self.ended = Termination(Cause.TOO_MUCH)
        self.close()
        raise self.ended

    def end(self, cause: Cause = Cause.NONSENSE) -> Termination:
        """Close the channel to a process that sent nonsense, or too much; return the reason."""
        self.ended = Termination(cause)
        self.close()
        return self.ended

    def take_alarms(self) -> list[Alarm]:
        """Return the alarms raised since the last call, and clear them."""
        alarms = most_severe(self.alarms, MAX_ALARMS)
        self.alarms.clear()
        return alarms

    def leftovers(self) -> list[str]:
        """Notes on the processes and files that the submission left behind, once it is over."""
        kinds = [kind for kind in ("processes", "files") if self.left.get(kind)]
        return [f"{kind} left behind, which are gone now: {self.left[kind]}" for kind in kinds]

    def _hear_alarms(self, alarms: object) -> None:
        """Keep what can be shown on a screen, of whatever has come; the worst comes first."""
        for alarm in alarms[:MAX_ALARMS] if isinstance(alarms, list) else []:
            with suppress(KeyError, TypeError, ValueError):  # it may say anything
                name, detail = alarm
                shown = "".join(c if c.isprintable() else "?" for c in str(detail)[:MAX_DETAIL])
                self.alarms.append(Alarm(Kind[name], shown))

    def _find_reason(self, error: Exception) -> Termination:
        """The reason for a failed request: stopped from here, ended by itself, or nonsense."""
        time.sleep(GONE_SECONDS)
        is_gone = isinstance(error, NobodyThere | OSError)
        return self._why_stopped() or Termination(Cause.ENDED_ITSELF if is_gone else Cause.NONSENSE)
