"""The code that enters the confined process, in which submissions run.

Nothing here knows a test, a reference or a hidden input, and nothing here imports anything of ours
from outside this folder. `main` waits with torch imported and forks a `notebook_process` for each
submission; `wire` is what it and the grader say to each other.
"""
