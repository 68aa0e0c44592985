"""All that takes a GPU, in five minutes and without a network: tests, and a file for each table.

    python benchmarks/gpu.py --out record                   # or: make gpu PYTHON=python3 OUT=record
    python benchmarks/gpu.py --out record --only flex graph
    python benchmarks/gpu.py --out record --device cpu --seconds 60     # tiny sizes, as a rehearsal

Each table has a process of its own, so that none can spoil the next one, and a share of the time;
what it leaves over goes to those that follow. Its file, `TABLE.json`, is written after each row,
and says whether the table is complete, or why not. A row that cannot be measured says why in
`failed`. From the tables that the book quotes, `attention_cuda.json` and `recurrence_cuda.json` are
put together at the end.
"""

import argparse
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import attention
import gpu_kernels
import gpu_programs
import recurrence
import torch
import torch._dynamo  # else each process would
from attention import Row, Setting

ROOT = Path(__file__).resolve().parent.parent
FORK = multiprocessing.get_context("fork")  # PyTorch is imported once; no parent touches the GPU
COMPLETE, NOT_HERE = "complete", "not tried: it needs a GPU"


class Table(NamedTuple):
    """A function that yields rows, its share of the time, and its sizes on a processor, if any."""

    rows: Callable[..., Iterator[Row]]
    share: int
    tiny: dict[str, Any] | None = None


