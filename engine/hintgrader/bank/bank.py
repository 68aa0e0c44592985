"""A bank of exercises: a package with a folder for each problem set, a module for each part."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from importlib import import_module
from pkgutil import ModuleInfo, iter_modules

from hintgrader.bank.grade import check_answer
from hintgrader.bank.secret import hidden_secret
from hintgrader.bank.version import version_of
from hintgrader.exercise.contract import keep_contract
from hintgrader.exercise.definition import Exercise
from hintgrader.progress.remembered import last_points, not_run, remember
from hintgrader.worker.plain import Plain
from hintgrader.worker.points import Points, Row
from hintgrader.worker.student_packages import StudentPackages

UNDEFINED = re.compile(r"NameError: name '(\w+)' is not defined")


class Bank:
    """The exercises of a course.

    A folder of the package is a problem set; it has a `NUMBER`, as "03". A module in it is a part,
    and has an `EXERCISE`. Their names are `NN_folder/module`. What several sets share lies beside
    the folders.

    Args:
        package: Name of the package.
        student_packages: Names of the packages that a student may import; they are all of the
            course that a submission finds when it is graded.
        wrappers: Names of modules in them whose functions only wrap others, such as those that
            check shapes: what they call counts as called by their caller.
        reports: Where a student may tell that a hint is wrong, a mail or a web address; empty for
            the instructor.
        retired: Names of parts that only notebooks of earlier editions have, each with a sentence
            on what became of it.
    """

    def __init__(
        self,
        package: str,
        student_packages: tuple[str, ...],
        wrappers: tuple[str, ...] = (),
        reports: str = "",
        retired: Mapping[str, str] | None = None,
    ) -> None:
        self.package, self.student_packages, self.wrappers = package, student_packages, wrappers
        self.reports = reports
        self.retired = dict(retired or {})

    def check(
        self, name: str, answer: Callable[..., Plain] | None = None, *, hidden: bool = False
    ) -> Points:
        """Grade an answer and say what is wrong with it.

        Args:
            name: The exercise, as `NN_slug/part`.
            answer: The function; None takes the one of the notebook, by the name that the exercise
                gives it.
            hidden: Whether to draw the inputs that a student does not see as well. The table then
                says nothing about their numbers.

        Returns:
            The points, with a table of the checks. A missing, unfinished or crashing answer earns
            points too, none, and is no error. A retired part has none to
            earn, and a sentence says so.

        Raises:
            ValueError: There is no exercise of this name.
        """
        if name in self.retired:
            return self.farewell(name)
        exercise = self.find(name)
        points = check_answer(exercise, answer, hidden_secret() if hidden else None)
        if answer is None and not hidden:
            if missing := _names_not_run(name, points):
                return _told_to_run(points, missing, last_points(name))
            if not points.unwritten:
                remember(name, exercise.function, points)
            elif not hasattr(sys.modules["__main__"], exercise.function):  # as after a restart
                return _with_kept(points, last_points(name))
        return points

    def farewell(self, name: str) -> Points:
        """The table of a retired part: a sentence, and nothing to earn."""
        return Points((Row(f"this part has left the problem set: {self.retired[name]}", 0.0),))

    def find(self, name: str) -> Exercise:
        """The exercise called `NN_slug/part`, such as `01_retrieval/softmax`; the same each time.

        Raises:
            ValueError: There is no such exercise; the message lists those that there are.
        """
        if name not in self._names:
            listed = ", ".join(self._names)
            raise ValueError(f"there is no exercise {name!r}; there are: {listed}")
        return _load(self, name)

    def names(self) -> list[str]:
        """The names of all exercises, in the order of the problem sets."""
        return list(self._names)

    @cached_property
    def _names(self) -> list[str]:
        names = []
        for folder in self._modules(self.package):
            if folder.ispkg:
                place = f"{self.package}.{folder.name}"
                number = import_module(place).NUMBER
                names += [f"{number}_{folder.name}/{part.name}" for part in self._modules(place)]
        return sorted(names)

    @property
    def watched(self) -> StudentPackages:
        """The packages whose functions an answer is not to borrow; the bank is one of them."""
        return StudentPackages((*self.student_packages, self.package), self.wrappers)

    @staticmethod
    def _modules(package: str) -> list[ModuleInfo]:
        return list(iter_modules(import_module(package).__path__))


def _with_kept(points: Points, kept: float | None) -> Points:
    """The table of a check without a function, which says if an earlier one has shown points."""
    if not kept:
        return points
    hint = f"run the cell above, then this one{_said_of(kept)}"
    return Points(points.rows, hint, unwritten=True)


def _names_not_run(exercise: str, points: Points) -> list[str]:
    """Names that an answer lacked, and that cells define which have not been run.

    Such a check says nothing about the answer, so it is not kept.
    """
    found = (UNDEFINED.search(row.problem or "") for row in points.rows)
    names = dict.fromkeys(name[1] for name in found if name)
    return [name for name in names if not_run(exercise, name)]


def _told_to_run(points: Points, names: list[str], kept: float | None) -> Points:
    """The table of a check that lacks what other cells define, and says to run these."""
    listed = " and ".join(f"`{name}`" for name in names)
    hint = f"the cell that defines {listed} stands in this notebook and has not been run. Run it,"
    hint += " or `Run All Above Selected Cell` in the menu `Run`, then this one again"
    return Points(points.rows, f"{hint}{_said_of(kept)}", points.inputs)


def _said_of(kept: float | None) -> str:
    """The end of a hint: what an earlier check has shown is not lost; empty if it is nothing."""
    return f". The {kept:g} points of your last check are kept" if kept else ""


@cache  # what is drawn for an exercise is remembered by identity
def _load(bank: Bank, name: str) -> Exercise:
    folder, part = name.split("/")
    module = import_module(f"{bank.package}.{folder.partition('_')[2]}.{part}")
    version = version_of(module.__name__, bank.package)
    exercise = replace(module.EXERCISE, name=name, packages=bank.watched)
    return keep_contract(replace(exercise, version=version, reports=bank.reports))
