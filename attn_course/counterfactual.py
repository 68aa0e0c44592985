"""The place where problem set 06 of version 0.1.0 imports `Directed` from; it has moved."""

from attn_course.captions.counterfactual import Directed

__all__ = ["Directed"]
