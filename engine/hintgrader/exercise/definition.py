"""Exercises: a reference, its checks, and the mistakes that students make."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import torch
from torch import Generator

from hintgrader.exercise.mistakes import Mistake
from hintgrader.worker.plain import Inputs, Plain
from hintgrader.worker.student_packages import NO_PACKAGES, StudentPackages

PRIMES = (13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
NO_AXES: Mapping[str, int] = MappingProxyType({})
Draw = Callable[..., Inputs]
# What is broken, in words; with it, if need be, by what to recognise who broke it in the same way.
Invariant = Callable[[Callable[..., Plain], Inputs], str | tuple[str, Plain] | None]


@dataclass(frozen=True, eq=False)  # what is drawn for it is remembered by identity
class Check:
    """A row of the table that a student reads, and the points it is worth.

    A check draws its inputs for every entry of `sizes`, and for the instructor also for every
    entry of `hidden_sizes`, from seeds that only the instructor knows. The row is passed if the
    answer is right on all of them.

    Args:
        label: What is asked, as a sentence a student understands. It seeds the draws too: other
            words bring other inputs, so run `make proofs` when you change it.
        points: What it is worth.
        draw: `draw(generator, **sizes)` gives the inputs, floating-point ones in float64.
        sizes: Sizes of the inputs that a student may see, one entry a draw, or names of what to
            draw.
        hidden_sizes: Sizes of the inputs that only the instructor draws; None means `sizes` again,
            and an empty one that nothing is drawn by chance, so that there is nothing to hide.
        dtype: The dtype that floating-point inputs are handed over in.
        gradient: Names of inputs; the gradients that reach them are compared instead of the output.
        untouched: Whether the inputs have to be the same afterwards too, as they were before.
        invariant: `invariant(call, inputs)` returns what is broken, or None; it replaces the
            comparison with the reference. `call(inputs)` is the student's output, and
            `call(inputs, seed)` the one with other random numbers; with `seconds` a call may
            take longer than usual. The words may come in a tuple with evidence by which mistakes
            are told apart, where the words hold numbers that differ from one wrong answer to the
            next.
        withheld: Names of inputs that an invariant sees and the answer does not, such as the truth
            about what the answer has to guess.
        tolerance: Allowed error as a multiple of the error that the reference itself makes in
            `dtype`, seen from float64, but at least of the rounding of the largest output.
        easier: Whether another check asks for more. It refuses nothing by itself; it is there so
            that an answer that is nearly right earns something, and hears what it lacks.
        seconds: How long a call may take, for an answer that trains; None is the usual limit.
            Such a check is slow: it is tried only if all checks before it are passed, and by the
            instructor on the hidden inputs alone.
        repeats: Whether it draws what another check draws, and looks at more than the numbers:
            wrong numbers fail both.
        sizes_matter: Whether what it asks is about its sizes, or right answers tell them apart; it
            is not drawn with long axes.
    """

    label: str
    points: float
    draw: Draw
    sizes: tuple[Mapping[str, int | str], ...] = ({},)
    hidden_sizes: tuple[Mapping[str, int | str], ...] | None = None
    dtype: torch.dtype = torch.float32
    gradient: tuple[str, ...] = ()
    untouched: bool = False
    invariant: Invariant | None = None
    withheld: tuple[str, ...] = ()
    tolerance: float = 64.0
    easier: bool = False
    seconds: float | None = None
    repeats: bool = False
    sizes_matter: bool = False

    @property
    def slow(self) -> bool:
        return self.seconds is not None

    def inputs(
        self, exercise: str, secret: str | None = None, axes: Mapping[str, int] = NO_AXES
    ) -> list[Inputs]:
        """The public inputs, or with a secret the hidden ones.

        Args:
            exercise: Its name.
            secret: What the hidden ones are drawn from.
            axes: See `Exercise`.
        """
        all_sizes = list(self.sizes)
        if secret is not None:
            all_sizes = list(self.sizes if self.hidden_sizes is None else self.hidden_sizes)
            first = all_sizes[0] if all_sizes else {}
            long = _long(first, axes, _generator(exercise, self.label, "sizes", secret))
            stays = self.slow or self.repeats or self.easier or self.sizes_matter
            all_sizes += [long] if long and not stays else []
        with torch.device("cpu"):  # whatever default an earlier cell has set
            return [
                self.draw(_generator(exercise, self.label, index, secret or "public"), **sizes)
                for index, sizes in enumerate(all_sizes)
            ]


@dataclass(frozen=True, eq=False)
class Contract:
    """The contract of a statement: all that it says of every answer besides its numbers.

    All that the engine knows to break is promised: that the output has the dtype of the inputs,
    that the caller's arguments stay as they are, that gradients arrive, that axes of length one
    stay, and the rest of `hintgrader.exercise.mutation`. What is not promised is exempt, with a
    reason.

    Args:
        points: Of the row that the engine adds for the dtype, the arguments and a batch of one.
        batch: Names of the inputs that share an axis in front, such as a batch's.
        any_axes: Whether any number of axes may stand in its place.
        like: Place of the check whose draws that row takes; None means the first that compares.
        answer: What is broken to see that it is refused, where the reference, though right, would
            be refused itself.
        exempts: By the name of a fault what lets an answer have it; see
            `hintgrader.exercise.contract`.
    """

    points: float = 0.5
    batch: tuple[str, ...] = ()
    any_axes: bool = False
    like: int | None = None
    answer: Callable[..., Plain] | None = None
    exempts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)  # likewise
class Exercise:
    """A graded part of a problem set.

    Args:
        function: The name under which the student defines the answer.
        reference: The right answer.
        checks: The rows of the table; their points add up to the exercise's. Its bank adds the row
            of its contract.
        contract: What its statement says of every answer; None if it says nothing.
        title: What to do, for the table of parts; empty if it shares a part with the one before.
        minutes: How long it takes a student, for the same table.
        mistakes: Wrong answers that students give, recognised by what they compute. Its bank adds
            those that break its contract.
        avoid: What would do the exercise instead of the student: families of library functions, as
            `hintgrader.worker.forbidden_calls` has them, and names of others.
        may_use: Functions of the course's packages that an answer may call; all others are
            noticed. With None an answer may call whatever it likes, and is not slowed down by
            being watched.
        axes: Names of sizes, and the most that each may be. Each check has one hidden draw more, a
            copy of its first with these axes long: primes from 13 on, drawn from the secret. So no
            answer is right that only knows how long axes are in the bank. Empty if none can be
            long; None if its author has not said.
        goes_on: Arguments that a loop of a right answer may make anew, step by step, where the
            source of the reference does not show it.
        equivalent_mutants: Changes of the solution that change nothing, each with the reason.
        name: `NN_slug/part`, by which notebooks and records call it; its bank fills it in.
        packages: What a student may import; likewise.
        version: Of what the bank holds of it; likewise.
        reports: Where to tell that a hint is wrong; likewise.
    """

    function: str
    reference: Callable[..., Plain]
    checks: tuple[Check, ...]
    contract: Contract | None = None
    title: str = ""
    minutes: int = 0
    mistakes: tuple[Mistake, ...] = ()
    avoid: tuple[str, ...] = ()
    may_use: tuple[str, ...] | None = ()
    axes: Mapping[str, int] | None = None
    goes_on: tuple[str, ...] = ()
    equivalent_mutants: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    packages: StudentPackages = NO_PACKAGES
    version: str = ""
    reports: str = ""

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)


def _long(
    sizes: Mapping[str, int | str], axes: Mapping[str, int], generator: Generator
) -> dict[str, int | str] | None:
    """The sizes with long axes, which nobody knows before; None without such axes.

    An axis of length 1 keeps it: it is there for that.
    """
    drawn = {
        name: primes[int(torch.randint(len(primes), (), generator=generator))]
        for name, most in axes.items()
        if sizes.get(name, 1) != 1 and (primes := [prime for prime in PRIMES if prime <= most])
    }
    return {**sizes, **drawn} if drawn else None


def _generator(*parts: object) -> Generator:
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).digest()
    return Generator("cpu").manual_seed(int.from_bytes(digest[:8], "big") >> 1)
