"""The engine: from an answer to points, from a folder of hand-ins to a gradebook.

It knows no course. What an exercise is stands in `exercise`, what a bank of them is in `bank`; from
an answer to points leads `check`, by way of `trial`, `judge`, `law`, `compare` and `diagnosis`.
What is kept of a submission is in `records`, and `seal` shows that nobody has changed it.

- `inside`: all that enters the confined process; it imports nothing of ours but itself.
- `host`: the grader's side of the wall.
- `nbgrader`: into and out of nbgrader.
- `stations`: one submission's way, from what was handed in to the gradebook.
- `autograde`: grading a class on this machine; `cluster`: on several.
- `authoring`: what an author of exercises needs before anything is released.
- `report`: what a class made of a problem set.
- `data`: the data of a person or of a class, handed out, backed up and deleted.
"""

import sys

if sys.flags.optimize > 1:
    raise ImportError(
        "Python runs with -OO or PYTHONOPTIMIZE=2, which takes out the docstrings that hold the"
        " hints. Start it without."
    )
