"""Two memories for pairs of a key and a value: a matrix of fixed size, and a row for each pair.

The state is that of chapter 14, written by one of three of its rules. Softmax attention keeps the
rows.
"""

from functools import partial

from jaxtyping import Float
from torch import Tensor

from attn_course.linear_attention import add_pair, correct_pair
from attn_course.retrieval import attend
from attn_course.shapes import checked

DECAY = 0.9  # what is left of the state when a pair is written, by the rule of that name
SHARP = 64.0  # softmax attention multiplies its scores by this: a row is found by its key alone
SURE = 8.0  # the shares of the colours are a softmax of their dot products times this
# How a pair is written, by name: each maps a state, a key of length 1 and a value to a state.
RULES = {"add": add_pair, "decay": partial(add_pair, decay=DECAY), "delta": correct_pair}


@checked
def look_up(
    query: Float[Tensor, " d"], keys: Float[Tensor, "rows d"], values: Float[Tensor, "rows d"]
) -> Float[Tensor, " d"]:
    """The output of softmax attention, which keeps all rows."""
    return attend(SHARP * (keys @ query)[None], values)[0]


@checked
def shares(
    read: Float[Tensor, " d"], codes: Float[Tensor, "colours d"]
) -> Float[Tensor, " colours"]:
    """The share of each colour in what a vector that was read means; all together 1."""
    return (SURE * codes @ read).softmax(-1)
