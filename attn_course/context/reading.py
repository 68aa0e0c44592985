"""Read and write with a model by another rule, or with positions turned otherwise."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_course.context.rules import WindowAndSinks
from attn_course.long_context import rotate_pairs
from attn_course.multi_head import MultiHeadAttention, merge_heads, split_heads
from attn_course.retrieval import masked_softmax
from attn_course.scaled_dot_product import Rule, causal, mask_of, scaled_dot_scores
from attn_course.shapes import checked
from attn_course.transformer import Block, LanguageModel, next_token_law


@checked
def read_otherwise(
    model: LanguageModel,
    tokens: Int[Tensor, "batch length"],
    rule: Rule = causal,
    *,
    base: float = 10_000.0,
    stretch: float = 1.0,
    farthest: int | None = None,
) -> Float[Tensor, "batch length vocab_size"]:
    """The logits of a model whose heads follow another rule, or turn otherwise, than in training.

    With `WindowAndSinks`, the first tokens stay as near as the cache is long: a query that has
    dropped others between meets them at the distance at which they stand in the cache.

    Args:
        model: The model.
        tokens: Numbers of tokens.
        rule: What a token may attend to.
        base: See `attn_course.long_context.angles`.
        stretch: The same.
        farthest: If given, a key that is farther away is turned as if it stood at this distance.

    Source: Xiao et al. 2024, section 3.2 (positions within the cache).
    """
    stream = model.input_scale * model.embedding(tokens)
    for block in cast("Sequence[Block]", model.blocks):
        query, key, value = _heads(block.attention, block.norm_attention(stream))
        turned = partial(rotate_pairs, base=base, stretch=stretch)
        scores = _scores(query, key, rule, turned, farthest)
        weights = masked_softmax(scores, mask_of(rule, *scores.shape[-2:]))
        stream = stream + block.attention.project_output(merge_heads(weights @ value))
        stream = stream + block.think(block.norm_maps(stream))
    return model.norm(stream) @ model.embedding.weight.T


@torch.no_grad()
@checked
def write_otherwise(
    model: LanguageModel,
    tokens: Int[Tensor, " length"],
    number: int,
    *,
    temperature: float = 0.5,
    seed: int = 0,
    farthest: int | None = None,
) -> Int[Tensor, " longer"]:
    """The tokens with `number` more behind them, if the model looks at all that stands before each.

    Ways of reading that agree write the same, by the same dice.

    Args:
        model: The model.
        tokens: Numbers of tokens.
        number: How many are written.
        temperature: See `attn_course.transformer.next_token_law`.
        seed: Of the dice.
        farthest: See `read_otherwise`.
    """
    dice = torch.Generator().manual_seed(seed)
    for _ in range(number):
        logits = read_otherwise(model, tokens[None], farthest=farthest)[0, -1]
        new = torch.multinomial(next_token_law(logits, temperature), 1, generator=dice)
        tokens = torch.cat([tokens, new])
    return tokens


def _heads(layer: MultiHeadAttention, read: Tensor) -> list[Tensor]:
    """The queries, keys and values of all heads, not yet turned."""
    projections = layer.project_query, layer.project_key, layer.project_value
    return [split_heads(project(read), layer.num_heads) for project in projections]


def _scores(
    query: Tensor,
    key: Tensor,
    rule: Rule,
    turned: Callable[[Tensor, Tensor], Tensor],
    farthest: int | None,
) -> Tensor:
    """The scores of queries and keys that are turned by their positions."""
    at = torch.arange(query.shape[-2])
    keys = turned(key, at)
    scores = scaled_dot_scores(turned(query, at), keys)
    if farthest is not None:
        start = torch.zeros_like(at)
        there = scaled_dot_scores(turned(query, start + farthest), turned(key, start))
        scores = torch.where(at[:, None] - at > farthest, there, scores)
    if not isinstance(rule, WindowAndSinks) or rule.first == 0:
        return scores
    in_cache = at.clamp(max=rule.first + rule.last - 1)
    near = scaled_dot_scores(turned(query, in_cache), keys)
    return torch.where(at < rule.first, near, scores)
