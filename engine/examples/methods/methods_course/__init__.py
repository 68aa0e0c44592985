"""The modules that a student of this course imports: least squares, and the edit distance."""
