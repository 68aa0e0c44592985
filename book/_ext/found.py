"""The ways to find a book that has an address: a sitemap, descriptions and a preview.

The address is `html.baseurl` in `_config.yml`, or else where GitHub puts the pages of the
repository that is named there. Without one, the book is for a disk, and has none of this.
"""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

PICTURE = "docs/page.png"  # the README shows it too
SEEN = "A page of the book: code, and below it a figure with sliders."
LENGTH = 200  # characters of a description, of which most searches show as many
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def set_address(app: Sphinx, config: Config) -> None:
    """Say where the pages will be; Sphinx then names each page's own address in it."""
    owner_and_name = config.html_theme_options.get("repository_url", "").rstrip("/")
    owner, _, name = owner_and_name.partition("https://github.com/")[2].partition("/")
    found = f"https://{owner}.github.io/{name}" if name else ""
    if address := config.html_baseurl or found:
        config.html_baseurl = f"{address.rstrip('/')}/"


def description(doctree: nodes.document, title: str) -> str:
    """Return the first words of a page: of a chapter, what its reader will be able to do."""
    texts = doctree.findall(nodes.paragraph)
    own = (text.astext() for text in texts if "course-links" not in text["classes"])
    return shorten(next(filter(str.strip, own), title), LENGTH, placeholder=" ...")


def add_tags(
    app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Describe a page to search engines, and to sites that preview a link to it."""
    base = app.config.html_baseurl
    if not base or doctree is None:
        return
    title = app.env.titles[page].astext()
    said = description(doctree, title)
    tags = {
        "og:type": "website",
        "og:site_name": app.config.project,
        "og:title": title,
        "og:description": said,
        "og:url": f"{base}{app.builder.get_target_uri(page)}",
        "og:image": f"{base}_static/{Path(PICTURE).name}",
        "og:image:alt": SEEN,
    }
    named = {"description": said, "twitter:card": "summary_large_image"}
    lines = [f'<meta property="{key}" content="{escape(text)}">' for key, text in tags.items()]
    lines += [f'<meta name="{key}" content="{escape(text)}">' for key, text in named.items()]
    context["metatags"] += "\n".join(lines)


def put_sitemap(app: Sphinx, error: Exception | None) -> None:
    """List the addresses of all pages, and put the picture where their tags say."""
    base, folder = app.config.html_baseurl, Path(app.outdir)
    if error is not None or app.builder.format != "html":
        return
    if not base:  # an earlier build may have had one
        (folder / "sitemap.xml").unlink(missing_ok=True)
        return
    ElementTree.register_namespace("", SITEMAP)
    root = ElementTree.Element(f"{{{SITEMAP}}}urlset")
    for page in sorted(app.env.found_docs):
        place = ElementTree.SubElement(root, f"{{{SITEMAP}}}url")
        address = f"{base}{app.builder.get_target_uri(page)}"
        ElementTree.SubElement(place, f"{{{SITEMAP}}}loc").text = address
    ElementTree.ElementTree(root).write(
        folder / "sitemap.xml", encoding="utf-8", xml_declaration=True
    )
    shutil.copy(Path(app.srcdir) / PICTURE, folder / "_static")


def setup(app: Sphinx) -> dict[str, Any]:
    """Join these steps to the build."""
    app.connect("config-inited", set_address)
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", put_sitemap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
