"""One submission's way to the gradebook: each step hands a value to the next.

1. `locate`: what was handed in, when, and what it is graded by: a `HandIn`.
2. `load`: its notebook as it will run: a `LoadedNotebook`, or why there is none: `Unreadable`.
3. `run`: it is run in the confined process, and its functions are held to their checks: a
   `Graded`, in which what was interrupted or late is a value like any other.
4. `record`: what is kept of it, for people, for reports, for going on: a `SubmissionRecord`.
5. `write_gradebook`: its points, and a notebook to give back.

`grade` walks this way, with a confined process that `warm_process` keeps for one submission after
the other; `reuse` says whether it has been walked before, and `recount` which parts count, here and
when one is dropped later. What is said of a class is for `autograde`.
"""
