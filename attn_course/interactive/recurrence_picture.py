"""The figure of gradients in the browser, before its script takes over."""

import math
from collections.abc import Iterator

from attn_course.interactive.markup import Scale, path, tag
from attn_course.interactive.recurrence_state import FAR, LATE, LAYERS, State, power_of_ten
from attn_course.trained.recall import STEPS

WIDTH, HEIGHT = 560, 548
LEFT, RIGHT = 66, 540
TOP, BOTTOM = 34, 272  # of the gradients
LOW, HIGH = -85, 20  # powers of ten
TITLE, FIRST, LANE = 348, 374, 30  # of the race: its title, its first lane, from lane to lane
START, NEVER = 150, 498  # of a lane: 10 steps, and the runs that did not learn
ACROSS, UP = Scale(0, FAR, LEFT, RIGHT), Scale(LOW, HIGH, BOTTOM, TOP)
ALONG = Scale(1, math.log10(STEPS), START, NEVER - 56)
# As in the other figures of the chapter: circle, square, triangle, diamond, triangle on its tip.
MARKS = {
    "rnn": "M-5.5,0a5.5,5.5 0 1 0 11,0a5.5,5.5 0 1 0 -11,0Z",
    "gru": "M-5,-5H5V5H-5Z",
    "lstm": "M0,-6L6,5H-6Z",
    "lstm, forget bias 3": "M0,6L6,-5H-6Z",
    "attention": "M0,-7L7,0L0,7L-7,0Z",
}


def svg(state: State) -> str:
    """The picture; parts that the script moves have a `data-part`."""
    return tag(
        "svg",
        "\n" + "\n".join([_axes(), _curves(state), _query(state), _race(state)]) + "\n",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=state.sentence,
    )


def layout() -> dict[str, object]:
    """The measures that the script needs."""
    return {
        "across": ACROSS.numbers, "up": UP.numbers, "along": ALONG.numbers, "never": NEVER,
        "late": LATE, "first": FIRST, "lane": LANE, "bottom": BOTTOM,
    }  # fmt: skip


def height_of(norm: float) -> float:
    """Return the height at which the picture shows a gradient of this norm."""
    return UP(math.log10(norm))


def look(name: str) -> str:
    """The class of a layer, which gives it its colour."""
    return f"attn-{name.partition(',')[0]}"


def _axes() -> str:
    powers = range(-80, HIGH + 1, 20)
    grid = "".join(f"M{LEFT},{UP(power):.1f}H{RIGHT}" for power in powers)
    level = f"M{LEFT},{UP(0):.1f}H{RIGHT}"
    ups = [
        tag("text", power_of_ten(power), x=LEFT - 8, y=UP(power) + 5, text_anchor="end")
        for power in powers
    ]
    places = [
        tag("text", at, x=ACROSS(at), y=BOTTOM + 22, text_anchor="middle")
        for at in range(0, FAR + 1, 50)
    ]
    title = tag("text", "gradient", x=0, y=TOP - 16, class_="attn-name")
    name = tag("text", "distance from the token to the end", x=RIGHT, y=BOTTOM + 46,
               text_anchor="end", class_="attn-name")  # fmt: skip
    lines = tag("path", d=grid, class_="attn-grid") + tag("path", d=level, class_="attn-axis")
    return lines + title + name + "".join([*ups, *places, *_legend()])


def _legend() -> Iterator[str]:
    x = 150
    for name in LAYERS:
        yield _mark(name, x, TOP - 21) + tag("text", name, x=x + 13, y=TOP - 16)
        x += 52 + 12 * len(name)


def _curves(state: State) -> str:
    curves = []
    for name in LAYERS:
        points = [(ACROSS(at), height_of(norm)) for at, norm in enumerate(state.reach[name])]
        curves.append(tag("path", d=path(points), class_=f"attn-curve {look(name)}",
                          data_curve=name))  # fmt: skip
    return "".join(curves)


def _query(state: State) -> str:
    """A line at the distance, and each layer's mark where its gradient is."""
    marks = "".join(
        _mark(name, 0, height_of(state.reach[name][state.distance]), data_here=name)
        for name in LAYERS
    )
    line = tag("path", d=f"M0,{TOP}V{BOTTOM}", class_="attn-here")
    place = f"translate({ACROSS(state.distance):.1f} 0)"
    return tag("g", line + marks, transform=place, data_part="here")


def _mark(name: str, x: float, y: float, **more: str) -> str:
    place = f"translate({x:.1f} {y:.1f})"
    return tag("path", d=MARKS[name], transform=place, class_=f"attn-mark {look(name)}", **more)


def _race(state: State) -> str:
    """A lane for each recorded learner, with a mark for each seed."""
    says = f"steps to learn, recorded: distance {state.raced}"
    title = tag("text", says, x=0, y=TITLE, class_="attn-name", data_part="raced")
    lanes = "".join(_lane(state, name, i) for i, name in enumerate(state.race[state.raced]))
    below = FIRST + LANE * len(state.race[state.raced]) + 4
    ticks = [(ALONG(math.log10(steps)), str(steps)) for steps in (10, 100, 1000)]
    ticks.append((NEVER, LATE))
    written = "".join(tag("text", text, x=x, y=below, text_anchor="middle") for x, text in ticks)
    return title + tag("g", lanes, data_part="lanes") + written


def _lane(state: State, name: str, number: int) -> str:
    y = FIRST + LANE * number
    short = name.replace("forget ", "")
    label = tag("text", short, x=20, y=y + 5)
    line = tag("path", d=f"M{START - 10},{y}H{NEVER + 26}", class_="attn-grid")
    marks = "".join(
        _mark(name, x, y, data_run=f"{name} {seed}")
        for seed, x in enumerate(_places(state, name))
    )  # fmt: skip
    return _mark(name, 8, y) + label + line + marks


def _places(state: State, name: str) -> Iterator[float]:
    """Yield the place on its lane where each seed's run ends; those without end stand abreast."""
    failed = 0
    for steps in state.race[state.raced][name]:
        yield ALONG(math.log10(steps)) if steps else NEVER + 13 * (failed - 1)
        failed += steps is None
