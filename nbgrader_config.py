"""Settings of nbgrader for this course, read when it is called from the root of the repository."""

from pathlib import Path

from hintgrader.nbgrader.settings import configure

c = get_config()
# The bank names what a submission may import; what else is set, and why, `configure` says.
configure(c, Path(__file__).resolve().parent, course_id="attention", bank="attn_bank")
c.HintGrader.right_answers = "tests/bank/right_answers"
c.HintGrader.verdicts = "book/kill_matrix"
# What `hintgrader check-course` asks beside what it sees itself: is what is generated in step?
c.HintGrader.checks = [
    "tools/build_exercises.py --check",
    "tools/build_notebooks.py --check",
    "tools/build_kill_matrix.py --check",
    "tools/build_road.py --check",
    "tools/check_chapters.py",
]
