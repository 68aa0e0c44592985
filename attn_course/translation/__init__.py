"""Translators that belong to no chapter."""
