"""The scripts and styles of the interactive figures, put together by a figure's name.

A notebook stores the name alone: a change of a script executes no chapter again. The built book
holds the script and the style of each figure once, in files that its pages share.
"""

from hashlib import sha256
from importlib import resources
from pathlib import Path

FOLDER = Path(str(resources.files(__package__)))
TRANSLATES = ("layers", "weights", "translators")
DRAWN = tuple(f"machine/{part}" for part in ("numbers", "pen", "grips", "stage"))
MACHINE = ("machine/mechanism", *DRAWN, "machine/machine")
ROWS = (*MACHINE, "machine/rows", "machine/lever")
GEOMETRY = (*ROWS, "machine/plane", "machine/geometry")
# The scripts of this folder that come between `figure.js` and a figure's own.
NEEDS: dict[str, tuple[str, ...]] = {
    "alignment": (*TRANSLATES, "sentences", "alignment_grid"),
    "captioning": (
        "layers",
        "weights",
        "captioners",
        "captioning_pen",
        "captioning_parts",
        "captioning_hands",
    ),
    "clock": ("layers",),
    "fixed-vector": (*TRANSLATES, "beam_search", "sentences"),
    "heads": ("layers", "weights", "alignment_grid", "head_sheet"),
    "heap": ("layers", "weights", "alignment_grid"),
    "induction": (
        *("layers", "weights"),
        *DRAWN,
        *("writer/transformer", "induction/letters", "induction/picture"),
    ),
    "kernel-regression": (),
    "machine-bahdanau": GEOMETRY,
    "machine-kernel-regression": (*MACHINE, "machine/chart"),
    "machine-luong": GEOMETRY,
    "machine-multi-head": (*MACHINE, "machine/plane"),
    "machine-reinforce": (*MACHINE, "machine/chart"),
    "machine-retrieval": ROWS,
    "machine-scaled-dot-product": (*MACHINE, "machine/chart"),
    "machine-self-attention": (*MACHINE, "machine/plane"),
    "recurrence": ("remembering", "recurrence_parts"),
    "retrieval": ("remembering", "retrieval_parts"),
    "scaled-dot-product": (),
    "scores": (*TRANSLATES, "sentences", "alignment_grid"),
    "silence": ("layers", "weights", "word_reader", "sentences", "alignment_grid"),
    "writer": (
        *("layers", "weights"),
        *DRAWN,
        *(f"writer/{part}" for part in ("transformer", "pieces", "law")),
        *(f"writer/{part}" for part in ("text", "next", "heads", "picture")),
    ),
}


def script_of(name: str) -> str:
    """The script of a figure, with all that it needs, in a scope of its own."""
    return f'(() => {{\n"use strict";\n{_joined(name, "js")}}})();\n'


def style_of(name: str) -> str:
    """The style of a figure; its scripts and the figure itself may do without one."""
    return _joined(name, "css")


def files_of(name: str) -> list[Path]:
    """The files of a figure: its style and its script are these, one after the other.

    Raises:
        ValueError: There is no figure of this name.
    """
    if name not in NEEDS:
        raise ValueError(f"no interactive figure is called {name!r}; there are {', '.join(NEEDS)}")
    own = name.replace("-", "_").replace("machine_", "machine/")
    if (FOLDER / own).is_dir():
        own = f"{own}/{own}"
    parts = ("figure", *NEEDS[name], own)
    paths = [FOLDER / f"{part}.{kind}" for part in parts for kind in ("css", "js")]
    return [path for path in paths if path.suffix == ".js" or path.is_file()]


def address_of(name: str, kind: str) -> str:
    """The file of a figure in the built book, `css` or `js`; another text has another address."""
    digest = sha256(_made(name, kind).encode()).hexdigest()[:8]
    return f"_static/figures/{name}.{kind}?v={digest}"


def write_scripts(folder: Path) -> None:
    """Write the script and the style of every figure where pages in a folder look for them."""
    target = folder / "_static" / "figures"
    target.mkdir(parents=True, exist_ok=True)
    for name in NEEDS:
        for kind in ("css", "js"):
            (target / f"{name}.{kind}").write_text(_made(name, kind), encoding="utf-8")


def _made(name: str, kind: str) -> str:
    return {"css": style_of, "js": script_of}[kind](name)


def _joined(name: str, kind: str) -> str:
    files = (path for path in files_of(name) if path.suffix == f".{kind}")
    return "".join(path.read_text(encoding="utf-8") for path in files)
