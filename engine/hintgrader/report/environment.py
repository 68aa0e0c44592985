"""The environment that fills the templates of pages: what is put into them stands as text."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def page_environment(templates: Path) -> Environment:
    """The environment for the templates in a folder."""
    return Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
