"""Grading a class: from the command to the records, the table and the log."""
