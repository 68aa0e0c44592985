"""Attention for long texts: positions inside the score, fewer keys to keep, tiles.

Each is one change to what chapters 07 to 11 built. Rotary positions turn queries and keys, so that
a score depends on the distance alone; the cache is counted in bytes, for heads that share keys or
keep one short vector for all; and attention goes through the keys in tiles, so that the table of
weights never leaves fast memory. The room `attn_course.context` has what builds on these.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attn_course.layer.blocks import blocks
from attn_course.layer.online_softmax import OnlineSoftmax, update
from attn_course.scaled_dot_product import scaled_dot_scores
from attn_course.shapes import checked, require_positive


@checked
def angles(
    position: Int[Tensor, "*batch length"],
    d_head: int,
    *,
    base: float = 10_000.0,
    stretch: float = 1.0,
) -> Float[Tensor, "*batch length pairs"]:
    """The angle by which each pair of features turns at each position, in radians.

    Pair `i` turns by `position / stretch / base ** (2i / d_head)`.

    Args:
        position: Positions, in whatever order; those of several documents may each begin at 0.
        d_head: Width of the vectors.
        base: The slowest pair turns by nearly `1 / base` at each step; more slows all but the
            first.
        stretch: Positions are divided by it, so that a text this many times as long has no angle
            that a shorter one had not.

    Raises:
        ValueError: `d_head` is odd, or a number is not positive.

    Source: Su et al. 2024, section 3.2; Chen et al. 2023 (`stretch`).
    """
    for name, number in {"d_head": d_head, "base": base, "stretch": stretch}.items():
        require_positive(name, number)
    if d_head % 2:
        raise ValueError(f"{d_head=} is odd, but a position turns pairs of numbers")
    # in double precision, since single precision loses the fast angles of far positions
    pair = torch.arange(0, d_head, 2, dtype=torch.float64, device=position.device)
    return position.double()[..., None] / stretch / base ** (pair / d_head)


@checked
def rotate_pairs(
    vectors: Float[Tensor, "*batch length d_head"],
    position: Int[Tensor, "*#batch length"],
    *,
    base: float = 10_000.0,
    stretch: float = 1.0,
) -> Float[Tensor, "*batch length d_head"]:
    """Turn the features `2i` and `2i + 1` by angle `i`, as chapter 08 does, at any positions.

    Args:
        vectors: Queries or keys.
        position: The position of each.
        base: See `angles`.
        stretch: See `angles`.

    Source: Su et al. 2024, eq. 34.
    """
    angle = angles(position, vectors.shape[-1], base=base, stretch=stretch)
    turned = _turn(vectors[..., 0::2], vectors[..., 1::2], angle)
    return torch.stack(turned, -1).flatten(-2)


@checked
def rotate_halves(
    vectors: Float[Tensor, "*batch length d_head"],
    position: Int[Tensor, "*#batch length"],
    *,
    base: float = 10_000.0,
    stretch: float = 1.0,
) -> Float[Tensor, "*batch length d_head"]:
    """Turn the features `i` and `i + d_head / 2` by angle `i`, as many published weights want it.

    It is `rotate_pairs` with the features in another order: first the even ones, then the odd.

    Args:
        vectors: Queries or keys.
        position: The position of each.
        base: See `angles`.
        stretch: See `angles`.

    Source: Black et al. 2022, and the code of Llama in the package transformers.
    """
    angle = angles(position, vectors.shape[-1], base=base, stretch=stretch)
    first, second = vectors.chunk(2, -1)
    return torch.cat(_turn(first, second, angle), -1)


def _turn(first: Tensor, second: Tensor, angle: Tensor) -> tuple[Tensor, Tensor]:
    """Both coordinates of points that are turned round the origin."""
    cosine, sine = angle.cos().to(first), angle.sin().to(first)
    return first * cosine - second * sine, first * sine + second * cosine


@dataclass(frozen=True)
class CacheSizes:
    """The sizes of what a model keeps of each token while it writes.

    Attributes:
        num_layers: Number of layers, each with a cache.
        num_kv_heads: Number of heads of keys and values; 0 if a short vector stands for all.
        d_head: Width of a key, and of a value.
        d_latent: Numbers that a layer keeps beside them: the short vector from which all heads
            make their keys and values, and a key that all share.
    """

    num_layers: int
    num_kv_heads: int
    d_head: int
    d_latent: int = 0

    def numbers_a_token(self) -> int:
        """Numbers kept of each token: a key and a value for each head, in each layer."""
        return self.num_layers * (2 * self.num_kv_heads * self.d_head + self.d_latent)

    def size(self, num_tokens: int, bytes_a_number: int = 2) -> int:
        """Bytes of the cache after some tokens.

        Args:
            num_tokens: Number of tokens.
            bytes_a_number: 2 in half precision.
        """
        return self.numbers_a_token() * num_tokens * bytes_a_number


class SlowMemory:
    """Counts the numbers that pass between a large, slow memory and a small, fast one.

    Attributes:
        numbers: How many have passed, in either direction.
    """

    def __init__(self) -> None:
        self.numbers = 0

    def read(self, part: Tensor) -> Tensor:
        """The part, after it has been counted."""
        self.numbers += part.numel()
        return part

    write = read


def attend_by_table(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    memory: SlowMemory,
) -> Tensor:
    """Attention in three steps, each of which reads what it needs and writes what it made.

    Args:
        query: Queries, `(*batch, length, d_key)`.
        key: Keys, `(*batch, length, d_key)`.
        value: Values, `(*batch, length, d_value)`.
        memory: Counts what passes.
    """
    scores = scaled_dot_scores(memory.read(query), memory.read(key))
    scores = memory.write(scores)
    weights = memory.write(memory.read(scores).softmax(-1))
    return memory.write(memory.read(weights) @ memory.read(value))


def attend_in_tiles(
    query: Tensor, key: Tensor, value: Tensor, memory: SlowMemory, *, tile_len: int = 64
) -> Tensor:
    """The same from tiles: `tile_len` queries meet `tile_len` keys at a time, in fast memory.

    Args:
        query: Queries, `(*batch, length, d_key)`.
        key: Keys, `(*batch, length, d_key)`.
        value: Values, `(*batch, length, d_value)`.
        memory: Counts what passes.
        tile_len: Number of queries, and of keys, of a tile.

    Raises:
        ValueError: `tile_len` is not positive.

    Source: Dao et al. 2022, algorithm 1, with its loops exchanged as in Dao 2023.
    """
    require_positive("tile_len", tile_len)
    output = []
    for rows in blocks(query.shape[-2], tile_len):
        some = memory.read(query[..., rows, :])
        state = OnlineSoftmax.before(some, value)
        for columns in blocks(key.shape[-2], tile_len):
            keys = memory.read(key[..., columns, :])
            values = memory.read(value[..., columns, :])
            state = update(state, scaled_dot_scores(some, keys), None, values)
        output.append(memory.write(state.output().to(query.dtype)))
    return torch.cat(output, -2)
