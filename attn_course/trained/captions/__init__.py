"""Captioners that the book has trained: soft, hard and uniform attention over the same images.

    python -m attn_course.trained captions

trains all trials from each seed, measures them, and writes the record `captions` and, of the first
seed, the weights.
"""

from attn_course.trained.captions.store import load_captioner

__all__ = ["load_captioner"]
