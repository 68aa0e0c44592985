"""The weights that live figures fetch, beside the pages that show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from attn_course.interactive.live import write_weights


def put_weights(app: Sphinx, error: Exception | None) -> None:
    """Write the weights into the built book."""
    if error is None and app.builder.format == "html":
        write_weights(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build at its end."""
    app.connect("build-finished", put_weights)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
