"""Chooses the level of isolation for a class."""

from hintgrader.nbgrader.course import GradingError
from hintgrader.supervisor.isolation import strongest
from hintgrader.worker.level import Level

SANDBOX_HELP = "bubblewrap has to be installed, and allowed to make namespaces."
SAY_SO = (
    "Without one a submission can read and change your files. If all of them come from people whom"
    " you trust, say so: --level limits"
)


def choose_level(level: str | None) -> Level:
    """The level of isolation to grade at: a sandbox, unless a weaker one is asked for by name.

    Args:
        level: Its name; None for a sandbox.

    Raises:
        GradingError: This machine does not offer it.
    """
    chosen = Level.SANDBOX if level is None else Level[level.upper()]
    if chosen <= strongest():
        return chosen
    if level is not None:
        raise GradingError(f"This machine has no {chosen}, only {strongest()}: {SANDBOX_HELP}")
    said = f"A sandbox is required, and this machine has only {strongest()}: {SANDBOX_HELP}"
    raise GradingError(f"{said} {SAY_SO}")
