"""Induction: what followed a token once follows it again, which two layers of heads can predict.

A model of attention alone, from the parts of chapters 07 to 11; scores that tell the heads apart;
and edits, which change one thing inside the model while it runs.
"""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attn_course.multi_head import MultiHeadAttention, split_heads
from attn_course.scaled_dot_product import attention_weights, causal_mask
from attn_course.self_attention import rotate_by_position
from attn_course.shapes import checked, require_positive
from attn_course.transformer import LanguageModel

ROLES = ("query", "key", "value")
Edit = Callable[[int, str, Tensor], Tensor]


def leave(layer: int, part: str, given: Tensor) -> Tensor:
    """Change nothing: the edit of a model that runs as it is.

    Args:
        layer: Number of the layer.
        part: "query", "key" or "value" of what the layer reads, `(batch, length, d_model)`;
            "weights" of its heads, `(batch, num_heads, length, length)`; or "output", which each
            head adds to the stream, `(batch, num_heads, length, d_model)`.
        given: The tensor there.
    """
    return given


@checked
def pattern(
    layer: MultiHeadAttention,
    query: Float[Tensor, "batch length d_model"],
    key: Float[Tensor, "batch length d_model"],
) -> Float[Tensor, "batch num_heads length length"]:
    """The weights of causal heads whose queries and keys are turned by their positions.

    Args:
        layer: The projections.
        query: What the queries are made from.
        key: What the keys are made from.
    """
    of_query = rotate_by_position(split_heads(layer.project_query(query), layer.num_heads))
    of_key = rotate_by_position(split_heads(layer.project_key(key), layer.num_heads))
    mask = causal_mask(query.shape[1], query.shape[1], query.device)
    return attention_weights(of_query, of_key, mask=mask)


@checked
def head_outputs(
    layer: MultiHeadAttention,
    weights: Float[Tensor, "batch num_heads length length"],
    value: Float[Tensor, "batch length d_model"],
) -> Float[Tensor, "batch num_heads length d_model"]:
    """The addition of each head to the stream; with the projection's bias they sum to the layer's.

    Args:
        layer: The projections.
        weights: The weights of each head.
        value: What the values are made from.

    Source: Elhage et al. 2021 (the output of a layer is a sum over its heads).
    """
    moved = weights @ split_heads(layer.project_value(value), layer.num_heads)
    columns = layer.project_output.weight.unflatten(1, (layer.num_heads, -1))
    return torch.einsum("...hld,ohd->...hlo", moved, columns)


class AttentionBlock(nn.Module):
    """Heads that read the stream, and add to it.

    The stream `x`, `(batch, length, d_model)`, becomes `x + Σ A_i V_i O_i`, summed over the heads
    `i`, where `A_i = softmax(Q_i K_iᵀ / sqrt(d_head))` without later keys. Queries, keys and values
    are projections of `norm(x)`, the first two turned by their positions.

    Args:
        d_model: Width of the stream.
        num_heads: Number of heads.
        d_head: Width of a head; `d_model / num_heads` if None.
        norm: If True, what the heads read is normalized.
    """

    def __init__(self, d_model: int, num_heads: int, d_head: int | None, norm: bool) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.attention = MultiHeadAttention(d_model, num_heads, d_head=d_head, bias=False)

    def forward(
        self, stream: Float[Tensor, "batch length d_model"], edit: Edit = leave, number: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """The stream, with what the heads add."""
        read, layer = self.norm_attention(stream), self.attention
        query, key, value = (edit(number, role, read) for role in ROLES)
        weights = edit(number, "weights", pattern(layer, query, key))
        output = edit(number, "output", head_outputs(layer, weights, value))
        return stream + output.sum(1)


class AttentionOnly(nn.Module):
    """An embedding, layers of heads along a residual stream, and a readout: no maps in between.

    From tokens `(batch, length)` to the logits `(batch, length, vocab_size)`.

    Args:
        vocab_size: Number of different tokens.
        d_model: Width of the stream.
        num_heads: Number of heads of each layer.
        num_layers: Number of layers.
        d_head: Width of a head; `d_model / num_heads` if None.
        norm: If True, each layer reads a normalized stream, and so does the readout.

    Raises:
        ValueError: A size is not positive, or `d_model` not divisible by `num_heads`.

    Source: Elhage et al. 2021, with the positions of Su et al. 2024.
    """

    input_scale = 1.0

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 64,
        num_heads: int = 1,
        num_layers: int = 2,
        *,
        d_head: int | None = None,
        norm: bool = True,
    ) -> None:
        super().__init__()
        for name, size in {"vocab_size": vocab_size, "num_layers": num_layers}.items():
            require_positive(name, size)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            AttentionBlock(d_model, num_heads, d_head, norm) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.readout = nn.Linear(d_model, vocab_size)

    @checked
    def forward(
        self, tokens: Int[Tensor, "batch length"], edit: Edit = leave
    ) -> Float[Tensor, "batch length vocab_size"]:
        """The logits of the token that follows each token.

        Args:
            tokens: Numbers of tokens.
            edit: Called with each part of each layer, as `leave` is; the model goes on with what it
                returns.
        """
        stream = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            stream = block(stream, edit, number)
        return self.readout(self.norm(stream))


