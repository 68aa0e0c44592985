"""Messages between the grader and a confined process: their lengths, JSON, the bytes of tensors."""

import struct
import time
from collections.abc import Callable
from socket import socket

from hintgrader.worker.packing import (
    MAX_BYTES,
    MAX_JSON,
    BrokenMessage,
    Callback,
    Message,
    NameOf,
    TooLarge,
    pack,
    unpack,
)

__all__ = ["END", "FORK", "BrokenMessage", "Callback", "Message", "NobodyThere", "TooLarge"]
__all__ += ["receive", "send"]

FORK, END = b"f", b"e"  # orders to a worker
HEAD = struct.Struct("!IQ")  # bytes of the JSON, bytes of the tensors
Tick = Callable[[], None]  # called now and then while the other side is waited for; it may raise


class NobodyThere(BrokenMessage):
    """The other side has ended, or closed the connection."""


def send(
    connection: socket, message: Message, name_of: NameOf | None = None, tick: Tick | None = None
) -> None:
    """Send a message.

    Args:
        connection: Where to.
        message: Values by name.
        name_of: Gives the number by which a callable is called back; None describes callables.
        tick: Called in between, at the latest when the connection's timeout has passed; None gives
            up then.

    Raises:
        NobodyThere: Nobody is there to read it.
        TooLarge: It has too many bytes or tensors.
        TimeoutError: Nobody reads it in time.
    """
    form, body = pack(message, name_of)
    rest = memoryview(HEAD.pack(len(form), len(body)) + form + body)
    while rest:
        try:
            rest = rest[connection.send(rest) :]
        except TimeoutError:
            if tick is None:
                raise
        except OSError as error:
            raise NobodyThere(f"nobody reads: {error}") from None
        if tick:
            tick()


def receive(
    connection: socket,
    call: Callable[[int], Callback] | None = None,
    tick: Tick | None = None,
) -> Message:
    """Wait for a message.

    Args:
        connection: Where from; its timeout holds for the whole message.
        call: Gives the callable of a number; None refuses callables.
        tick: Called in between, at the latest when the connection's timeout has passed: then only
            what it raises ends the wait. None gives up then.

    Raises:
        NobodyThere: Nobody is there to send one, or its end.
        BrokenMessage: What arrives is no message, or is too large.
        TimeoutError: It does not arrive in time.
    """
    seconds = connection.gettimeout()
    until = None if seconds is None or tick else time.monotonic() + seconds
    try:
        form_len, body_len = HEAD.unpack(_read(connection, HEAD.size, until, tick))
        if form_len > MAX_JSON or body_len > MAX_BYTES:
            raise BrokenMessage(f"{form_len + body_len:,} bytes: too large")
        form = _read(connection, form_len, until, tick)
        body = _read(connection, body_len, until, tick)
    finally:
        connection.settimeout(seconds)
    return unpack(form, body, call)


def _read(connection: socket, number: int, until: float | None, tick: Tick | None) -> bytes:
    parts = bytearray()
    while len(parts) < number:
        try:
            if until is not None:
                connection.settimeout(_left(until))
            part = connection.recv(min(number - len(parts), 2**20))
        except TimeoutError:
            if tick is None:
                raise
            tick()
            continue
        except OSError as error:
            raise NobodyThere(f"it ended: {error}") from None
        if not part:
            raise NobodyThere("it ended")
        parts += part
        if tick and len(parts) < number:  # a byte now and then does not extend the time
            tick()
    return bytes(parts)


def _left(until: float) -> float:
    """The seconds left for a message; a byte now and then does not extend them."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the message does not come to its end")
    return seconds
