"""Part A of problem set 02: two words aligned, a tree of strings and counts."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes

LETTERS = "abc"


def reference(source: str, target: str, replace: int = 1) -> dict:
    costs = _costs(source, target, replace)
    row, column, pairs = len(source), len(target), []
    while row or column:
        here = costs[row, column]
        differ = row and column and source[row - 1] != target[column - 1]
        if row and column and here == costs[row - 1, column - 1] + replace * differ:
            pairs.append((source[row - 1], target[column - 1]))
            row, column = row - 1, column - 1
        elif row and here == costs[row - 1, column] + 1:
            pairs.append((source[row - 1], "-"))
            row -= 1
        else:
            pairs.append(("-", target[column - 1]))
            column -= 1
    rows = tuple("".join(pair[side] for pair in reversed(pairs)) for side in (0, 1))
    return {"cost": costs[len(source), len(target)], "rows": rows, "steps": _count(pairs)}


def _costs(source: str, target: str, replace: int) -> dict[tuple[int, int], int]:
    costs = {(row, 0): row for row in range(len(source) + 1)}
    costs |= {(0, column): column for column in range(len(target) + 1)}
    for row, one in enumerate(source, 1):
        for column, other in enumerate(target, 1):
            costs[row, column] = min(
                costs[row - 1, column - 1] + replace * (one != other),
                costs[row - 1, column] + 1,
                costs[row, column - 1] + 1,
            )
    return costs


def _count(pairs: list[tuple[str, str]]) -> dict[str, int]:
    gaps = {"delete": sum(low == "-" for _, low in pairs)}
    gaps["insert"] = sum(high == "-" for high, _ in pairs)
    return gaps | {"keep": sum(high == low for high, low in pairs)}


def draw_words(generator: torch.Generator, source: int, target: int) -> Inputs:
    """Words of so many letters, of an alphabet so small that many of them agree."""

    def word(length: int) -> str:
        places = torch.randint(len(LETTERS), (length,), generator=generator)
        return "".join(LETTERS[place] for place in places)

    return {"source": word(source), "target": word(target)}


def costs_the_same_backwards(call, inputs: Inputs) -> str | None:
    """A law: what is deleted on the way there is inserted on the way back."""
    there = call(inputs)["cost"]
    back = call({"source": inputs["target"], "target": inputs["source"]})["cost"]
    return None if there == back else f"there it costs {there}, and back {back}"


mistake = Mistakes()


@mistake(points=1)
def pays_twice_for_replacing(source, target):
    """you count replacing a letter as deleting it and inserting another; it is one step"""
    return reference(source, target, replace=2)


@mistake(points=1)
def compares_place_by_place(source, target):
    """you compare letters at the same places: one that is inserted in front then moves all that
    follow it. Fill the table of all beginnings of both words"""
    length = max(len(source), len(target))
    rows = source.ljust(length, "-"), target.ljust(length, "-")
    pairs = list(zip(*rows, strict=True))
    cost = sum(one != other for one, other in pairs)
    return {"cost": cost, "rows": rows, "steps": _count(pairs)}


@mistake(points=1)
def forgets_to_turn_the_rows_around(source, target):
    """you walk back from the last letters, and hand the rows over as you found them: turn each of
    them around"""
    found = reference(source, target)
    return found | {"rows": tuple(row[::-1] for row in found["rows"])}


@mistake(points=1)
def counts_what_is_replaced_as_kept(source, target):
    """you count each pair of letters as kept; kept are those that agree"""
    found = reference(source, target)
    pairs = zip(*found["rows"], strict=True)
    return found | {"steps": found["steps"] | {"keep": sum("-" not in pair for pair in pairs)}}


EXERCISE = Exercise(
    function="align",
    reference=reference,
    title="two words aligned",
    minutes=35,
    axes={},  # words and designs are drawn as long as they are asked for
    may_use=("methods_course.edit_distance.show",),
    contract=Contract(points=0),
    checks=(
        Check(
            "cost, rows and steps are those of the cheapest alignment",
            3,
            draw_words,
            sizes=({"source": 5, "target": 7}, {"source": 6, "target": 6}),
            hidden_sizes=({"source": 9, "target": 8}, {"source": 8, "target": 11}),
        ),
        Check(
            "there and back cost the same, also from and to a word without letters",
            1,
            draw_words,
            sizes=({"source": 0, "target": 3}, {"source": 4, "target": 7}),
            hidden_sizes=({"source": 0, "target": 0}, {"source": 9, "target": 5}),
            invariant=costs_the_same_backwards,
        ),
    ),
    mistakes=mistake.collected,
)
