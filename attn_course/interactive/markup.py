"""The elements of HTML and SVG from which the interactive figures are made."""

from html import escape


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One element; `class_` and `a_b` are written `class` and `a-b`, numbers to a tenth."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
    )
    closing = "" if name == "input" else f"{content}</{name}>"
    return f"<{name}{written}>{closing}"


def _text(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
