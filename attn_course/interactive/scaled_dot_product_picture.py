"""The figure of the attention layer in the browser, before its script takes over."""

from html import escape

from attn_course.interactive.markup import path, tag
from attn_course.interactive.scaled_dot_product_state import State
from attn_course.plots import ROLE

WIDTH = 560
LEFT, RIGHT, TOP = 78, 556, 84
CELL = 40  # height of a row
CROWN, TALL = 62, 80  # from the grid to the top of the bars, and the height of the tallest


def across(state: State) -> float:
    """Width of a column."""
    return (RIGHT - LEFT) / len(state.words)


def bottom(state: State) -> int:
    """The lower edge of the grid."""
    return TOP + CELL * len(state.words)


def svg(state: State) -> str:
    """The picture in the colours of the roles; parts that the script moves have a `data-part`."""
    parts = [_names(state), _cells(state), _cursor(state), _bars(state)]
    return tag(
        "svg",
        "\n" + "\n".join(parts) + "\n",
        viewBox=f"0 0 {WIDTH} {bottom(state) + CROWN + TALL + 8}",
        role="img",
        aria_label=state.sentence,
    )


def _names(state: State) -> str:
    width = across(state)
    rows, columns = [], []
    for i, word in enumerate(state.words):
        y = TOP + CELL * (i + 0.5) + 5
        rows.append(tag("text", escape(word), x=LEFT - 8, y=y, text_anchor="end", data_row=i))
        place = f"translate({LEFT + width * (i + 0.5) + 5:.1f} {TOP - 8}) rotate(-90)"
        columns.append(tag("text", escape(word), transform=place, data_column=i))
    query = tag("text", "query ↓", x=LEFT - 8, y=TOP - 8, text_anchor="end", class_="attn-name")
    key = tag("text", "key →", x=LEFT - 8, y=TOP - 34, text_anchor="end", class_="attn-name")
    return "".join([query, key, *rows, *columns])


def _cells(state: State) -> str:
    """The grid: a group for each row, and in it a group for each cell."""
    return "\n".join(
        tag("g", "".join(_cell(state, i, j) for j in range(len(state.words))), data_line=i)
        for i in range(len(state.words))
    )


def _cell(state: State, i: int, j: int) -> str:
    """The weight as a colour, with a stroke if a mask forbids it: colour alone cannot say so."""
    width = across(state)
    x, y = LEFT + width * j, float(TOP + CELL * i)
    box = {"x": x, "y": y, "width": width, "height": CELL}
    allowed = state.mask is None or bool(state.mask[i, j])
    stroke = "" if allowed else path([(x + 6, y + CELL - 6), (x + width - 6, y + 6)])
    weight = f"{state.weights[i, j].item():.3f}"
    return tag(
        "g",
        tag("rect", fill=ROLE["weight"], fill_opacity=weight, class_="attn-weight", **box)
        + tag("path", d=stroke, class_="attn-forbidden"),
        data_cell=f"{i},{j}",
    )


def _cursor(state: State) -> str:
    """A frame around the selected row, and a thicker one around the selected cell."""
    width = across(state)
    y = float(TOP + CELL * state.row)
    row = {"x": LEFT, "y": y, "width": RIGHT - LEFT, "height": CELL}
    cell = {"x": LEFT + width * state.column, "y": y, "width": width, "height": CELL}
    return tag("rect", data_part="row", class_="attn-here", **row) + tag(
        "rect", data_part="cell", class_="attn-here attn-focus", **cell
    )


def _bars(state: State) -> str:
    """The selected row as bars under its columns, with their numbers."""
    width, base = across(state), bottom(state) + CROWN + TALL
    says = f"weights of query {escape(state.words[state.row])}"
    parts = [
        tag("text", says, x=LEFT, y=base - TALL - 32, class_="attn-name", data_part="says"),
        tag("path", d=f"M{LEFT},{base}H{RIGHT}", class_="attn-axis"),
    ]
    for j, weight in enumerate(state.weights[state.row].tolist()):
        x, height = LEFT + width * j, TALL * weight
        box = {"x": x + 0.15 * width, "width": 0.7 * width, "y": base - height, "height": height}
        place = {"x": x + width / 2, "y": base - height - 6, "text_anchor": "middle"}
        parts.append(tag("rect", fill=ROLE["weight"], data_bar=j, **box))
        parts.append(tag("text", f"{weight:.2f}", data_number=j, **place))
    return "".join(parts)
