"""Mutation operators: on the reference, on any answer, on a value, on a call of a library."""
