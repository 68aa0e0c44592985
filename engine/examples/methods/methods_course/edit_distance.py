"""The edit distance: the fewest letters to replace, insert or delete, by a dynamic programme."""

GAP = "-"


def show(rows: tuple[str, str]) -> str:
    """Two aligned words, one below the other, with a bar between letters that agree."""
    bars = "".join("|" if one == other else " " for one, other in zip(*rows, strict=True))
    return "\n".join((rows[0], bars, rows[1]))
