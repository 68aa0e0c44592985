"""The template folders of the pages."""

from pathlib import Path

import nbgrader
from nbconvert.exporters import HTMLExporter

TEMPLATES = Path(__file__).parent / "templates"


def template_paths() -> list[str]:
    """The folders to search: ours first, then nbgrader's, then nbconvert's.

    nbgrader names one template for the formgrader and one for feedback. With a list of folders in
    the configuration, both begin with our `index.html.j2`, which goes on to the one that is meant.
    """
    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    bootstrap = formgrader / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    theirs = formgrader / "templates"
    classic = HTMLExporter(template_name="classic").template_paths
    return [*map(str, (TEMPLATES, theirs, theirs / "formgrade", bootstrap)), *classic]
