"""The style of code in feedback comes with the grader, in any environment."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pygments.styles import get_style_by_name
from traitlets.config import Config

from hintgrader.nbgrader.settings import _set_pages


def test_style_of_feedback_is_of_a_package_that_the_grader_declares() -> None:
    _set_pages(c := Config())
    package = get_style_by_name(c.CSSHTMLHeaderPreprocessor.style).__module__.partition(".")[0]
    (distribution,) = set(packages_distributions()[package])
    settings = Path(__file__).resolve().parents[1] / "pyproject.toml"
    project = tomllib.loads(settings.read_text(encoding="utf-8"))
    declared = project["project"]["optional-dependencies"]["grading"]
    names = {canonicalize_name(Requirement(one).name) for one in declared}
    assert canonicalize_name(distribution) in names
