"""The attention machine: one mechanism in one grammar, opened by each chapter in its own state.

Its scripts alone draw it. The first state of each is drawn once, in a browser, by
`tools/draw_frames.py`, and lies in `frames/`, wide and narrow: a page without scripts shows it, and
paper, and a program that knows no HTML. `states.py` says what each state holds; the tests compare
its numbers with those of the package.
"""

from html import unescape
from importlib import resources
from pathlib import Path
from re import search

from attn_course.interactive.controls import hint, option
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.machine.states import STATES, State
from attn_course.interactive.markup import tag
from attn_course.plots import INK, PAPER, ROLE

FRAMES = Path(str(resources.files(__package__))) / "frames"
# The widths at which the first states are drawn, in pixels, by the names of their files.
WIDTHS = {"wide": 704, "narrow": 358}
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" class="attn-machine"></svg>'


def attention_machine(state: str) -> InteractiveFigure:
    """The attention machine in a state of its own: `retrieval` has three keys and three scores.

    Shown as the last expression of a cell, it works without a kernel, in JupyterLab, in the built
    book and from the disk. The reader drags what stands in the picture, and goes through the steps
    forwards and backwards.

    Args:
        state: One of the names in `STATES`, most of which are slugs of chapters.

    Raises:
        ValueError: There is no state of this name.
    """
    if state not in STATES:
        raise ValueError(
            f"the attention machine has no state {state!r}; it has {', '.join(STATES)}"
        )
    return machine_of(state, *((FRAMES / f"{state}-{width}.svg").read_text() for width in WIDTHS))


def machine_of(name: str, *frames: str) -> InteractiveFigure:
    """The machine in a state, with these pictures of it, which say in words what they show."""
    state = STATES[name]
    said = search('aria-label="([^"]*)"', frames[0])
    return InteractiveFigure(
        name=name_of(name),
        label=state.label,
        sentence=unescape(said[1]) if said else "",
        picture="".join(frames),
        controls=tag("div", hint(state.hint) + _reset(), class_="attn-head")
        + _steps(state)
        + state.html,
        readings="",
        data={"stops": state.stops, "width": WIDTHS["wide"], **state.data()},
        drawing=_alone(frames[0]),
    )


def name_of(state: str) -> str:
    """The name of the figure of a state, as in the addresses of its files."""
    return f"machine-{state.replace('_', '-')}"


def _alone(frame: str) -> str:
    """A picture with its colours, for programs that show it without a page."""
    colours = "".join(f"--attn-{role}:{colour};" for role, colour in ROLE.items())
    ink = f".attn-machine{{{colours}background:{PAPER};color:{INK}}}"
    style = (Path(__file__).parent / "pen.css").read_text(encoding="utf-8")
    return frame.replace(">", f"><style>{ink}{style}</style>", 1)


def _reset() -> str:
    return tag("button", "start again", type="button", data_part="reset")


def _steps(state: State) -> str:
    """The steps, one of which is shown last, and two buttons that go on and back."""
    numbered = [
        option(
            "radio",
            "step",
            number,
            f'{number}<span class="attn-step"> {name}</span>',
            number == len(state.steps),
        )
        for number, name in enumerate(state.steps, start=1)
    ]
    back, on = (
        tag("button", sign, type="button", data_by=by, aria_label=label)
        for sign, by, label in (("‹", -1, "one step back"), ("›", 1, "one step on"))
    )
    options = tag("div", back + "".join(numbered) + on, class_="attn-options")
    return tag("fieldset", tag("legend", "step") + options, class_="attn-steps")
