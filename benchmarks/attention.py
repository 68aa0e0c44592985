"""Fast attention and multi-head attention side by side with PyTorch's, and the memory they need.

    python benchmarks/attention.py          # on a GPU, in bfloat16, if there is one
    python benchmarks/attention.py --cpu
    python benchmarks/attention.py --memory     # this table alone; the record keeps the others
    python benchmarks/attention.py --out record     # into this folder

Takes about fifteen minutes on two cores, most of them for the memory. Close other programs first.
The results of each pair are compared before they are timed. The record is written to
`attn_course/benchmarked/`, from where the book prints its tables, or to the folder given.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from side_by_side import Work, in_turns, seconds
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attn_course import benchmarked
from attn_course.bahdanau import additive_scores
from attn_course.layer.fast_attention import fast_attention
from attn_course.multi_head import KeyValueCache, MultiHeadAttention
from attn_course.scaled_dot_product import attention, causal, scaled_dot_scores, window
from attn_course.shapes import unchecked

HEADS, D_HEAD = 4, 64
LENGTHS = (128, 512, 2048, 8192)
NUM_TOKENS = 8192  # in all sequences together, so that short ones keep the machine busy too
LAYERS = (
    (32, 64, 128),
    (16, 128, 256),
    (8, 256, 512),
    (4, 512, 512),
    (1, 2048, 512),
)  # batch, length, d_model
LONG = (1024, 2048, 4096, 8192, 16384)
D_SCORE, HALF_WIDTH = 16, 128
MOST_NUMBERS = {"cpu": 2**29, "cuda": 2**31}  # in a whole table
CACHED = {"cpu": (2048,), "cuda": (2048, 16384, 65536)}
UNCHECKED = {"ratio_values_unchecked": {}, "ratio_unchecked": {"shapes_too": True}}

Row = dict[str, Any]


class Setting:
    """The device and dtype of a run, and how far two ways of summing may differ there."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.dtype = torch.bfloat16 if device == "cuda" else torch.float32
        self.tolerance = (
            {"rtol": 2e-2, "atol": 2e-2} if device == "cuda" else {"rtol": 1e-3, "atol": 1e-4}
        )

    def randn(self, *shape: int) -> Tensor:
        return torch.randn(*shape, device=self.device, dtype=self.dtype)


def compare(name: str, ours: Work, theirs: Work, setting: Setting, **sizes: object) -> Row:
    """Time both in turns, after a look that they agree; then again without our checks."""
    for one, other in zip(_tensors(ours()), _tensors(theirs()), strict=True):
        assert_close(one, other, **setting.tolerance)
    for work in (ours, theirs):
        seconds(work)
    pair = in_turns(ours, theirs)
    row = {"what": name, **sizes, "ours_ms": pair.one, "theirs_ms": pair.other, "ratio": pair.ratio}
    for ratio, options in UNCHECKED.items():
        with unchecked(**options):
            row[ratio] = in_turns(ours, theirs).ratio
    print(
        "  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{v}" for k, v in row.items()),
        flush=True,
    )
    return row


