"""Helpers for tests of a course: commands as they are typed, hand-ins, a server of PostgreSQL."""
