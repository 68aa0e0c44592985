"""Captioners trained for the book: soft, hard and uniform attention over the same images.

    python -m attn_course.trained captions

trains all trials from their seeds, measures them, and writes the record `captions` and the weights
of the first seed.
"""

from attn_course.trained.captions.store import load_captioner as load_captioner
