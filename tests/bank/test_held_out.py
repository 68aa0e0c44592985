"""Answers that were written from the statements alone, before the bank had seen any of them.

Their code is data: it lies under `tests/bank/held_out` as it was before its first run. They measure
what graders say to a student whom nobody has foreseen. `verdicts.csv` has what is said of each, and
whether that is true, judged by reading the answer and the hint.
"""

import csv
import re
import runpy
from collections import Counter, defaultdict
from functools import cache

import pytest
from hintgrader.bank.grade import grade
from hintgrader.worker.points import Points
from hintgrader.worker.submission import LocalSubmission

from attn_bank import exercise_names, find_exercise
from tests.conftest import ROOT
from tests.problem_sets import LONG
from tests.sampling import parameters

HELD_OUT = ROOT / "tests" / "bank" / "held_out"
SECRET = "one"
# The number of exercises that `make test` takes.
TAKEN_EXERCISES = 4
# Those that somebody has answered unseen; a new one waits for that.
ANSWERED = [name for name in exercise_names() if (HELD_OUT / f"{name}.txt").is_file()]
SLOW = {name for name in ANSWERED if any(c.slow for c in find_exercise(name).checks)}
# The share of wrong answers that have to get a true hint.
SHARE, SHARE_OF_LEARNERS = 0.95, 0.75
# Of those that were missed or misjudged at first; they are copies of others but for their names.
LEFT_OUT = 1


def answers(exercise: str) -> dict:
    names = runpy.run_path(str(HELD_OUT / f"{exercise}.txt"))
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


@pytest.mark.parametrize("exercise", parameters(ANSWERED, TAKEN_EXERCISES, never=SLOW | LONG))
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


@cache
def page() -> dict[tuple[str, str], list[int]]:
    """Return the numbers that the page gives for each kind of answer and batch."""
    text = (HELD_OUT / "README.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| ([^|]+), ([^|]+) batch(?:es)? \|((?: \d+ \|){6})$", re.MULTILINE)
    return {(m[1], m[2]): [int(n) for n in re.findall(r"\d+", m[3])] for m in row.finditer(text)}


@cache
def wrong_answers() -> dict[tuple[str, str], list[dict[str, str]]]:
    """Return the rows of wrong answers for each kind and batch."""
    found = defaultdict(list)
    for kind, rows in (("held-out answers", verdicts()), ("learners", learners())):
        for row in rows:
            if not row["answer"].startswith("right"):
                found[kind, row["batch"]].append(row)
    return found


def count(rows: list[dict[str, str]], when: str, verdict: str) -> int:
    return sum(row[when] == verdict for row in rows)


def test_the_page_says_what_the_tables_hold():
    tables = {
        of_it: [len(rows), count(rows, "true", "true"), count(rows, "true", "false")]
        for of_it, rows in wrong_answers().items()
    }
    assert tables == {of_it: numbers[3:] for of_it, numbers in page().items()}


def test_what_was_missed_or_misjudged_at_first_is_kept():
    left_out = 0
    for of_it, (wrong, true, false, *_) in page().items():
        rows = wrong_answers()[of_it]
        assert count(rows, "first", "false") == false, of_it
        assert len(rows) == wrong or of_it[0] != "learners"
        left_out += (wrong - true) - sum(row["first"] != "true" for row in rows)
    assert left_out == LEFT_OUT


def test_other_answers_are_kept_one_for_each_thing_that_is_said():
    pairs, others = Counter(), Counter()
    for row in verdicts():
        if row["answer"].startswith("wrong_"):
            pair = row["exercise"], row["said"]
            pairs[pair] += 1
            others[pair] += row["first"] == row["true"] == "true"
    assert not [pair for pair in pairs if others[pair] and pairs[pair] > 1]


def test_every_answer_has_a_row_and_every_row_an_answer():
    files = {path.relative_to(HELD_OUT).with_suffix("") for path in HELD_OUT.glob("*/*")}
    assert {path.as_posix() for path in files} == set(ANSWERED)
    found = Counter((exercise, name) for exercise in ANSWERED for name in answers(exercise))
    assert found == Counter((row["exercise"], row["answer"]) for row in verdicts())
