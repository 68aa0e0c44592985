"""Problem set 14: attention that keeps a state, in chunks, corrected, measured, and repaired."""

from collections.abc import Callable

from hintgrader.exercise import Count, Inputs, Largest, Plain, same

NUMBER = "14"
UNSEEN = "none of its tensors can be seen: work with torch on the inputs themselves, not with numpy"


def takes_chunks(
    call: Callable[[Inputs], Plain], inputs: Inputs, right: Plain
) -> tuple[str, str] | str | None:
    """A law: as many tokens at a time as `chunk_len` says, by the tensors and calls of torch."""
    with Largest() as largest, Count() as work:
        output = call(inputs)
    if not same(output, right):
        return "what it returns has to be right as well"
    if not largest.numbers:
        return UNSEEN
    length, d_key = inputs["key"].shape[-2:]
    chunk_len, d_value = inputs["chunk_len"], inputs["value"].shape[-1]
    enough = 3 * max(length * max(d_key, d_value), chunk_len**2)
    kind = {length**2: "all pairs", length * d_key * d_value: "all states"}
    if largest.numbers > enough:
        return (
            f"it makes a tensor of shape {largest.shape}, {largest.numbers} numbers; {enough} are"
            " enough, three times those of the largest input or of the table of one chunk",
            kind.get(largest.numbers, "something large"),
        )
    calls = 120 * -(-length // chunk_len) + 100  # einsum asks for ten things or more
    if work.number > calls:
        return (
            f"it asks torch for something {work.number} times; a loop over the chunks needs fewer"
            f" than {calls}",
            "many calls",
        )
    return None
