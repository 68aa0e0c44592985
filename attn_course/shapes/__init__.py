"""Shapes, dtypes, devices and NaN, checked when a function is called.

The shape of every tensor stands in the signature of the function that takes it, written with
jaxtyping. `checked` holds a call to that signature, so that a mistake is reported by the name of
the argument and of the axis, with the sizes that do not fit, and not by a message from the middle
of a matrix product.
"""

from attn_course.shapes.checking import checked
from attn_course.shapes.values import is_true_of_any, refuse_nan, require_positive

__all__ = ["checked", "is_true_of_any", "refuse_nan", "require_positive"]
