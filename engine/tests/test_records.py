"""Records of graded submissions: what is written is what is read, and anything else is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hintgrader.records.records import (
    STATES,
    PartRecord,
    RowRecord,
    SubmissionRecord,
    read_record,
    read_records,
    record_path,
    worst_state,
    write_record,
)

ROWS = (RowRecord("is it `softmax`", 2.0), RowRecord("is it α-stable", 1.5, "nan < 1\u2028"))
PART = PartRecord(
    *("softmax-check", "01_retrieval/softmax", 2.0, 3.5, "cheated?", ROWS),
    *("subtract the maximum", "overflows", 3.5, 2.0, ("claims 3.5", "left 3 processes behind")),
)
BARE = PartRecord("slip-check", "01_retrieval/softmax_gradient", 0.0, 4.0, "missing")
RECORD = SubmissionRecord(
    *("01_retrieval", "ann-marie o'neil", "cheated?", "sandbox", "0f" * 32, 3.25),
    *((PART, BARE), ("handed in late",)),
)


@pytest.mark.parametrize("record", [RECORD, replace(RECORD, parts=(), notes=())])
def test_record_comes_back_from_json_as_it_was(record: SubmissionRecord) -> None:
    assert SubmissionRecord.from_json(record.to_json()) == record


def test_points_of_a_record_are_those_of_its_parts() -> None:
    assert (RECORD.points, RECORD.of) == (2.0, 7.5)


def test_records_are_read_by_assignment_in_the_order_of_names(tmp_path: Path) -> None:
    others = [replace(RECORD, student=name) for name in ("zoe", "bob", "ann")]
    for record in others:
        write_record(record_path(tmp_path, record.assignment, record.student), record)
    write_record(record_path(tmp_path, "02_other", "bob"), replace(RECORD, assignment="02_other"))
    assert read_records(tmp_path, "01_retrieval") == others[::-1]
    assert read_records(tmp_path, "03_nothing") == []


OLD = json.loads(RECORD.to_json())
del OLD["version"]


def test_record_of_an_earlier_version_is_refused_with_both_versions(tmp_path: Path) -> None:
    path = record_path(tmp_path, "01_retrieval", "ann")
    path.parent.mkdir()
    path.write_text(json.dumps(OLD), encoding="utf-8")
    with pytest.raises(ValueError, match="written by version 1 of the grader; this is 3"):
        read_record(path)
    assert read_records(tmp_path, "01_retrieval", skip_broken=True) == []


FOREIGN = {
    "no JSON": "points: 3",
    "cut off": RECORD.to_json()[:-20],
    "empty": "",
    "a list": "[]",
    "another object": '{"student": "ann"}',
    "a part that is none": json.dumps(json.loads(RECORD.to_json()) | {"parts": [{"part": "x"}]}),
    "one field more": json.dumps(json.loads(RECORD.to_json()) | {"grade": "A"}),
    "no text": b"\xff\xfe\x00",
    "an unknown state": RECORD.to_json().replace("cheated?", "excellent"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_file_is_refused_by_its_name(tmp_path: Path, kind: str) -> None:
    path = record_path(tmp_path, "01_retrieval", "ann")
    path.parent.mkdir()
    text = FOREIGN[kind]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=r"01_retrieval/ann\.json is not the record of a subm"):
        read_records(tmp_path, "01_retrieval")


def test_record_that_is_not_there_is_missed_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"ann\.json"):
        read_record(tmp_path / "ann.json")


def test_interrupted_writing_leaves_the_record_before(tmp_path: Path, monkeypatch) -> None:
    path = record_path(tmp_path, RECORD.assignment, RECORD.student)
    write_record(path, RECORD)

    def fail(*paths: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        write_record(path, replace(RECORD, parts=()))
    assert read_record(path) == RECORD
    assert read_records(tmp_path, RECORD.assignment) == [RECORD]


def test_worst_state_is_the_one_that_a_person_should_hear_of_first() -> None:
    assert worst_state(list(STATES)) == "cheated?"
    assert worst_state(["graded", "timed out", "missing", "crashed"]) == "crashed"
    assert worst_state(["graded", "missing"]) == "missing"
    assert worst_state([]) == "graded"