def tests(setting: Setting) -> Iterator[Row]:
    """Run the tests that need a GPU, and show what they print as they go."""
    marked = [
        str(path)  # to collect the others takes packages that such a machine need not have
        for path in sorted((ROOT / "tests" / "course").glob("test_*.py"))
        if re.search(r"mark\.cuda|DEVICES", path.read_text(encoding="utf-8"))
    ]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "cuda", "-p", "no:cacheprovider"]
    ours = os.pathsep.join([str(ROOT), str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])
    running = subprocess.Popen(
        [*command, *marked], cwd=ROOT, env=os.environ | {"PYTHONPATH": ours}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    last = ""
    for line in running.stdout or ():
        print(line, end="", flush=True)
        if line.startswith(("FAILED", "ERROR")):
            yield {"failed": line.strip()}
        last = line.strip() or last
    yield {"status": running.wait(), "summary": last}
    if running.returncode:
        raise RuntimeError(last)


TABLES = {
    "layer": Table(attention.layer, 15, {"lengths": (16,), "tokens": 32}),
    "multi_head": Table(attention.multi_head, 10, {"layers": ((2, 8, 16),)}),
    "decoding": Table(attention.decoding, 10, {"lengths": (16,)}),
    "memory": Table(attention.memory, 30),
    "by_length": Table(recurrence.by_length, 15, {"lengths": (16,)}),
    "by_batch": Table(recurrence.by_batch, 10, {"batches": (1,)}),
    "unrolled": Table(recurrence.unrolled, 15, {"lengths": (4,)}),
    "errors": Table(gpu_kernels.errors, 10, {"shape": (1, 2, 32, 16)}),
    "backends": Table(gpu_kernels.backends, 20, {"lengths": (32,), "tokens": 32, "size": 64}),
    "flex": Table(gpu_kernels.flex, 45, {"lengths": (128,)}),
    "checks": Table(gpu_kernels.checks, 10, {"lengths": (16,)}),
    "compiled": Table(gpu_programs.compiled, 55, {"lengths": (16,)}),
    "graph": Table(gpu_programs.graph, 10),
    "tokens_per_second": Table(
        gpu_programs.tokens_per_second, 20, {"batches": (1, 2), "contexts": (16,), "d_model": 64}
    ),
    "peak_memory": Table(gpu_programs.peak_memory, 15),
    "recurrent": Table(
        gpu_programs.recurrent, 15, {"lengths": (8,), "batches": (1, 2), "d_model": 16}
    ),
    "tests": Table(tests, 60),
}
# What `attention.py` and `recurrence.py` write, of tables above: the book quotes these.
RECORDS = {
    "attention": (attention.with_rates, ("layer", "multi_head", "decoding", "memory")),
    "recurrence": (recurrence.with_machine, ("by_length", "by_batch", "unrolled")),
}


def save(path: Path, state: str, found: Row) -> None:
    """Write all there is of a table, so that a reader never sees half of it."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"state": state} | found, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def measure(path: Path, table: Table, device: str) -> None:
    """Fill one table: what its process does."""
    os.setpgid(0, 0)  # what it starts is ended with it
    rows: list[Row] = []
    found: Row = {"rows": rows}
    try:
        torch.manual_seed(0)
        if device == "cpu":
            torch.set_num_threads(1)
        setting = Setting(device)
        for row in table.rows(setting, **(table.tiny or {} if device == "cpu" else {})):
            rows.append(row)
            found.setdefault("machine", attention.machine(setting))
            save(path, "running", found)
        if all("failed" in row for row in rows):
            raise RuntimeError("no row could be measured")
        save(path, COMPLETE, found)
    except Exception as error:
        traceback.print_exc()
        save(path, f"failed: {type(error).__name__}: {error}", found)


def run(path: Path, table: Table, device: str, seconds: float) -> str:
    """Let a table have so many seconds; return its state, which is in its file, too."""
    if device == "cpu" and table.tiny is None:
        save(path, NOT_HERE, {"rows": []})
        return NOT_HERE
    save(path, "running", {"rows": []})
    seconds = max(seconds, 0)
    process = FORK.Process(target=measure, args=(path, table, device))
    process.start()
    try:
        process.join(seconds)
        late = process.is_alive()
    finally:
        process.kill()  # should it not have got so far as to have a group
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.join()
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["state"] == "running":
        died = f"failed: its process ended with {process.exitcode}"
        found["state"] = f"stopped after its {seconds:.0f} seconds" if late else died
        save(path, found["state"], found)
    return f"{len(found['rows'])} rows, {found['state']}"


def put_together(folder: Path, device: str) -> None:
    """Write the records that the book quotes, if all of their tables are complete."""
    for name, (whole, names) in RECORDS.items():
        files = [folder / f"{table}.json" for table in names]
        tables = [json.loads(file.read_text("utf-8")) for file in files if file.exists()]
        if [table["state"] for table in tables] == [COMPLETE] * len(names):
            rows = [table["rows"] for table in tables]
            record = whole(Setting(device), dict(zip(names, rows, strict=True)))
            attention.write(f"{name}_{device}", record, folder)


def gpu_is_there() -> bool:
    """Ask in another process: a process that has asked can fork none that uses the GPU."""
    asked = FORK.Process(target=lambda: os._exit(not torch.cuda.is_available()))
    asked.start()
    asked.join()
    return asked.exitcode == 0


def fill(names: list[str], folder: Path, device: str, seconds: float) -> list[str]:
    """Fill tables, one after the other, within so many seconds for all; return what failed."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + seconds
    shares = [
        TABLES[name].share if device == "cuda" else TABLES[name].tiny is not None for name in names
    ]
    failed = []
    for place, name in enumerate(names):
        left = (end - time.monotonic()) * shares[place] / (sum(shares[place:]) or 1)
        state = f"{name}: {run(folder / f'{name}.json', TABLES[name], device, left)}"
        print(state, flush=True)
        failed += [state] if "failed" in state else []
    put_together(folder, device)
    return failed


def main() -> None:
    """Fill all tables, or those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the folder of the files")
    parser.add_argument("--seconds", type=float, default=300, help="for everything")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not gpu_is_there():
        sys.exit(
            f"There is no GPU that PyTorch {torch.__version__} can use here: "
            "nothing was tested, nothing recorded."
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped from outside"))
    failed = fill(arguments.only, arguments.out, arguments.device, arguments.seconds)
    print(f"The tables are in {arguments.out}.")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
