"""One training loop for the whole course: any model, any batches, any loss.

A run may be stopped at any moment and resumed from its checkpoint. It ends with the same weights,
bit for bit, as a run that was never stopped.
"""

from attn_course.training.history import History, learning_rate_at
from attn_course.training.loop import Batch, train

__all__ = ["Batch", "History", "learning_rate_at", "train"]
