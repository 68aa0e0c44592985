"""A chapter has the number that its file name begins with, also while one before it is missing.

Sphinx counts the chapters that there are. Its numbers stand in titles, in the navigation and in
front of the numbers of figures and equations, and would disagree with the names of the files.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

Assign = Callable[[TocTreeCollectorWithStyles, BuildEnvironment], list[str]]


def number_by_file_name(assign: Assign) -> Assign:
    """Let Sphinx count, and then put the number of the file in the place of the count."""

    def assign_section_numbers(
        self: TocTreeCollectorWithStyles, env: BuildEnvironment
    ) -> list[str]:
        changed = assign(self, env)
        for page in env.toc_secnumbers:
            if number := re.match(r"\d\d(?=_)", PurePosixPath(page).name):
                renumber(env, page, int(number[0]))
        return changed

    return assign_section_numbers


def renumber(env: BuildEnvironment, page: str, chapter: int) -> None:
    """Begin all the section numbers of a page with the number of its chapter."""
    sections = env.toc_secnumbers[page]
    for anchor, numbers in sections.items():
        sections[anchor] = numbers and (chapter, *numbers[1:])
    for node in (*env.tocs[page].findall(nodes.reference), env.titles[page]):
        if node.get("secnumber"):
            node["secnumber"] = [chapter, *node["secnumber"][1:]]


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build: the collector reads the table of contents in `_toc.yml`."""
    collector = TocTreeCollectorWithStyles
    collector.assign_section_numbers = number_by_file_name(collector.assign_section_numbers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
