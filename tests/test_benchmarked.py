"""Records of benchmarks are read with the machine that they were made on."""

import pytest

from attn_course.benchmarked import FOLDER, load_benchmark

RECORDS = sorted(path.stem for path in FOLDER.glob("*.json"))


def test_there_is_a_record_of_a_processor() -> None:
    assert "attention_cpu" in RECORDS


@pytest.mark.parametrize("name", RECORDS)
def test_record_says_what_it_was_measured_on(name: str) -> None:
    record = load_benchmark(name)
    assert {"name", "cores", "threads", "torch", "dtype"} <= record["machine"].keys()
    assert all(rate > 0 for rate in record["rates"].values())


@pytest.mark.parametrize("name", RECORDS)
def test_ratios_are_those_of_times_that_are_there(name: str) -> None:
    record = load_benchmark(name)
    rows = record["layer"] + record["multi_head"] + record["decoding"]
    assert {row["length"] for row in record["layer"]} >= {128, 8192}
    for row in rows:  # the median of ratios is near the ratio of medians
        assert row["ratio"] == pytest.approx(row["ours_ms"] / row["theirs_ms"], rel=0.3), row


def test_record_that_there_is_not_names_those_that_there_are() -> None:
    with pytest.raises(
        FileNotFoundError, match=r"no record of 'abacus'; there are: .*attention_cpu"
    ):
        load_benchmark("abacus")


@pytest.mark.parametrize("name", RECORDS)
def test_layer_reaches_a_share_of_what_the_machine_can_do(name: str) -> None:
    for row in load_benchmark(name)["layer"]:
        assert 0 < row["share_of_matrix_rate"] < 1, row
        assert 0 < row["share_of_memory_rate"] < 1, row
