"""The pages of the modules, which autosummary makes of the packages that `book/api.md` names.

The page of a module is a file `book/api/MODULE.rst`, which git ignores. The template
`book/_templates/autosummary/module.rst` lays it out. Here it gets what autosummary does not know:
the order of the chapters, which module is gone, and where the aliases of types are described.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils.nodes import Element
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

AFTER_TOC = 950  # sphinx_external_toc reads `_toc.yml` at 900


def name_chapters(_: Sphinx, config: Config) -> None:
    """Tell the template which modules are of chapters, in the order of `_toc.yml`."""
    pages = [page.removeprefix("book/") for page in config.external_site_map]
    slugs = [page[3:] for page in pages if page[:1].isdigit()]
    config.autosummary_context = {"chapters": slugs}


def remove_old_pages(app: Sphinx, _: Config) -> None:
    """Delete what an earlier build has made of modules that are no more, and what lists them."""
    folder = Path(app.srcdir, "book", "api")
    for page in [page for page in folder.glob("*.rst") if not is_module(page.stem)]:
        for old in (page, page.with_name(f"{page.stem.rpartition('.')[0]}.rst")):
            old.unlink(missing_ok=True)


def is_module(name: str) -> bool:
    """Return True if a module of this full name can be found."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # nor can its package
        return False


def keep_to_our_sources(_: Sphinx, module: str | None, name: str) -> str | None:
    """Take an alias for its module's own, and not for that of Python's which it stands for."""
    value = getattr(import_module(module), name, None) if module else None
    home = getattr(value, "__module__", None) or ""
    return module if home and home.partition(".")[0] != module.partition(".")[0] else None


def find_described(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: Element
) -> Element | None:
    """Lead the name of a type to where it is described.

    That is under the package which offers it, if its own module has no page; or, for an alias, as
    data, and then it may be named without its module.
    """
    if (node.get("refdomain"), node.get("reftype")) != ("py", "class"):
        return None
    domain, (*rooms, name) = env.get_domain("py"), node["reftarget"].split(".")
    names = [".".join([*rooms[:depth], name]) for depth in range(len(rooms), 0, -1)] or [name]
    found = [match for full in names for match in domain.find_obj(env, "", "", full, "obj", 1)]
    if len({place for place, _ in found}) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0][0], node, shown)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the build, before autosummary makes the pages."""
    app.connect("config-inited", name_chapters, priority=AFTER_TOC)
    app.connect("config-inited", remove_old_pages)
    app.connect("viewcode-follow-imported", keep_to_our_sources)
    app.connect("missing-reference", find_described)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
