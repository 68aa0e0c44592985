"""Stations of a submission, from top to bottom: each hands a value to the next.

1. `found`: what was handed in, when, and what it is graded by: a `HandIn`.
2. `read`: its notebook as it will run: a `Notebook`, or why there is none: `Unreadable`.
3. `judged`: the notebook is run in the confined process, and its functions are held to their
   checks: a `Graded`, in which what was interrupted or late is a value like any other.
4. `recorded`: what is kept of it, for people, for reports, for going on: a `SubmissionRecord`.
5. `entered`: into the gradebook, with a notebook to give back.

`grader` walks this way, with a confined process that `warm` keeps for one submission after the
other; `earlier` says whether it has been walked before, and `counted` which parts count, here and
when one is dropped later. What is said of a class is for `autograde`.
"""
