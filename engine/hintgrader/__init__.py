"""A grader of notebooks: from an answer to points and a hint, from hand-ins to a gradebook.

It knows no course. Its rooms, in the order in which an answer passes them:

- `worker`: all that enters the confined process; it imports nothing of ours but itself.
- `values`: equality of what answers return, and relations of wrong numbers to right ones.
- `exercise`: what an author writes: a reference, checks, a contract, mistakes with their hints.
- `checking`: an answer is held to the checks of its exercise.
- `hints`: what was found becomes a sentence for the student.
- `progress`: how far a student is, read from the student's own folder.
- `bank`: exercises by their names, and the grade of one answer.
- `supervisor`: the grader's side of the wall, which starts the confined process and asks it.
- `records`: what is kept of a submission, and the seals that show that nobody has changed it.
- `nbgrader`: into and out of nbgrader.
- `pipeline`: one submission's way, from what was handed in to the gradebook.
- `autograde`: grading a class on this machine; `cluster`: on several.
- `authoring`: what an author of exercises needs before anything is released.
- `report`: what a class made of a problem set.
- `similarity`: answers of a class that are more alike than strangers' are.
- `privacy`: the data of a person or of a class, handed out, backed up and deleted.
"""

import sys

__version__ = "1.0.0"

if sys.flags.optimize > 1:
    raise ImportError(
        "Python runs with -OO or PYTHONOPTIMIZE=2, which takes out the docstrings that hold the"
        " hints. Start it without."
    )
