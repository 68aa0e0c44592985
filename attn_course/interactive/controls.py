"""The controls of an interactive figure, and the readings under its picture, in HTML."""

from collections.abc import Iterable
from html import escape

from attn_course.interactive.markup import tag
from attn_course.plots import ROLE


def hint(text: str) -> str:
    """A sentence above the controls that says what to do first."""
    return tag("p", escape(text), class_="attn-hint")


def choice(legend: str, *content: str) -> str:
    """Controls that belong together, under their legend."""
    return tag(
        "fieldset", tag("legend", legend) + tag("div", "".join(content), class_="attn-options")
    )


def more(summary: str, *content: str) -> str:
    """Controls that few readers need, behind a line that opens them."""
    return tag("details", tag("summary", escape(summary)) + "".join(content), class_="attn-more")


def option(kind: str, group: str, value: object, text: str, chosen: bool = False) -> str:
    """A button of a group, of which one is chosen (`radio`) or any number (`checkbox`)."""
    mark = {"checked": ""} if chosen else {}
    button = tag("input", type=kind, name=group, value=value, **mark)
    return tag("label", button + tag("span", text), class_="attn-option")


def slider(
    name: str,
    role: str,
    least: float,
    most: float,
    start: float,
    step: float = 1,
    label: str = "",
    **more: str,
) -> str:
    """A slider, whose reading the script writes beside it, in the colour of what it moves.

    That is the role of a query or a key; what has no role has the ink of the page.
    """
    numbers = {"min": least, "max": most, "step": step, "value": start}
    written = {key: f"{number:.12g}" for key, number in numbers.items()}
    control = tag("input", type="range", name=name, data_part=name, **written)
    shown = tag("output", data_part=f"{name}-reading")
    coloured = {"style": f"--attn-colour:{ROLE[role]}"} if role else {}
    return tag(
        "label",
        tag("span", label or name) + control + shown,
        class_="attn-row",
        **coloured,
        **more,
    )


def select(
    part: str, label: str, options: Iterable[tuple[object, str]], chosen: object, name: str = ""
) -> str:
    """A list of which one line is chosen; `options` are values and their texts.

    With a name its value is part of the figure's state; without one it only helps to change it.
    """
    lines = "".join(
        tag("option", escape(text), value=value, **({"selected": ""} if value == chosen else {}))
        for value, text in options
    )
    named = {"name": name} if name else {}
    control = tag("select", lines, data_part=part, **named)
    return tag("label", tag("span", escape(label)) + control, class_="attn-select")


def button(name: str, text: str) -> str:
    """A button that the script listens to."""
    return tag("button", escape(text), type="button", data_part=name)


def head(text: str) -> str:
    """The first line of the controls: what to do first, and a button that starts again."""
    return tag("div", hint(text) + button("reset", "start again"), class_="attn-head")


def kept(**values: object) -> str:
    """Return hidden inputs for choices made in the picture, so that a link can carry them."""
    return "".join(
        tag("input", type="hidden", name=name, value=value) for name, value in values.items()
    )


def readings(**names: str) -> str:
    """Lines of a name and what is read there, by their parts; seen when the script writes them."""
    return "".join(
        tag("div", tag("dt", escape(name)) + tag("dd", data_part=f"{part}-reading"), hidden="")
        for part, name in names.items()
    )


def coloured(named: Iterable[tuple[str, str, str]]) -> str:
    """Lines of a name in the colour of a role and what the script writes there.

    Each is a part, the role and the name.
    """
    return "".join(
        tag(
            "div",
            tag("dt", tag("span", class_="attn-swatch", style=f"--attn-colour:{ROLE[role]}") + name)
            + tag("dd", data_part=f"{part}-reading"),
        )
        for part, role, name in named
    )
