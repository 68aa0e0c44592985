"""Exceptions that an answer raised, in a student's terms: which axis, which length, which name."""

import re
from collections.abc import Callable

from hintgrader.hints import mismatches as about
from hintgrader.worker.plain import Inputs


def explain(kind: str, message: str, inputs: Inputs) -> str:
    """The meaning of an exception; nothing if its own words are all that is known.

    Args:
        kind: Of the exception, such as IndexError.
        message: What it says.
        inputs: What the answer was given.
    """
    for pattern, say in _MESSAGES.items():
        if found := re.search(pattern, message):
            return say(inputs, *found.groups()) or ""
    return _KINDS.get(kind, "")


_MESSAGES: dict[str, Callable[..., str | None]] = {
    r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)": about.say_product,
    r"size mismatch, got input \((\d+)\), mat \(\d+x(\d+)\), vec \((\d+)\)": (
        lambda inputs, rows, inner, other: about.say_product(inputs, rows, inner, other, "1")
    ),
    r"for first two dimensions of batch2 tensor to be: \[([\d, ]+)\] but got: \[([\d, ]+)\]": (
        about.say_batched_product
    ),
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton"
    r" dimension (\d+)": about.say_lengths,
    r"index (-?\d+) is out of bounds for (?:dimension|axis) (\d+) with size (\d+)": about.say_place,
    r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)": (
        about.say_axis
    ),
    r"too many indices for tensor of dimension (\d+)": about.say_indices,
    r"must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+)": (
        about.say_joined
    ),
    r"same number of dimensions: got (\d+) and (\d+)": about.say_axes_joined,
    r"expected Tensor as element \d+ in argument 0, but got (\w+)": about.say_no_tensor,
    r"local variable '(\w+)'": about.say_local,
    r"name '(\w+)' is not defined": about.say_name,
    r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)": about.say_reshape,
    r"not enough values to unpack \(expected (\d+), got (\d+)\)": about.say_unpack,
    r"too many values to unpack \(expected (\d+)": about.say_unpack,
    r"same dtype, but got: (\w+) != (\w+)": about.say_dtypes,
    r"expected scalar type (\w+) but found (\w+)": about.say_dtypes,
    r"batch[12] must be a 3D tensor": about.say_axes_of_bmm,
    r"derivative for aten::floor_divide is not implemented": about.say_rounded_down,
    r"Boolean value of Tensor with more than one value": about.say_truth,
    r"'NoneType' object|and 'NoneType'|'NoneType' and": about.say_not_returned,
    r"'(int|float|bool)' object is not (?:iterable|subscriptable)": about.say_no_loop,
    r"object of type '(int|float|bool)' has no len": about.say_no_loop,
    r"argument of type '(int|float|bool)' is not iterable": about.say_no_loop,
    r"(\S+)\(\) missing \d+ required positional arguments?: '(\w+)'": about.say_missing,
    r"unexpected keyword argument '(\w+)'": about.say_unexpected,
    r"(\S+)\(\) takes (\d+) positional arguments? but (\d+) w": about.say_too_many,
    r"Expected target size \[([\d, ]+)\], got \[([\d, ]+)\]": about.say_classes,
    r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)": (
        about.say_rows_of_answers
    ),
    r"Expected reduction dim to be specified for input.numel\(\) == 0": about.say_no_numbers,
    r"probability tensor contains either": about.say_no_law,
    r"prob_dist must be 1 or 2 dim": about.say_laws,
    r"Cannot access accelerator device when none is available": about.say_device,
}
_KINDS = {
    "KeyError": "a dictionary is asked for a key that it does not have",
    "IndexError": "a place, or a mask, does not fit the axis that it is used on: places are counted"
    " from 0, a mask is as long as its axis, and a list or a shape may be shorter than you think",
    "ZeroDivisionError": "something is divided by 0: is a list empty, or a count 0?",
    "RecursionError": "your function calls itself without an end",
}
