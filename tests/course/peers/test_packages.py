"""Layers of other packages agree with ours; `make peers` brings them, and writes the table."""

from __future__ import annotations

import pytest

from tests.course.peers.table import PEERS, Peer, difference

# Some of them take the softmax in single precision even where everything else is in double.
CLOSE = 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.package}, {peer.what}")
def test_layer_of_another_package_gives_the_same_output_and_gradients(peer: Peer) -> None:
    assert difference(peer) < CLOSE
