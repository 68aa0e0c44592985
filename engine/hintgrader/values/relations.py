"""Relations of wrong numbers to the right ones, where one relation holds for all of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from torch import Tensor

from hintgrader.values.equality import same

_EACH: dict[str, Callable[[Tensor], Tensor]] = {
    "1 minus": lambda right: 1 - right,
    "1 divided by": lambda right: 1 / right,
    "the square of": lambda right: right.square(),
    "the square root of": lambda right: right.sqrt(),
    "the logarithm of": lambda right: right.log(),
    "e to the power of": lambda right: right.exp(),
}
_AXES = {-1: "the last axis", -2: "the last axis but one", -3: "the last axis but two"}
_LINES = {-1: "row", -2: "column"}
_FEWEST = 3  # numbers of a line that agree by more than chance
_LOOKED_FOR = ContextVar("_LOOKED_FOR", default=True)


@contextmanager
def unrelated() -> Iterator[None]:
    """Look for no relations inside the `with` block, where nobody reads what is found."""
    token = _LOOKED_FOR.set(False)
    try:
        yield
    finally:
        _LOOKED_FOR.reset(token)


def relation(got: Tensor, exact: Tensor) -> str:
    """Say a relation that holds everywhere; nothing if there is none.

    Args:
        got: An answer's numbers, which are not the right ones.
        exact: The right ones, floating-point numbers of the same shape and dtype.
    """
    if not _LOOKED_FOR.get():
        return ""
    if not got.any():
        return "all your numbers are 0" if got.numel() > 1 else ""
    if same(-got, exact):
        return "all your signs are reversed"
    if got.ndim > 1 and got.mT.shape == exact.shape and same(got.mT, exact):
        return "your answer is transposed"
    if same(got, exact):  # so nearly that every relation would hold
        return ""
    ratio = (got / exact)[exact.abs() > 1e-6]
    if ratio.numel() > 1 and ratio.isfinite().all() and same(got, exact * ratio.mean()):
        return f"every number is {told_apart(ratio.mean().item(), 1.0)[0]} times what it should be"
    if got.numel() < _FEWEST or not (got.isfinite().all() and exact.isfinite().all()):
        return ""
    return next(_less_plain(got, exact), "")


def _near(got: Tensor, other: Tensor, axis: int | None = None) -> bool:
    """True if finite numbers agree as in `same`, which takes longer; with an axis, line by line."""
    size = other.abs()
    largest = size.max() if axis is None else size.amax(axis, keepdim=True)
    return bool((largest.isfinite() & ((got - other).abs() <= 1e-5 * largest)).all())


def _less_plain(got: Tensor, exact: Tensor) -> Iterator[str]:
    more = (got - exact).mean()
    if _near(got - more, exact):
        yield f"every number is {abs(more):.4g} too {'large' if more > 0 else 'small'}"
    for words, made_of in _EACH.items():
        if _near(got, made_of(exact)):
            yield f"each of your numbers is {words} what it should be"
    for axis, name in list(_AXES.items())[: got.ndim]:
        length = got.shape[axis]
        if length > 1 and _near(got.flip(axis), exact):
            yield f"your numbers are in reverse order along {name}"
        if length < _FEWEST:
            continue
        first, last = (_part(got, axis, start) for start in (0, 1))
        early, late = (_part(exact, axis, start) for start in (0, 1))
        if _near(early, late):
            continue
        if _near(last, early):
            yield f"your numbers are one place too late along {name}"
        if _near(first, late):
            yield f"your numbers are one place too early along {name}"
    yield from _by_lines(got, exact)


def _by_lines(got: Tensor, exact: Tensor) -> Iterator[str]:
    for axis, line in list(_LINES.items())[: got.ndim]:
        length = got.shape[axis]
        if length < _FEWEST or got.numel() == length:
            continue
        times = (got * exact).sum(axis, keepdim=True) / exact.square().sum(axis, keepdim=True)
        if times.isfinite().all() and times.all() and _near(got, exact * times, axis):
            yield f"each {line} is right but for a factor of its own"
        if _near(got - (got - exact).mean(axis, keepdim=True), exact, axis):
            yield f"each {line} is right but for a number of its own that is added"


def _part(numbers: Tensor, axis: int, start: int) -> Tensor:
    return numbers.narrow(axis, start, numbers.shape[axis] - 1)


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see that they differ, but at least four."""
    if isinstance(one, bool):
        return str(one), str(other)
    shown = ((f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in shown if pair[0] != pair[1]), (repr(one), repr(other)))
