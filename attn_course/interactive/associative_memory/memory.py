"""Two memories for pairs of a key and a value: a matrix of fixed size, and a row for each pair.

The state is the sum of v k^T over all pairs, and reading it with a key gives S k; softmax
attention keeps the rows. Three rules say what happens to the state before a pair is added.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from attn_course.retrieval import attend
from attn_course.shapes import checked

RULES = ("add", "decay", "delta")
DECAY = 0.9  # what is left of the state when a pair is written, by the rule of that name
SHARP = 64.0  # softmax attention multiplies its scores by this: a row is found by its key alone
SURE = 8.0  # the shares of the colours are a softmax of their dot products times this


@checked
def write(
    state: Float[Tensor, "d d"], key: Float[Tensor, " d"], value: Float[Tensor, " d"], rule: str
) -> Float[Tensor, "d d"]:
    """The state after one more pair.

    Args:
        state: What has been written before.
        key: A vector of length 1.
        value: What the state is to give for this key.
        rule: `add`, or `decay`, which first weakens all that is there, or `delta`, which first
            takes away what the state gives for this key.

    Raises:
        ValueError: There is no such rule.

    Source: Schlag et al. 2021, sections 3.2 and 4.2 (add, delta); Sun et al. 2023 (decay).
    """
    if rule not in RULES:
        raise ValueError(f"there is no rule {rule!r}; there are {', '.join(RULES)}")
    erased = torch.outer(state @ key, key)
    before = {"add": state, "decay": DECAY * state, "delta": state - erased}[rule]
    return before + torch.outer(value, key)


@checked
def look_up(
    query: Float[Tensor, " d"], keys: Float[Tensor, "rows d"], values: Float[Tensor, "rows d"]
) -> Float[Tensor, " d"]:
    """What softmax attention gives that keeps all rows."""
    return attend(SHARP * (keys @ query)[None], values)[0]


@checked
def shares(
    read: Float[Tensor, " d"], codes: Float[Tensor, "colours d"]
) -> Float[Tensor, " colours"]:
    """How surely a vector that was read means each of the colours; all together 1."""
    return (SURE * codes @ read).softmax(-1)
