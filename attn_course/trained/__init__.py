"""Translators trained for the book, small enough to come with it, and their recipes.

    python -m attn_course.trained bahdanau

trains the three seeds of a recipe, measures them, and writes their record and the weights of the
first seed. `python -m attn_course.trained` lists the recipes. The captioners of images are in the
package `attn_course.trained.captions`, the model that writes in
`attn_course.trained.writers`; the modules `attn_course.trained.recall`,
`attn_course.trained.warm_up` and `attn_course.trained.without_recurrence` measure recurrence.
"""

from attn_course.trained.store import TrainedTranslator as TrainedTranslator
from attn_course.trained.store import load as load
from attn_course.trained.store import record as record
