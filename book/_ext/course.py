"""Links that every chapter page gets by itself: to its problem set, to its source, and to launch.

A page `book/NN_slug` with a problem set `exercises/NN_slug/NN_slug.ipynb` gets a line under its
title that downloads it; the notebook is copied into the built book, so the link works offline.
Links to the repository appear only when `repository.url` in `_config.yml` holds its address.
"""

from __future__ import annotations

import gc
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from docutils.nodes import Node
from pybtex.backends.plaintext import Backend
from pybtex.plugin import register_plugin
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

COLAB = "https://colab.research.google.com"
# Before the collectors (priority 500) that copy downloads and resolve references.
EARLY = 400
LATE = 900  # after the theme


def turn_on_repository_links(app: Sphinx, config: Config) -> None:
    """Give the theme its repository and launch buttons, if there is a repository to point at."""
    options = config.html_theme_options
    if options.get("repository_url"):
        options["use_repository_button"] = True
        options["launch_buttons"] = {"colab_url": COLAB}


def download(target: str, text: str) -> addnodes.download_reference:
    """Return a link that downloads a file of the repository, which the build copies."""
    reference = addnodes.download_reference("", "", reftype="download", reftarget=target)
    reference += nodes.Text(text)
    return reference


def page(docname: str, text: str) -> addnodes.pending_xref:
    """Return a link to another page of the book."""
    reference = addnodes.pending_xref(
        "", refdomain="std", reftype="doc", reftarget=f"/{docname}", refexplicit=True, refwarn=True
    )
    reference += nodes.inline("", text)
    return reference


def repository_links(url: str, branch: str, name: str) -> list[Node]:
    """Return the sentences that need the repository: the set in Colab, and the chapter's source."""
    _, _, place = url.rstrip("/").partition("//github.com/")
    source = f"{url.rstrip('/')}/blob/{branch}/book/text/{name}.md"
    hosted = f"{COLAB}/github/{place}/blob/{branch}/exercises/{name}/{name}.ipynb"
    colab = nodes.reference("", "in Colab", refuri=hosted, internal=False)
    in_colab = [nodes.Text(" It opens "), colab, nodes.Text(" as well.")] if place else []
    text = nodes.reference("", "in the repository", refuri=source, internal=False)
    return [*in_colab, nodes.Text(" The chapter's text is "), text, nodes.Text(".")]


def add_problem_set(app: Sphinx, doctree: nodes.document) -> None:
    """Put the links of a chapter under its title."""
    name = PurePosixPath(app.env.docname).name
    notebook = f"exercises/{name}/{name}.ipynb"
    title = next(iter(doctree.findall(nodes.title)), None)
    if title is None or not (Path(app.srcdir) / notebook).is_file():
        return
    app.env.note_dependency(notebook)
    line = nodes.paragraph(classes=["course-links"])
    line += [nodes.Text("To practise: "), download(f"/{notebook}", f"problem set {name[:2]}")]
    line += [nodes.Text(" ("), page("book/problem_sets", "how to work on it"), nodes.Text(").")]
    options = app.config.html_theme_options
    if url := options.get("repository_url"):
        line += repository_links(url, options.get("repository_branch", "main"), name)
    section = title.parent
    section.insert(section.index(title) + 1, line)


def name_torch(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, _: Node) -> None:
    """Let the Tensor of our signatures find PyTorch's page; intersphinx resolves it next."""
    if node.get("refdomain") == "py" and node["reftarget"] == "Tensor":
        node["reftarget"] = "torch.Tensor"


def name_toggles(app: Sphinx, _: str, __: str, context: dict[str, Any], ___: Node | None) -> None:
    """Give what unfolds in the list of pages a name: the theme draws an arrow and no more."""
    draw = context.get("generate_toctree_html")
    if not draw:
        return

    def named(*arguments: object, **options: object) -> str:
        drawn = str(draw(*arguments, **options))
        return drawn.replace("<summary>", '<summary aria-label="its pages">')

    context["generate_toctree_html"] = named


def visit_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """Write an entry of the bibliography as the list item that its list, and ARIA, expect."""
    HTML5Translator.visit_citation(translator, node)
    translator.body[-1] = translator.body[-1].replace("doc-biblioentry", "listitem")


def setup(app: Sphinx) -> dict[str, Any]:
    """Join these steps to the build."""
    # The nodes of all pages live until the end, and looking for garbage among them takes a tenth of
    # the time.
    gc.set_threshold(1_000_000)
    # It is looked for among all installed packages at each citation, a twelfth of the time.
    register_plugin("pybtex.backends", "plaintext", Backend, force=True)
    # Jupyter Book sets it for an extension that we do without.
    app.add_config_value("comments_config", {}, "")
    app.connect("config-inited", turn_on_repository_links, priority=EARLY)
    app.connect("doctree-read", add_problem_set, priority=EARLY)
    app.connect("missing-reference", name_torch, priority=EARLY)
    app.connect("html-page-context", name_toggles, priority=LATE)
    leave = HTML5Translator.depart_citation
    app.add_node(nodes.citation, override=True, html=(visit_citation, leave))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
