"""Proofs of an exercise: its right answers pass, and every way to be wrong is refused.

Each function yields what does not hold, as a sentence to the author.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from hintgrader.authoring.solution import Solution
from hintgrader.authoring.source_mutants import mutants_of
from hintgrader.bank.grade import grade
from hintgrader.checking.case import axes_of, draw_cases
from hintgrader.checking.judge import examine, examine_one
from hintgrader.exercise.contract import exemption, right_answers, wrong_answers
from hintgrader.exercise.definition import Exercise
from hintgrader.exercise.mistakes import Mistake
from hintgrader.exercise.mutation.reference import Variant
from hintgrader.hints.cost_of_a_slip import cost_of_a_slip
from hintgrader.worker.plain import Plain
from hintgrader.worker.points import Points
from hintgrader.worker.submission import LocalSubmission

Answer = Callable[..., Plain]
A_REASON = 20  # the letters that one has at least


def watched(exercise: Exercise, answer: Answer) -> LocalSubmission:
    """An answer that is watched as a student's is."""
    return LocalSubmission(answer, exercise.avoid, exercise.may_use, exercise.packages)


def faults_of_right_answer(
    exercise: Exercise, name: str, submission: LocalSubmission, secret: str
) -> Iterator[str]:
    """The rows that refuse an answer which is right."""
    for number, row in enumerate(grade(exercise, submission, secret).rows, start=1):
        if row.problem:
            yield f"{name} has to be right, and row {number} refuses it: {row.problem}"


def faults_of_mistake(
    exercise: Exercise, mistake: Mistake, score: Points, by_luck: bool = False
) -> Iterator[str]:
    """Say of a graded mistake that it earns, or is told, something else than it declares.

    Args:
        exercise: Which knows it.
        mistake: Which was graded.
        score: What it got.
        by_luck: Whether its points depend on the seed.
    """
    if score.hint != mistake.whole_hint:
        yield f"{mistake.name} is told something else than its hint: {score.hint}"
    if mistake.points is None:  # its promises made it
        if float(score) >= exercise.points:
            yield f"{mistake.name} earns every point"
        return
    at_least = score.of - cost_of_a_slip(exercise, mistake) if mistake.is_light else 0
    if not by_luck and float(score) != (declared := max(mistake.points, at_least)):
        yield f"{mistake.name} earns {score:g}, and by its points {declared:g}"


def unseen_forms(exercise: Exercise, mistake: Mistake) -> Iterator[str]:
    """The forms of a mistake that no row of a student's notebook refuses.

    There it is shown as right, and its points are lost unforeseen.
    """
    for number, answer in enumerate((mistake.answer, *mistake.also)):
        submission = LocalSubmission(answer, may_use=None)
        cases = (t for check in exercise.checks for t in draw_cases(exercise, check, None))
        if not any(examine_one(case, submission) for case in cases):
            form = f", in its form also[{number - 1}]," if number else ""
            yield f"{mistake.name}{form} is refused by no row that a student sees"


def unmarked_slips(exercise: Exercise, secret: str) -> Iterator[str]:
    """Mistakes that are right for one number of axes alone, and do not say whether it is a slip.

    They fit matrices at least, and fail where there are more or fewer axes, and nowhere else.
    """
    axes = axes_of(exercise, secret)
    for mistake in exercise.mistakes if axes else ():
        if mistake.is_light or mistake.slip is not None:
            continue
        found = examine(exercise, LocalSubmission(mistake.answer, may_use=None), secret)
        wrong = {(row, one.draw) for row, rows in enumerate(found) for one in rows}
        fits = {number for place, number in axes.items() if place not in wrong}
        elsewhere = {place for place, number in axes.items() if number not in fits}
        if len(fits) == 1 and min(fits) > 1 and wrong == elsewhere:
            said = "is right for one number of axes alone: say slip=True"
            yield f"{mistake.name} {said}, or slip=False if that has another reason"


def mutants(solution: Solution) -> Mapping[str, str]:
    """The sources of a solution with one change, by the change."""
    return mutants_of(ast.unparse(ast.parse(solution.source)))


