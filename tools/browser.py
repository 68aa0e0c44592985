"""The Chromium that the tests open the book in, and that prints it."""

from __future__ import annotations

import os
import shutil

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
