"""Levels of isolation."""

import enum


class Level(enum.IntEnum):
    """Levels of isolation, from the weakest to the strongest.

    Attributes:
        PLAIN: In a process of its own, which has the course's packages and no tests.
        LIMITS: With limits on memory, processes, files and time as well.
        SANDBOX: With no network, and with files, users and processes of its own as well.
    """

    PLAIN = 0
    LIMITS = 1
    SANDBOX = 2

    def __str__(self) -> str:
        return self.name.lower()
