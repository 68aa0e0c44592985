"""Helpers for tests of a course: commands as typed, hand-ins, a formgrader, a database."""
