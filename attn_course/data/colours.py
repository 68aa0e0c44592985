"""Colours with names, from the xkcd survey of 2010: 949 keys to look up.

Source: Munroe 2010, the list that matplotlib ships (public domain, CC0).
"""

import sqlite3

import torch
from matplotlib.colors import XKCD_COLORS, to_rgb
from torch import Tensor


def load_colours() -> tuple[list[str], Tensor]:
    """Names of the 949 colours, and their red, green and blue.

    Returns:
        The names in alphabetical order, and an int64 tensor of shape (949, 3) with numbers from 0
        to 255, one row per name. No two names have the same row.
    """
    names = sorted(name.removeprefix("xkcd:") for name in XKCD_COLORS)
    rows = [[round(255 * part) for part in to_rgb(f"xkcd:{name}")] for name in names]
    return names, torch.tensor(rows)


def colour_database() -> sqlite3.Connection:
    """The colours as a table `colour (name, r, g, b)` in an in-memory database."""
    names, rgb = load_colours()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE colour (name TEXT PRIMARY KEY, r INT, g INT, b INT)")
    rows = [(name, *row) for name, row in zip(names, rgb.tolist(), strict=True)]
    database.executemany("INSERT INTO colour VALUES (?, ?, ?, ?)", rows)
    return database
