"""Serve MathJax from the book itself, so that a page needs no network, from file:// too."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SCRIPT = "tex-chtml.js"
FONTS = "output/chtml/fonts/woff-v2"


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Copy the one script and the fonts that pages load; the package holds ten times as much."""
    if error is not None or app.builder.format != "html":
        return
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("sphinx-mathjax-offline: install requirements.txt")
    source = Path(package.origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)
    shutil.copy2(source / SCRIPT, target / SCRIPT)


def setup(app: Sphinx) -> dict[str, Any]:
    """Point every page with a formula at the copied script."""
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
