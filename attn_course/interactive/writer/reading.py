"""The first state of the live writer, computed by PyTorch; `writer.js` computes every other one."""

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from attn_course.multi_head import split_heads
from attn_course.scaled_dot_product import attention_weights
from attn_course.self_attention import rotate_by_position
from attn_course.transformer import Block, LanguageModel, next_token_law

WORD = 2**32


def chance(seed: int, number: int) -> float:
    """The number from 0 to 1 that decides a draw of a seed: the end of MurmurHash3."""
    bits = (seed + 1) * 0x9E3779B1 % WORD ^ (number + 1) * 0x85EBCA6B % WORD
    bits = (bits ^ bits >> 16) * 0x85EBCA6B % WORD
    bits = (bits ^ bits >> 13) * 0xC2B2AE35 % WORD
    return (bits ^ bits >> 16) / WORD


def drawn_from(law: Tensor, number: float) -> int:
    """The first token, from the most probable one on, with which the sum exceeds the number."""
    ranked, order = law.sort(descending=True, stable=True)
    return int(order[(ranked.cumsum(-1) <= number).sum().clamp(max=len(law) - 1)])


@torch.no_grad()
def told(
    model: LanguageModel,
    tokens: Sequence[int],
    number: int,
    *,
    seed: int,
    temperature: float,
    top_p: float,
) -> list[int]:
    """The tokens with which a model goes on, drawn as the page draws them."""
    cache, new = model.new_cache(), list(tokens)
    found: list[int] = []
    for place in range(number):
        logits = model(torch.tensor([new]), cache)[0, -1]
        new = [drawn_from(next_token_law(logits, temperature, top_p=top_p), chance(seed, place))]
        found += new
    return found


def blocks_of(model: LanguageModel) -> Sequence[Block]:
    """The blocks of a model, by their type."""
    return cast("Sequence[Block]", model.blocks)


@torch.no_grad()
def looks(model: LanguageModel, tokens: Sequence[int]) -> list[Tensor]:
    """The weights with which the last token looks: for each block, (heads, tokens it sees)."""
    stream, found = model.input_scale * model.embedding(torch.tensor([tokens])), []
    for block in blocks_of(model):
        layer, read = block.attention, block.norm_attention(stream)
        query, key = (
            rotate_by_position(split_heads(project(read), layer.num_heads))
            for project in (layer.project_query, layer.project_key)
        )
        key = key[..., -block.context :, :]
        found.append(attention_weights(query[..., -1:, :], key)[0, :, 0])
        stream = block(stream)
    return found
