"""From findings to a hint: which mistake it is, and the words a student reads."""
