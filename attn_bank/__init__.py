"""The exercises of this course: a folder for each problem set, a module for each graded part.

`check` is all that a notebook needs; `progress` shows its owner how far they are.
"""

from hintgrader.bank.bank import Bank
from hintgrader.progress.told import progress

RETIRED = {
    "04_bahdanau/attention_weights": "weights that leave padding out are asked in problem set 01,"
    " part C; all other parts count as before",
    "05_luong/concat_scores": "the additive score is asked in problem set 04, part A; all other"
    " parts count as before",
}
BANK = Bank(
    __name__,
    student_packages=("attn_course",),
    wrappers=("attn_course.shapes",),
    retired=RETIRED,
)
check = BANK.check
find_exercise, exercise_names = BANK.find, BANK.names

__all__ = ["BANK", "check", "exercise_names", "find_exercise", "progress"]
