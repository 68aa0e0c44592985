"""The tensors that a function refers to without being given them."""

import os
import sys
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    ModuleType,
)
from typing import cast

import torch
from torch import Tensor

# What refers to no tensor.
PLAIN = {str, bytes, bool, int, float, type(None), torch.dtype, torch.device}
# Where Python keeps its modules, what is installed, and this package.
INSTALLED = tuple(
    f"{folder}{os.sep}"
    for folder in (
        Path(os.__file__).parent,
        Path(torch.__file__).parents[1],
        Path(__file__).parents[1],
    )
)


def tensors_of(*things: object) -> list[Tensor]:
    """Find all tensors that things hold, such as a score, a rule or a module, or refer to.

    Searched are containers, partials, methods, objects with their slots and classes, closures and
    defaults, and the globals, and attributes of modules, that the code of a function names. Not
    found are tensors behind an iterator, a view of a dict, a weak reference, a context variable, a
    module within a package, or the globals of an installed package, and the numbers of NumPy.
    """
    found: dict[int, object] = {}
    left = list(things)
    while left:
        thing = left.pop()
        if type(thing) not in PLAIN and id(thing) not in found:
            found[id(thing)] = thing
            left += _parts(thing)
    return [thing for thing in found.values() if isinstance(thing, Tensor)]


def _parts(thing: object) -> Iterable[object]:
    """Return what a thing refers to."""
    if isinstance(thing, Tensor | ModuleType):
        return ()
    if isinstance(thing, type):
        if _is_installed(getattr(thing, "__module__", "")):
            return ()
        return (*vars(thing).values(), *thing.__bases__)
    if isinstance(thing, FunctionType):
        return _parts_of_function(thing)
    members = _members(cast("Hashable", type(thing)))
    parts = [type(thing), *(getattr(thing, name, None) for name in members)]
    if isinstance(thing, BuiltinMethodType):
        parts.append(thing.__self__)
    if hasattr(thing, "__dict__"):
        parts += vars(thing).values()
    if isinstance(thing, Mapping):
        parts += thing.values()
    elif isinstance(thing, tuple | list | set | frozenset | deque):
        parts += thing
    return parts


def _parts_of_function(function: FunctionType) -> Iterable[object]:
    """Return what a function holds, and the globals that its code names.

    One that is installed may refer to half of its package: of its globals only tensors count.
    """
    names = _names(function.__code__)
    held = [function.__globals__.get(name) for name in names]
    if _is_installed(function.__globals__.get("__name__", "")):
        held = [each for each in held if isinstance(each, Tensor)]
        if hasattr(function, "__wrapped__"):
            return (*held, function.__wrapped__)
    held += (cell.cell_contents for cell in function.__closure__ or () if cell != CellType())
    held += (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    modules = [each for each in held if isinstance(each, ModuleType)]
    own = [module for module in modules if not _is_installed(module.__name__)]
    return (*held, *(vars(module).get(name) for module in own for name in names), vars(function))


@lru_cache(1000)
def _names(code: CodeType) -> tuple[str, ...]:
    """The names in the code of a function, and in that of functions within it."""
    within = (each for each in code.co_consts if isinstance(each, CodeType))
    return tuple({*code.co_names, *(name for each in within for name in _names(each))})


@lru_cache(1000)
def _members(kind: type) -> tuple[str, ...]:
    """The names of attributes that lie in slots, as those of a partial or a method do."""
    attributes = (pair for each in kind.__mro__ for pair in vars(each).items())
    return tuple(name for name, each in attributes if isinstance(each, MemberDescriptorType))


@lru_cache(1000)
def _is_installed(module: str) -> bool:
    """True for a module of Python, of this package or of another that is installed."""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return module in sys.builtin_module_names or file.startswith(INSTALLED)
