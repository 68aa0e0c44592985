"""Problem set 02: the edit distance, with an answer of strings in a tree."""

NUMBER = "02"
