"""The directive that shows code in a chapter: the right lines, and a word if there are none."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from listing import lines_without_docstring, split_name

SOURCE = '''import functools


@functools.cache
def plain(x):
    """Say what it does.

    At length.
    """
    return x


class Thing:
    """A thing."""

    def plain(self):
        return 1

    def told(self):
        """Say so."""
        # why
        return 2


def bare(x):
    return x
'''


def shown(name: str) -> list[str]:
    """Return the lines of the source that a listing shows."""
    lines = SOURCE.splitlines()
    pieces = [piece.split("-") for piece in lines_without_docstring(SOURCE, name).split(",")]
    return [line for first, last in pieces for line in lines[int(first) - 1 : int(last)]]


def test_function_is_shown_with_its_decorator_and_without_its_docstring() -> None:
    assert shown("plain") == ["@functools.cache", "def plain(x):", "    return x"]
    assert shown("bare") == ["def bare(x):", "    return x"]


def test_method_is_found_in_its_class_and_keeps_its_comments() -> None:
    assert shown("Thing.plain") == ["    def plain(self):", "        return 1"]
    assert shown("Thing.told") == ["    def told(self):", "        # why", "        return 2"]


@pytest.mark.parametrize(
    "name", ["nothing", "Thing", "Thing.nothing", "told", "plain.x", "Other.x"]
)
def test_what_is_no_function_is_named_in_the_error(name: str) -> None:
    with pytest.raises(LookupError, match=f"no function {name}$"):
        lines_without_docstring(SOURCE, name)


def test_module_ends_where_a_capital_begins() -> None:
    assert split_name("a.b.f") == ("a.b", "f")
    assert split_name("a.b.Class.method") == ("a.b", "Class.method")
