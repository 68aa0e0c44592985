"""Hints on wrong numbers that are related to the right ones are true of them."""

from __future__ import annotations

import pytest
import torch

from hintgrader.values.relations import relation

RIGHT = torch.tensor([[0.2, 0.5, 0.9, 1.4], [1.1, 0.3, 0.7, 2.0], [0.6, 1.7, 0.1, 0.8]]).double()
FACTORS = torch.tensor([[2.0], [0.5], [3.0]]).double()
COLUMNS = torch.tensor([2.0, 0.5, 3.0, 1.0]).double()
SIGNS = torch.tensor([1.0, -1.0, 1.0, -1.0]).double()
ROWS = torch.tensor([[1.0], [0.0], [1.0]]).double()
RELATED = {
    "all your numbers are 0": torch.zeros_like(RIGHT),
    "all your signs are reversed": -RIGHT,
    "every number is 0.5 times what it should be": RIGHT / 2,
    "every number is 0.25 too large": RIGHT + 0.25,
    "every number is 2 too small": RIGHT - 2,
    "each of your numbers is 1 minus what it should be": 1 - RIGHT,
    "each of your numbers is 1 divided by what it should be": 1 / RIGHT,
    "each of your numbers is the square of what it should be": RIGHT.square(),
    "each of your numbers is the square root of what it should be": RIGHT.sqrt(),
    "each of your numbers is the logarithm of what it should be": RIGHT.log(),
    "each of your numbers is e to the power of what it should be": RIGHT.exp(),
    "your numbers are in reverse order along the last axis": RIGHT.flip(-1),
    "your numbers are in reverse order along the last axis but one": RIGHT.flip(-2),
    "your numbers are one place too late along the last axis": RIGHT.roll(1, -1),
    "your numbers are one place too early along the last axis but one": RIGHT.roll(-1, -2),
    "each row is right but for a factor of its own": RIGHT * FACTORS,
    "each column is right but for a factor of its own": RIGHT * COLUMNS,
    "each row is right but for a number of its own that is added": RIGHT + FACTORS,
}


@pytest.mark.parametrize("said", RELATED)
def test_relation_that_holds_everywhere_is_said(said: str) -> None:
    assert relation(RELATED[said], RIGHT) == said


def test_square_answer_that_is_transposed_is_called_that() -> None:
    assert relation(RIGHT[:, :3].mT, RIGHT[:, :3]) == "your answer is transposed"


@pytest.mark.parametrize("seed", range(50))
def test_numbers_without_a_relation_are_said_to_have_none(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    shape = torch.randint(2, 6, (seed % 3 + 1,), generator=generator).tolist()
    got, right = (torch.rand(shape, generator=generator).double() for _ in range(2))
    assert relation(got, right) == ""


UNRELATED = {
    "too large to tell": (torch.full_like(RIGHT, 1e7), RIGHT),
    "too small to tell by the right ones": (1e-8 * RIGHT.sin(), RIGHT),
    "too small to tell in one row": (RIGHT.sin() * 1e-8 + RIGHT * FACTORS * ROWS, RIGHT),
    "roots of either sign": (RIGHT * SIGNS, (RIGHT * SIGNS).square()),
    "right but for the last digits of one": (RIGHT - 1e-12 * torch.eye(3, 4).double(), RIGHT),
    "no finite reciprocal": (RIGHT.sin(), torch.eye(3, 4).double()),
}


@pytest.mark.parametrize(("got", "right"), UNRELATED.values(), ids=UNRELATED)
def test_relation_that_only_seems_to_hold_is_not_said(
    got: torch.Tensor, right: torch.Tensor
) -> None:
    assert relation(got, right) == ""


@pytest.mark.parametrize("said", RELATED)
def test_relation_that_one_number_breaks_is_not_said(said: str) -> None:
    broken = RELATED[said].clone()
    broken[1, 2] += 0.01
    assert relation(broken, RIGHT) == ""


@pytest.mark.parametrize("odd", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_have_no_relation(odd: float) -> None:
    got = RIGHT + 1
    got[0, 0] = odd
    assert relation(got, RIGHT) == ""
