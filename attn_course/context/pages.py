"""A cache in pages: many texts of unknown lengths share one memory."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attn_course.shapes import require_positive


def tokens_reserved(lengths: Sequence[int], longest: int) -> int:
    """Tokens for which there has to be room if each text gets room for the longest one.

    Raises:
        ValueError: A text is longer.
    """
    if max(lengths, default=0) > longest:
        raise ValueError(f"a text of {max(lengths)} tokens does not fit {longest=}")
    return len(lengths) * longest


def tokens_in_pages(lengths: Sequence[int], page_len: int) -> int:
    """The same if each text gets pages, as many as it needs: less than one page each is waste.

    Raises:
        ValueError: `page_len` is not positive.
    """
    require_positive("page_len", page_len)
    return sum(-(-length // page_len) * page_len for length in lengths)


class PagedMemory:
    """One memory for the vectors of many texts, in pages that are taken as texts grow.

    Args:
        num_pages: Number of pages.
        page_len: Number of tokens of a page.
        width: Width of the vectors.

    Attributes:
        pages: For each text the numbers of its pages, in order.

    Raises:
        ValueError: A size is not positive.

    Source: Kwon et al. 2023.
    """

    def __init__(self, num_pages: int, page_len: int, width: int) -> None:
        for name, size in {"num_pages": num_pages, "page_len": page_len, "width": width}.items():
            require_positive(name, size)
        self.page_len = page_len
        self.memory = torch.zeros(num_pages, page_len, width)
        self.free = list(range(num_pages))[::-1]
        self.pages: dict[str, list[int]] = {}
        self.lengths: dict[str, int] = {}

    def append(self, text: str, vector: Tensor) -> None:
        """Add the vector of one more token, `(width,)`, to a text; a new text begins.

        Raises:
            MemoryError: All pages are taken.
        """
        length = self.lengths.get(text, 0)
        if length % self.page_len == 0:
            if not self.free:
                raise MemoryError(f"no page is free for token {length} of {text!r}")
            self.pages.setdefault(text, []).append(self.free.pop())
        self.memory[self.pages[text][-1], length % self.page_len] = vector
        self.lengths[text] = length + 1

    def read(self, text: str) -> Tensor:
        """The vectors of a text in their order, `(length, width)`."""
        return self.memory[self.pages[text]].flatten(0, 1)[: self.lengths[text]]

    def forget(self, text: str) -> None:
        """Give the pages of a text back."""
        self.free += reversed(self.pages.pop(text))
        del self.lengths[text]
