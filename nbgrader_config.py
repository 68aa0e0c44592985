"""Settings of nbgrader for this course, read when it is called from the root of the repository."""

from pathlib import Path

from attn_grade.nbgrader.settings import configure

c = get_config()
# The bank names what a submission may import; what else is set, and why, `configure` says.
configure(c, Path(__file__).resolve().parent, course_id="attention", bank="attn_bank")
