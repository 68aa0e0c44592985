"""The place where problem sets of version 0.1.0 import `unseen_pairs` from; it has moved."""

from attn_course.trained.translators.measure import unseen_pairs

__all__ = ["unseen_pairs"]
