"""A Transformer that writes: blocks of attention and maps along a residual stream, and sampling.

A block is made of what chapters 07 to 09 built: heads that look back at the tokens so far, whose
queries and keys are turned by their positions. The model reads tokens, which here are pieces of a
text, and gives for each one the logits of the token that follows.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from attn_course.layer.fast_attention import fast_attention
from attn_course.layer.key_value_cache import KeyValueCache
from attn_course.multi_head import MultiHeadAttention, merge_heads, split_heads
from attn_course.scaled_dot_product import Rule, causal, window
from attn_course.self_attention import rotate_by_position
from attn_course.shapes import checked, require_positive, shapes_known

INITIAL_SCALE = 0.02


@checked
def look_back(
    layer: MultiHeadAttention,
    tokens: Float[Tensor, "batch length d_model"],
    context: int,
    cache: KeyValueCache | None = None,
) -> Float[Tensor, "batch length d_model"]:
    """Causal self-attention in heads whose queries and keys are turned by their positions.

    Args:
        layer: The projections to queries, keys, values and outputs.
        tokens: One vector for each position; with a cache, those that follow the tokens in it.
        context: The number of tokens, itself included, that a token may attend to.
        cache: Keys and values of the tokens so far; those of the new ones are added to it.

    Source: Vaswani et al. 2017, section 3.2.3; Su et al. 2024 (rotary positions).
    """
    query, key, value = _in_heads(layer, tokens, cache)
    key, value, rule = _in_reach(key, value, tokens.shape[1], context)
    found = fast_attention(query, key, value, rule=rule)
    return layer.project_output(merge_heads(found))


def _in_heads(
    layer: MultiHeadAttention, tokens: Tensor, cache: KeyValueCache | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The queries of the tokens, and the keys and values of these and of those in the cache."""
    query, key, value = (
        split_heads(project(tokens), layer.num_heads)
        for project in (layer.project_query, layer.project_key, layer.project_value)
    )
    start = 0 if cache is None else cache.length
    query, key = rotate_by_position(query, start), rotate_by_position(key, start)
    return query, *((key, value) if cache is None else cache.append(key, value))


def _in_reach(
    key: Tensor, value: Tensor, query_len: int, context: int
) -> tuple[Tensor, Tensor, Rule | None]:
    """The last keys and values, of which each query has `context`, and the rule that says so."""
    reach = context + query_len - 1  # the first query reaches the farthest back
    key, value = key[..., -reach:, :], value[..., -reach:, :]
    return key, value, _rule(query_len, key.shape[-2], context)


def _rule(query_len: int, key_len: int, context: int) -> Rule | None:
    """The rule that a token attends to itself and to those before it, `context` in all."""
    if query_len == 1:
        return None  # there are no other keys
    return causal if key_len <= context else window(context - 1, after=0)


class Block(nn.Module):
    """Attention and two linear maps with a ReLU: each reads the stream, and adds to it.

    What it reads is normalized; the stream itself never is: `x ← x + attention(norm(x))`, then
    `x ← x + W_2 relu(W_1 norm(x))`, each `(batch, length, d_model)`.

    Args:
        d_model: Width of the stream.
        num_heads: Number of heads.
        d_hidden: Width between the two maps.
        context: The number of tokens, itself included, that a token may attend to.

    Source: Vaswani et al. 2017, section 3, who normalize each sum; Xiong et al. 2020 normalize the
    input of each part, as here.
    """

    def __init__(self, d_model: int, num_heads: int, d_hidden: int, context: int) -> None:
        super().__init__()
        self.context = context
        self.norm_attention = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.norm_maps = nn.LayerNorm(d_model)
        # these two names stay: the stored weights of the writer have them
        self.widen = nn.Linear(d_model, d_hidden)
        self.narrow = nn.Linear(d_hidden, d_model)

    def forward(
        self,
        stream: Float[Tensor, "batch length d_model"],
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """The stream, with what the tokens looked up and what the maps made of it added."""
        stream = stream + self.look(self.norm_attention(stream), cache)
        return stream + self.think(self.norm_maps(stream))

    def look(self, tokens: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Return what each token takes from itself and from those before it."""
        return look_back(self.attention, tokens, self.context, cache)

    def think(self, tokens: Tensor) -> Tensor:
        """Return what the two maps make of each token by itself."""
        return self.narrow(torch.relu(self.widen(tokens)))


class LanguageModel(nn.Module):
    """A decoder-only Transformer: an embedding, blocks, and the embedding again as the readout.

    From tokens `(batch, length)` to the logits `norm(x) Eᵀ`, `(batch, length, vocab_size)`, where
    `x` is the stream behind the last block and `E` the embedding.

    Args:
        vocab_size: Number of different tokens.
        d_model: Width of the stream.
        num_heads: Number of heads of each block.
        d_hidden: Width between the two maps of a block.
        num_layers: Number of blocks.
        context: The number of tokens that a token may attend to. A text may be longer: what a
            token attends to then moves along.
        input_scale: Factor of the embedding where it enters the stream. The embedding has to be
            small, or the first logits are large; with `d_model ** 0.5` its vectors are not lost
            among what the first blocks add.

    Raises:
        ValueError: A size is not positive, or `d_model` not divisible by `num_heads`.

    Source: Radford et al. 2019, with the positions of Su et al. 2024; Press and Wolf 2017 (the tied
    readout); Vaswani et al. 2017, section 3.4 (the scale).
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int = 128,
        num_heads: int = 4,
        d_hidden: int = 512,
        num_layers: int = 2,
        context: int = 128,
        input_scale: float = 1.0,
    ) -> None:
        super().__init__()
        sizes = {"vocab_size": vocab_size, "num_layers": num_layers, "context": context}
        for name, size in sizes.items():
            require_positive(name, size)
        self.context, self.input_scale = context, input_scale
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=INITIAL_SCALE)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, d_hidden, context) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    @checked
    def forward(
        self,
        tokens: Int[Tensor, "batch length"],
        cache: Sequence[KeyValueCache] | None = None,
    ) -> Float[Tensor, "batch length vocab_size"]:
        """The logits of the token that follows each token.

        Args:
            tokens: Numbers of tokens; with a cache, those that follow what has been read.
            cache: What `new_cache` made, one for each block.
        """
        stream = self.input_scale * self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            stream = block(stream, cache[number] if cache else None)
        return self.norm(stream) @ self.embedding.weight.T

    def new_cache(self) -> list[KeyValueCache]:
        """An empty cache for each block."""
        return [KeyValueCache() for _ in self.blocks]


