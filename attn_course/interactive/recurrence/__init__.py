"""The figure of gradients: turn gain, forget bias and distance, and see how far a gradient reaches.

The layers are drawn and differentiated in the page, by `layers.js`; the tests hold it
against autograd.
"""

from attn_course.interactive.controls import button, hint, kept, readings, slider
from attn_course.interactive.figure import InteractiveFigure
from attn_course.interactive.recurrence.draws import (
    DIRECTION,
    LENGTH,
    ORTHOGONAL,
    PARAMETERS,
    SEEDS,
    TOKENS,
    WIDTH,
)
from attn_course.interactive.recurrence.state import BIASES, FAR, GAINS, LAYERS, NEAR

LIVE = (
    "Live: this page draws the layers and differentiates them. With the same random numbers its "
    "gradients are PyTorch's to five digits: a test compares them in a browser. From gain 1.9 on "
    "they agree to two, because an exploding gradient blows up rounding as well."
)


def gradient_explorer(
    distance: int = FAR,
    gain: float = 0.58,
    forget_bias: float = 0.0,
    seed: int = 0,
) -> InteractiveFigure:
    """Show how far a gradient reaches through four layers.

    The reader turns the distance, the gain of the plain network's recurrent matrix and the LSTM's
    forget bias, and draws other random numbers. Shown as the last expression of a cell, it works
    without a kernel, in JupyterLab, in the built book and from the disk; in print it is the
    picture of its first state.

    Args:
        distance: Steps from the token to the end at first, from 1 to 200.
        gain: Factor of the random orthogonal matrix with which the plain network begins, from 0.5
            to 2; rounded to a step of the slider, 0.02. PyTorch draws a matrix that is about as
            large as one with gain 0.58.
        forget_bias: Initial bias of the LSTM's forget gate, from 0 to 6; rounded to 0.25.
        seed: Which random numbers, from 0 to 8191.

    Raises:
        ValueError: A number is outside its range.
    """
    for name, number, least, most in (
        ("distance", distance, 1, FAR),
        ("gain", gain, *GAINS[:2]),
        ("forget_bias", forget_bias, *BIASES[:2]),
        ("seed", seed, 0, SEEDS - 1),
    ):
        if not least <= number <= most:
            raise ValueError(f"{name}={number} is not from {least:g} to {most:g}")
    gain, forget_bias = (
        round(least + round((number - least) / step) * step, 9)
        for number, (least, _, step) in ((gain, GAINS), (forget_bias, BIASES))
    )
    return InteractiveFigure(
        name="recurrence",
        label="How far a gradient reaches through four layers, with controls to change them",
        controls=hint(
            "Drag along the distances. Which gain, or forget bias, carries a gradient to the end?"
        )
        + slider("distance", "", 1, FAR, distance)
        + slider("gain", "", *GAINS[:2], gain, GAINS[2], "rnn: gain")
        + slider("forget bias", "", *BIASES[:2], forget_bias, BIASES[2], "lstm: forget bias")
        + button("again", "draw other random numbers")
        + kept(seed=seed),
        readings=readings(**{name: name for name in LAYERS}),
        data={
            "layers": LAYERS,
            "seeds": SEEDS,
            "length": LENGTH,
            "width": WIDTH,
            "near": NEAR,
            "streams": {
                "tokens": TOKENS,
                "direction": DIRECTION,
                "orthogonal": ORTHOGONAL,
                **PARAMETERS,
            },
        },
        live=LIVE,
    )
