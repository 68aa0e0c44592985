"""Formulas as MathML, which a browser sets by itself: without a script, and without the network."""

import re
from html import escape, unescape

from latex2mathml.converter import convert

SCRIPTS = "msup msub msubsup munder mover munderover"
LAYOUT = "math mrow mfrac msqrt mroot mstyle mspace mtable mtr mtd"
TAGS = {*SCRIPTS.split(), *LAYOUT.split(), "mi", "mn", "mo", "mtext"}
SIZES = "width minsize maxsize lspace rspace linethickness scriptlevel"
KINDS = "display displaystyle mathvariant stretchy fence form accent columnalign"
ATTRIBUTES = {*SIZES.split(), *KINDS.split(), "tabindex"}
# A word, or a size: a large one or one below zero could cover what stands around the formula.
VALUE = re.compile(r"[a-z -]+|\d?(\.\d+)?em|[0-2]")

TAG = re.compile(r"<[^>]*>")
MAX_WIDTH = 20  # characters, however wide, on the screen of a phone
MAX_FORMULA = 2000
MAX_SIGNS = 400  # that a formula shows; a wider one is written out as it was typed
# A macro that calls itself would keep the reader of the page waiting for ever.
DEFINITION = re.compile(r"\\(newcommand|renewcommand|def|let)\b")
# TeX leaves a little room between the name of a function and what stands next, MathML none.
CLOSE = re.compile(r"(<mi>[a-z]{2,}</mi>)(?=<m(?:i|n|sub|sup|frac|sqrt)\b)")


def formula_to_mathml(source: str, display: str) -> str:
    """MathML of a formula in LaTeX, or the formula as it was written, if it cannot be read.

    Students write formulas too: what comes back is not yet safe to show.

    Args:
        source: The formula, without dollars.
        display: "inline", or "block" on a line of its own.
    """
    if len(source) > MAX_FORMULA or DEFINITION.search(source):
        return f"<code>{escape(source)}</code>"
    try:
        mathml = convert(source, display=display)
    except Exception:  # of a dozen kinds, and IndexError, for what is not LaTeX
        return f"<code>{escape(source)}</code>"
    signs = len(unescape(TAG.sub("", mathml)))
    if signs > MAX_SIGNS:
        return f"<code>{escape(source)}</code> (a formula of {signs} signs, too wide to be set)"
    if signs > MAX_WIDTH:  # the keyboard can push aside what has the focus
        mathml = mathml.replace("<math", '<math tabindex="0"', 1)
    return CLOSE.sub(r'\1<mspace width="0.167em"></mspace>', mathml)


def is_formula_attribute(tag: str, name: str, value: str) -> bool:
    """True for an allowed attribute of a formula: small sizes and kinds."""
    return tag in TAGS and name in ATTRIBUTES and bool(VALUE.fullmatch(value))
