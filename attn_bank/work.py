"""The work that an answer may make of its pairs of a query and a key, in several problem sets."""

from hintgrader.exercise import Count


def multiplies_pairs(work: Count, needed: Count) -> tuple[str, str] | None:
    """A law: no matrix product of what was expanded to all pairs, counted by its numbers."""
    if work.products <= 2 * needed.products:
        return None
    return (
        f"its matrix products multiply {work.products} pairs of numbers; {needed.products} are"
        " enough, if each query and each key meets its weight once, before they are paired",
        "products of pairs",
    )
