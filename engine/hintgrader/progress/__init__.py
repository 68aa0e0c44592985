"""Progress in the problem sets of a folder: read from there, and told there alone.

It imports nothing but Python's own library: `make progress` runs it without an environment.
"""
