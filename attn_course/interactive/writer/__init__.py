"""The live writer of chapter 11: it goes on from what a reader types, and shows where it looks.

The numbers of the first state are computed here, by PyTorch.
"""

from typing import Any

import torch

from attn_course.data.novels import pieces
from attn_course.interactive.controls import button, hint, kept, more, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.frames import WIDTHS
from attn_course.interactive.live import provenance
from attn_course.interactive.markup import tag
from attn_course.interactive.writer.reading import blocks_of, looks, told
from attn_course.trained.writers import NAME, load_writer
from attn_course.transformer import LanguageModel, next_token_law

BEGINNING = "She was very much surprised, and could not"
TEMPERATURES = (0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
TOP_P = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
TEMPERATURE, TOGETHER = 0.8, 0.95  # the law of the first state
WRITTEN, SEED, SHOWN = 24, 10, 7
MOST = {"letters": 300, "pieces": 300}


def writer_explorer() -> InteractiveFigure:
    """The writer of chapter 11, which goes on from any beginning, in the page.

    Shown as the last expression of a cell, its first state stands wherever the notebook is shown.
    The model runs in the built book, and in JupyterLab: the reader types a beginning, lets it
    write, forces another piece, silences heads and maps, and turns temperature and top-p.
    """
    model = load_writer()
    first = _first(model)
    return InteractiveFigure(
        name=NAME,
        label="A model that writes, what it might say next, and where it looks",
        controls=_controls(first["told"]),
        data={
            "width": WIDTHS["wide"],
            "pieces": pieces().pieces,
            "sizes": {
                "num_heads": blocks_of(model)[0].attention.num_heads,
                "context": model.context,
                "input_scale": model.input_scale,
            },
            "stops": {"temperature": TEMPERATURES, "top_p": TOP_P},
            "shown": SHOWN,
            "most": MOST,
            "written": WRITTEN,
            "first": first,
        },
        live=provenance("100 beginnings", NAME, stored="in 8 bits"),
        weights=(NAME,),
    )


@torch.no_grad()
def _first(model: LanguageModel) -> dict[str, Any]:
    """The numbers of the first state: what the model wrote, its next pieces, where it looks."""
    begun = pieces().encode(BEGINNING)
    written = told(model, begun, WRITTEN, seed=SEED, temperature=TEMPERATURE, top_p=TOGETHER)
    starts = [at for at, token in enumerate(written) if pieces().pieces[token].startswith(" ")]
    written = written[: starts[-1]]  # no word is left half written
    tokens = [*begun, *written]
    logits = model(torch.tensor([tokens]))[0, -1]
    law = next_token_law(logits, TEMPERATURE, top_p=TOGETHER)
    best = logits.topk(SHOWN).indices.tolist()
    return {
        "begun": begun,
        "told": written,
        "best": [[token, _short(law[token].item())] for token in best],
        "weights": [
            [[_short(weight) for weight in head] for head in block.tolist()]
            for block in looks(model, tokens)
        ],
    }


def _short(share: float) -> float:
    """The share to three digits, which another processor has, too."""
    return round(share, 3)


def _controls(written: list[int]) -> str:
    typed = tag("input", type="text", name="begun", value=BEGINNING, data_part="begun",
                spellcheck="false", lang="en")  # fmt: skip
    sliders = [
        slider(name, "", 0, len(stops) - 1, stops.index(start), label=name.replace("_", "-"))
        for name, stops, start in (
            ("temperature", TEMPERATURES, TEMPERATURE),
            ("top_p", TOP_P, TOGETHER),
        )
    ]
    names = {"back": "back", "step": "step", "play": "write", "again": "draw again"}
    return (
        tag("label", tag("span", "Beginning") + typed, class_="attn-typed")
        + tag("div", "".join(button(*one) for one in names.items()), class_="attn-options")
        + "".join(sliders)
        + hint(
            "Click a next piece to force it. Click what it wrote to go back there. Click a head, 0 "
            "to 3, to see where it looks. Click a dot to silence what is beside it. Pink: the "
            "mean weight, or that of the head you chose."
        )
        + more("The whole text", tag("p", data_part="whole", lang="en"))
        + kept(told="_".join(map(str, written)), seed=SEED, off="", look="")
    )
