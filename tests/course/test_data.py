"""The data of the course: what they are said to be, for everyone the same, never downloaded."""

from __future__ import annotations

import math
import re
import sqlite3

import pytest
import torch
from matplotlib.colors import XKCD_COLORS
from statsmodels.datasets import nile
from torch.testing import assert_close

from attn_course.data.colours import colour_database, load_colours
from attn_course.data.regression import load_digits, load_nile, noisy_curve, true_curve


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let any attempt to open a connection fail."""

    def refuse(*_: object) -> None:
        raise AssertionError("the data of the course are never downloaded")

    monkeypatch.setattr("socket.socket.connect", refuse)


def test_there_are_949_colours_with_different_names_and_different_rows() -> None:
    names, rgb = load_colours()
    assert rgb.shape == (949, 3)
    assert rgb.dtype == torch.int64
    assert len(set(names)) == len(names) == 949
    assert len(rgb.unique(dim=0)) == 949
    assert names == sorted(names)
    assert rgb.min() == 0
    assert rgb.max() == 255


def test_colours_are_those_of_matplotlib_to_the_last_digit() -> None:
    names, rgb = load_colours()
    written = {
        f"xkcd:{name}": "#" + "".join(f"{part:02x}" for part in row)
        for name, row in zip(names, rgb.tolist(), strict=True)
    }
    assert written == {name: colour.lower() for name, colour in XKCD_COLORS.items()}


def test_some_colours_are_as_the_survey_lists_them() -> None:
    names, rgb = load_colours()
    row = dict(zip(names, rgb.tolist(), strict=True))
    assert row["forest green"] == [0x06, 0x47, 0x0C]
    assert row["black"] == [0, 0, 0]
    assert row["white"] == [255, 255, 255]
    assert row["cloudy blue"] == [0xAC, 0xC2, 0xD9]


def test_database_holds_the_same_table() -> None:
    names, rgb = load_colours()
    found = colour_database().execute("SELECT name, r, g, b FROM colour ORDER BY name").fetchall()
    assert found == [(name, *row) for name, row in zip(names, rgb.tolist(), strict=True)]


def test_database_finds_a_colour_and_only_that() -> None:
    select = "SELECT name FROM colour WHERE r = ? AND g = ? AND b = ?"
    database = colour_database()
    assert database.execute(select, (6, 71, 12)).fetchall() == [("forest green",)]
    assert database.execute(select, (6, 72, 12)).fetchall() == []


def test_database_takes_no_name_twice_and_is_new_each_time() -> None:
    database = colour_database()
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: colour\.name"):
        database.execute("INSERT INTO colour VALUES ('forest green', 1, 2, 3)")
    database.execute("DELETE FROM colour")
    assert colour_database().execute("SELECT COUNT(*) FROM colour").fetchone() == (949,)


def test_curve_is_two_sines_on_a_rising_line() -> None:
    position = torch.tensor([0.0, torch.pi / 2, torch.pi, 4.0], dtype=torch.float64)
    wanted = [0.0, 2 + torch.pi / 2, torch.pi, 4 + 2 * -0.7568024953079282]
    assert_close(true_curve(position), torch.tensor(wanted, dtype=torch.float64))


def test_noisy_curve_without_noise_lies_on_the_curve() -> None:
    key, value = noisy_curve(seed=3, num_points=47, noise=0.0)
    assert key.shape == value.shape == (47, 1)
    assert key.dtype == value.dtype == torch.float32
    assert_close(value, true_curve(key), rtol=0, atol=0)


def test_keys_of_the_noisy_curve_rise_from_0_to_4_evenly() -> None:
    key, _ = noisy_curve(seed=0, num_points=20_000)
    assert (key.diff(dim=0) >= 0).all()
    assert 0 <= key.min() < 0.01
    assert 3.99 < key.max() <= 4
    # mean and variance of a uniform on [0, 4]: 2 and 4/3; five standard errors
    assert abs(key.mean() - 2) < 5 * (4 / 3 / 20_000) ** 0.5
    assert abs(key.var() - 4 / 3) < 0.05
    # nowhere further from even than Kolmogorov's bound allows once in a million times
    even = torch.linspace(0, 4, 20_000).unsqueeze(-1)
    assert (key - even).abs().max() < 4 * 2.7 / 20_000**0.5


@pytest.mark.parametrize("noise", [1.0, 0.25])
def test_noise_is_normal_with_the_deviation_asked_for(noise: float) -> None:
    key, value = noisy_curve(seed=0, num_points=20_000, noise=noise)
    rest = (value - true_curve(key)) / noise
    assert abs(rest.mean()) < 5 / 20_000**0.5
    assert abs(rest.var() - 1) < 5 * (2 / 20_000) ** 0.5
    assert abs(rest.pow(3).mean()) < 5 * (15 / 20_000) ** 0.5
    assert abs(rest.pow(4).mean() - 3) < 5 * (96 / 20_000) ** 0.5
    # noise says nothing about its neighbour's, nor about the place
    assert abs((rest[1:] * rest[:-1]).mean()) < 5 / 20_000**0.5
    assert abs((rest * (key - 2)).mean()) < 5 * (4 / 3 / 20_000) ** 0.5


def test_seed_alone_decides_the_points() -> None:
    torch.manual_seed(1)
    first = noisy_curve(seed=7)
    state = torch.get_rng_state()
    torch.rand(3)
    for one, other in zip(first, noisy_curve(seed=7), strict=True):
        assert_close(one, other, rtol=0, atol=0)
    torch.set_rng_state(state)
    noisy_curve(seed=8)
    assert torch.equal(torch.get_rng_state(), state), "the global generator was touched"
    assert not torch.equal(first[0], noisy_curve(seed=8)[0])
    assert first[0].shape == (100, 1)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({"num_points": 0}, "num_points=0"),
        ({"num_points": -3}, "num_points=-3"),
        ({"noise": -0.5}, "noise=-0.5"),
        ({"noise": math.nan}, "noise=nan"),
        ({"noise": math.inf}, "noise=inf"),
    ],
)
def test_impossible_curve_is_refused_with_its_numbers(
    options: dict[str, float], numbers: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(numbers)):
        noisy_curve(seed=0, **options)


def test_nile_is_the_series_of_statsmodels() -> None:
    year, flow = load_nile()
    assert year.shape == flow.shape == (100, 1)
    assert year.dtype == flow.dtype == torch.float32
    assert year.flatten().tolist() == list(range(1871, 1971))
    assert flow.flatten().tolist() == nile.load_pandas().data["volume"].tolist()
    # as Cobb 1978 prints it: 1120 in 1871, and the least, 456, in 1913
    assert flow[0].item() == 1120
    assert (flow.min().item(), year[flow.argmin()].item()) == (456, 1913)
    # the level falls after 1898, which is what the series is known for
    assert flow[:28].mean() > 1.25 * flow[28:].mean()


def test_digits_are_1797_images_from_paper_to_ink() -> None:
    image, label = load_digits()
    assert image.shape == (1797, 64)
    assert image.dtype == torch.float32
    assert (image.min().item(), image.max().item()) == (0.0, 1.0)
    assert torch.equal(image * 16, (image * 16).round())
    assert label.shape == (1797,)
    assert label.dtype == torch.int64
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # of the test set, at UCI
    assert torch.bincount(label).tolist() == counts


def test_digits_are_in_the_order_of_the_library() -> None:
    from sklearn.datasets import load_digits as of_the_library

    image, label = load_digits()
    bunch = of_the_library()
    assert_close(image.reshape(-1, 8, 8).double() * 16, torch.from_numpy(bunch.images))
    assert label.tolist() == bunch.target.tolist()
    assert label[:10].tolist() == list(range(10))
