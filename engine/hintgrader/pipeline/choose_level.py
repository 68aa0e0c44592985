"""Chooses the level of isolation for a class."""

from pathlib import Path

from hintgrader.nbgrader.course import GradingError
from hintgrader.supervisor.isolation import strongest
from hintgrader.worker.level import Level

SANDBOX_HELP = "bubblewrap has to be installed, and allowed to make namespaces."
# Ubuntu's since 24.04, and its kin's: 1 if only programs with a profile may make namespaces.
RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
PROFILE = "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict"
UBUNTU_HELP = (
    f" AppArmor forbids it here. An administrator loads Ubuntu's profile, {PROFILE} (of the package"
    " apparmor-profiles), or types: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
)
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
    cure = SANDBOX_HELP + (UBUNTU_HELP if _is_restricted() else "")
    if level is not None:
        raise GradingError(f"This machine has no {chosen}, only {strongest()}: {cure}")
    said = f"A sandbox is required, and this machine has only {strongest()}: {cure}"
    raise GradingError(f"{said} {SAY_SO}")


def _is_restricted() -> bool:
    try:
        return RESTRICTED.read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False
