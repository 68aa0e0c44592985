"""Takes snapshots of a notebook: forks of its process, in which one function is called."""

from dataclasses import dataclass
from functools import partial

from hintgrader.bank.grade import missing_message
from hintgrader.exercise.definition import Exercise
from hintgrader.supervisor.channel import Channel
from hintgrader.worker.time_limits import SNAPSHOT_SECONDS
from hintgrader.worker.wire import Message


@dataclass(frozen=True)
class NoFunction:
    """The absence of a function: what a student reads, and whether nothing was written at all."""

    problem: str
    unwritten: bool


def take_snapshot(channel: Channel, snapshot: Channel, exercise: Exercise) -> NoFunction | None:
    """Fork the notebook as it is now, to call a function of it.

    Args:
        channel: To the notebook.
        snapshot: A new channel, by which the fork is going to be asked.
        exercise: Whose function to call.

    Returns:
        Why there is nothing to call; None if there is.

    Raises:
        Termination: The notebook does not answer.
    """
    message: Message = {"kind": "snapshot", "function": exercise.function}
    message |= {"avoid": exercise.avoid, "may_use": exercise.may_use}
    message |= {"packages": exercise.packages.names, "wrappers": exercise.packages.wrappers}
    then = partial(channel.send_end, snapshot)
    reply = channel.ask(message, SNAPSHOT_SECONDS, then=then)
    if "missing" not in reply:
        return None
    if (instead := reply["missing"]) is None:
        return NoFunction(missing_message(exercise, None), unwritten=True)
    return NoFunction(f"`{exercise.function}` is {instead!s:.40}, not a function", unwritten=False)
