"""Grading from outside: a submission runs in a confined process, and the grader talks to it.

The confined process holds neither tests nor references, nor the inputs that are hidden until the
last cell has run. What crosses is plain data: numbers, words, and tensors as bytes.

On the grader's side: `slot` starts the process, `notebook` grades a notebook in it. On the other
side: `worker` waits with torch imported, `child` is one submission. `wire` is what they say.
"""
