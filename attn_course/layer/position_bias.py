"""Biases by position: a straight line for each head, or a learned number by distance.

Each is a function of the positions of queries, `(query_len, 1)`, and of keys, `(key_len)`, to
numbers `(num_heads, query_len, key_len)`. `MultiHeadAttention` and `fast_attention` take it as
`position_bias`, and call it for a block of positions at a time.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class ALiBi(nn.Module):
    """The score falls by the head's slope with every position between query and key.

    Head `h` adds `-slope_h * |i - j|` to the score of query `i` and key `j`,
    `(num_heads, query_len, key_len)` in all. The slopes are `2 ** (-8 / num_heads)` and its powers,
    so that head 0 sees the least far. If `num_heads` is no power of 2, the remaining heads get the
    slopes that twice as many heads would have in between. Nothing is learned.

    Args:
        num_heads: Number of heads.

    Raises:
        ValueError: `num_heads` is not positive.

    Source: Press et al. 2022, section 3, and their published code for other numbers of heads.
    """

    slopes: Tensor

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        if num_heads < 1:
            raise ValueError(f"{num_heads=} must be positive")
        power = 2 ** int(math.log2(num_heads))
        slopes = [2 ** (-8 * n / power) for n in range(1, power + 1)]
        between = [2 ** (-4 * n / power) for n in range(1, 2 * power, 2)]
        slopes += between[: num_heads - power]
        self.register_buffer("slopes", torch.tensor(slopes), persistent=False)

    def forward(
        self, query_position: Tensor, key_position: Tensor
    ) -> Float[Tensor, "num_heads query_len key_len"]:
        """Minus the distance, times the slope of each head."""
        slope = self.slopes[:, None, None].to(
            # in single precision at least, because half of it cannot count to 257
            torch.promote_types(self.slopes.dtype, torch.float32)
        )
        return -slope * (query_position - key_position).abs()


class T5Bias(nn.Module):
    """A learned number for each head and each bucket of distances.

    Head `h` adds `bias[bucket(j - i), h]` to the score of query `i` and key `j`,
    `(num_heads, query_len, key_len)` in all. Half of the buckets of a direction hold one distance
    each; the others grow like its logarithm, and the last one holds all distances from
    `max_distance` on.

    Args:
        num_heads: Number of heads.
        num_buckets: Number of numbers that a head learns.
        max_distance: The distance from which on all are alike.
        bidirectional: If True, half of the buckets are for keys behind the query. Otherwise those
            count as if they were at the query: such a layer is causal.

    Raises:
        ValueError: There are too few buckets, or `max_distance` is within the single ones.

    Source: Raffel et al. 2020, section 2.1, and their published code.
    """

    def __init__(
        self,
        num_heads: int,
        num_buckets: int = 32,
        max_distance: int = 128,
        *,
        bidirectional: bool = True,
    ) -> None:
        super().__init__()
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.bidirectional = bidirectional
        self.single = num_buckets // (4 if bidirectional else 2)
        if num_heads < 1 or self.single < 1 or max_distance <= self.single:
            raise ValueError(
                f"{num_heads=} must be positive, and {num_buckets=} so few, and {max_distance=} so "
                "great, that there are distances for every bucket"
            )
        self.bias = nn.Embedding(num_buckets, num_heads)

    def bucket(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """The number of the bucket of each pair, (query_len, key_len)."""
        ahead = key_position - query_position
        num_buckets = self.num_buckets // 2 if self.bidirectional else self.num_buckets
        distance = ahead.abs() if self.bidirectional else (-ahead).clamp(min=0)
        # in single precision, whatever the default: half of it cannot count to 257
        growth = torch.log(distance.clamp(min=1).float() / self.single)
        growth = growth / math.log(self.max_distance / self.single)
        far = self.single + (growth * (num_buckets - self.single)).long()
        bucket = distance.where(distance < self.single, far.clamp(max=num_buckets - 1))
        return bucket + (ahead > 0) * num_buckets if self.bidirectional else bucket

    def forward(
        self, query_position: Tensor, key_position: Tensor
    ) -> Float[Tensor, "num_heads query_len key_len"]:
        """The learned number of each head for the bucket of each pair."""
        return self.bias(self.bucket(query_position, key_position)).permute(2, 0, 1)
