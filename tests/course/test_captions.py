"""Captioned images: the words say what is there, the cells where, and no digit is in two splits."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise

import pytest
import torch
from torch.testing import assert_close

from attn_course.data.captions import (
    CELL,
    DIGITS_OF,
    NAMES,
    NO_CELL,
    VOCABULARY,
    CaptionedImage,
    caption,
    caption_batch,
    caption_batches,
    captioned_images,
    compose,
    relation,
)
from attn_course.data.photographs import cell_features, load_photograph
from attn_course.data.regression import load_digits
from attn_course.data.tokens import BOS, EOS, PAD, UNK
from tests.tensors import DEVICES


def some(number: int = 300, seed: int = 0, **how: object) -> list[CaptionedImage]:
    """Return the first images of a seed."""
    return list(islice(captioned_images(seed, **how), number))


def read(words: tuple[str, ...]) -> list[tuple[int, tuple[str, ...], int]]:
    """Return (digit, relation, digit) for each pair of a caption, by another way than its maker."""
    said = " ".join(words).replace(" , which", "").replace(" an ", " a ").split(" is ")
    names = [said[0].split()[-1], *(part.split()[-1] for part in said[1:])]
    between = [tuple(part.split()[:-2]) for part in said[1:]]
    digits = [NAMES.index(name) for name in names]
    return list(zip(digits, between, digits[1:], strict=False))


def test_caption_by_hand() -> None:
    words, cells = caption({1: 3, 2: 8, 5: 2, 6: 0}, 3)
    assert " ".join(words) == (
        "a three is left of an eight , which is above a two , which is above and right of a zero"
    )
    named = {word: cell for word, cell in zip(words, cells, strict=True) if cell is not None}
    assert named == {"three": 1, "eight": 2, "two": 5, "zero": 6}
    assert caption({4: 8}, 3) == (("an", "eight"), (None, 4))


@pytest.mark.parametrize(
    ("cell", "later", "words"),
    [
        (0, 1, "left of"),
        (0, 2, "left of"),
        (0, 3, "above"),
        (1, 7, "above"),
        (0, 4, "above and left of"),
        (2, 3, "above and right of"),
        (5, 7, "above and right of"),
    ],
)
def test_relations_of_cells_on_a_grid_of_three(cell: int, later: int, words: str) -> None:
    assert " ".join(relation(cell, later, 3)) == words


@pytest.mark.parametrize("grid", [3, 4, 5])
def test_captions_say_how_the_digits_lie_and_their_cells_hold_what_they_name(grid: int) -> None:
    for _, words, cells, digits in some(grid=grid, digits=(2, 5)):
        shown = [cell for cell, digit in enumerate(digits) if digit is not None]
        assert [cell for cell in cells if cell is not None] == shown
        for word, cell in zip(words, cells, strict=True):
            assert (cell is None) == (word not in NAMES)
            assert cell is None or NAMES[digits[cell]] == word
        for (first, how, second), (cell, later) in zip(read(words), pairwise(shown), strict=True):
            assert (digits[cell], digits[later]) == (first, second)
            rows, columns = zip(*(divmod(place, grid) for place in (cell, later)), strict=True)
            assert ("above" in how) == (rows[0] < rows[1])
            assert ("left" in how) == (columns[0] < columns[1])
            assert ("right" in how) == (columns[0] > columns[1])


def test_article_is_an_before_eight_only() -> None:
    for example in some():
        for article, noun in pairwise(example.words):
            if article in ("a", "an"):
                assert (article == "an") == (noun == "eight")


def test_image_holds_the_digits_in_their_cells_and_paper_elsewhere() -> None:
    images, labels = load_digits()
    numbers = {0: 1500, 4: 3, 8: 700}
    image, _, _, digits = compose(numbers, 3)
    assert image.shape == (1, 3 * CELL, 3 * CELL)
    for cell in range(9):
        row, column = divmod(cell, 3)
        rows, columns = (slice(CELL * place, CELL * (place + 1)) for place in (row, column))
        if cell in numbers:
            assert_close(image[0, rows, columns].flatten(), images[numbers[cell]], rtol=0, atol=0)
            assert digits[cell] == labels[numbers[cell]]
        else:
            assert image[0, rows, columns].abs().max() == 0
            assert digits[cell] is None


def test_splits_share_no_digit_and_every_image_is_of_its_own_split() -> None:
    images, _ = load_digits()
    numbers = {split: set(part) for split, part in DIGITS_OF.items()}
    assert sum(map(len, numbers.values())) == len(images)
    assert set.union(*numbers.values()) == set(range(len(images)))
    known = {tuple(pixels.tolist()): number for number, pixels in enumerate(images)}
    assert len(known) == len(images)  # no digit comes twice
    for split, allowed in numbers.items():
        for example in some(100, split=split):
            cells = example.image[0].unfold(0, CELL, CELL).unfold(1, CELL, CELL).reshape(9, -1)
            shown = {known[tuple(cell.tolist())] for cell in cells if cell.max() > 0}
            assert shown <= allowed


def test_seed_decides_the_images_and_splits_differ() -> None:
    def shown(examples: list[CaptionedImage]) -> list[tuple]:
        return [(example.words, example.image.sum().item()) for example in examples]

    assert shown(some(20)) == shown(some(20))
    assert shown(some(20)) != shown(some(20, seed=1))
    assert shown(some(20)) != shown(some(20, split="test"))


def test_stream_is_fair_to_numbers_of_digits_cells_and_digits() -> None:
    examples = some(3000, digits=(2, 3))
    assert Counter(len(e.words) - e.words.count(",") for e in examples).keys() <= set(range(20))
    number = Counter(sum(cell is not None for cell in example.cells) for example in examples)
    assert number.keys() == {2, 3}
    assert number[2] / 3000 == pytest.approx(0.5, abs=0.05)
    cells = Counter(cell for e in examples for cell in e.cells if cell is not None)
    assert all(count / cells.total() == pytest.approx(1 / 9, abs=0.02) for count in cells.values())
    digits = Counter(digit for e in examples for digit in e.digits if digit is not None)
    assert all(count / digits.total() == pytest.approx(0.1, abs=0.02) for count in digits.values())


def test_vocabulary_holds_every_word_and_no_other() -> None:
    used = {word for example in some(500, digits=(1, 9)) for word in example.words}
    assert used == set(VOCABULARY.words)
    assert UNK not in VOCABULARY.encode(sorted(used))


def test_batch_is_what_the_examples_are_one_word_shifted_and_padded() -> None:
    examples = some(17)
    batch = caption_batch(examples)
    assert batch.image.dtype == torch.float32
    for row, example in enumerate(examples):
        length = len(example.words) + 1
        assert_close(batch.image[row], example.image, rtol=0, atol=0)
        assert VOCABULARY.decode(batch.target_output[row]) == example.words
        assert batch.target_output[row, length - 1] == EOS
        assert batch.target_input[row, :length].tolist() == [
            BOS,
            *batch.target_output[row, : length - 1].tolist(),
        ]
        assert (batch.target_output[row, length:] == PAD).all()
        assert (batch.target_input[row, length:] == PAD).all()
        wanted = [NO_CELL if cell is None else cell for cell in example.cells]
        assert batch.cell[row, : length - 1].tolist() == wanted
        assert (batch.cell[row, length - 1 :] == NO_CELL).all()


def test_batches_are_the_stream_cut_up() -> None:
    stream = caption_batches(3, 5, "validation", 4, (1, 4))
    examples = some(10, seed=3, split="validation", grid=4, digits=(1, 4))
    for part in (examples[:5], examples[5:]):
        for found, wanted in zip(next(stream), caption_batch(part), strict=True):
            assert_close(found, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("device", DEVICES)
def test_batch_goes_to_a_device_whole(device: str) -> None:
    assert {part.device.type for part in caption_batch(some(2)).to(device)} == {device}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"split": "train"}, "no split 'train'; choose from training, validation, test"),
        ({"grid": 1}, "grid=1 must be at least 2"),
        ({"digits": (0, 2)}, r"digits=\(0, 2\) must be two numbers in order, from 1 to 9"),
        ({"digits": (3, 2)}, r"digits=\(3, 2\)"),
        ({"digits": (2, 10)}, r"digits=\(2, 10\)"),
        ({"seed": -1}, "seed=-1 is negative"),
    ],
)
def test_streams_that_make_no_sense_are_refused_at_once(how: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        captioned_images(**{"seed": 0} | how)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [({}, "give one or more"), ({9: 0}, "the cells 0 to 8"), ({0: 1797}, "from 0 to 1796")],
)
def test_compositions_that_make_no_sense_are_refused(numbers: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compose(numbers, 3)


def test_batches_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="batch_size=0 must be at least 1"):
        caption_batches(0, 0)
    with pytest.raises(ValueError, match="no sequence"):
        caption_batch([])


# --- photographs --------------------------------------------------------------------------------


@pytest.mark.parametrize(("cell", "shape"), [(32, (416, 640)), (61, (427, 610)), (427, (427, 427))])
def test_photograph_is_cut_to_whole_cells(cell: int, shape: tuple[int, int]) -> None:
    image = load_photograph("china", cell)
    assert image.shape == (3, *shape)
    assert 0 <= image.min() < 0.1
    assert 0.9 < image.max() <= 1
    assert not torch.equal(load_photograph("flower", cell), image)


def test_photograph_loses_as_much_on_either_side() -> None:
    whole, cut = load_photograph("china", 1), load_photograph("china", 32)
    assert whole.shape == (3, 427, 640)
    assert_close(cut, whole[:, 5:421], rtol=0, atol=0)


def test_features_of_a_cell_are_mean_and_spread_of_its_own_pixels() -> None:
    image = load_photograph("flower", 61)
    features = cell_features(image, 61)
    assert features.shape == (7, 10, 6)
    pixels = image[:, 61 * 2 : 61 * 3, 61 * 4 : 61 * 5].flatten(1).double()
    spread = (pixels - pixels.mean(1, keepdim=True)).square().mean(1).sqrt()
    expected = torch.cat([pixels.mean(1), spread]).float()
    assert_close(features[2, 4], expected, rtol=1e-4, atol=1e-5)


def test_photographs_and_cells_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match="no photograph 'cat'; choose from china, flower"):
        load_photograph("cat")
    with pytest.raises(ValueError, match="cell=500 must be from 1 to 427"):
        load_photograph("china", 500)
    with pytest.raises(ValueError, match=r"sides \(427, 640\) are not multiples of cell=32"):
        cell_features(load_photograph("china", 1), 32)
