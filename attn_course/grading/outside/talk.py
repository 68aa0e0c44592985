"""Questions to a submission's process, and why nobody answers them any more."""

import math
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from attn_course.grading.outside.reaching import most_telling
from attn_course.grading.outside.wire import (
    BrokenMessage,
    Message,
    NobodyThere,
    receive,
    send,
)
from attn_course.grading.spec import Plain

if TYPE_CHECKING:
    from attn_course.grading.outside.slot import Slot

MOST_ALARMS, MOST_SAID = 20, 200
NO_ANSWER = "sent what is no answer"
NO_TIME_LEFT = "was not done when the notebook as a whole had taken too long"


class Ended(Exception):
    """There is nobody any more to answer: it ended itself, or was ended for what it did.

    Args:
        reason: What happened, to go on after "it" in a sentence for the student.
        out_of_time: Whether it was too slow.
    """

    def __init__(self, reason: str, out_of_time: bool = False) -> None:
        super().__init__(reason)
        self.out_of_time = out_of_time


class Talk:
    """Questions to a submission's process.

    Args:
        slot: Where it runs.
        until: When all has to be over, as `time.monotonic` counts.

    Attributes:
        ended: Why nobody answers any more, if so.
        alarms: What it reached for.
        left: What it left behind, once it is over: `processes`, `files`.
    """

    def __init__(self, slot: "Slot", until: float = math.inf) -> None:
        self.slot, self.until = slot, until
        self.ended: Ended | None = None
        self.alarms: list[str] = []
        self.left: Message = {}
        self._ours, self._theirs = socket.socketpair()

    def take_other_end(self) -> int:
        """The descriptor that the process gets; it belongs to whoever takes it."""
        return self._theirs.fileno()

    def close(self) -> None:
        """Say no more."""
        self._ours.close()
        self._theirs.close()

    def send_end(self, other: "Talk") -> None:
        """Hand this process the other end of a new talk, for a fork of it."""
        socket.send_fds(self._ours, [b"s"], [other.take_other_end()])
        other._theirs.close()

    def ask(
        self,
        message: Message,
        seconds: float,
        answer: Callable[[Message], Message] | None = None,
        name_of: Callable[[Callable], int] | None = None,
        then: Callable[[], None] | None = None,
    ) -> Message:
        """Send a request, and wait for what comes of it.

        Args:
            message: The request.
            seconds: How long to wait.
            answer: Answers what is asked in between.
            name_of: Numbers the callables of the message.
            then: Called when the request is sent.

        Raises:
            Ended: Nobody answers, or not in time, or what comes is no answer.
        """
        if self.ended:
            raise self.ended
        self._theirs.close()
        deadline = min(time.monotonic() + seconds, self.until)
        try:
            send(self._waiting(deadline), message, name_of)
            if then:
                then()
            while True:
                reply = receive(self._waiting(deadline))
                if answer is None or ("callback" not in reply and "gradient" not in reply):
                    self._hear_alarms(reply.pop("alarms", []))
                    return reply
                answered = answer(reply)  # its time counts, too
                send(self._waiting(deadline), answered)
        except TimeoutError:
            self.ended = Ended(f"did not come back within {seconds:.0f} seconds", out_of_time=True)
            if deadline == self.until:
                self.ended = Ended(NO_TIME_LEFT, out_of_time=True)
        except (BrokenMessage, OSError) as error:
            self.ended = self._find_reason(error)
        self.close()
        raise self.ended

    def end(self) -> Ended:
        """Say no more to somebody whose answer makes no sense; the reason for it."""
        self.ended = Ended(NO_ANSWER)
        self.close()
        return self.ended

    def take_alarms(self) -> list[str]:
        """What it has reached for since the last time."""
        alarms = most_telling(self.alarms, MOST_ALARMS)
        self.alarms.clear()
        return alarms

    def _waiting(self, deadline: float) -> socket.socket:
        """The connection, which waits no longer than that."""
        if (left := deadline - time.monotonic()) <= 0:
            raise TimeoutError
        self._ours.settimeout(left)
        return self._ours

    def what_is_left(self) -> list[str]:
        """What it left behind, in words, once it is over."""
        kinds = [kind for kind in ("processes", "files") if self.left.get(kind)]
        return [f"{kind} left behind, which are gone now: {self.left[kind]}" for kind in kinds]

    def _hear_alarms(self, alarms: Plain) -> None:
        """Keep what can be shown on a screen, of whatever has come; the worst comes first."""
        for alarm in alarms[:MOST_ALARMS] if isinstance(alarms, list) else []:
            shown = "".join(one if one.isprintable() else "?" for one in str(alarm)[:MOST_SAID])
            self.alarms.append(shown)

    def _find_reason(self, error: Exception) -> Ended:
        """Whether it was ended from here, has ended by itself, or talks nonsense."""
        time.sleep(0.1)  # until it is seen whether all of them have ended
        if self.slot.stopped_for:
            return Ended(self.slot.stopped_for)
        is_gone = isinstance(error, NobodyThere | OSError)
        return Ended("ended its own process" if is_gone else NO_ANSWER)
