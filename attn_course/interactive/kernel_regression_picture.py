"""The figure of kernel regression in the browser, before its script takes over."""

from html import escape

import torch

from attn_course.interactive.kernel_regression_state import KERNELS, State
from attn_course.interactive.markup import Scale, path, tag
from attn_course.plots import ROLE

WIDTH, HEIGHT = 560, 434
LEFT, RIGHT = 50, 548
TOP, BOTTOM = 26, 262  # the panel of the values
CROWN, BASE = 300, 374  # the panel of the weights
RADII = [2.6, 6.0]  # of a value without and with the largest weight


def scales(state: State) -> tuple[Scale, Scale, Scale]:
    """The scales of the picture for positions, values and shares of the largest weight."""
    heights = [*state.value.squeeze(-1).tolist(), *(y for _, y in state.true_curve)]
    margin = 0.06 * (max(heights) - min(heights)) or 1
    across = Scale(state.low, state.high, LEFT, RIGHT)
    up = Scale(min(heights) - margin, max(heights) + margin, BOTTOM, TOP)
    return across, up, Scale(0, 1, BASE, CROWN)


def svg(state: State, key_name: str, value_name: str) -> str:
    """The picture in the colours of the roles; parts that the script moves have a `data-part`."""
    parts = [_axes(state, key_name, value_name), _values(state), _curves(state), _weights(state)]
    return tag(
        "svg",
        "\n" + "\n".join([*parts, _query(state)]) + "\n",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=state.sentence,
    )


def icon(kernel: str) -> str:
    """The shape of a kernel, small enough for a button."""
    places = torch.linspace(-1.4, 1.4, 29, dtype=torch.float64)
    squared = (places * (2 if kernel == "Gaussian" else 1)).square()
    heights = KERNELS[kernel](squared).exp().tolist()
    points = [(15 + 10 * u, 15 - 13 * h) for u, h in zip(places.tolist(), heights, strict=True)]
    line = tag("path", d=path(points), fill="none", stroke="currentColor", stroke_width="2")
    return tag("svg", line, viewBox="0 0 30 16", aria_hidden="true")


def _axes(state: State, key_name: str, value_name: str) -> str:
    across, up, _ = scales(state)
    grid = "".join(f"M{LEFT},{up(y):.1f}H{RIGHT}" for y in up.ticks())
    levels = [
        tag("text", f"{y:g}", x=LEFT - 8, y=up(y) + 4.5, text_anchor="end") for y in up.ticks()
    ]
    places = [
        tag("text", f"{x:g}", x=across(x), y=BASE + 30, text_anchor="middle")
        for x in across.ticks(6)
    ]
    names = [
        tag("text", escape(value_name), x=LEFT, y=TOP - 11, class_="attn-name"),
        tag("text", "weight", x=LEFT, y=CROWN - 11, class_="attn-name"),
        tag("text", escape(key_name), x=RIGHT, y=BASE + 53, text_anchor="end", class_="attn-name"),
    ]
    legend = _legend(state)
    frame = f"M{LEFT},{TOP}V{BOTTOM}H{RIGHT}M{LEFT},{CROWN}V{BASE}H{RIGHT}"
    lines = tag("path", d=grid, class_="attn-grid") + tag("path", d=frame, class_="attn-axis")
    return lines + "".join([*levels, *places, *names, legend])


def _legend(state: State) -> str:
    marks = [("●", ROLE["value"], "values"), ("━", ROLE["output"], "output")]
    if state.truth is not None:
        marks.append(("╌", "currentColor", "truth"))
    words = [
        tag("tspan", sign, style=f"fill:{colour}", dx=14 if i else 0) + f" {word}"
        for i, (sign, colour, word) in enumerate(marks)
    ]
    return tag("text", "".join(words), x=RIGHT, y=TOP - 11, text_anchor="end")


def _values(state: State) -> str:
    """A dot for each value: the more weight, the larger; hollow if it has none."""
    across, up, _ = scales(state)
    most = state.weights.max().item() or 1
    dots = [
        tag(
            "circle",
            cx=across(x),
            cy=up(y),
            r=RADII[0] + (RADII[1] - RADII[0]) * (weight / most) ** 0.5,
            fill_opacity="0.85" if weight else "0",
            data_key="",
        )
        for (x,), (y,), weight in zip(
            state.key.tolist(), state.value.tolist(), state.weights.tolist(), strict=True
        )
    ]
    return tag("g", "".join(dots), fill=ROLE["value"], stroke=ROLE["value"])


