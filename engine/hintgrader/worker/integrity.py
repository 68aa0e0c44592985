"""Noticing that a submission has exchanged parts of the grader that run beside it.

What the grader knows of an answer comes from the answer's own process. Numbers it compares itself,
out of reach; but what an answer has called and how much memory it took, only that process can say.
A submission that changes the watching there can make it report anything. One that does so in plain
ways, by replacing these functions, is noticed here. One that knows this file as well is not: no
process can testify against its owner.
"""

import builtins
import json
import os
import signal
import socket
import sys
from operator import is_
from types import FunctionType, ModuleType

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from hintgrader.worker import check, headless_shell, points, shell
from hintgrader.worker.wall import WORKER

TRUSTED_BUILTINS = {
    "sys": ("setprofile", "getprofile", "settrace", "addaudithook"),
    "os": ("_exit", "close", "fork"),
    "signal": ("signal", "setitimer"),
    "json": ("dumps", "loads"),
    "builtins": (
        *("bool", "callable", "float", "getattr", "id", "int", "isinstance", "len", "list"),
        *("map", "set", "str", "tuple", "type", "vars", "zip"),
    ),
}
MODULES = {"sys": sys, "os": os, "signal": signal, "json": json, "builtins": builtins}
VISIBLE_MODULES = (check, headless_shell, points, shell)  # modules that cells see
CLASSES = (socket.socket, TorchDispatchMode, TorchFunctionMode)
OWN = f"{WORKER}."  # how the names of its modules begin
Parts = dict[str, tuple[object, ...]]


def parts_at_work() -> Parts:
    """The parts that must not be replaced, by name: each function and its code, each constant."""
    found: Parts = {}
    for name in sorted(name for name in sys.modules if name.startswith(OWN)):
        # the shell's state changes as cells run; it and the table are compared as what cells see
        if (module := sys.modules[name]) not in VISIBLE_MODULES:
            found |= parts_of(module, name)
    for name, attributes in TRUSTED_BUILTINS.items():
        found |= {f"{name}.{each}": (getattr(MODULES[name], each, None),) for each in attributes}
    for one in CLASSES:
        found |= parts_of(one, one.__name__)
    return found


def exchanged(before: Parts, now: Parts) -> list[str]:
    """Names of the parts that are others now."""
    return [name for name, part in before.items() if not _is_same(part, now.get(name, ()))]


def parts_of(place: ModuleType | type, name: str) -> Parts:
    """The attributes of a module or a class, and of its own classes."""
    found: Parts = {}
    for key, value in list(vars(place).items()):
        if isinstance(value, type) and value.__module__ == getattr(place, "__name__", None):
            found |= parts_of(value, f"{name}.{key}")
        elif not key.startswith("__") or isinstance(value, FunctionType | staticmethod):
            found[f"{name}.{key}"] = aspects(value)
    return found


def aspects(value: object) -> tuple[object, ...]:
    """The thing itself, and what of it could be exchanged while it stays."""
    if isinstance(value, ModuleType | type):
        return (value,)
    inner = getattr(value, "__wrapped__", None) or value
    if isinstance(inner, FunctionType):
        return value, inner.__code__, inner.__defaults__, inner.__kwdefaults__
    if isinstance(value, list | set | tuple) or type(value) is dict:
        return value, f"{len(value)} {value!r:.5000}"
    return (value,)


def _is_same(part: tuple[object, ...], other: tuple[object, ...]) -> bool:
    if len(part) != len(other):
        return False
    if all(map(is_, part, other)):  # nearly always, and without a step of Python for each
        return True
    pairs = zip(part, other, strict=True)
    return all(a is b or (type(a) is type(b) is str and a == b) for a, b in pairs)
