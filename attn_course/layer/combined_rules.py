"""Rules of which keys a query may attend to, put together.

`causal` and `window` themselves are in `attn_course.scaled_dot_product`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_

from torch import Tensor

from attn_course.scaled_dot_product import Band, Rule, allowed_by


def and_rules(*rules: Rule | None) -> Rule | None:
    """The rule that allows only the pairs that all rules allow; None allows every pair.

    Bands make one band, so that `and_rules(causal, window(63))` is `window(63, after=0)`. What a
    rule knows of its reach is kept.
    """
    given = [rule for rule in rules if rule is not None]
    bands = [rule for rule in given if isinstance(rule, Band)]
    if len(bands) > 1:
        before, after = _least(band.before for band in bands), _least(band.after for band in bands)
        given = [Band(before, after), *(rule for rule in given if not isinstance(rule, Band))]
    return AllOf(tuple(given)) if len(given) > 1 else given[0] if given else None


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def reach_of(rule: Rule | None, first: int, last: int, key_len: int) -> range:
    """The positions of the keys that queries from `first` to `last` may attend to.

    A rule with a method `reach`, as `Band` has it, says so itself. Any other reaches all keys.
    """
    reach = getattr(rule, "reach", None)
    return range(key_len) if reach is None else reach(first, last, key_len)


@dataclass(frozen=True)
class AllOf:
    """The rule that all its rules have to allow a pair.

    Attributes:
        rules: Two or more.
    """

    rules: tuple[Rule, ...]

    def __call__(self, query_position: Tensor, key_position: Tensor) -> Tensor:
        """True where the query may attend."""
        if query_position.ndim == 0:  # FlexAttention asks for one pair
            return reduce(and_, (rule(query_position, key_position) for rule in self.rules))
        return reduce(and_, (allowed_by(rule, query_position, key_position) for rule in self.rules))

    def reach(self, first: int, last: int, key_len: int) -> range:
        """The positions of the keys that none of the rules puts out of reach."""
        reaches = [reach_of(rule, first, last, key_len) for rule in self.rules]
        return range(max(each.start for each in reaches), min(each.stop for each in reaches))
