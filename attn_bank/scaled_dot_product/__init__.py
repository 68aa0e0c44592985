"""Problem set 07: one score and its scale, masks, a softmax in one pass, and snippets to repair."""

from hintgrader.exercise import Inputs, Plain, name_kind, same
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, in_front

NUMBER = "07"
UNSEEN = "none of its tensors can be seen: work with torch on the inputs themselves, not with numpy"


def draw_vectors(
    generator: Generator,
    query_len: int,
    key_len: int,
    d_key: int,
    d_value: int,
    batch: int | None = None,
    num_heads: int | None = None,
) -> Inputs:
    before = in_front(batch, num_heads)
    return {
        "query": draw_normal(generator, *before, query_len, d_key),
        "key": draw_normal(generator, *before, key_len, d_key),
        "value": draw_normal(generator, *before, key_len, d_value),
    }


def as_columns(inputs: Inputs) -> Inputs:
    """The same vectors, a column each."""
    return {name: tensor.mT.contiguous() for name, tensor in inputs.items()}


def why_not(output: Plain, right: Tensor, wrong: str) -> str | None:
    """The reason why an output counts for nothing, whatever else is measured; None without one."""
    if not isinstance(output, Tensor):
        return f"it is {name_kind(output)}; expected a tensor of shape {tuple(right.shape)}"
    if output.dtype != right.dtype:
        return f"its dtype is {output.dtype} and should be {right.dtype}, like the inputs"
    return None if same(output, right) else wrong
