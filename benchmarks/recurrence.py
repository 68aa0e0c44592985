"""Time of one forward and backward pass of a recurrent layer and of self-attention, by length.

    python benchmarks/recurrence.py         # on a GPU if there is one
    python benchmarks/recurrence.py --cpu
    python benchmarks/recurrence.py --out record    # into this folder

Takes about five minutes on two cores. Close other programs first. All are 128 wide and read 8
sequences; the layers of attention have three projections and, as the recurrent ones, no other. The
record is written to `attn_course/benchmarked/`, from where the book prints its tables, or to the
folder given.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from attention import Row, Setting, machine, write
from side_by_side import seconds
from torch import Tensor, nn

from attn_course.benchmarked import FOLDER
from attn_course.layer.fast_attention import fast_attention
from attn_course.recurrence import RecurrentLayer
from attn_course.self_attention import SelfAttention

BATCH, D_MODEL = 8, 128
ROUNDS = {"cpu": 7, "cuda": 31}
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
BATCHES, LENGTH = (1, 4, 16, 64, 256), 128
UNROLLED_LENGTHS = (32, 128, 512)  # of what starts each step by itself


class FastSelfAttention(SelfAttention):
    """Self-attention that never holds its table of weights."""

    def forward(self, tokens: Tensor) -> Tensor:
        """The same output as its parent's."""
        query, key = self.project_query(tokens), self.project_key(tokens)
        return fast_attention(query, key, self.project_value(tokens))


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "gru": partial(RecurrentLayer, "gru", D_MODEL),
    "lstm": partial(RecurrentLayer, "lstm", D_MODEL),
    "attention": partial(SelfAttention, D_MODEL),
    "fast attention": partial(FastSelfAttention, D_MODEL),
}


class Unrolled(RecurrentLayer):
    """A recurrent layer that starts the operations of each token by itself, as a loop does."""

    def forward(self, tokens: Tensor) -> Tensor:
        """The same output as its parent's."""
        return self.unrolled(tokens)


UNROLLED: dict[str, Callable[[], nn.Module]] = {
    "gru": LAYERS["gru"],
    "gru, unrolled": partial(Unrolled, "gru", D_MODEL),
    "lstm": LAYERS["lstm"],
    "lstm, unrolled": partial(Unrolled, "lstm", D_MODEL),
}


def step(layer: nn.Module, tokens: Tensor) -> None:
    """One forward and one backward pass."""
    layer.zero_grad()
    output = layer(tokens)
    output.backward(torch.ones_like(output))


def times(
    setting: Setting, batch: int, length: int, built: dict[str, Callable[[], nn.Module]] = LAYERS
) -> Row:
    """Median milliseconds of each layer, all timed in turns."""
    device, setting.dtype = setting.device, torch.float32
    layers = {name: build().to(device) for name, build in built.items()}
    tokens = torch.randn(batch, length, D_MODEL, device=device, requires_grad=True)
    taken: dict[str, list[float]] = {name: [] for name in layers}
    for number in range(ROUNDS[device] + 1):
        for name, layer in layers.items():
            once = seconds(partial(step, layer, tokens))
            taken[name] += [1e3 * once] if number else []  # the first is to warm up
    row = {"batch": batch, "length": length, "threads": torch.get_num_threads()}
    row |= {name: float(f"{statistics.median(all_of):.4g}") for name, all_of in taken.items()}
    print(row, flush=True)
    return row


def by_length(setting: Setting, lengths: Sequence[int] = LENGTHS) -> Iterator[Row]:
    """With every thread and, on the processor, with one."""
    every = torch.get_num_threads()
    for threads in (every,) if setting.device == "cuda" else (every, 1):
        torch.set_num_threads(threads)
        yield from (times(setting, BATCH, length) for length in lengths)
    torch.set_num_threads(every)


def by_batch(setting: Setting, batches: Sequence[int] = BATCHES) -> Iterator[Row]:
    """At one length, with every thread."""
    yield from (times(setting, batch, LENGTH) for batch in batches)


def unrolled(setting: Setting, lengths: Sequence[int] = UNROLLED_LENGTHS) -> Iterator[Row]:
    """Recurrent layers against a loop over the tokens."""
    yield from (times(setting, BATCH, length, UNROLLED) for length in lengths)


def with_machine(setting: Setting, tables: dict[str, list[Row]]) -> Row:
    """Put the tables into a record, with the machine; the layers have single precision."""
    setting.dtype = torch.float32
    return {"machine": machine(setting), "d_model": D_MODEL, **tables}


def main() -> None:
    """Measure everything, print it, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="on the processor, GPU or not")
    parser.add_argument("--out", type=Path, default=FOLDER, help="a folder that is there")
    arguments = parser.parse_args()  # first: else --help measures where there is no GPU
    torch.manual_seed(0)
    setting = Setting("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    every = (by_length, by_batch, unrolled)
    record = with_machine(setting, {table.__name__: list(table(setting)) for table in every})
    write(f"recurrence_{setting.device}", record, arguments.out)


if __name__ == "__main__":
    main()