def _tensors(result: object) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def with_gradients(function: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """The output, and the gradients of the inputs when its sum is what counts."""
    output = function(*inputs)
    return (output, *torch.autograd.grad(output, inputs, torch.ones_like(output)))


def layer(
    setting: Setting, lengths: Sequence[int] = LENGTHS, tokens: int = NUM_TOKENS
) -> Iterator[Row]:
    """`fast_attention` against PyTorch's fused function, which it calls."""
    ways = {
        "all keys": (fast_attention, scaled_dot_product_attention),
        "causal": (
            partial(fast_attention, rule=causal),
            partial(scaled_dot_product_attention, is_causal=True),
        ),
    }
    for length in lengths:
        shape = (tokens // length, HEADS, length, D_HEAD)
        inputs = [setting.randn(*shape).requires_grad_() for _ in range(3)]
        flops = 4 * tokens * HEADS * length * D_HEAD
        for mask, pair in ways.items():
            with torch.no_grad():
                ours, theirs = (partial(way, *inputs) for way in pair)
                yield compare(
                    "forward", ours, theirs, setting, mask=mask, length=length, flops=flops
                )
            ours, theirs = (partial(with_gradients, way, *inputs) for way in pair)
            yield compare(
                "forward and backward",
                ours,
                theirs,
                setting,
                mask=mask,
                length=length,
                flops=flops * 7 // 2,
            )


def multi_head(setting: Setting, layers: Sequence[tuple[int, int, int]] = LAYERS) -> Iterator[Row]:
    """`MultiHeadAttention` against `nn.MultiheadAttention(need_weights=False)`, self-attention."""
    for batch, length, d_model in layers:
        other = nn.MultiheadAttention(d_model, 8, batch_first=True).to(
            setting.device, setting.dtype
        )
        ours = MultiHeadAttention.from_torch(other)
        tokens = setting.randn(batch, length, d_model)
        sizes = {"batch": batch, "length": length, "d_model": d_model}

        def theirs(other: nn.Module = other, tokens: Tensor = tokens) -> Tensor:
            return other(tokens, tokens, tokens, need_weights=False)[0]

        def step(module: nn.Module, forward: Callable[[], Tensor]) -> list[Tensor]:
            module.zero_grad()
            output = forward()
            output.backward(torch.ones_like(output))
            return [output]

        forward = partial(ours, tokens)
        yield compare(
            "training", partial(step, ours, forward), partial(step, other, theirs), setting, **sizes
        )
        ours.eval(), other.eval()
        with torch.no_grad():
            yield compare("evaluation", forward, theirs, setting, **sizes)


@torch.no_grad()
def decoding(setting: Setting, lengths: Sequence[int] | None = None) -> Iterator[Row]:
    """One step with a cache of all tokens but one against causal attention of all again."""
    for length, num_kv_heads in product(lengths or CACHED[setting.device], (8, 2)):
        module = (
            MultiHeadAttention(512, 8, num_kv_heads=num_kv_heads)
            .to(setting.device, setting.dtype)
            .eval()
        )
        tokens = setting.randn(1, length, 512)
        cache = KeyValueCache()
        module.step(tokens[:, :-1], cache)

        def step(module=module, tokens=tokens, cache=cache) -> Tensor:
            cache.length = tokens.shape[1] - 1
            return module.step(tokens[:, -1:], cache)

        def again(module=module, tokens=tokens) -> Tensor:
            return module(tokens, is_causal=True)[:, -1:]

        yield compare("a step", step, again, setting, length=length, key_heads=num_kv_heads)


SCORES = {"additive": "additive_scores", "scaled dot": "scaled_dot_scores"}


def measure_memory(score: str, way: str, length: int, device: str) -> Row:
    """The memory of a forward and backward pass, and warm times of both.

    The best of three calls counts. On a processor the memory is what the first pass in a process
    adds, and the time is one thread's in this process, so that other programs disturb it little.
    """
    setting = Setting(device)
    width = D_SCORE if score == "additive" else D_HEAD
    query, key, value = (setting.randn(length, n).requires_grad_() for n in (width, width, D_HEAD))
    compare = (
        partial(additive_scores, score_weight=setting.randn(width).requires_grad_())
        if score == "additive"
        else scaled_dot_scores
    )
    run = {
        "whole table": partial(attention, score=compare),
        "in blocks": partial(fast_attention, score=compare),
        "in blocks, window": partial(fast_attention, score=compare, rule=window(HALF_WIDTH)),
    }[way]
    if device == "cpu":
        torch.set_num_threads(1)
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
    else:
        with_gradients(run, query, key, value)  # libraries take memory of their own
        torch.cuda.reset_peak_memory_stats()
    before = _now(device)
    both, forward = (partial(each, run, query, key, value) for each in (with_gradients, output_of))
    both()  # the first call imports and compiles, too
    found = {"megabytes": _peak(device) - before}
    for name, work in {"seconds": both, "forward_seconds": forward}.items():
        times: list[float] = []
        while len(times) < 3 and sum(times) < 30:  # half a minute is long enough to measure once
            times.append(_taken(work, device))
        found[name] = min(times)
    return found


def output_of(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """The output alone."""
    with torch.no_grad():
        return function(*inputs)


def _taken(work: Work, device: str) -> float:
    if device == "cuda":
        return seconds(work)
    start = time.process_time()
    work()
    return time.process_time() - start


def _now(device: str) -> float:
    return torch.cuda.memory_allocated() / 1e6 if device == "cuda" else _status("VmRSS")


def _peak(device: str) -> float:
    return torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else _status("VmHWM")


def _status(field: str) -> float:
    """Return a figure of this process in MB, from Linux; `getrusage` counts the parent's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def memory(setting: Setting) -> Iterator[Row]:
    """On a processor every line in a process of its own; the whole table only where it fits."""
    measure = measure_memory if setting.device == "cuda" else _in_a_process
    for score in ("additive", "scaled dot"):
        for way in ("whole table", "in blocks", "in blocks, window"):
            for length in LONG:
                features = D_SCORE if score == "additive" else 1
                if (
                    way == "whole table"
                    and length * length * features > MOST_NUMBERS[setting.device]
                ):
                    continue
                found = measure(score, way, length, setting.device)
                row = {"score": score, "way": way, "length": length, **found}
                print(row, flush=True)
                yield row


def _in_a_process(*case: object) -> Row:
    command = [sys.executable, __file__, "--one-case", *map(str, case)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def rates(setting: Setting) -> Row:
    """Measure the device at its best: multiplying matrices, and copying memory."""
    much = setting.randn(64 if setting.device == "cpu" else 1024, 2**20)
    copy = min(seconds(partial(much.clone().copy_, much)) for _ in range(10))
    return {
        "matrix_flops_per_second": matrix_rate(setting, 8192 if setting.device == "cuda" else 2048),
        "bytes_per_second": 2 * much.numel() * much.element_size() / copy,
    }


def matrix_rate(setting: Setting, size: int) -> float:
    """Measure how many operations a second a product of square matrices reaches."""
    one, other = setting.randn(size, size), setting.randn(size, size)
    return 2 * size**3 / min(seconds(partial(torch.mm, one, other)) for _ in range(10))


def add_shares(rows: list[Row], best: Row, itemsize: int) -> None:
    """Say of each row of the layer which share it has reached of what the device can do at best.

    A causal mask spares half of the products. Of memory the least is counted: forwards query, key,
    value and output once each; backwards these, their gradients, and what comes from behind.
    """
    for row in rows:
        seconds_taken = row["ours_ms"] / 1e3
        flops = row["flops"] / (2 if row["mask"] == "causal" else 1)
        tensors = 4 if row["what"] == "forward" else 4 + 8
        moved = tensors * NUM_TOKENS * HEADS * D_HEAD * itemsize
        row["share_of_matrix_rate"] = flops / seconds_taken / best["matrix_flops_per_second"]
        row["share_of_memory_rate"] = moved / seconds_taken / best["bytes_per_second"]


def machine(setting: Setting) -> Row:
    """Describe the machine on which the figures were measured."""
    name = torch.cuda.get_device_name() if setting.device == "cuda" else processor()
    return {
        "name": name,
        "system": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "dtype": str(setting.dtype).removeprefix("torch."),
    }


def processor() -> str:
    """The name that the processor gives itself."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    return next(
        (line.split(":")[1].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def write(name: str, record: Row, folder: Path = benchmarked.FOLDER) -> None:
    """Keep a record where the book finds it, or in another folder."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def with_rates(setting: Setting, tables: dict[str, list[Row]]) -> Row:
    """Put the tables into a record, with the machine and with what it can do at best."""
    best = rates(setting)
    add_shares(tables["layer"], best, setting.dtype.itemsize)
    return {"machine": machine(setting), "rates": best, **tables}


def main() -> None:
    """Measure everything, print it, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu", action="store_true", help="on the processor, GPU or not")
    parser.add_argument("--memory", action="store_true", help="only this table of the record")
    parser.add_argument(
        "--out", type=Path, default=benchmarked.FOLDER, help="a folder that is there"
    )
    parser.add_argument("--one-case", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one_case:
        score, way, length, device = arguments.one_case
        return print(json.dumps(measure_memory(score, way, int(length), device)))
    torch.manual_seed(0)
    setting = Setting("cuda" if torch.cuda.is_available() and not arguments.cpu else "cpu")
    name = f"attention_{setting.device}"
    if arguments.memory:
        record = benchmarked.load_benchmark(name) | {"memory": list(memory(setting))}
    else:
        every = (layer, multi_head, decoding, memory)
        record = with_rates(setting, {table.__name__: list(table(setting)) for table in every})
    write(name, record, arguments.out)


if __name__ == "__main__":
    main()