def defined_mutants(
    exercise: Exercise, solution: Solution, changes: Mapping[str, str]
) -> Iterator[tuple[str, Answer]]:
    """The changed solutions that can be defined at all, without those declared equivalent."""
    for change, source in changes.items():
        if change not in exercise.equivalent_mutants:
            try:
                mutant = solution.function(exercise.function, source)
            except Exception:  # nobody could hand it in
                continue
            yield change, mutant


def refusing_checks(exercise: Exercise, answer: Answer, secret: str) -> list[str]:
    """Labels of the first two checks that refuse: to tell none, one and several apart is enough."""
    submission = LocalSubmission(answer)
    refusing: list[str] = []
    for check in exercise.checks:  # one that repeats another stands behind it
        if len(refusing) == 2 or (refusing and (check.slow or check.repeats)):
            break
        if any(examine_one(case, submission) for case in draw_cases(exercise, check, secret)):
            refusing.append(check.label)
    return refusing


def surviving_mutants(refused: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The changes of the solution that no check refuses."""
    for change in (change for change, labels in refused.items() if not labels):
        said = "is refused by no row: draw what it spoils"
        yield f"the change {change!r} of the solution {said}, or add it to `equivalent_mutants`"


def faults_of_equivalents(
    exercise: Exercise, solution: Solution, secret: str, tried: bool = True
) -> Iterator[str]:
    """Changes that are declared to change nothing, and do, or are none.

    Args:
        exercise: Which declares them.
        solution: Which is changed.
        secret: What hidden inputs are drawn from.
        tried: Whether they are tried as well.
    """
    changes = mutants(solution)
    for change, reason in exercise.equivalent_mutants.items():
        of = f"`equivalent_mutants` names {change!r}"
        if change not in changes:
            yield f"{of}, which is no change; there are: {', '.join(map(repr, changes))}"
            continue
        if len(reason) <= A_REASON:
            yield f"{of}, with no reason"
        answer = solution.function(exercise.function, changes[change])
        if tried and grade(exercise, LocalSubmission(answer), secret) != exercise.points:
            yield f"{of}, which does change something"


def idle_checks(exercise: Exercise, refused: Iterable[Sequence[str]]) -> Iterator[str]:
    """Checks without which every wrong answer would still be refused.

    Args:
        exercise: Whose checks they are.
        refused: For each wrong answer the labels of the first two checks that refuse it.
    """
    everything = [list(labels) for labels in refused]
    for number, check in enumerate(exercise.checks, start=1):
        if check.easier and all(check.label in labels for labels in everything):
            yield f"row {number} is easier, and no wrong answer passes it alone: {check.label}"
        if not check.easier and [check.label] not in everything:
            yield f"row {number} refuses no wrong answer that the others pass: {check.label}"


def faults_of_variants(exercise: Exercise, secret: str) -> Iterator[str]:
    """Alterations of the reference that are forbidden and accepted, or the other way round."""
    for variant in wrong_answers(exercise):
        reason, said = exemption(exercise, variant), _refusal(exercise, variant, secret)
        if reason is None and not said:
            exempts = f'exempts={{"{variant.name}": "why"}}'
            yield f"an answer that {variant.name} is accepted: draw what shows it, or say {exempts}"
        elif reason is not None and said:
            yield f"an answer that {variant.name} is exempt ({reason}), and refused: {said}"
    for variant in right_answers(exercise):
        if said := _refusal(exercise, variant, secret):
            yield f"an answer that {variant.name} is right, and refused: {said}"


def _refusal(exercise: Exercise, variant: Variant, secret: str) -> str | None:
    """The reason why an answer is refused, by public and hidden inputs; None if it is accepted."""
    submission = LocalSubmission(variant.answer)
    for one in exercise.checks[::-1]:  # the row of promises comes last, and refuses most
        for case in [] if one.slow else draw_cases(exercise, one, secret):
            if found := examine_one(case, submission):
                return f"{one.label}: {found.reason}"
    return None
