"""Shapes, dtypes, devices and NaN, checked when a function is called.

The signature of a function gives the shape of every tensor that it takes, written with jaxtyping.
`checked` holds each call to that signature, so a mistake is reported with the names of the argument
and of the axis and the sizes that do not fit, instead of by a message from the middle of a matrix
product. `unchecked` switches the checks off, all of them or those that read values.
"""

from attn_course.shapes.checking import checked
from attn_course.shapes.switch import is_traced, shapes_known, trusts_scores, unchecked
from attn_course.shapes.tensors import check_together
from attn_course.shapes.values import (
    describe,
    is_true_of_any,
    known_finite,
    known_nonzero,
    may_branch_on_values,
    reaches,
    refuse_nan,
    require_positive,
)

__all__ = [
    "check_together",
    "checked",
    "describe",
    "is_traced",
    "is_true_of_any",
    "known_finite",
    "known_nonzero",
    "may_branch_on_values",
    "reaches",
    "refuse_nan",
    "require_positive",
    "shapes_known",
    "trusts_scores",
    "unchecked",
]
