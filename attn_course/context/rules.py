"""Rules of which keys a query may attend to: a window with the first tokens, and documents."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from attn_course.shapes import checked


@dataclass(frozen=True)
class WindowAndSinks:
    """The rule that a query attends to the last keys, itself included, and to the first ones.

    Attributes:
        last: Number of the last keys.
        first: Number of the first keys of the text, the sinks.

    Raises:
        ValueError: A number is negative, or `last` is 0.

    Source: Xiao et al. 2024.
    """

    last: int
    first: int = 0

    def __post_init__(self) -> None:
        if self.last < 1 or self.first < 0:
            raise ValueError(f"{self.last=} must be positive and {self.first=} not negative")

    def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """True where the query may attend."""
        back = query_position - key_position
        return (back >= 0) & ((back < self.last) | (key_position < self.first))


@checked
def document_of_each(lengths: Sequence[int]) -> Int[Tensor, " length"]:
    """The number of the document of each token, when documents stand one behind the other."""
    return torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))


@checked
def position_within(document: Int[Tensor, " length"]) -> Int[Tensor, " length"]:
    """The position of each token in its own document, from 0."""
    position = torch.arange(len(document), device=document.device)
    begins = torch.ones_like(document, dtype=torch.bool)
    begins[1:] = document[1:] != document[:-1]
    return position - position.where(begins, 0).cummax(0).values


@dataclass(frozen=True, eq=False)
class Documents:
    """The rule that a token attends to itself and to those before it in the same document.

    Attributes:
        document: The number of the document of each token, `(length,)`; the tokens of a document
            stand together.

    Raises:
        ValueError: A document's number comes again after another's.

    Source: Krell et al. 2021.
    """

    document: Tensor

    def __post_init__(self) -> None:
        begun, known = len(self._starts), len(self.document.unique())
        if begun > max(known, 1):
            raise ValueError(f"{known} documents begin {begun} times: number each stretch anew")

    def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """True where the query may attend."""
        same = self.document[query_position] == self.document[key_position]
        return same & (query_position >= key_position)

    def reach(self, first: int, last: int, key_len: int) -> range:
        """The keys that queries from `first` to `last` reach, back to where a document begins."""
        starts = self._starts
        return range(starts[bisect_right(starts, first) - 1], min(last + 1, key_len))

    @cached_property
    def _starts(self) -> list[int]:
        changes = (self.document[1:] != self.document[:-1]).nonzero().flatten() + 1
        return [0, *changes.tolist()]
