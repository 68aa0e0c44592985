"""A sentence that looks at itself: queries, keys and values are made from the same tokens."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attn_course.layer.head_masks import require_unambiguous
from attn_course.retrieval import attend, dot_scores
from attn_course.scaled_dot_product import attention, attention_weights
from attn_course.shapes import checked


@checked
def basic_self_attention(
    tokens: Float[Tensor, "*batch length d_model"],
    mask: Bool[Tensor, "*#batch #length #length"] | None = None,
) -> Float[Tensor, "*batch length d_model"]:
    """Each token becomes a mean of all tokens, weighted by the softmax of its dot products.

    Nothing is learned. The scores are symmetric, and the score of a token with itself is its
    squared length, which its scores with other tokens seldom reach.

    Raises:
        TypeError: The tokens are not floating-point, or the mask is not boolean.
        ValueError: There are no tokens, a shape or device does not fit, or a token holds NaN.
    """
    return attend(dot_scores(tokens, tokens), tokens, mask)


class SelfAttention(nn.Module):
    """Scaled dot-product attention of a sentence to itself, through three learned projections.

    With one token in each row of `x`, the output is `softmax(Q Kᵀ / sqrt(d_key)) V`, where
    `Q = x W_Q`, `K = x W_K` and `V = x W_V`: from `(*batch, length, d_model)` to
    `(*batch, length, d_value)`.

    Args:
        d_model: Width of a token.
        d_key: Width of its query and of its key; `d_model` if None.
        d_value: Width of its value, and of the output; `d_model` if None.
        bias: If True, the projections add a constant. The key's constant has no effect: it adds
            the same number to all scores of a query.

    Source: Vaswani et al. 2017, section 3.2, with one head and without output projection.
    """

    def __init__(
        self,
        d_model: int,
        d_key: int | None = None,
        d_value: int | None = None,
        *,
        bias: bool = False,
    ) -> None:
        super().__init__()
        d_key = d_model if d_key is None else d_key
        d_value = d_model if d_value is None else d_value
        self.project_query = nn.Linear(d_model, d_key, bias=bias)
        self.project_key = nn.Linear(d_model, d_key, bias=bias)
        self.project_value = nn.Linear(d_model, d_value, bias=bias)

    @checked
    def forward(
        self,
        tokens: Float[Tensor, "*batch length d_model"],
        mask: Bool[Tensor, "*#batch #length #length"] | None = None,
    ) -> Float[Tensor, "*batch length d_value"]:
        """For each token, the mean of all values, weighted by how well their keys answer it."""
        require_unambiguous(mask, tokens)
        query, key = self.project_query(tokens), self.project_key(tokens)
        return attention(query, key, self.project_value(tokens), mask)

    @checked
    def weights(
        self,
        tokens: Float[Tensor, "*batch length d_model"],
        mask: Bool[Tensor, "*#batch #length #length"] | None = None,
    ) -> Float[Tensor, "*batch length length"]:
        """The attention weights: each row is a token, and says how much it looks at each token."""
        require_unambiguous(mask, tokens)
        query, key = self.project_query(tokens), self.project_key(tokens)
        return attention_weights(query, key, mask)


def sinusoidal_positions(
    length: int, d_model: int, device: torch.device | str | None = None
) -> Float[Tensor, "length d_model"]:
    """A vector for each position: sines and cosines at `d_model / 2` frequencies.

    Feature `2i` is the sine and `2i + 1` the cosine of `position / 10000 ** (2i / d_model)`.

    Raises:
        ValueError: `d_model` is odd, or an argument is not positive.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if length < 1 or d_model < 2 or d_model % 2:
        raise ValueError(f"{length=} must be positive and {d_model=} positive and even")
    # in double precision, since in single precision the sine of position 10,000 loses four of its
    # seven digits
    position = _doubles(length, 1, device).unsqueeze(-1)
    angle = position / 10_000 ** (_doubles(d_model, 2, device) / d_model)
    vectors = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)
    return vectors.to(torch.empty(0, device=device))


@checked
def rotate_by_position(
    vectors: Float[Tensor, "*batch length d_key"], start: int = 0
) -> Float[Tensor, "*batch length d_key"]:
    """Rotary positions: turn the pairs of numbers of each query, or key, by its position.

    Pair `i`, which is features `2i` and `2i + 1`, turns by `position / 10000 ** (2i / d_key)`
    radians. A dot product of a turned query and a turned key depends on both vectors and on the
    difference of their positions, and on nothing else. Values are not turned.

    Args:
        vectors: Queries or keys, one for each position.
        start: Position of the first vector, which is above 0 when a sentence is read in parts.

    Raises:
        TypeError: The vectors are not floating-point.
        ValueError: `d_key` is odd, or `start` is more than one position.

    Source: Su et al. 2024, section 3.2.
    """
    length, d_key = vectors.shape[-2:]
    if d_key % 2:
        raise ValueError(f"{d_key=} is odd, but a position turns pairs of numbers")
    if isinstance(start, Tensor) and start.ndim:
        raise ValueError(f"start must be one position, but has shape {tuple(start.shape)}")
    position = _doubles(length, 1, vectors.device).unsqueeze(-1) + start
    angle = position / 10_000 ** (_doubles(d_key, 2, vectors.device) / d_key)
    cosine, sine = angle.cos().to(vectors), angle.sin().to(vectors)
    first, second = vectors.unflatten(-1, (d_key // 2, 2)).unbind(-1)
    turned = first * cosine - second * sine, first * sine + second * cosine
    return torch.stack(turned, -1).flatten(-2)


def _doubles(end: int, step: int, device: torch.device | str | None) -> Tensor:
    """Numbers from 0 in double precision; on the CPU, unless the device surely has doubles."""
    home = torch.empty(0, device=device).device
    home = home if home.type == "cuda" else torch.device("cpu")
    return torch.arange(0, end, step, dtype=torch.float64, device=home)


class LearnedPositions(nn.Module):
    """A vector for each position, learned just as the vectors of words are.

    Args:
        max_len: Number of positions that have a vector.
        d_model: Width of a vector.

    Raises:
        ValueError: An argument is not positive.

    Source: Gehring et al. 2017.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        if max_len < 1 or d_model < 1:
            raise ValueError(f"{max_len=} and {d_model=} must be positive")
        self.vectors = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)

    def forward(self, length: int) -> Float[Tensor, "length d_model"]:
        """The vectors of the first `length` positions.

        Raises:
            ValueError: `length` is negative or greater than the number of positions.
        """
        if not 0 <= length <= len(self.vectors):
            raise ValueError(f"{length=}, but there are vectors for {len(self.vectors)} positions")
        return self.vectors[:length]
