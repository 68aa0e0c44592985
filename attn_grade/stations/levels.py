"""Chooses the level of isolation for a class."""

from attn_grade.host.isolation import strongest
from attn_grade.inside.level import Level
from attn_grade.nbgrader.course import GradingError

SANDBOX_HELP = "bubblewrap has to be installed, and allowed to make namespaces."


def choose_level(level: str | None, require_sandbox: bool) -> Level:
    """The level of isolation to grade at.

    Args:
        level: Its name; None for the strongest that there is.
        require_sandbox: Whether to refuse anything but the strongest of all.

    Raises:
        GradingError: This machine does not offer it, or it is below what is required.
    """
    chosen = strongest() if level is None else Level[level.upper()]
    if chosen > strongest():
        raise GradingError(f"This machine has no {chosen}, only {strongest()}: {SANDBOX_HELP}")
    if require_sandbox and chosen < Level.SANDBOX:
        raise GradingError(f"A sandbox is required, and there is only {chosen}: {SANDBOX_HELP}")
    return chosen
