"""Settings of nbgrader for this course: numerical methods, in two problem sets."""

from pathlib import Path

from hintgrader.nbgrader.settings import configure

c = get_config()
configure(c, Path(__file__).resolve().parent, course_id="methods", bank="methods_bank")
c.HintGrader.min_mistakes = 3
