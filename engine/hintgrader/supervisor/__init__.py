"""The grader's side of the wall: it starts the confined process, and asks it.

The process holds neither tests nor references, nor the inputs that are hidden until the last cell
has run. What crosses is plain data: numbers, words, and tensors as bytes. `process` starts it,
`channel` asks, `grade_notebook` grades a notebook in it.
"""