def _blocks(model: AttentionOnly | LanguageModel) -> Sequence[AttentionBlock]:
    """The layers with heads; those of a model that writes have the same names, and maps besides."""
    return cast("Sequence[AttentionBlock]", model.blocks)


@checked
def weights_of_heads(
    model: AttentionOnly | LanguageModel, tokens: Int[Tensor, "batch length"]
) -> Float[Tensor, "num_layers batch num_heads length length"]:
    """The weights of all heads of a model.

    Raises:
        ValueError: The tokens are more than a token of the model may attend to.
    """
    if isinstance(model, LanguageModel) and tokens.shape[1] > model.context:
        raise ValueError(f"{tokens.shape[1]} tokens, but a token attends to {model.context}")
    stream, found = model.input_scale * model.embedding(tokens), []
    for block in _blocks(model):
        read = block.norm_attention(stream)
        found.append(pattern(block.attention, read, read))
        stream = block(stream)
    return torch.stack(found)


@checked
def previous_token_score(
    weights: Float[Tensor, "*layers batch num_heads length length"],
) -> Float[Tensor, "*layers num_heads"]:
    """Mean weight of each head on the token before; the first token, without one, does not count.

    Raises:
        ValueError: The sequences have one token.
    """
    if weights.shape[-1] < 2:
        raise ValueError("a sequence of one token has no token before another")
    return weights.diagonal(-1, -2, -1).mean((-3, -1))


@checked
def after_same_token(tokens: Int[Tensor, "batch length"]) -> Bool[Tensor, "batch length length"]:
    """True where a query meets a key whose token came right after an earlier one like the query's.

    In *a b ... a* the second *a* is the query, and *b* the key.
    """
    same = tokens[:, :, None] == tokens[:, None, :]
    return same.roll(1, -1).tril() & (torch.arange(tokens.shape[1], device=tokens.device) > 0)


@checked
def induction_score(
    weights: Float[Tensor, "*layers batch num_heads length length"],
    tokens: Int[Tensor, "batch length"],
) -> Float[Tensor, "*layers num_heads"]:
    """Mean weight of each head on what followed earlier tokens that are the same as the query's.

    Queries whose token has not occurred before do not count.

    Raises:
        ValueError: No token occurs twice.

    Source: Olsson et al. 2022, who measure it on sequences that are repeated as a whole.
    """
    wanted = after_same_token(tokens)
    counts = wanted.any(-1)
    if not counts.any():
        raise ValueError("no token occurs twice, so there is nothing to score")
    found = (weights * wanted[:, None]).sum(-1)
    return found.movedim(-2, -3).flatten(-2)[..., counts.flatten()].mean(-1)


