"""Images of handwritten digits on a grid, made here, with captions that name the digits in order.

A caption names the digits in reading order, row by row, and the position of each relative to the
next: "a three is left of an eight , which is above a two". The data say which cell each digit's
word is about. The digits are real, written by many hands; the splits share no digit, though they
share the writers.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice, pairwise
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from attn_course.data.draw import Draw
from attn_course.data.regression import load_digits
from attn_course.data.tokens import Vocabulary, pad
from attn_course.seq2seq import BOS

Split = Literal["training", "validation", "test"]
Words = tuple[str, ...]
# The indices of scikit-learn's 1797 images in each split: of every six, four, one and one.
DIGITS_OF = {
    "training": tuple(number for number in range(1797) if number % 6 < 4),
    "validation": tuple(range(4, 1797, 6)),
    "test": tuple(range(5, 1797, 6)),
}
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
CELL = 8  # pixels, of the side of a digit and so of a cell
NO_CELL = -1  # of a word that is about no cell
VOCABULARY = Vocabulary(
    ("a", "an", "is", "which", "above", "and", "left", "right", "of", ",", *NAMES)
)


class CaptionedImage(NamedTuple):
    """An image with its caption and its digits.

    Attributes:
        image: From 0 (paper) to 1 (ink), (1, height, width).
        words: The caption.
        cells: For each word, the number of the cell whose digit it names, counted from 0 in reading
            order; None for words that name no digit.
        digits: The digit in each cell, row by row; None where the cell is empty.
    """

    image: Tensor
    words: Words
    cells: tuple[int | None, ...]
    digits: tuple[int | None, ...]


class CaptionBatch(NamedTuple):
    """Captioned images to learn from.

    Attributes:
        image: (batch, 1, height, width).
        target_input: The words that the decoder reads: BOS, then the caption, (batch, target_len).
        target_output: The words that it should predict: the caption, then EOS, padded with PAD.
        cell: The cell that each word of `target_output` names, or NO_CELL = -1.
    """

    image: Tensor
    target_input: Tensor
    target_output: Tensor
    cell: Tensor

    def to(self, device: torch.device | str) -> "CaptionBatch":
        """The batch on another device."""
        return CaptionBatch(*(part.to(device) for part in self))


def captioned_images(
    seed: int, split: Split = "training", grid: int = 3, digits: tuple[int, int] = (2, 3)
) -> Iterator[CaptionedImage]:
    """Yield captioned images without end.

    Args:
        seed: The same seed gives the same images on every machine.
        split: The split that the digits come from; no digit is in two splits.
        grid: Number of cells in a row, and in a column.
        digits: Smallest and largest number of digits on an image; all numbers are equally likely.

    Raises:
        ValueError: The split is unknown, the grid is below 2, the numbers of digits are not in
            order from 1 to the number of cells, or the seed is negative.
    """
    least, most = digits
    if split not in get_args(Split):
        raise ValueError(f"there is no split {split!r}; choose from {', '.join(get_args(Split))}")
    if grid < 2:
        raise ValueError(f"{grid=} must be at least 2, or no cell has a neighbour")
    if not 1 <= least <= most <= grid**2:
        raise ValueError(f"{digits=} must be two numbers in order, from 1 to {grid**2} cells")
    return _images(Draw(seed), split, grid, least, most)


def _images(draw: Draw, split: Split, grid: int, least: int, most: int) -> Iterator[CaptionedImage]:
    numbers = DIGITS_OF[split]
    while True:
        cells = sorted(draw.shuffled(range(grid**2))[: draw.between(least, most)])
        yield compose({cell: draw.one_of(numbers) for cell in cells}, grid)


def compose(numbers: dict[int, int], grid: int) -> CaptionedImage:
    """The image with given digits in given cells, and its caption.

    Args:
        numbers: For each cell that is not empty, the index of an image in `load_digits`.
        grid: Number of cells in a row, and in a column.

    Raises:
        ValueError: There is no digit, a cell is not on the grid, or a digit is not in the data.
    """
    images, labels = _all_digits()
    if not numbers or not all(0 <= cell < grid**2 for cell in numbers):
        raise ValueError(f"cells {list(numbers)}: give one or more of the cells 0 to {grid**2 - 1}")
    if not all(0 <= number < len(images) for number in numbers.values()):
        raise ValueError(f"digits {list(numbers.values())} must be from 0 to {len(images) - 1}")
    image = torch.zeros(1, CELL * grid, CELL * grid)
    for cell, number in numbers.items():
        row, column = divmod(cell, grid)
        image.unfold(1, CELL, CELL).unfold(2, CELL, CELL)[0, row, column] = images[number]
    shown = {cell: labels[numbers[cell]] for cell in sorted(numbers)}
    words, cells = caption(shown, grid)
    return CaptionedImage(image, words, cells, tuple(map(shown.get, range(grid**2))))


def caption(digits: dict[int, int], grid: int) -> tuple[Words, tuple[int | None, ...]]:
    """The words of an image's caption, and the cell that each of them names.

    Args:
        digits: For each cell that is not empty, the digit in it, in reading order.
        grid: Number of cells in a row.
    """
    first = next(iter(digits))
    words, cells = list(_named(digits[first])), [None, first]
    for number, (before, cell) in enumerate(pairwise(digits)):
        joined = ("is",) if number == 0 else (",", "which", "is")
        between = (*joined, *relation(before, cell, grid))
        words += [*between, *_named(digits[cell])]
        cells += [*[None] * (len(between) + 1), cell]
    return tuple(words), tuple(cells)


def relation(cell: int, later: int, grid: int) -> Words:
    """The words for the position of a cell relative to one that comes later in reading order."""
    row, column = divmod(cell, grid)
    later_row, later_column = divmod(later, grid)
    if row == later_row:
        return ("left", "of")
    if column == later_column:
        return ("above",)
    return ("above", "and", "left" if column < later_column else "right", "of")


def _named(digit: int) -> Words:
    """A digit with its article."""
    return ("an" if NAMES[digit] == "eight" else "a"), NAMES[digit]


def caption_batch(examples: Iterable[CaptionedImage]) -> CaptionBatch:
    """Some captioned images as one batch.

    Raises:
        ValueError: There are none.
    """
    examples = list(examples)
    output = pad([VOCABULARY.encode(example.words) for example in examples])
    shifted = pad([[BOS, *VOCABULARY.encode(example.words)[:-1]] for example in examples])
    cell = torch.full_like(output, NO_CELL)
    for row, example in zip(cell, examples, strict=True):
        named = [NO_CELL if number is None else number for number in example.cells]
        row[: len(named)] = torch.tensor(named)
    return CaptionBatch(torch.stack([e.image for e in examples]), shifted, output, cell)


def caption_batches(
    seed: int,
    batch_size: int,
    split: Split = "training",
    grid: int = 3,
    digits: tuple[int, int] = (2, 3),
) -> Iterator[CaptionBatch]:
    """Yield batches without end, of images that repeat only by chance.

    It has the arguments and errors of `captioned_images`; `batch_size` is at least 1.
    """
    if batch_size < 1:
        raise ValueError(f"{batch_size=} must be at least 1")
    stream = captioned_images(seed, split, grid, digits)
    return (caption_batch(islice(stream, batch_size)) for _ in iter(int, 1))


@cache
def _all_digits() -> tuple[Tensor, list[int]]:
    images, labels = load_digits()
    return images.unflatten(1, (CELL, CELL)), labels.tolist()
