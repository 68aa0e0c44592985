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
WORDS = (*MACHINE, "machine/plane", "machine/three_words")
DRAWS = (*MACHINE, "machine/chart", "machine/pushes")
TABLE = ("layers", "weights", "weight_table")
# The scripts of a figure that follow `figure.js`: shared ones, then its own; the last draws it.
NEEDS: dict[str, tuple[str, ...]] = {
    "alignment": (*TRANSLATES, "sentences", "weight_table", "alignment/alignment"),
    "associative-memory": (
        *(*MACHINE, "machine/chart"),
        *(
            f"associative_memory/{part}"
            for part in ("memory", "rows", "picture", "associative_memory")
        ),
    ),
    "captioning": (
        "layers",
        "weights",
        *(
            f"captioning/{part}"
            for part in ("captioners", "pen", "parts", "hands", "picture", "captioning")
        ),
    ),
    "digits": (
        *DRAWN,
        "captioning/pen",
        *(f"digits/{part}" for part in ("lookup", "picture", "digits")),
    ),
    "fixed-vector": (
        *TRANSLATES,
        "sentences",
        "fixed_vector/beam_search",
        "fixed_vector/fixed_vector",
    ),
    "head-ablation": (
        *TABLE,
        "sentences",
        "head_ablation/word_reader",
        "head_ablation/head_ablation",
    ),
    "heads": (*TABLE, "heads/sheet", "heads/heads"),
    "induction": (
        *("layers", "weights"),
        *DRAWN,
        "writer/transformer",
        *(f"induction/{part}" for part in ("letters", "picture", "induction")),
    ),
    "learned-keys": (*MACHINE, "machine/plane", "learned_keys/learned_keys"),
    "machine-baseline": (*DRAWS, "machine/baseline"),
    "machine-basic-self-attention": (*WORDS, "machine/basic_self_attention"),
    "machine-bahdanau": (*GEOMETRY, "machine/bahdanau"),
    "machine-kernel-regression": (*MACHINE, "machine/chart", "machine/kernel_regression"),
    "machine-general": (*GEOMETRY, "machine/shadows", "machine/general"),
    "machine-luong": (*GEOMETRY, "machine/shadows", "machine/luong"),
    "machine-multi-head": (*MACHINE, "machine/plane", "machine/multi_head"),
    "machine-reinforce": (*DRAWS, "machine/reinforce"),
    "machine-retrieval": (*ROWS, "machine/retrieval"),
    "machine-scaled-dot-product": (*MACHINE, "machine/chart", "machine/scaled_dot_product"),
    "machine-self-attention": (*WORDS, "machine/self_attention"),
    "machine-temperature": (*MACHINE, "machine/plane", "machine/temperature"),
    "permutation": (*TABLE, "permutation/permutation"),
    "recurrence": (
        "remembering",
        *(f"recurrence/{part}" for part in ("layers", "picture", "recurrence")),
    ),
    "retrieval": (
        "remembering",
        *(f"retrieval/{part}" for part in ("lookups", "picture", "retrieval")),
    ),
    "rotary": (
        *MACHINE,
        "machine/plane",
        "machine/chart",
        *(f"rotary/{p}" for p in ("model", "rotary")),
    ),
    "scaled-dot-product": ("scaled_dot_product/picture", "scaled_dot_product/scaled_dot_product"),
    "scores": (*TRANSLATES, "sentences", "weight_table", "scores/scores"),
    "sinusoids": ("layers", "sinusoids/sinusoids"),
    "tiles": (
        *(*MACHINE, "machine/chart"),
        *(f"tiles/{part}" for part in ("sums", "table", "query", "tiles")),
    ),
    "writer": (
        *("layers", "weights"),
        *DRAWN,
        *(f"writer/{part}" for part in ("transformer", "pieces", "law")),
        *(f"writer/{part}" for part in ("text", "next_bars", "heads", "picture", "writer")),
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
    paths = [
        FOLDER / f"{part}.{kind}" for part in ("figure", *parts_of(name)) for kind in ("css", "js")
    ]
    paths.insert(1, FOLDER / "picture.css")
    return [path for path in paths if path.suffix == ".js" or path.is_file()]


def folder_of(name: str) -> Path:
    """The folder of a figure, which holds its own scripts and its first pictures."""
    return (FOLDER / parts_of(name)[-1]).parent


def parts_of(name: str) -> tuple[str, ...]:
    """The scripts of a figure after the first, which all of them have.

    Raises:
        ValueError: There is no figure of this name.
    """
    if name not in NEEDS:
        raise ValueError(f"no interactive figure is called {name!r}; there are {', '.join(NEEDS)}")
    return NEEDS[name]


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
