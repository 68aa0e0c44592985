"""Answers that are more alike than strangers' are: a place to look, never a verdict."""
