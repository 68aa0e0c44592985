"""The pages on which a person reads a submission: nbgrader's formgrader, and the feedback.

A submission is written by somebody else, and its page opens in the browser of an instructor who may
change marks and run code. So what reaches a page is text, tables and pictures: nothing that runs,
nothing that is fetched, nothing that can be clicked and leads elsewhere.

`nbgrader_config.py` puts these parts into nbconvert's `HTMLExporter`: `clean` in place of two of
its filters, `Shorten` and `Defuse` as its preprocessors, and the templates around nbgrader's own.
"""
