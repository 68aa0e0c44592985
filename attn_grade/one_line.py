"""Text that somebody else wrote, for a line of a log."""


def plain(text: str) -> str:
    """A text on one line, without what a terminal would take for an order."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
