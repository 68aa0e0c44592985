"""The tables that a GPU is to fill are filled on a processor, in tiny sizes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.conftest import ROOT
from tests.sampling import left_to_proofs

pytestmark = [
    pytest.mark.filterwarnings("ignore:flex_attention called without:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),  # of fork
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked"),
]


@pytest.fixture(scope="module")
def gpu() -> Iterator[ModuleType]:
    """Import the runner, which finds its tables beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        import gpu

        patch.setattr("gpu_kernels.AT_MOST", 0.01)  # no figure counts here
        yield gpu


def read(path: Path) -> dict[str, Any]:
    """Return what the file of a table holds."""
    return json.loads(path.read_text(encoding="utf-8"))


@left_to_proofs
def test_every_table_is_filled_or_says_that_it_needs_a_gpu(gpu: ModuleType, tmp_path: Path) -> None:
    assert gpu.fill(list(gpu.TABLES), tmp_path, "cpu", 400) == []
    for name, table in gpu.TABLES.items():
        found = read(tmp_path / f"{name}.json")
        if table.tiny is None:
            assert found == {"state": gpu.NOT_HERE, "rows": []}
            continue
        assert found["state"] == gpu.COMPLETE, (name, found)
        assert found["machine"]["torch"] == torch.__version__
        measured = [row for row in found["rows"] if "failed" not in row]
        assert 2 * len(measured) >= len(found["rows"]) > 0, (name, found)
        figures = [value for row in measured for value in row.values() if type(value) is float]
        assert min(figures) >= 0, name
    assert {path.name for path in tmp_path.iterdir()} == {
        "recurrence_cpu.json",  # of the attention's record, one table needs a GPU
        *(f"{name}.json" for name in gpu.TABLES),
    }
    assert read(tmp_path / "recurrence_cpu.json")["by_length"][0]["gru"] > 0
    kept = {name: read(tmp_path / f"{name}.json")["rows"] for name in ("errors", "flex", "checks")}
    exact = [row for row in kept["errors"] if row["dtype"] == "float32" and "failed" not in row]
    assert max(max(row["ours_largest"], row["theirs_largest"]) for row in exact) < 1e-5
    assert max(row["largest_difference"] for row in kept["flex"]) < 1e-5
    assert [row["waits"] > 0 for row in kept["checks"]] == [True, False, False, False]


def rows(setting: object, then: str) -> Iterator[dict[str, int]]:
    """Yield one row, and then do as told."""
    yield {"found": 7}
    if then == "hang":
        time.sleep(60)
    if then == "die":
        os._exit(3)
    if then == "raise":
        raise ValueError("seven is too much")


@pytest.mark.parametrize(
    ("then", "state"),
    [
        ("end", "complete"),
        ("hang", "stopped after its 4 seconds"),
        ("die", "failed: its process ended with 3"),
        ("raise", "failed: ValueError: seven is too much"),
    ],
)
def test_what_becomes_of_a_table_is_recorded_with_the_rows_so_far(
    gpu: ModuleType, tmp_path: Path, then: str, state: str
) -> None:
    seconds = 4 if then == "hang" else 60
    said = gpu.run(tmp_path / "one.json", gpu.Table(rows, 1, {"then": then}), "cpu", seconds)
    found = read(tmp_path / "one.json")
    assert (found["state"], found["rows"]) == (state, [{"found": 7}])
    assert said == f"1 rows, {state}"


def test_table_for_which_no_time_is_left_is_not_begun_for_long(
    gpu: ModuleType, tmp_path: Path
) -> None:
    said = gpu.run(tmp_path / "one.json", gpu.Table(rows, 1, {"then": "hang"}), "cpu", -3)
    assert said.endswith("stopped after its 0 seconds")


def test_table_that_fails_is_named_and_the_next_one_is_filled(
    gpu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, then in {"layer": "raise", "errors": "end"}.items():
        monkeypatch.setitem(gpu.TABLES, name, gpu.Table(rows, 1, {"then": then}))
    failed = gpu.fill(["layer", "errors"], tmp_path, "cpu", 60)
    assert failed == ["layer: 1 rows, failed: ValueError: seven is too much"]
    assert read(tmp_path / "errors.json")["state"] == "complete"


def test_table_without_a_row_has_failed(gpu: ModuleType, tmp_path: Path) -> None:
    for nothing in ([], [{"failed": "no kernel"}]):
        table = gpu.Table(lambda setting, nothing=nothing: iter(nothing), 1, {})
        gpu.run(tmp_path / "one.json", table, "cpu", 20)
        found = read(tmp_path / "one.json")
        assert found["state"] == "failed: RuntimeError: no row could be measured"
        assert found["rows"] == nothing


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_machine_without_a_gpu_is_told_so_in_one_sentence(
    gpu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--out", str(tmp_path / "record")])
    with pytest.raises(SystemExit, match=r"^There is no GPU that PyTorch .*, nothing recorded\.$"):
        gpu.main()
    assert not (tmp_path / "record").exists()


def test_make_gpu_takes_a_python_and_a_folder_and_no_environment_of_ours() -> None:
    command = ["make", "--dry-run", "gpu", "PYTHON=python9", "OUT=there", "LIMIT=7"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in plan.splitlines() if not line.startswith("make")]
    assert line.endswith("python9 benchmarks/gpu.py --out there --seconds 7")
