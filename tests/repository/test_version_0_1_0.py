"""Notebooks and records of version 0.1.0 still count.

`version_0_1_0/` holds the imports of all its notebooks, a record that it wrote and sealed, and a
problem set that it gave out, solved, which `tests/engine/test_autograde.py` hands in with others.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hintgrader.records.records import read_record, record_path

BEFORE = Path(__file__).parent / "version_0_1_0"
IMPORTS = (BEFORE / "imports.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", IMPORTS)
def test_notebook_that_was_handed_out_finds_what_it_imports(line: str) -> None:
    exec(line, {})


def test_record_is_read_with_its_seal_and_says_which_engine_wrote_it(tmp_path: Path) -> None:
    path = record_path(tmp_path, "01_retrieval", "ann")
    path.parent.mkdir()
    shutil.copy(BEFORE / "ann.json", path)
    shutil.copy(BEFORE / "key", tmp_path / ".key")
    record = read_record(path)
    assert (record.points, record.of, record.engine) == (2.0, 4.0, "attn_grade 0.1.0")
    path.write_text(path.read_text(encoding="utf-8").replace("3.25", "3.5"), encoding="utf-8")
    with pytest.raises(ValueError, match="not as it was written"):
        read_record(path)
