"""Processor time of softmax attention and of the three forms of linear attention, by length.

    python benchmarks/linear_attention.py
    python benchmarks/linear_attention.py --out record    # into this folder

Takes about two minutes on one thread. What counts is the time that the processor works, not the
clock, so that other programs disturb it little. One head 64 wide reads one causal text; nothing is
kept for a gradient. The record is written to `attn_course/benchmarked/`, from where the book prints
its table.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from attention import Row, Setting, machine, write
from torch import Tensor

from attn_course.benchmarked import FOLDER
from attn_course.linear_attention import all_pairs, in_chunks, linear_attention, one_by_one
from attn_course.scaled_dot_product import attention, causal_mask

D_HEAD, ROUNDS, LENGTHS = 64, 5, (256, 1024, 4096)
WAYS: dict[str, Callable[..., Tensor]] = {
    "softmax": lambda q, k, v: attention(q, k, v, causal_mask(len(q))),
    **{form.__name__: lambda q, k, v, form=form: linear_attention(q, k, v, form=form)
       for form in (all_pairs, in_chunks, one_by_one)},
}  # fmt: skip


@torch.no_grad()
def times(length: int) -> Row:
    """Milliseconds of each way at a length: of each round, all run in turns."""
    qkv = torch.randn(3, length, D_HEAD)
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for number in range(ROUNDS + 1):
        for name, way in WAYS.items():
            start = time.process_time()
            way(*qkv)
            if number:  # the first round warms up
                found[name].append(round(1e3 * (time.process_time() - start), 3))
    print(length, {name: statistics.median(rounds) for name, rounds in found.items()})
    return {"length": length, **found}


def main() -> None:
    """Measure everything, print it, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FOLDER, help="a folder that is there")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    setting = Setting("cpu")
    rows = [times(length) for length in LENGTHS]
    record = {"machine": machine(setting), "d_head": D_HEAD, "by_length": rows}
    write(f"linear_attention_{setting.device}", record, arguments.out)


if __name__ == "__main__":
    main()