def _curves(state: State) -> str:
    across, up, _ = scales(state)
    line = {"fill": "none", "stroke": "currentColor", "stroke_width": "1.5"}
    truth = path((across(x), up(y)) for x, y in state.true_curve)
    stretches = {True: "", False: ""}
    for known, points in _runs(state):
        stretches[known] += path((across(x), up(y)) for x, y in points)
    output = line | {"stroke": ROLE["output"], "stroke_width": "2.5", "stroke_linejoin": "round"}
    return (
        tag("path", d=truth, stroke_dasharray="7 5", stroke_opacity="0.7", **line)
        + tag("path", d=stretches[True], data_part="curve", **output)
        + tag("path", d=stretches[False], data_part="gap", stroke_dasharray="1.5 4", **output)
    )


def _weights(state: State) -> str:
    """The window around the query, the keys as ticks, and a stem for each weight."""
    across, _, tall = scales(state)
    most = state.weights.max().item()
    window = [(across(x), tall(height)) for x, height in _window(state)]
    places = [across(x) for (x,) in state.key.tolist()]
    shares = [weight / (most or 1) for weight in state.weights.tolist()]
    stems = "".join(
        path([(x, float(BASE)), (x, tall(share))])
        for x, share in zip(places, shares, strict=True)
        if share
    )
    ticks = "".join(f"M{x:.1f},{BASE}v7" for x in places)
    middle = {"x": (LEFT + RIGHT) / 2, "y": (CROWN + BASE) / 2, "text_anchor": "middle"}
    top = {"x": LEFT - 8, "y": CROWN + 4.5, "text_anchor": "end", "data_part": "most"}
    unseen = "visible" if state.empty else "hidden"
    return (
        tag("path", d=path(window), fill=ROLE["weight"], fill_opacity="0.22", data_part="window")
        + tag("path", d=ticks, stroke=ROLE["key"], stroke_width="1.5")
        + tag("path", d=stems, stroke=ROLE["weight"], stroke_width="2.5", data_part="weights")
        + tag("text", "" if state.empty else f"{most:.3f}", **top)
        + tag("text", "no key in the window", visibility=unseen, data_part="none", **middle)
    )


def _query(state: State) -> str:
    """The query on its axis, and its output."""
    across, up, _ = scales(state)
    x, y = across(state.query), up(state.output)
    handle = "M0,-1L9,13H-9Z"
    line = {"fill": "none", "stroke": ROLE["query"], "stroke_width": "1.5"}
    answer = line | {"stroke": ROLE["output"], "stroke_dasharray": "4 4"}
    dot = {"fill": ROLE["output"], "stroke": ROLE["output"], "stroke_width": "2.5"}
    return (
        tag("path", d=f"M{x:.1f},{BASE}V{TOP}", data_part="query-line", **line)
        + tag("path", d=f"M{x:.1f},{y:.1f}H{LEFT}", data_part="output-line", **answer)
        + tag(
            "path",
            d=handle,
            transform=f"translate({x:.1f} {BASE})",
            fill=ROLE["query"],
            data_part="query-handle",
        )
        + tag(
            "circle", cx=x, cy=y, r=7, fill_opacity=int(not state.empty), data_part="output", **dot
        )
    )


def _runs(state: State) -> list[tuple[bool, list[tuple[float, float]]]]:
    """The curve in pieces: where windows hold a key, and where they hold none and 0 is drawn."""
    runs: list[tuple[bool, list[tuple[float, float]]]] = []
    for x, y in zip(state.positions.flatten().tolist(), state.curve, strict=True):
        if not runs or runs[-1][0] != (y is not None):
            runs.append((y is not None, []))
        runs[-1][1].append((x, y or 0.0))
    return runs


def _window(state: State) -> list[tuple[float, float]]:
    """The kernel around the query, as an area over its axis."""
    reach = 4 if state.kernel == "Gaussian" else 1
    places = torch.linspace(-reach, reach, 81, dtype=torch.float64)
    heights = KERNELS[state.kernel](places.square()).exp().tolist()
    ends = [(-reach, 0.0), *zip(places.tolist(), heights, strict=True), (reach, 0.0)]
    return [(state.query + u * state.width, height) for u, height in ends]
