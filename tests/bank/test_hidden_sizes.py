"""Hidden draws with long axes, whose lengths nobody knows before they are drawn."""

import torch
from hintgrader.bank.grade import grade
from hintgrader.exercise.definition import PRIMES, Check
from hintgrader.worker.submission import LocalSubmission

from attn_bank import find_exercise


def draw(generator, rows, columns):
    return {"number": torch.rand(rows, columns, generator=generator, dtype=torch.float64)}


def shapes(secret, **axes):
    check = Check("a row", 1, draw, ({"rows": 2, "columns": 1},))
    return [tuple(inputs["number"].shape) for inputs in check.inputs("an exercise", secret, axes)]


def test_long_axes_are_drawn_from_the_secret_and_only_for_the_instructor():
    assert shapes(None, rows=97) == [(2, 1)]
    drawn = {shapes(str(secret), rows=97)[-1] for secret in range(20)}
    assert len(drawn) > 5
    assert {rows for rows, _ in drawn} <= {*PRIMES}
    assert shapes("one", rows=97) == shapes("one", rows=97)
    assert max(shapes(str(secret), rows=17)[-1] for secret in range(20)) == (17, 1)
    assert shapes("one", columns=97) == [(2, 1)]  # an axis of length 1 is there for that


def test_answer_that_is_right_for_short_axes_alone_is_refused():
    spec = find_exercise("01_retrieval/softmax")

    def only_short(scores):
        raised = (scores - scores.amax(-1, keepdim=True)).exp()
        return raised / raised[..., :12].sum(-1, keepdim=True)

    assert float(grade(spec, LocalSubmission(only_short), None)) == spec.points
    repeating = sum(check.points for check in spec.checks if check.repeats)
    assert float(grade(spec, LocalSubmission(only_short), "one")) <= repeating
