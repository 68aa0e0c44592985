"""Grading a class on several machines, with Dask and PostgreSQL."""
