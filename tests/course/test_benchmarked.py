"""Records of benchmarks are read with the machine that they were made on."""

import pytest

from attn_course.benchmarked import FOLDER, load_benchmark
from tests.conftest import ROOT

RECORDS = sorted(path.stem for path in FOLDER.glob("*.json"))
OF_ATTENTION = [name for name in RECORDS if name.startswith("attention")]
OF_RECURRENCE = [name for name in RECORDS if name.startswith("recurrence")]


def test_there_are_records_of_a_processor() -> None:
    assert {"attention_cpu", "recurrence_cpu"} <= set(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_record_says_what_it_was_measured_on(name: str) -> None:
    record = load_benchmark(name)
    assert {"name", "cores", "threads", "torch", "dtype"} <= record["machine"].keys()
    assert all(rate > 0 for rate in record.get("rates", {}).values())


@pytest.mark.parametrize("name", OF_ATTENTION)
def test_ratios_are_those_of_times_that_are_there(name: str) -> None:
    record = load_benchmark(name)
    rows = record["layer"] + record["multi_head"] + record["decoding"]
    assert {row["length"] for row in record["layer"]} >= {128, 8192}
    near = 0.5 if name.endswith("cuda") else 0.3  # the start of an operation on a GPU scatters
    for row in rows:  # the median of ratios is near the ratio of medians
        assert row["ratio"] == pytest.approx(row["ours_ms"] / row["theirs_ms"], rel=near), row


@pytest.mark.parametrize(
    ("chapter", "name"),
    [
        ("07_scaled_dot_product", "attention_cuda"),
        ("09_multi_head", "attention_cuda"),
        ("10_recurrence", "recurrence_cuda"),
    ],
)
def test_chapter_quotes_the_record_of_a_gpu_or_says_that_there_is_none(
    chapter: str, name: str
) -> None:
    text = " ".join((ROOT / "book" / "text" / f"{chapter}.md").read_text(encoding="utf-8").split())
    assert (name in text) == (name in RECORDS)
    assert ("here has run on a GPU yet" in text) == (name not in RECORDS)


def test_record_that_there_is_not_names_those_that_there_are() -> None:
    with pytest.raises(
        FileNotFoundError, match=r"no record of 'abacus'; there are: .*attention_cpu"
    ):
        load_benchmark("abacus")


@pytest.mark.parametrize("name", OF_ATTENTION)
def test_layer_reaches_a_share_of_what_the_machine_can_do(name: str) -> None:
    for row in load_benchmark(name)["layer"]:
        assert 0 < row["share_of_matrix_rate"] < 1, row
        assert 0 < row["share_of_memory_rate"] < 1, row


@pytest.mark.parametrize("name", OF_RECURRENCE)
def test_every_layer_is_timed_at_every_length_and_batch(name: str) -> None:
    record = load_benchmark(name)
    layers = {"gru", "lstm", "attention", "fast attention"}
    for row in record["by_length"] + record["by_batch"]:
        assert all(row[layer] > 0 for layer in layers), row
    every = record["machine"]["threads"]
    lengths = [row["length"] for row in record["by_length"] if row["threads"] == every]
    assert lengths == sorted(set(lengths))
    assert {128, 4096} <= set(lengths)
    assert len({row["batch"] for row in record["by_batch"]}) == len(record["by_batch"]) > 2
