"""Trained weights for the page: the file of `attn_course.trained`, wrapped into a script.

A page from the disk may load scripts and nothing else. So the weights are the letters of a string
in a script that `weights.js` adds to the page when a reader first acts.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from attn_course.trained import induction, who_does_what, writers
from attn_course.trained.heads import minilm_heads, two_readings
from attn_course.trained.store import shipped_weights

TRANSLATORS = (
    "bahdanau", "fixed", "luong_dot", "luong_general", "luong_local_m", "luong_local_p"
)  # fmt: skip
READERS = (who_does_what.NAME, *two_readings.READERS)
CAPTIONERS = ("soft", "hard", "uniform")
# The files of weights that live figures fetch.
WEIGHTS = (
    *(*TRANSLATORS, *READERS, *CAPTIONERS),
    *(minilm_heads.NAME, writers.NAME, induction.NAME),
)
# The most by which a weight or a probability of the page differs from PyTorch's; the tests hold it.
AGREES_TO = 1e-4


def weights_script(name: str) -> str:
    """The script that brings the weights `name` into a page.

    Raises:
        ValueError: No live figure uses weights of this name, or they do not come with the course.
    """
    letters = b64encode(_file(name).read_bytes()).decode()
    return f'(window.attnWeights ??= {{}})[{json.dumps(name)}] = "{letters}";\n'


def _file(name: str) -> Path:
    if name not in WEIGHTS:
        raise ValueError(f"no live figure uses {name!r}; they use {', '.join(WEIGHTS)}")
    return shipped_weights(name)


def write_weights(folder: Path, names: Iterable[str] = WEIGHTS) -> None:
    """Write the scripts of these weights where pages in a folder look for them."""
    target = folder / "_static" / "weights"
    for name in names:
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{name}.js").write_text(weights_script(name), encoding="ascii")


def provenance(inputs: str, *names: str, stored: str = "in half precision") -> str:
    """The line under a live figure: which recipes made its weights, and how exact the page is."""
    # four letters of a script hold three bytes of a file
    kilobytes = sum(_file(one).stat().st_size for one in names) * 4 / 3e3
    size = f"{kilobytes / 1e3:.1f} MB" if kilobytes >= 100 else f"{kilobytes:.0f} kB"
    model, recipe, fetched = (
        ("models", "recipes", f"Each model's are fetched when you first use it ({size} in all)")
        if len(names) > 1
        else ("model", "recipe", f"They are fetched when you first act ({size})")
    )
    return (
        f"Live: this page runs the {model} itself, on the weights of the {recipe} "
        f"{', '.join(f'<code>{one}</code>' for one in names)} of "
        f"<code>attn_course.trained</code>, {stored}. {fetched}. On {inputs} it gives "
        "the same words as PyTorch, and weights and probabilities within "
        f"{AGREES_TO:.4f}: a test compares them in a browser."
    )
