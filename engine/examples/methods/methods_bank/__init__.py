"""The exercises of this course; a notebook needs `check` alone."""

from hintgrader.bank.bank import Bank

BANK = Bank(__name__, student_packages=("methods_course",))
check = BANK.check

__all__ = ["BANK", "check"]
