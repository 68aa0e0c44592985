"""Reasons why a submission's process no longer answers, in the words that a student reads."""

import enum


class Cause(enum.Enum):
    """The cause; its value is what a student reads after "it", with numbers in the braces."""

    SLOW_REQUEST = "did not come back within {} seconds of computing"
    SLOW_CALL = "did not return within {} seconds of computing"
    SLOW_NOTEBOOK = "was not done when the whole notebook ran out of time"
    STALLED = "waited for {} seconds in which it computed nothing"
    STALLED_NOTEBOOK = "was not done when the whole notebook had waited for {} seconds"
    MEMORY = "used {} GB of memory, above {} GB"
    PROCESSES = "started more than {} processes"
    LEFT_RUNNING = "left {} processes running, more than {}"
    ENDED_ITSELF = "ended its own process"
    NONSENSE = "sent no valid answer"
    TOO_MUCH = "sent more than fits in memory"


OUT_OF_TIME = {Cause.SLOW_REQUEST, Cause.SLOW_CALL, Cause.SLOW_NOTEBOOK}
WAITING = {Cause.STALLED, Cause.STALLED_NOTEBOOK}


class Termination(Exception):
    """Raised when the process no longer answers: it ended, or was ended for what it did.

    Args:
        cause: What happened.
        numbers: Those that the cause names.
    """

    def __init__(self, cause: Cause, *numbers: float | str) -> None:
        super().__init__(cause.value.format(*numbers))
        self.cause = cause

    @property
    def out_of_time(self) -> bool:
        """True if it was too slow."""
        return self.cause in OUT_OF_TIME

    @property
    def waited(self) -> bool:
        """True if it waited for something, which says nothing of the answer."""
        return self.cause in WAITING
