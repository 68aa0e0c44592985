"""Wrong answers of an exercise, each with its hint and what it earns."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hintgrader.worker.plain import Plain


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer, what it earns, and what a student who gave it should read.

    Args:
        answer: The wrong answer.
        hint: What was done, and what should have been done.
        points: What the checks that it passes are worth; None if that follows from them.
        evidence: What the invariant of the first check that it fails recognises it by. Without it
            the mistake is made anew to be compared with, for which one that trains is too slow.
        also: Other answers with the same mistake, whose numbers differ from `answer`'s.
        shows: What its hint says of the evidence, to be held against what an answer gave; None if
            agreement is enough.
        right: What is right in an answer with this mistake and no other; said of no other answer.
        slip: Whether an answer with it is right but for a slip of the hand or of the form, which
            costs the same small share in every exercise, see
            `hintgrader.hints.cost_of_a_slip`; None if its bank does not say: it does just where
            something is `right`. A number is another share that it costs at most: a half, where a
            part asks for two faults of a given program, and one of them is left.
    """

    answer: Callable[..., Plain]
    hint: str
    points: float | None
    evidence: Plain = None
    also: tuple[Callable[..., Plain], ...] = ()
    shows: Callable[[Plain], bool] | None = None
    right: str = ""
    slip: bool | float | None = None

    @property
    def name(self) -> str:
        return self.answer.__name__

    @property
    def is_light(self) -> bool:
        """True if an answer with this mistake and no other is right but for one thing."""
        return bool(self.right) if self.slip is None else bool(self.slip)

    @property
    def whole_hint(self) -> str:
        """The hint for an answer with this mistake and no other."""
        also = "; still," if " but " in f" {self.hint}" else ", but"
        return f"{self.right}{also} {self.hint}" if self.right else self.hint


class Mistakes:
    """Collects the wrong answers of an exercise, each a function whose docstring is the hint.

    Where several agree with what a student hands in, the one defined first is recognised: its hint
    has to be true of whatever computes the same::

        mistake = Mistakes()

        @mistake(points=1)
        def works_in_double_precision(scores):
            \"""you compute in float64 and return it; the output has the dtype of the scores\"""
            return torch.softmax(scores.double(), -1)
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Mistake] = {}

    @property
    def collected(self) -> tuple[Mistake, ...]:
        return tuple(self._by_name.values())

    def __call__(
        self,
        answer: Callable[..., Plain] | None = None,
        /,
        *,
        points: float = 0,
        evidence: Plain = None,
        hint: str | None = None,
        ending: str = "",
        computes: Callable[..., Plain] | None = None,
        also: tuple[Callable[..., Plain], ...] = (),
        right: str = "",
        slip: bool | float | None = None,
    ) -> Callable[..., Any]:
        """Collect the function below: with `@mistake` alone, it earns nothing.

        Args:
            answer: The function below.
            points: What it earns.
            evidence: What it is recognised by, see `Mistake`.
            hint: What the student reads, where several mistakes share it; without it the
                docstring, whose lines are joined.
            ending: How the hint ends, where several end alike.
            computes: The wrong answer itself, if it is made out of another; then the function
                below has neither parameters nor a body, and lends it a name and a hint.
            also: Other answers with the same mistake, see `Mistake`.
            right: What is right beside the mistake, see `Mistake`.
            slip: Whether it costs no more than a slip, or which share, see `Mistake`; None if it
                does just where something is `right`.

        Raises:
            ValueError: There is no docstring, another mistake has this name, or there are
                parameters although the mistake computes something else.
        """
        if answer is None:
            return partial(
                self,
                points=points,
                evidence=evidence,
                hint=hint,
                ending=ending,
                computes=computes,
                also=also,
                right=right,
                slip=slip,
            )
        name = answer.__name__
        if name in self._by_name:
            raise ValueError(f"there are two mistakes called {name!r}")
        if not (text := hint or answer.__doc__):
            raise ValueError(f"the mistake {name!r} has no docstring, which would be its hint")
        if computes is not None:
            if inspect.signature(answer).parameters:
                raise ValueError(
                    f"the mistake {name!r} has parameters, and computes something else"
                )
            answer, answer.__name__ = computes, name
        said = " ".join(text.split()) + ending
        self._by_name[name] = Mistake(answer, said, points, evidence, also, right=right, slip=slip)
        return answer