@checked
def loss_where(
    logits: Float[Tensor, "batch length vocab_size"],
    tokens: Int[Tensor, "batch length"],
    where: Bool[Tensor, "batch length"],
) -> Float[Tensor, ""]:
    """Mean of `-log p` of the tokens at some places, where the logits one token earlier give p.

    Raises:
        ValueError: There is no such place after the first token.
    """
    if not where[:, 1:].any():
        raise ValueError("there is no token whose loss counts")
    log_p = logits[:, :-1].log_softmax(-1).gather(-1, tokens[:, 1:, None])[..., 0]
    return -log_p[where[:, 1:]].mean()


def silence(layer: int, head: int) -> Edit:
    """An edit after which a head adds nothing to the stream."""

    def edit(number: int, part: str, given: Tensor) -> Tensor:
        if (number, part) != (layer, "output"):
            return given
        others = torch.arange(given.shape[1], device=given.device) != head
        return given * others[:, None, None]

    return edit


def freeze(layer: int, weights: Tensor) -> Edit:
    """An edit after which the heads of a layer have these weights, whatever they read."""
    return lambda number, part, given: (
        weights.expand_as(given) if (number, part) == (layer, "weights") else given
    )


def exchange_keys(layer: int, first: int, second: int) -> Edit:
    """An edit after which two positions have each other's keys; each is turned where it now is."""

    def edit(number: int, part: str, given: Tensor) -> Tensor:
        if (number, part) != (layer, "key"):
            return given
        given = given.clone()
        given[:, [first, second]] = given[:, [second, first]]
        return given

    return edit


@torch.no_grad()
def read_without(
    model: AttentionOnly, tokens: Tensor, role: str, reader: int, writer: tuple[int, int]
) -> Edit:
    """An edit after which a layer reads, for one role, a stream to which a head has added nothing.

    The other two roles read the stream as it is: so much of the head goes through this role.

    Args:
        model: The model.
        tokens: The tokens that it reads.
        role: "query", "key" or "value".
        reader: Number of the layer that reads.
        writer: The head: its layer, which is an earlier one, and its number there.

    Raises:
        ValueError: There is no such role, or the layer is not a later one.
    """
    if role not in ROLES or not writer[0] < reader < len(model.blocks):
        raise ValueError(f"layer {reader} reads no {role=} from {writer=}")
    stream, remove = model.embedding(tokens), silence(*writer)
    blocks = _blocks(model)
    for number, block in enumerate(blocks[:reader]):
        stream = block(stream, remove, number)
    read = blocks[reader].norm_attention(stream)
    return lambda number, part, given: read if (number, part) == (reader, role) else given


@torch.no_grad()
def by_hand(vocab_size: int, sharpness: float = 30.0) -> AttentionOnly:
    """A model of two heads whose weights are set, not learned; good for some hundred tokens.

    The stream has room for the token, the token before, the answer, and a 1. Fast pairs of features
    tell positions apart; slow ones, which a distance hardly turns, compare tokens.

    Args:
        vocab_size: Number of different tokens.
        sharpness: How far a score that is meant to win is above the others.
    """
    d_model, d_head = 3 * vocab_size + 1, 8 * vocab_size
    model = AttentionOnly(vocab_size, d_model, d_head=d_head, norm=False)
    for weight in model.parameters():
        weight.zero_()
    # the compartments; pairs of features, from fast to slow
    token, before, answer = torch.arange(3 * vocab_size).view(3, -1)
    model.embedding.weight[token, token] = model.embedding.weight[:, -1] = 1
    fast, _, _, slow = torch.arange(0, d_head, 2).view(4, -1)
    raised = sharpness * d_head**0.5  # the lead of the winner
    look, find = (block.attention for block in _blocks(model))
    angle = 10_000 ** (-fast / d_head)
    # layer 0: one step back, whatever the letters are
    look.project_query.weight[fast, -1] = raised * angle.cos()
    look.project_query.weight[fast + 1, -1] = -raised * angle.sin()
    look.project_key.weight[fast, -1] = 1
    # layer 1: its letter against the letter before of others
    find.project_query.weight[slow, token] = raised
    find.project_key.weight[slow, before] = 1
    # write down what was found
    for layer, room in ((look, before), (find, answer)):
        layer.project_value.weight[token, token] = 1
        layer.project_output.weight[room, token] = 1
    model.readout.weight[token, answer] = sharpness
    return model
