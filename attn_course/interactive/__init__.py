"""Figures that a reader can change in the browser, without a kernel, a server or a network."""

from attn_course.interactive.alignment import alignment_explorer
from attn_course.interactive.associative_memory import associative_memory_explorer
from attn_course.interactive.captioning import caption_explorer
from attn_course.interactive.digits import digit_explorer
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.fixed_vector import fixed_vector_explorer
from attn_course.interactive.head_ablation import head_ablation_explorer
from attn_course.interactive.heads import head_explorer
from attn_course.interactive.induction import induction_explorer
from attn_course.interactive.learned_keys import key_explorer
from attn_course.interactive.machine import attention_machine
from attn_course.interactive.permutation import permutation_explorer
from attn_course.interactive.recurrence import gradient_explorer
from attn_course.interactive.retrieval import colour_explorer
from attn_course.interactive.rotary import rotary_explorer
from attn_course.interactive.scaled_dot_product import attention_explorer
from attn_course.interactive.scores import score_explorer
from attn_course.interactive.sinusoids import sinusoid_explorer
from attn_course.interactive.tiles import tile_explorer
from attn_course.interactive.writer import writer_explorer

__all__ = [
    "InteractiveFigure",
    "alignment_explorer",
    "associative_memory_explorer",
    "attention_explorer",
    "attention_machine",
    "caption_explorer",
    "colour_explorer",
    "digit_explorer",
    "fixed_vector_explorer",
    "gradient_explorer",
    "head_ablation_explorer",
    "head_explorer",
    "induction_explorer",
    "key_explorer",
    "permutation_explorer",
    "rotary_explorer",
    "score_explorer",
    "sinusoid_explorer",
    "tile_explorer",
    "writer_explorer",
]
