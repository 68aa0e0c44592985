"""Decoding: from a model that says one word at a time to a sentence."""

from attn_course.decoding.search import Hypotheses, Stepwise, beam_search, greedy_decode

__all__ = ["Hypotheses", "Stepwise", "beam_search", "greedy_decode"]
