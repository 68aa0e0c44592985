"""The exercises of this course: a folder for each problem set, a module for each graded part.

`check` is all that a notebook needs.
"""

from hintgrader.bank.bank import Bank

BANK = Bank(__name__, student_packages=("attn_course",), wrappers=("attn_course.shapes",))
check = BANK.check
find_exercise, exercise_names = BANK.find, BANK.names

__all__ = ["BANK", "check", "exercise_names", "find_exercise"]
