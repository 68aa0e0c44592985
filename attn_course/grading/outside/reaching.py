"""Which notes on a submission accuse somebody, and which of too many are told."""

from collections.abc import Iterable

REACHING = ("tried to", "called ")  # how those begin that are for what no honest notebook does


def is_reaching(note: str) -> bool:
    """Whether a note accuses, and is no mere remark."""
    return note.startswith(REACHING)


def most_telling(notes: Iterable[str], most: int) -> list[str]:
    """Each note once, and no more than so many; what accuses comes first, or it would be cut."""
    return sorted(dict.fromkeys(notes), key=lambda note: not is_reaching(note))[:most]
