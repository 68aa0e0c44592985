"""Filters of nbconvert that let through only HTML that does nothing."""

import re
from html import escape

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from jinja2.runtime import Context
from mistune.plugins import import_plugin
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from hintgrader.nbgrader.pages import formulas
from hintgrader.nbgrader.pages.formulas import formula_to_mathml

TEXT = "p br hr h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre code kbd samp div span details"
WORDS = "em strong b i s del sub sup u small summary abbr"
TABLES = "table thead tbody tfoot tr th td caption"
TAGS = {*TEXT.split(), *WORDS.split(), *TABLES.split(), "img", *formulas.TAGS}
# Nothing that moves, hides or covers what stands around it.
STYLES = CSSSanitizer(allowed_css_properties=["text-align", "white-space"])
# A picture is part of the page: to fetch one would tell a stranger who reads the page, and when,
# and a server that trusts the reader would be asked in the reader's name.
PICTURE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=\s]*")
NUMBER = re.compile(r"\d{1,4}")
PLUGINS = ("strikethrough", "table", "def_list")


def _is_allowed(tag: str, name: str, value: str) -> bool:
    """True for an allowed attribute: no class, no id, and no address except a picture's."""
    if tag == "img":
        if name == "src":
            return bool(PICTURE.fullmatch(value))
        return name in ("alt", "title") or (name in ("width", "height") and _is_number(value))
    if tag in ("th", "td"):
        return name == "style" or (name in ("colspan", "rowspan") and _is_number(value))
    if tag == "ol":
        return name == "start" and _is_number(value)
    return formulas.is_formula_attribute(tag, name, value)


def _is_number(value: str) -> bool:
    return bool(NUMBER.fullmatch(value))


def clean_html(text: str) -> str:
    """HTML of the same meaning with everything else written out as text, tags closed.

    By bleach, of which nothing new is to be expected: its heir nh3 drops what is not allowed, and
    with it words that somebody wrote and a reader has to see.
    """
    return bleach.clean(
        str(text),
        tags=TAGS,
        attributes=_is_allowed,
        css_sanitizer=STYLES,
        protocols=["data"],
    )


class Renderer(IPythonRenderer):
    """Markdown as nbconvert renders it, but with addresses as text, and formulas as MathML."""

    def inline_math(self, body: str) -> str:
        """A formula among words."""
        return formula_to_mathml(body, "inline")

    def block_math(self, body: str) -> str:
        """A formula on a line of its own."""
        return formula_to_mathml(body, "block")

    def latex_environment(self, name: str, body: str) -> str:
        """A formula in an environment, such as align."""
        return formula_to_mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """The words of a link, and where it would lead.

        A link may lead to a page that the student handed in, or change something on the server of
        who clicks it: those have the right to do what the reader has the right to do.
        """
        return f"{text} (<code>{escape(url)}</code>)"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the notebook holds, or else the words for it, and where it would lie."""
        held = url.startswith("attachment:") and url.partition(":")[2] in self.attachments
        if held or PICTURE.fullmatch(url):
            return super().image(text, url, title)
        return f"{text} (<code>{escape(url)}</code>)"


@pass_context
def markdown_to_html(context: Context, source: str) -> str:
    """The HTML of a Markdown text of a cell, cleaned."""
    return rendered(source, context.get("cell", {}).get("attachments", {}))


def rendered(source: str, attachments: dict[str, dict[str, str]] | None = None) -> str:
    """The same of a text that is in no template, with the pictures that its cell holds."""
    renderer = Renderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    plugins = [import_plugin(name) for name in PLUGINS]
    return clean_html(MarkdownWithMath(renderer, plugins=plugins).render(source))
