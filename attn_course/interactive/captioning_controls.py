"""The controls and the readings of the figure of captions."""

from html import escape

from attn_course.data.captions import NAMES, CaptionedImage
from attn_course.interactive.captioning_picture import image_of
from attn_course.interactive.captioning_state import State
from attn_course.interactive.markup import tag

_BUTTONS = tag(
    "div",
    "".join(
        tag("button", text, type="button", data_part=name)
        for name, text in [
            ("previous", "← previous"),
            ("next", "next →"),
            ("play", "play"),
            ("back", "give the weight back"),
        ]
    ),
    class_="attn-options attn-buttons",
)


def controls(state: State) -> str:
    """The controls that the reader changes; the script makes them work."""
    hint = (
        "Choose a word, or step with the arrow keys. Then click a cell of the image, "
        "or press Enter on it: all weight of this word moves there."
    )
    words = "".join(
        _option("word", number, escape(word.word), number == state.word)
        for number, word in enumerate(state.words)
    )
    images = "".join(
        _option("image", number, _thumbnail(one, number), number == state.image)
        for number, one in enumerate(state.images)
    )
    models = "".join(
        _option("model", escape(name), escape(name), name == state.model) for name in state.said[0]
    )
    return (
        tag("p", hint, class_="attn-hint")
        + _choice("Caption", tag("div", words, class_="attn-options", data_part="words") + _BUTTONS)
        + _choice("Image", tag("div", images, class_="attn-options"))
        + _choice("Attention", tag("div", models, class_="attn-options"))
    )


def _choice(name: str, options: str) -> str:
    return tag("fieldset", tag("legend", name) + options)


def _option(group: str, value: object, text: str, chosen: bool) -> str:
    mark = {"checked": ""} if chosen else {}
    button = tag("input", type="radio", name=group, value=value, **mark)
    return tag("label", button + tag("span", text), class_="attn-option")


def _thumbnail(example: CaptionedImage, number: int) -> str:
    """The image as a button to choose it; a screen reader names the digits on it."""
    side = example.image.shape[-1]
    picture = tag("svg", image_of(example, 0, 0, side), viewBox=f"0 0 {side} {side}",
                  aria_hidden="true")  # fmt: skip
    digits = ", ".join(NAMES[digit] for digit in example.digits if digit is not None)
    return picture + tag("span", f"image {number + 1}: {digits}", class_="attn-unseen")


def readings(state: State) -> str:
    """The caption, the right caption, and the caption for the cell that the reader chose."""
    named = [
        ("caption", "it says", state.caption),
        ("right", "the right caption", state.right_caption),
        ("moved-caption", "it would say", state.moved_caption),
    ]
    return "".join(
        tag(
            "div",
            tag("dt", name) + tag("dd", escape(text), data_part=f"{part}-reading"),
            **({} if text else {"hidden": ""}),
        )
        for part, name, text in named
    )
