"""Translators that the book has trained, small enough to come with it, and how they were made.

    python -m attn_course.trained bahdanau

trains the three seeds of a recipe, measures them, and writes their record and, of the first seed,
the weights. `python -m attn_course.trained` says what there is. Captioners of images are in the
package `attn_course.trained.captions`; what recurrence is measured by is in the modules
`attn_course.trained.recall` and `attn_course.trained.without_recurrence`.
"""

from attn_course.trained.store import TrainedTranslator, load, record

__all__ = ["TrainedTranslator", "load", "record"]
