"""The packages that students import, told by the files that their functions stand in."""

import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec


@dataclass(frozen=True)
class StudentPackages:
    """The packages whose functions an answer is not to borrow, wherever they are installed.

    Args:
        names: Of the packages.
        wrappers: Of modules in them whose functions only wrap others, such as those that check
            shapes: what they call counts as called by their caller.
    """

    names: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()

    def contain(self, file: str) -> bool:
        """True for the file of a function of these packages that is no wrapper."""
        return file.startswith(_places(self.names)) and not self.are_wrappers(file)

    def are_wrappers(self, file: str) -> bool:
        """True for the file of a function that only wraps another."""
        return file.startswith(_places(self.wrappers))


NO_PACKAGES = StudentPackages()


@cache
def _places(names: tuple[str, ...]) -> tuple[str, ...]:
    """Prefixes of the paths of these packages and modules."""
    return tuple(map(_place, names))


def _place(name: str) -> str:
    """The folder of a package, or the file of a module."""
    spec = find_spec(name)
    if spec and spec.submodule_search_locations:
        return f"{spec.submodule_search_locations[0]}{os.sep}"
    if spec and spec.origin:
        return spec.origin
    raise ModuleNotFoundError(f"{name}, which the bank names, is not installed")
