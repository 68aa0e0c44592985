"""Every function of chapters 13 and 14 has a peer or a test, and the page says which."""

from __future__ import annotations

import inspect
import re
import sys

import pytest

from attn_course.context import latent
from tests.course import test_context, test_linear_attention, test_long_context
from tests.course.peers.alone import TESTS, public, table
from tests.course.peers.table import ALONE, ALONE_END, PAGE, PEERS, said

FILES = test_long_context, test_context, test_linear_attention
TEXT = PAGE.read_text(encoding="utf-8")
WITH_PEER = {peer.ours for peer in PEERS}
# What `keep` of the latent layer returns.
NOTHING_TO_HOLD = {latent.Kept}


@pytest.mark.parametrize("module", [*TESTS, latent], ids=lambda module: module.__name__)
def test_every_function_has_a_peer_or_a_test(module: object) -> None:
    held = WITH_PEER | NOTHING_TO_HOLD | {public(module)[name] for name in TESTS.get(module, {})}
    assert set(public(module).values()) - held == set()


@pytest.mark.parametrize(
    ("name", "test"), [pair for tests in TESTS.values() for pair in tests.items()]
)
def test_named_test_uses_the_function(name: str, test: str) -> None:
    (found,) = [getattr(file, test) for file in FILES if hasattr(file, test)]
    used = inspect.getsource(found)
    helpers = [
        inspect.getsource(helper)
        for called, helper in inspect.getmembers(sys.modules[found.__module__], inspect.isfunction)
        if helper.__module__ == found.__module__ and f"{called}(" in used
    ]
    assert any(re.search(rf"\b{name}\b", source) for source in [used, *helpers])


def test_page_names_what_is_compared_with_what() -> None:
    rows = [line.split(" | ")[1] for line in TEXT.splitlines() if "transformers " in line[:20]]
    assert rows == [said(peer) for peer in PEERS]
    assert TEXT.partition(ALONE)[2].partition(ALONE_END)[0].strip() == table()
