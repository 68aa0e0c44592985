"""Mutation operators: on the reference, on any answer, on a value, on a call of a library.

They change what a function does; `authoring/source_mutants.py` changes how a solution is written.
"""
