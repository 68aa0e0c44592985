"""The attention machine: one mechanism in one grammar, opened by each chapter in its own state.

`states.py` says what each state holds; the tests compare its numbers with those of the package.
"""

from attn_course.interactive.controls import head, option
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.machine.states import STATES, MachineState
from attn_course.interactive.markup import tag


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
    opened = STATES[state]
    return InteractiveFigure(
        name=name_of(state),
        label=opened.label,
        controls=head(opened.hint) + _steps(opened) + opened.html,
        data={"stops": opened.stops, "width": WIDTHS["wide"], **opened.data()},
    )


def name_of(state: str) -> str:
    """The name of the figure of a state, as in the addresses of its files."""
    return f"machine-{state.replace('_', '-')}"


def _steps(state: MachineState) -> str:
    """The steps, one of which is chosen, and two buttons that go on and back."""
    numbered = [
        option(
            "radio",
            "step",
            number,
            f'{number}<span class="attn-step"> {name}</span>',
            number == (state.opens or len(state.steps)),
        )
        for number, name in enumerate(state.steps, start=1)
    ]
    back, on = (
        tag("button", sign, type="button", data_by=by, aria_label=label)
        for sign, by, label in (("‹", -1, "one step back"), ("›", 1, "one step on"))
    )
    options = tag("div", back + "".join(numbered) + on, class_="attn-options")
    return tag("fieldset", tag("legend", "step") + options, class_="attn-steps")
