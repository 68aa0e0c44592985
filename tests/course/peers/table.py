"""All comparisons with other packages, and the table of them in the book."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import torch

from tests.course.peers import decoders, linear, rotary, whole_models
from tests.course.peers.latent import deepseek_v3
from tests.course.peers.packages import (
    Pair,
    alibi,
    bert,
    gpt2,
    t5,
    x_transformers,
    x_transformers_of_source,
)


class Peer(NamedTuple):
    """One comparison: the package, what is compared, and how."""

    package: str
    what: str
    compare: Callable[[], list[Pair]]


def of_decoder(what: str, published: decoders.Decoder) -> Peer:
    """Compare a layer of a decoder: causal, 4 heads on 2 of keys, padding in front."""
    return Peer("transformers", what, partial(decoders.decoder, published))


PEERS = [
    Peer("transformers", "BERT: self-attention, padding", bert),
    Peer("transformers", "GPT-2: causal", gpt2),
    Peer("transformers", "T5: relative bias, both directions", lambda: t5(True)),
    Peer("transformers", "T5: relative bias, causal", lambda: t5(False)),
    of_decoder("Llama: turned by position, halves paired", decoders.LLAMA),
    of_decoder("Qwen 2: an output without a bias", decoders.QWEN_2),
    of_decoder("Gemma: 1 head of keys", decoders.GEMMA),
    of_decoder("Mistral: a window", decoders.MISTRAL),
    of_decoder("Gemma 2: a window, capped scores", decoders.GEMMA_2),
    of_decoder("Gemma 3: a window, normalized queries and keys", decoders.GEMMA_3),
    of_decoder("Qwen 3: normalized queries and keys", decoders.QWEN_3),
    of_decoder("GPT-OSS: a window, sinks", decoders.GPT_OSS),
    of_decoder("Phi: normalized, 4 of 6 features turned", decoders.PHI),
    Peer("transformers", "DiffLlama: a difference of heads", decoders.difference_of_heads),
    Peer("transformers", "DeepSeek-V3: short vectors, plain", partial(deepseek_v3, "plain")),
    Peer("transformers", "DeepSeek-V3: short vectors, absorbed", partial(deepseek_v3, "absorbed")),
    Peer("transformers", "GPT-J: vectors turned by position", rotary.gptj),
    Peer("transformers", "GPT-NeoX: a whole model of 3 blocks, ReLU", whole_models.gpt_neox),
    Peer("transformers", "MiniMax-01: a sum with a decay, in chunks", linear.minimax),
    Peer("transformers", "Qwen3-Next: delta rule, in chunks", lambda: linear.qwen3_next(True)),
    Peer("transformers", "Qwen3-Next: one by one", lambda: linear.qwen3_next(False)),
    Peer("x-transformers", "heads of another width, padding", x_transformers),
    Peer("x-transformers", "the same, causal", lambda: x_transformers(causal=True)),
    Peer("x-transformers", "4 heads on 2 of keys", lambda: x_transformers(kv_heads=2)),
    Peer("x-transformers", "queries of one text, keys of another", x_transformers_of_source),
    Peer("x-transformers", "ALiBi, 8 heads", lambda: alibi(8)),
    Peer("x-transformers", "ALiBi, 6 heads", lambda: alibi(6)),
    Peer("x-transformers", "vectors turned by position", rotary.x_transformers),
]


HEAD = "| package | what was compared | largest difference |\n|---|---|---|\n"
BEGIN, END = "<!-- table of peers -->", "<!-- end of the peers -->"


def difference(peer: Peer) -> float:
    """Return the largest difference of outputs and gradients."""
    torch.manual_seed(0)
    return max((ours - theirs).abs().max().item() for ours, theirs in peer.compare())


def table() -> str:
    """Compare all, and return the table in Markdown."""
    rows = [
        f"| {peer.package} {version(peer.package)} | {peer.what} | {difference(peer):.0e} |"
        for peer in PEERS
    ]
    return HEAD + "\n".join(rows)


def main() -> None:
    """Write the table, with the day, into the page of the package, and print it."""
    page = Path(__file__).resolve().parents[3] / "book" / "api" / "peers.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    made = f"{table()}\n\nCompared on {date.today()} with torch {torch.__version__}."
    page.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    print(made)


if __name__ == "__main__":
    main()
