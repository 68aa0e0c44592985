"""The style of code in feedback comes with the grader, in any environment."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions

from hintgrader.nbgrader.settings import _set_pages
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pygments.styles import get_style_by_name
from traitlets.config import Config

from tests.conftest import ROOT


def test_style_of_feedback_is_of_a_package_that_the_grader_declares() -> None:
    _set_pages(c := Config())
    package = get_style_by_name(c.CSSHTMLHeaderPreprocessor.style).__module__.partition(".")[0]
    (distribution,) = set(packages_distributions()[package])
    project = tomllib.loads((ROOT / "engine" / "pyproject.toml").read_text(encoding="utf-8"))
    declared = project["project"]["optional-dependencies"]["grading"]
    names = {canonicalize_name(Requirement(one).name) for one in declared}
    assert canonicalize_name(distribution) in names
