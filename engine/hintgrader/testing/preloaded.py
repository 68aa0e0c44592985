"""Imports that the commands typed by the tests find ready (`commands.py`)."""

from functools import cache
from pathlib import Path

import nbgrader.api
import nbgrader.apps.api
import nbgrader.apps.nbgraderapp
from alembic.script import ScriptDirectory

# The commands import these only when they are needed.
import hintgrader.__main__
import hintgrader.authoring.faults
import hintgrader.authoring.trying
import hintgrader.autograde.command
import hintgrader.nbgrader.settings  # noqa: F401


@cache
def newest_tables() -> str:
    """The version of nbgrader's tables, for which it starts a program of a second each time."""
    scripts = Path(nbgrader.__file__).parent / "alembic"
    return str(ScriptDirectory(str(scripts)).get_current_head())


newest_tables()
nbgrader.api.get_alembic_version = newest_tables
