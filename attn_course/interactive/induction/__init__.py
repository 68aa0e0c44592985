"""The live model of chapter 12: two heads, the letters that a reader types, and where both look.

The numbers of the first state are computed here, by PyTorch.
"""

from typing import Any

import torch

from attn_course.data.repeats import SYMBOLS
from attn_course.induction import weights_of_heads
from attn_course.interactive.controls import button, hint, kept, option, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.trained.induction import KEPT, NAME, load_induction

TEXT = "quick brown fox quick brown f"
MOST, SHOWN = 54, 5  # letters of a text, and letters that may come next


def induction_explorer() -> InteractiveFigure:
    """The two heads of chapter 12, which predict in the page what a reader types twice.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown.
    The model runs in the built book, and in JupyterLab: the reader types letters, stands on one of
    them, silences either head, and goes back to an earlier step of the training.
    """
    return InteractiveFigure(
        name=NAME,
        label="Two heads that predict what comes twice, and where they look",
        controls=_controls(),
        data={
            "width": WIDTHS["wide"],
            "symbols": SYMBOLS,
            "steps": KEPT,
            "shown": SHOWN,
            "most": MOST,
            "first": _first(),
        },
        live=provenance("100 texts", NAME, stored="in 8 bits"),
        weights=(NAME,),
    )


@torch.no_grad()
def _first() -> dict[str, Any]:
    """The letters predicted, the law after the last one, and where both heads look."""
    model, tokens = load_induction(), torch.tensor([[SYMBOLS.index(one) for one in TEXT]])
    laws = model(tokens)[0].softmax(-1)
    best = laws[-1].topk(SHOWN).indices.tolist()
    weights = weights_of_heads(model, tokens)[:, 0, 0]
    return {
        "text": TEXT,
        "told": "".join(SYMBOLS[number] for number in laws.argmax(-1).tolist()),
        "best": [[number, round(laws[-1, number].item(), 3)] for number in best],
        "weights": [
            [
                [round(weight, 2) for weight in row[: at + 1].tolist()]
                for at, row in enumerate(layer)
            ]
            for layer in weights
        ],
    }


def _controls() -> str:
    typed = tag("input", type="text", name="text", value=TEXT, data_part="text",
                spellcheck="false", autocapitalize="none", lang="en")  # fmt: skip
    silent = [
        option("checkbox", f"off{layer}", "1", f"silence layer {layer}") for layer in range(2)
    ]
    buttons = button("write", "one more letter") + button("random", "random letters, twice")
    return (
        tag("label", tag("span", "Letters") + typed, class_="attn-typed")
        + tag("div", buttons + "".join(silent), class_="attn-options")
        + slider("step", "", 0, len(KEPT) - 1, len(KEPT) - 1, label="training step")
        + hint(
            "Click a letter or a row: bars and thick arcs show where both heads look from there, "
            "the thin arc where the letter found had looked. Shaded: predicted; boxed: missed; "
            "pale: nothing to go by."
        )
        + kept(at="")
    )
