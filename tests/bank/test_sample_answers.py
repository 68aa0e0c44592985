"""Every number of a sample answer is asked for, printed by its notebook, or computed here.

An instructor marks by these answers, so none of their figures may be one that nobody computed.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from hintgrader.nbgrader.rubric.items import RUBRIC, graded_by_hand_in, read_items
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests.problem_sets import SOLUTIONS
from tests.sampling import left_to_proofs

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
NOTATION = re.compile(r"\(\d{4}\)|\{,\}|(?<=\d),(?=\d{3})|\\,")  # years, and commas at thousands
SMALL = 20  # smaller whole numbers count things, or name them

# A last cell, which prints what an answer computes and its notebook does not.
COMPUTED = {
    "01_retrieval": """
for temperature in (300, 10000):
    scores = distance_scores(query, key) / temperature
    nearest = scores.topk(10).indices
    print(softmax(scores).gather(-1, nearest).sum(-1).mean().item())
    alone = torch.full_like(scores, -torch.inf).scatter(-1, nearest, scores.gather(-1, nearest))
    guess = softmax(alone) @ value
    print((guess - truth).square().sum(-1).mean().item(), guess.amax(-1).mean().item())
""",
    "02_kernel_regression": """
from math import exp
distance, near = (income.flatten() - 3000).abs().sort()
assert distance[1] > 3 * width
print(exp(-1 / 2), exp(1 / 2), len(income), income[near[0]].item())
""",
    "03_seq2seq": """
from unittest.mock import patch

begin_anew, draw = torch.manual_seed, copy_pairs

def exchange_halves(pair):
    source, (*symbols, end) = pair
    half = len(symbols) // 2
    return source, [*symbols[half:], *symbols[:half], end]

def print_shares_at_four(copiers, change):
    test = make_batch([change(pair) for pair in islice(draw(1, 8, (1, 8)), 1600)])
    for seed in range(3):
        for width, reverse in copiers:
            with (
                patch.object(torch, "manual_seed", lambda _: begin_anew(seed)),
                patch.dict(globals(), copy_pairs=lambda *drawn: map(change, draw(*drawn))),
            ):
                model = train_copier(width, reverse, 200)
            output = greedy_decode(model, test.source, max_len=12)
            print(dict(copy_accuracy(output, test.target_output))[4])

print_shares_at_four([(16, False), (32, False), (32, True)], lambda pair: pair)
print_shares_at_four([(32, False), (32, True)], exchange_halves)
print((0.59 * 0.41 / 200) ** 0.5, 0.85 - 0.59)
""",
    "05_luong": """
from math import exp
print(2 * (5 / 1.5) ** 2, exp(-1 / 2), 1 - 0.74)
""",
    "06_captioning": """
print(round(8.434 / 0.013, -1), 97 + 30 - 100)
""",
    "07_scaled_dot_product": """
print(64 - 1)
for factor in (1, 1 / 16, 1 / 4, 4):
    slack, shares = learn(factor)
    steps = [20 * block for block in range(1, 7) if shares[block - 1] > 0.97]
    print(slack, shares[-1].item(), "all from step", *steps[:1])
""",
    "08_self_attention": """
print(1 - 1 / 100, 0.99**300)
assert 0.99**300 < 0.05 < 0.99**290
""",
    "10_recurrence": """
from math import exp
print(128 - 1, 12 * 127, 12 * 127 + 1, 255 - 2)
for n in (15, 63, 255):
    window, both = (masks(n)[name].tril() for name in ("window", "with global token"))
    window, both = map(layers_to_hear, (window, both))
    print(n - 1, window[-1, 0].item(), -(-(n - 1) // 3), both.max().item())
    assert both[1:, 0].eq(1).all() and both[:, 1:].equal(window[:, 1:])
for bias in (3.66, 7.66):
    gate = 1 / (1 + exp(-bias))
    print(bias, gate, gate**200)
""",
}


def sample_answer(notebook: NotebookNode) -> str:
    (cell,) = (
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "words"
    )
    return cell.source


def numbers(text: str) -> list[str]:
    return NUMBER.findall(NOTATION.sub("", text))


def what_is_said(notebook: NotebookNode) -> str:
    """The statements, and what the notebook prints."""
    said = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            said += [output.get("text", "") for output in cell.outputs]
        elif cell.metadata.get("nbgrader", {}).get("grade_id") != "words":
            said.append(cell.source)
    return "\n".join(said)


def is_said(number: str, known: list[float]) -> bool:
    """True if it is one of the known, rounded to its digits, or a share in hundredths."""
    decimals = len(number.partition(".")[2])
    steps = 10.0**-decimals
    return any(abs(float(number) - size * x) < 0.6 * steps for x in known for size in (1, 100))


@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_items_of_a_rubric_add_up_to_the_points_of_their_cell(path: Path) -> None:
    cells = graded_by_hand_in(path)
    items = read_items(path.with_name(RUBRIC), cells)
    assert {c: sum(item.points for item in items if item.cell == c) for c in cells} == cells


@left_to_proofs
@pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_numbers_of_sample_answer_are_computed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(COMPUTED.get(path.stem, "")))
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, resources=place).execute()
    known = [float(number) for number in numbers(what_is_said(notebook))]
    quoted = [n for n in numbers(sample_answer(notebook)) if "." in n or int(n) >= SMALL]
    assert [number for number in quoted if not is_said(number, known)] == []
