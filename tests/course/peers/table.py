"""All comparisons with other packages, and the table of them in the book."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch

from attn_course.context.latent import LatentAttention
from attn_course.context.rules import Documents
from attn_course.context.scores import difference_of_weights
from attn_course.layer.position_bias import ALiBi, T5Bias
from attn_course.layer.scores import CappedScores
from attn_course.linear_attention import all_pairs, delta_rule, in_chunks, one_by_one
from attn_course.long_context import angles, rotate_halves
from attn_course.multi_head import MultiHeadAttention
from attn_course.scaled_dot_product import window
from attn_course.self_attention import rotate_by_position
from attn_course.transformer import LanguageModel
from tests.course.peers import alone, decoders, linear, masks, rotary, whole_models
from tests.course.peers.alone import link
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
    """One comparison: the package, what is compared, with what of ours, and how."""

    package: str
    what: str
    ours: Callable[..., Any]
    compare: Callable[[], list[Pair]]


def of_decoder(
    what: str, published: decoders.Decoder, ours: Callable[..., Any] = MultiHeadAttention
) -> Peer:
    """Compare a layer of a decoder: causal, 4 heads on 2 of keys, padding in front."""
    return Peer("transformers", what, ours, partial(decoders.decoder, published))


def of_mamba_2(what: str, form: Callable[..., Any]) -> Peer:
    """Compare one of the three forms of linear attention with a decay for each token."""
    return Peer("transformers", f"Mamba-2: {what}", form, partial(linear.mamba_2, form))


of_transformers, of_x_transformers = partial(Peer, "transformers"), partial(Peer, "x-transformers")

PEERS = [
    of_transformers("BERT: self-attention, padding", MultiHeadAttention, bert),
    of_transformers("GPT-2: causal", MultiHeadAttention, gpt2),
    of_transformers("T5: relative bias, both directions", T5Bias, partial(t5, True)),
    of_transformers("T5: relative bias, causal", T5Bias, partial(t5, False)),
    of_decoder("Llama: turned by position, halves paired", decoders.LLAMA, rotate_halves),
    of_decoder("Llama: positions divided by 4", decoders.STRETCHED_LLAMA, angles),
    of_decoder("Qwen 2: an output without a bias", decoders.QWEN_2),
    of_decoder("Gemma: 1 head of keys", decoders.GEMMA),
    of_decoder("Mistral: a window", decoders.MISTRAL, window),
    of_decoder("Gemma 2: a window, capped scores", decoders.GEMMA_2, CappedScores),
    of_decoder("Gemma 3: a window, normalized queries and keys", decoders.GEMMA_3),
    of_decoder("Qwen 3: normalized queries and keys", decoders.QWEN_3),
    of_decoder("GPT-OSS: a window, sinks", decoders.GPT_OSS),
    of_decoder("Phi: normalized, 4 of 6 features turned", decoders.PHI),
    of_transformers(
        "DiffLlama: a difference of heads", difference_of_weights, decoders.difference_of_heads
    ),
    of_transformers(
        "DeepSeek-V3: short vectors, plain", LatentAttention, partial(deepseek_v3, "plain")
    ),
    of_transformers(
        "DeepSeek-V3: short vectors, absorbed", LatentAttention, partial(deepseek_v3, "absorbed")
    ),
    of_transformers("packed documents: who may hear whom", Documents, masks.packed_documents),
    of_transformers("GPT-J: vectors turned by position", rotate_by_position, rotary.gptj),
    of_transformers(
        "GPT-NeoX: a whole model of 3 blocks, ReLU", LanguageModel, whole_models.gpt_neox
    ),
    of_transformers("MiniMax-01: a sum with a decay, in chunks", in_chunks, linear.minimax),
    of_mamba_2("a decay for each token, in chunks", in_chunks),
    of_mamba_2("all pairs", all_pairs),
    of_mamba_2("one by one", one_by_one),
    of_transformers(
        "Qwen3-Next: delta rule, in chunks", delta_rule, partial(linear.qwen3_next, True)
    ),
    of_transformers("Qwen3-Next: one by one", delta_rule, partial(linear.qwen3_next, False)),
    of_x_transformers("heads of another width, padding", MultiHeadAttention, x_transformers),
    of_x_transformers("the same, causal", MultiHeadAttention, partial(x_transformers, causal=True)),
    of_x_transformers(
        "4 heads on 2 of keys", MultiHeadAttention, partial(x_transformers, kv_heads=2)
    ),
    of_x_transformers(
        "queries of one text, keys of another", MultiHeadAttention, x_transformers_of_source
    ),
    of_x_transformers("ALiBi, 8 heads", ALiBi, partial(alibi, 8)),
    of_x_transformers("ALiBi, 6 heads", ALiBi, partial(alibi, 6)),
    of_x_transformers("vectors turned by position", rotate_by_position, rotary.x_transformers),
]


PAGE = Path(__file__).resolve().parents[3] / "book" / "api" / "peers.md"
HEAD = (
    "| package | what was compared, and with what of ours | largest difference |\n|---|---|---|\n"
)
BEGIN, END = "<!-- table of peers -->", "<!-- end of the peers -->"
ALONE, ALONE_END = "<!-- table of those without a peer -->", "<!-- end of those -->"


def difference(peer: Peer) -> float:
    """Return the largest difference of outputs and gradients."""
    torch.manual_seed(0)
    return max((ours - theirs).abs().max().item() for ours, theirs in peer.compare())


def said(peer: Peer) -> str:
    """Say in Markdown what is compared, with a link to what it is compared with."""
    return f"{peer.what} ({link(peer.ours)})"


def table() -> str:
    """Compare all, and return the table in Markdown."""
    rows = [
        f"| {peer.package} {version(peer.package)} | {said(peer)} | {difference(peer):.0e} |"
        for peer in PEERS
    ]
    return HEAD + "\n".join(rows)


def put(page: str, begin: str, made: str, end: str) -> str:
    """Put what was made between two marks of a page."""
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Write both tables, the first with the day, into the page of the package, and print it."""
    made = f"{table()}\n\nCompared on {date.today()} with torch {torch.__version__}."
    page = put(PAGE.read_text(encoding="utf-8"), BEGIN, made, END)
    PAGE.write_text(put(page, ALONE, alone.table(), ALONE_END), encoding="utf-8")
    print(made)


if __name__ == "__main__":
    main()