@checked
def next_token_loss(
    logits: Float[Tensor, "batch length vocab_size"], tokens: Int[Tensor, "batch length"]
) -> Float[Tensor, ""]:
    """Mean of `-log p` of each token but the first, where the logits of the token before give p."""
    guess, answer = logits[:, :-1], tokens[:, 1:]
    return functional.cross_entropy(guess.flatten(0, 1), answer.flatten())


def bits_per_character(loss: float, num_tokens: int, num_characters: int) -> float:
    """A loss in nats a token as bits a character, so that models with other tokens compare.

    Args:
        loss: The mean of `-log p` of the tokens.
        num_tokens: Number of tokens of the text.
        num_characters: Number of its characters.
    """
    return loss / math.log(2) * num_tokens / num_characters


@checked
def keep_top_k(
    probabilities: Float[Tensor, "*batch vocab_size"], top_k: int
) -> Float[Tensor, "*batch vocab_size"]:
    """The probabilities of the `top_k` most probable tokens, made to sum to 1; the others are 0.

    Raises:
        ValueError: `top_k` is less than 1.

    Source: Fan et al. 2018.
    """
    require_positive("top_k", top_k)
    ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return _share_out(ranked * (torch.arange(order.shape[-1], device=order.device) < top_k), order)


@checked
def keep_top_p(
    probabilities: Float[Tensor, "*batch vocab_size"], top_p: float
) -> Float[Tensor, "*batch vocab_size"]:
    """The most probable tokens that have `top_p` together, made to sum to 1; the others are 0.

    They are as few as possible: the token with which the sum reaches `top_p` is the last one kept.

    Raises:
        ValueError: `top_p` is not above 0 and at most 1.

    Source: Holtzman et al. 2020 (nucleus sampling).
    """
    if not 0 < top_p <= 1:
        raise ValueError(f"{top_p=} must be above 0 and at most 1")
    ranked, order = probabilities.sort(dim=-1, descending=True, stable=True)
    return _share_out(ranked * (ranked.cumsum(-1) - ranked < top_p), order)


def _share_out(ranked: Tensor, order: Tensor) -> Tensor:
    """The ranked probabilities at the places of their tokens, made to sum to 1."""
    return torch.empty_like(ranked).scatter(-1, order, ranked / ranked.sum(-1, keepdim=True))


@checked
def next_token_law(
    logits: Float[Tensor, "*batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab_size"]:
    """The probabilities from which the next token is drawn.

    Args:
        logits: What the model says of each token.
        temperature: The logits are divided by it; at 0 the most probable token has probability 1,
            the first if there are several.
        top_k: If given, only so many tokens are kept, the most probable ones.
        top_p: If given, only the most probable tokens are kept that have this probability together;
            after `top_k`.
    """
    if temperature == 0:
        return functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    require_positive("temperature", temperature)
    probabilities = torch.softmax(logits / temperature, -1)
    if top_k is not None:
        probabilities = keep_top_k(probabilities, top_k)
    return probabilities if top_p is None else keep_top_p(probabilities, top_p)


@torch.no_grad()
@checked
def write(
    model: LanguageModel,
    tokens: Int[Tensor, "batch length"],
    number: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch longer"]:
    """The tokens with `number` more behind them, each drawn by `next_token_law` and read in turn.

    A token is read once: the cache keeps its keys and values.
    """
    cache, new = model.new_cache(), tokens
    for step in range(number):
        with shapes_known(step > 1):
            law = next_token_law(model(new, cache)[:, -1], temperature, top_k, top_p)
        new = torch.multinomial(law, 1, generator=generator)
        tokens = torch.cat([tokens, new], 1)
    return tokens
