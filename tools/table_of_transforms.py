"""Make the table of what works under PyTorch's transforms, for the page of the package.

    python tools/table_of_transforms.py            write it into book/api/transforms.md
    python tools/table_of_transforms.py --check    only say whether it is there as it should be

Each public function of the chapters is called as in `every_call.py`. A call that fails must
fail for one of the reasons below.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from every_call import CALLS, Call, make
from torch import Tensor, nn
from torch.func import vmap
from torch.testing import assert_close
from torch.utils._pytree import tree_leaves

ROOT = Path(__file__).resolve().parent.parent

BEGIN, END = "<!-- table of transforms -->", "<!-- end of the table -->"
PAGE = ROOT / "book" / "api" / "transforms.md"


class NothingToTry(Exception):
    """A call without tensors, or whose result depends on none, in a way that needs them."""


# A part of the error, and what the page says of it.
REASONS = {
    "aten::gru.input|aten::lstm_cell|wrap RNN|as skipped|zeros\\(\\)|calling .item": (
        "PyTorch's recurrent networks are neither compiled nor mapped, and want the lengths of "
        "packed sentences on the CPU."
    ),
    "ata-dependent": "The number of steps depends on the words that are written.",
    "flash_attention_for_cpu_backward": (
        "The fused kernel has no second derivative; with `score=partial(scaled_dot_scores)` "
        "`fast_attention` takes the blocks, which have one."
    ),
    "a cache keeps no gradients": "A cache is for decoding, and keeps no gradients.",
    "same randomness with a batched": "The draws depend on the weights, so each call has its own.",
    "escaped from inside": "It changes its own buffers, which belong to no single call.",
}


def compiled(call: Call) -> None:
    """Compile in one graph."""
    torch.compiler.reset()
    again = torch.compile(call.function, backend="eager", fullgraph=True)
    torch.manual_seed(1)
    expected = call.function(*call.arguments)
    torch.manual_seed(1)
    found = again(*call.arguments)
    if not _is_random(call):
        _compare(found, expected)


class Exported(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function
        self.inner = _model_of(function)

    def forward(self, *arguments: object) -> object:
        """Call the function."""
        return self.function(*arguments)


def _model_of(function: object) -> nn.Module | None:
    """Find the model within a partial, or behind a method."""
    parts = [function, getattr(function, "__self__", None)]
    if isinstance(function, partial):
        parts += [function.func, *function.args, getattr(function.func, "__self__", None)]
    return next((part for part in parts if isinstance(part, nn.Module)), None)


def exported(call: Call) -> None:
    """Export as a graph."""
    program = torch.export.export(Exported(call.function), call.arguments, strict=False)
    torch.manual_seed(1)
    expected = call.function(*call.arguments)
    torch.manual_seed(1)
    found = program.module()(*call.arguments)
    if not _is_random(call):
        _compare(found, expected)


def mapped(call: Call) -> None:
    """Map over two calls at once."""
    tensors = [part for part in call.arguments if isinstance(part, Tensor)]
    if not tensors:
        raise NothingToTry
    axes = tuple(0 if isinstance(part, Tensor) else None for part in call.arguments)
    both = [torch.stack([p, p]) if isinstance(p, Tensor) else p for p in call.arguments]
    found = vmap(call.function, axes, randomness="same")(*both)
    torch.manual_seed(1)
    expected = call.function(*call.arguments)
    if not _is_random(call):
        _compare([leaf[1] for leaf in tree_leaves(found)], expected)


def differentiated(call: Call) -> None:
    """Differentiate once."""
    _slopes(call, again=False)


def twice(call: Call) -> None:
    """Differentiate twice."""
    _slopes(call, again=True)


def autocast(call: Call) -> None:
    """Compute in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        found = call.function(*call.arguments)
    assert all(leaf.isfinite().all() or (leaf == -torch.inf).any() for leaf in _floats(found))


def _slopes(call: Call, again: bool) -> None:
    given = [
        part.requires_grad_()
        for part in call.arguments
        if isinstance(part, Tensor) and part.is_floating_point()
    ]
    model = _model_of(call.function)
    given += [] if model is None else [p for p in model.parameters() if p.requires_grad]
    outputs = [leaf for leaf in _floats(call.function(*call.arguments)) if leaf.requires_grad]
    if not given or not outputs:
        raise NothingToTry
    loss = sum(leaf.where(leaf.isfinite(), 0).square().sum() for leaf in outputs)
    slopes = torch.autograd.grad(loss, given, create_graph=again, allow_unused=True)
    slopes = [slope for slope in slopes if slope is not None]
    assert all(slope.isfinite().all() for slope in slopes), "a gradient is not finite"
    if again:
        sum(slope.square().sum() for slope in slopes).backward()


def _floats(result: object) -> list[Tensor]:
    leaves = tree_leaves(result)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.is_floating_point()]


def _compare(found: object, expected: object) -> None:
    assert_close(tree_leaves(found), tree_leaves(expected), equal_nan=True)


def _is_random(call: Call) -> bool:
    torch.manual_seed(1)
    one = call.function(*call.arguments)
    two = call.function(*call.arguments)
    pairs = zip(tree_leaves(one), tree_leaves(two), strict=True)
    return any(isinstance(a, Tensor) and not torch.equal(a, b) for a, b in pairs)


WAYS: dict[str, Callable[[Call], None]] = {
    "compile": compiled,
    "export": exported,
    "vmap": mapped,
    "gradient": differentiated,
    "second": twice,
    "autocast": autocast,
}


def tried(name: str, way: str) -> str:
    """Try a call in a way; return "yes", "-" if there is nothing to try, or what went wrong."""
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            WAYS[way](make(name))
    except NothingToTry:
        return "-"
    except Exception as error:  # whatever PyTorch raises
        return f"{type(error).__name__}: {error}"
    return "yes"


def letter(name: str, way: str, failure: str) -> str:
    """Return the letter of the reason for a failure.

    Raises:
        LookupError: There is no such reason.
    """
    for number, pattern in enumerate(REASONS):
        if re.search(pattern, failure):
            return chr(ord("a") + number)
    raise LookupError(f"{name} fails under {way} for a reason that is not known: {failure}")


def table() -> str:
    """Return the table in Markdown."""
    rows, whole = [], []
    for name in CALLS:
        found = [tried(name, way) for way in WAYS]
        cells = [
            {"yes": "✓", "-": "–"}.get(cell) or letter(name, way, cell)
            for cell, way in zip(found, WAYS, strict=True)
        ]
        if all(cell in "✓–" for cell in cells):
            whole.append(f"`{name}`")
        else:
            rows.append(f"| `{name}` | {' | '.join(cells)} |")
    why = [f"- {chr(ord('a') + n)}: {text}" for n, text in enumerate(REASONS.values())]
    return "\n".join(
        [
            f"| of {len(CALLS)} calls | {' | '.join(WAYS)} |",
            f"|---|{'---|' * len(WAYS)}",
            *rows,
            "",
            "A dash means that there is nothing to differentiate by. A letter is a reason:",
            "",
            *why,
            "",
            ":::{dropdown} "
            + f"These {len(whole)} calls work in every way in which they can be tried",
            ", ".join(whole),
            ":::",
        ]
    )


def main() -> None:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    new = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"
    if parser.parse_args().check:
        sys.exit(f"{PAGE}: run tools/table_of_transforms.py" if new != page else 0)
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
