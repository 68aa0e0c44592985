"""A bank of exercises, and grading one answer."""
