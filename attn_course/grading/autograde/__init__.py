"""Grading a class: hundreds of submissions, on one machine or on several."""
