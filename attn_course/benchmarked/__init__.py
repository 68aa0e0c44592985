"""The results of the benchmarks, and their machines: the book prints its tables from here.

`python benchmarks/attention.py` writes `attention_cpu.json`, or with a GPU `attention_cuda.json`;
`python benchmarks/recurrence.py` likewise, and `linear_attention.py` for a processor.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def load_benchmark(name: str) -> dict[str, Any]:
    """The latest results of the benchmark with this name: its machine, and a list for each table.

    Raises:
        FileNotFoundError: The benchmark has not been run; the message lists those that have.
    """
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        there = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json")))
        raise FileNotFoundError(f"there is no record of {name!r}; there are: {there}")
    return json.loads(path.read_text(encoding="utf-8"))
