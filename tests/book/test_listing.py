"""The directive that shows code in a chapter: what computes, the whole, a word if there is none."""

from __future__ import annotations

import sys

import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.lexers import PythonLexer

from tests.conftest import ROOT, Build

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from code_lines import LineFormatter
from essence import essence
from listing import split_name, without_docstring

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
    """Return the lines of a listing of the source."""
    return without_docstring(SOURCE, name).splitlines()


def test_function_is_shown_with_its_decorator_and_without_its_docstring() -> None:
    assert shown("plain") == ["@functools.cache", "def plain(x):", "    return x"]
    assert shown("bare") == ["def bare(x):", "    return x"]


def test_method_is_found_in_its_class_and_keeps_its_comments() -> None:
    assert shown("Thing.plain") == ["def plain(self):", "    return 1"]
    assert shown("Thing.told") == ["def told(self):", "    # why", "    return 2"]


@pytest.mark.parametrize(
    "name", ["nothing", "Thing", "Thing.nothing", "told", "plain.x", "Other.x"]
)
def test_what_is_no_function_is_named_in_the_error(name: str) -> None:
    with pytest.raises(LookupError, match=f"no function {name}$"):
        without_docstring(SOURCE, name)


def test_module_ends_where_a_capital_begins() -> None:
    assert split_name("a.b.f") == ("a.b", "f")
    assert split_name("a.b.Class.method") == ("a.b", "Class.method")


GUARDED = """@checked(nan_propagates=True)
def soft(
    query: Float[Tensor, "*batch d"],  # its axes
    width: float | Float[Tensor, ""] = 1.0,
    *,
    mask: Bool[Tensor, "*batch"] | None = None,
) -> Float[Tensor, "*batch d"]:
    # why it divides
    scores = query / width
    # a width of zero would divide by it
    require_positive("width", width)
    self._check_mask(mask)
    if mask is None:
        mask = torch.ones_like(query, device=query.device)
    elif mask.ndim > 2:
        raise ValueError("mask")
    for row in mask:
        if not row.any():
            raise ValueError("no key")
        # the best first
        best = scores.amax(
            -1, keepdim=True
        ).detach().to(scores.dtype)
    assert best.ndim
    checksum = check_sum(best)
    return scores.to(query) - best
"""
COMPUTES = """def soft(query, width=1.0, *, mask=None):
    # why it divides
    scores = query / width
    if mask is None:
        mask = torch.ones_like(query)
    for row in mask:
        # the best first
        best = scores.amax(
            -1, keepdim=True
        )
    checksum = check_sum(best)
    return scores - best"""


def test_essence_has_the_roles_and_what_computes_as_it_was_written() -> None:
    assert essence(GUARDED) == COMPUTES


def test_essence_of_a_method_is_that_of_the_same_lines_further_left() -> None:
    indented = "".join(f"    {line}\n" for line in GUARDED.splitlines())
    assert essence(indented) == COMPUTES


def test_guard_stays_where_nothing_else_is() -> None:
    code = "def f(x):\n    if x:\n        return x\n    else:\n        raise ValueError(x)"
    assert essence(code) == code


@pytest.mark.parametrize("name", ["plain", "bare"])
def test_essence_of_what_only_computes_is_the_whole(name: str) -> None:
    whole = without_docstring(SOURCE, name)
    assert essence(whole) == whole


def test_long_signature_takes_lines_and_short_types_stay() -> None:
    short = "def f(x: Tensor) -> Tensor:\n    return x"
    assert essence(short) == short
    roles = ", ".join(f"argument_{number}" for number in range(8))
    long = f'def f({roles}, x: Float[Tensor, "n"]):\n    return x'
    first, second, third, last, _ = essence(long).splitlines()
    assert (first, last) == ("def f(", "):")
    assert f"{second.strip()} {third.strip()}" == f"{roles}, x"


def test_each_line_of_code_has_an_element_that_knows_its_indentation() -> None:
    code = "def f():\n\n    return '''a\n      b'''\n"
    page = BeautifulSoup(highlight(code, PythonLexer(), LineFormatter()), "lxml")
    assert page.get_text().strip("\n") == code.strip("\n")
    lines = page.select("span.line")
    assert [line.get_text().strip("\n") for line in lines] == code.splitlines()
    depths = [line.get("style") for line in lines]
    assert depths == [None, None, "--indent:4", "--indent:6"]


def test_page_shows_the_essence_and_folds_the_whole(book: Build) -> None:
    page = BeautifulSoup((book.html / "book" / "01_retrieval.html").read_text("utf-8"), "lxml")
    link = page.select_one('.code-block-caption a[href$="retrieval.soft_lookup"]')
    before = link.find_parent("div", class_="literal-block-wrapper")
    fold = before.find_next_sibling("details", class_="whole-listing")
    assert before.select_one("pre").get_text().startswith("def soft_lookup(query, key, value,")
    whole = fold.select_one("pre").get_text()
    assert whole.startswith("@checked")
    assert 'Float[Tensor, "*batch query_len d_key"]' in whole
