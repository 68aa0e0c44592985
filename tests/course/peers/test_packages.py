"""Layers of other packages agree with ours; `make peers` brings them, and writes the table."""

from __future__ import annotations

import pytest

from attn_course.data.novels import novels, pieces
from attn_course.data.pieces import WORD, join
from tests.course.peers.table import PEERS, Peer, difference

# Some of them take the softmax in single precision even where everything else is in double.
CLOSE = 1e-6


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: f"{peer.package}, {peer.what}")
def test_layer_of_another_package_gives_the_same_output_and_gradients(peer: Peer) -> None:
    assert difference(peer) < CLOSE


def test_tokenizers_cut_the_novels_into_the_same_pieces() -> None:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    ours, text = pieces(), novels("test")
    ranks = {piece: rank for rank, piece in enumerate(ours.pieces)}
    joined = [piece for piece in ours.pieces if len(piece) > 1]
    earlier = ({p: r for p, r in ranks.items() if r < ranks[piece]} for piece in joined)
    merges = [tuple(join(piece, known)) for piece, known in zip(joined, earlier, strict=True)]
    theirs = Tokenizer(models.BPE(vocab=ranks, merges=merges))
    theirs.pre_tokenizer = pre_tokenizers.Split(Regex(WORD.pattern), "isolated")
    assert theirs.encode(text).ids == ours.encode(text)
