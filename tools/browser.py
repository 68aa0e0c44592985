"""The Chromium that the tests open the book in, and that prints it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

# A sandbox needs rights that a container lacks; the rest keeps the browser from calling home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # One process draws all the pages: to start another for each of them takes as long as a page.
    "--renderer-process-limit=1",
    "--in-process-gpu",
    # the headless shell would move letters to whole pixels, on paper too
    "--font-render-hinting=none",
]


def chromium() -> str | None:
    """Return the browser's path: $CHROMIUM, or one on PATH; None for Playwright's own."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def launch(playwright: Playwright, attempts: int = 3) -> Browser:
    """Start it; now and then one crashes while it starts, and the next does not.

    Raises:
        Error: None starts.
    """
    from playwright.sync_api import Error

    try:
        return playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
    except Error:
        if attempts == 1:
            raise
        return launch(playwright, attempts - 1)
