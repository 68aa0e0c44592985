"""Measures of translations and of alignments."""

from attn_course.metrics.translation import (
    alignment_error_rate,
    corpus_bleu,
    exact_match,
    hard_links,
)

__all__ = ["alignment_error_rate", "corpus_bleu", "exact_match", "hard_links"]
