"""Answers that were written from the statements alone, before the bank had seen any of them.

Their code lies under `tests/bank/held_out` as it was before its first run. They measure what
graders say to a student whom nobody has foreseen. `verdicts.csv` has what is said of each, and
whether that is true, judged by reading the answer and the hint.
"""

import csv
import re
import runpy
from functools import cache

import pytest
from hintgrader.bank.grade import grade
from hintgrader.worker.points import Points
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.conftest import ROOT
from tests.sampling import left_to_proofs, parameters

HELD_OUT = ROOT / "tests" / "bank" / "held_out"
SECRET = "one"
# The number of exercises that `make test` takes.
TAKEN_EXERCISES = 4
# Those that somebody has answered unseen; a new one waits for that.
ANSWERED = [name for name in exercise_names() if (HELD_OUT / f"{name}.py").is_file()]
SLOW = [name for name in ANSWERED if any(c.slow for c in find_exercise(name).checks)]
SLOW += ["05_luong/attentional_states"]  # its answers loop over sentences
QUICK = [name for name in ANSWERED if name not in SLOW]
# The share of wrong answers that have to get a true hint.
SHARE, SHARE_OF_LEARNERS = 0.95, 0.75


def answers(exercise: str) -> dict:
    names = runpy.run_path(str(HELD_OUT / f"{exercise}.py"))
    return {name: names[name] for name in names if name.startswith(("wrong_", "right_"))}


@cache
def verdicts() -> list[dict[str, str]]:
    with (HELD_OUT / "verdicts.csv").open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def said(score: Points) -> str:
    """The mistake whose hint is shown, or what stands for one without a name; or "none"."""
    if score.mistake or not score.hint:
        return score.mistake or "none"
    named = re.findall(r"`(.*?)`", score.report_to)[-2]  # in the line by which a hint is reported
    return named if named in ("form", "axes") else "one row"


@pytest.mark.parametrize(
    "exercise",
    [
        *parameters(QUICK, TAKEN_EXERCISES),
        *(pytest.param(name, marks=left_to_proofs) for name in SLOW),
    ],
)
def test_held_out_answers_are_told_what_the_table_says(exercise):
    table = {
        row["answer"]: (row["points"], row["said"])
        for row in verdicts()
        if row["exercise"] == exercise
    }
    spec = find_exercise(exercise)
    found = {}
    for name, answer in answers(exercise).items():
        score = grade(spec, LocalSubmission(answer), SECRET)
        found[name] = (f"{score:g}", said(score))
    assert found == table


def test_right_answers_are_accepted_and_wrong_ones_refused_with_a_true_hint():
    kinds = {"right": [], "wrong": []}
    for row in verdicts():
        kinds[row["answer"].split("_")[0]].append(row)
        full = float(row["points"]) == find_exercise(row["exercise"]).points
        assert full == row["answer"].startswith("right"), row
        assert (row["said"] == "none") == (row["true"] == ""), row
    assert not [row for row in kinds["wrong"] if row["true"] == "false"]
    shares = [row["true"] == "true" for row in kinds["wrong"]]
    assert sum(shares) / len(shares) >= SHARE


@cache
def learners() -> list[dict[str, str]]:
    with (HELD_OUT / "learners.csv").open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_learners_code_is_judged_by_what_it_does_and_told_what_is_true():
    for row in learners():
        full = float(row["points"]) == find_exercise(row["exercise"]).points
        assert full == (row["answer"] == "right"), row
        assert (row["said"] == "none") == (row["true"] == ""), row
    wrong = [row for row in learners() if row["answer"] != "right"]
    assert not [row for row in wrong if row["true"] == "false"]
    assert sum(row["true"] == "true" for row in wrong) / len(wrong) >= SHARE_OF_LEARNERS


def test_the_page_says_what_the_tables_hold():
    held_out = [row for row in verdicts() if row["answer"].startswith("wrong_")]
    wrong = [row for row in learners() if row["answer"] != "right"]
    rows = {
        f"held-out answers, {which}": [row for row in held_out if row["batch"] in which]
        for which in (
            "first two batches",
            "third batch",
            "fourth batch",
            "fifth batch",
            "sixth batch",
            "seventh batch",
            "eighth batch",
            "ninth batch",
            "tenth batch",
            "eleventh batch",
        )
    }
    rows |= {
        "learners, first batch": [row for row in wrong if row["batch"] == "1"],
        "learners, second batch": [row for row in wrong if row["batch"] == "2"],
    }
    page = (HELD_OUT / "README.md").read_text(encoding="utf-8")
    for name, of_it in rows.items():
        shares = [
            sum(row[when] == verdict for row in of_it)
            for when in ("first", "true")
            for verdict in ("true", "false")
        ]
        line = f"| {name} | {len(of_it)} | {' | '.join(map(str, shares))} |"
        assert line in page, line
