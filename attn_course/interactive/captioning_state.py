"""The first state of the figure of chapter 06, in words and whole percents."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

from attn_course.data.captions import CaptionedImage
from attn_course.interactive.captioning_said import Guess, Word

WORTH_SAYING = 5  # percent of the weight; a sentence leaves less out
MOST_CELLS = 3  # that a sentence names


@dataclass(frozen=True)
class State:
    """A state of the figure: an image, a captioner, a word, and the cell with its weight.

    Args:
        images: All images to choose from.
        said: The words of each captioner for each image.
        image: The number of the image, from 0.
        model: The name of the captioner.
        word: The number of the word, from 0.
        moved: The cell to which all weight has been moved; None if it has not been moved.
    """

    images: Sequence[CaptionedImage]
    said: Sequence[dict[str, list[Word]]]
    image: int
    model: str
    word: int
    moved: int | None = None

    @property
    def grid(self) -> int:
        """Cells in a row."""
        return isqrt(len(self.images[0].digits))

    @property
    def words(self) -> list[Word]:
        return self.said[self.image][self.model]

    @property
    def now(self) -> Word:
        return self.words[self.word]

    @property
    def caption(self) -> str:
        """The caption."""
        return spoken([word.word for word in self.words])

    @property
    def right_caption(self) -> str:
        return " ".join(self.images[self.image].words)

    @cached_property
    def weights(self) -> list[int]:
        """The weights of the cells, in percent."""
        if self.moved is None:
            return self.now.weights
        return [100 * (cell == self.moved) for cell in range(len(self.now.weights))]

    @property
    def looked(self) -> int | None:
        """The one cell that the captioner looks at; None if it takes the mean of them all."""
        return self.now.looked if self.moved is None else self.moved

    @property
    def moved_guesses(self) -> list[Guess]:
        return [] if self.moved is None else self.now.moved[self.moved]

    @property
    def moved_caption(self) -> str:
        """The whole caption with this word's weight moved; empty if it has not been moved."""
        if self.moved is None:
            return ""
        before = [word.word for word in self.words[: self.word]]
        return spoken([*before, *self.now.rest[self.moved]])

    def place(self, cell: int) -> str:
        """The place of a cell, in words."""
        row, column = divmod(cell, self.grid)
        return f"row {row + 1}, column {column + 1}"

    @property
    def sentence(self) -> str:
        """The figure in words, for print and screen readers."""
        word, percent = self.now.guesses[0]
        return " ".join(
            [
                f"Image {self.image + 1}, {self.model} attention.",
                f"Word {self.word + 1} of {len(self.words)}: “{word}”, probability {percent}%.",
                f"{self._weight_in_words}.",
                *self._looked_in_words,
                *self._moved_in_words,
            ]
        )

    @property
    def _weight_in_words(self) -> str:
        weights = self.now.weights
        if len(set(weights)) == 1:
            return f"{weights[0]}% of the weight on every cell"
        order = sorted(range(len(weights)), key=lambda cell: -weights[cell])[:MOST_CELLS]
        (first, *others) = order
        named = [f"{weights[first]}% of the weight on {self.place(first)}"]
        named += [
            f"{weights[cell]}% on {self.place(cell)}"
            for cell in others
            if weights[cell] >= WORTH_SAYING
        ]
        return "; ".join(named)

    @property
    def _looked_in_words(self) -> list[str]:
        if self.now.looked is None:
            return []
        return [f"It looks at {self.place(self.now.looked)} alone."]

    @property
    def _moved_in_words(self) -> list[str]:
        if self.moved is None:
            return []
        word, percent = self.moved_guesses[0]
        return [
            f"Had it looked at {self.place(self.moved)} alone: “{word}”, probability {percent}%.",
            f"The caption would be: “{self.moved_caption}”.",
        ]


def spoken(words: Sequence[str]) -> str:
    """A caption as it is read: without its end mark, or with dots if it was cut off."""
    if words[-1].startswith("("):
        return " ".join(words[:-1])
    return " ".join([*words, "…"])
