"""Part D of problem set 13: several documents in one row, and two slips of the code for them."""

from collections.abc import Callable
from functools import partial

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor
from torch.nn.functional import pad

Both = tuple[Tensor, Tensor]
IGNORED = -100


def reference(tokens: Tensor, end: int) -> Both:
    return _both(tokens, end)


def _marks_before(is_end: Tensor) -> Tensor:
    return is_end.cumsum(-1) - is_end.long()


def _marks_so_far(is_end: Tensor) -> Tensor:
    return is_end.cumsum(-1)


def _same_and_earlier(document: Tensor) -> Tensor:
    return (document.unsqueeze(-1) == document.unsqueeze(-2)).tril()


def _following(tokens: Tensor) -> Tensor:
    return pad(tokens[..., 1:], (0, 1), value=IGNORED)


def _ignore_after_marks(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return following.masked_fill(tokens == end, IGNORED)


def _ignore_marks(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return following.masked_fill(following == end, IGNORED)


def _both(
    tokens: Tensor,
    end: int,
    *,
    marks: Callable[[Tensor], Tensor] = lambda is_end: is_end,
    document: Callable[[Tensor], Tensor] = _marks_before,
    mask: Callable[[Tensor], Tensor] = _same_and_earlier,
    following: Callable[[Tensor], Tensor] = _following,
    ignore: Callable[[Tensor, Tensor, int], Tensor] = _ignore_after_marks,
) -> Both:
    """Mask and targets, in one of many ways: right is what the arguments are by themselves."""
    seen = mask(document(marks(tokens == end)))
    return seen, ignore(following(tokens), tokens, end)


def _with(**how: Callable[..., Tensor]) -> Callable[..., Both]:
    return partial(_both, **how)


def draw_documents(generator: Generator, batch: int, length: int, end: int) -> Inputs:
    """Rows of documents of two to five tokens, their marks included; the last one may be cut off.

    No two rows have their marks at the same places.
    """
    tokens = torch.randint(1, 9, (batch, length), generator=generator)
    tokens += (tokens >= end).long()
    for row, begins in enumerate(torch.randint(1, 4, (batch,), generator=generator).tolist()):
        place = begins + row % 2
        while place < length:
            tokens[row, place] = end
            place += int(torch.randint(2, 6, (), generator=generator))
    return {"tokens": tokens, "end": end}


def draw_odd_documents(generator: Generator, length: int, end: int) -> Inputs:
    """Rows that begin with a mark, have one behind the other, none at all, or nothing else."""
    tokens = draw_documents(generator, 5, length, end)["tokens"]
    other = int(tokens[0, 0]) if int(tokens[0, 0]) != end else int(tokens[0, 1])
    tokens[0, 0] = tokens[0, 3] = tokens[0, 4] = end
    tokens[1] = tokens[1].where(tokens[1] != end, other)
    tokens[2, -2:] = end
    tokens[3] = end
    tokens[4, :2] = end
    return {"tokens": tokens, "end": end}


_MARK = "; a mark belongs to the document that it closes, so count the marks **before** each token"
_ASK = "; ask for the next token everywhere but at the marks, and at the last place"

mistake = Mistakes()


@mistake(computes=_with(document=_marks_so_far, ignore=_ignore_marks))
def changes_nothing():
    """both slips are still there. To which document does `cumsum` count the mark itself? And which
    targets are taken out, those that are marks, or those behind marks?"""


@mistake(computes=_with(ignore=_ignore_marks), right="your mask is right", slip=0.5, ending=_ASK)
def mends_the_mask_only():
    """marks are taken out of your targets, so that the model never learns to stop, and the first
    token of the next document is still asked for"""


@mistake(
    computes=_with(document=_marks_so_far), right="your targets are right", slip=0.5, ending=_MARK
)
def mends_the_targets_only():
    """the mark is still counted to the document behind it"""


def _ignore_nothing(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return following


@mistake(computes=_with(ignore=_ignore_nothing), right="your mask is right", slip=0.5, ending=_ASK)
def asks_across_documents():
    """at each mark you ask for the first token of the next document, of which nothing has been
    seen"""


def _ignore_both(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return _ignore_marks(_ignore_after_marks(following, tokens, end), tokens, end)


@mistake(
    computes=_with(document=_marks_so_far, ignore=_ignore_nothing),
    also=(_with(document=_marks_so_far, ignore=_ignore_both),),
)
def mends_neither():
    """a mark is still counted to the document behind it, and your targets are not right either;
    count the marks **before** each token, and ask for the next token everywhere but at the marks,
    and at the last place"""


@mistake(computes=_with(ignore=_ignore_both), right="your mask is right", slip=0.5, ending=_ASK)
def never_asks_for_marks():
    """you take the marks out of the targets as well, so that the model never learns to stop"""


def _ignore_at_marks_before_tokens(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return following.masked_fill((tokens == end) & (following != end), IGNORED)


@mistake(
    computes=_with(ignore=_ignore_at_marks_before_tokens),
    right="your mask is right",
    points=2,
    ending=_ASK,
)
def asks_for_a_mark_at_a_mark():
    """where one mark stands behind another, you ask for the second at the first, though it closes
    a document of its own"""


def _ignore_one_late(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    late = pad((tokens == end)[..., :-1], (1, 0))
    return following.masked_fill(late, IGNORED)


def _ignore_rolled(following: Tensor, tokens: Tensor, end: int) -> Tensor:
    return following.masked_fill((tokens == end).roll(1, -1), IGNORED)


@mistake(computes=_with(ignore=_ignore_one_late), also=(_with(ignore=_ignore_rolled),), ending=_ASK)
def ignores_one_place_late():
    """your -100 stand one place behind the marks"""


def _asking_last(last: Callable[[Tensor, int], Tensor]) -> Callable[..., Both]:
    """At the last place is asked for what `last` makes of the tokens and the mark."""

    def answer(tokens: Tensor, end: int) -> Both:
        mask, targets = _both(tokens, end)
        return mask, torch.cat([targets[..., :-1], last(tokens, end)], -1)

    return answer


def _first_if_it_is_one_document(tokens: Tensor, end: int) -> Tensor:
    document = _marks_before(tokens == end)
    return torch.where(document[..., -1:] == document[..., :1], tokens[..., :1], IGNORED)


@mistake(
    computes=_with(following=lambda tokens: tokens.roll(-1, -1)),
    also=(
        _asking_last(_first_if_it_is_one_document),
        _with(following=lambda tokens: torch.cat([tokens[..., 1:], tokens[..., -1:]], -1)),
        _asking_last(lambda tokens, end: torch.zeros_like(tokens[..., :1])),
        _asking_last(lambda tokens, end: torch.full_like(tokens[..., :1], end)),
        # a document that is cut off is asked for its mark
        _asking_last(lambda tokens, end: torch.where(tokens[..., -1:] == end, IGNORED, end)),
    ),
    slip=True,
)
def asks_at_the_last_place():
    """you ask for something at the last place of a row, such as its first token, which `roll`
    brings there; nothing is known of what follows, so -100 stands there"""


def _instead(number: int | None) -> Callable[..., Both]:
    """Another number than -100; without one, the mark."""

    def answer(tokens: Tensor, end: int) -> Both:
        mask, targets = _both(tokens, end)
        return mask, targets.masked_fill(targets == IGNORED, end if number is None else number)

    return answer


@mistake(computes=_instead(0), also=(_instead(-1), _instead(None), _instead(100)), slip=True)
def ignores_by_another_number():
    """where nothing is asked for, another number stands than -100"""


def _keep_the_tokens(tokens: Tensor) -> Tensor:
    return tokens


def _keep_all_but_the_last(tokens: Tensor) -> Tensor:
    return pad(tokens[..., :-1], (0, 1), value=IGNORED)


@mistake(
    computes=_with(following=_keep_the_tokens),
    also=(
        _with(following=_keep_the_tokens, ignore=_ignore_nothing),
        _with(following=_keep_the_tokens, ignore=_ignore_one_late),
        _with(following=_keep_all_but_the_last),
        _with(following=_keep_all_but_the_last, ignore=_ignore_nothing),
    ),
)
def asks_for_the_token_itself():
    """you ask at each place for the token that stands there; the next one is asked for"""


def _preceding(tokens: Tensor) -> Tensor:
    return pad(tokens[..., :-1], (1, 0), value=IGNORED)


@mistake(
    computes=_with(following=_preceding),
    also=(
        _with(following=lambda tokens: tokens.roll(1, -1)),
        _with(following=_preceding, ignore=_ignore_nothing),
        _with(following=_preceding, ignore=_ignore_marks),
    ),
)
def asks_for_the_token_before():
    """you ask at each place for the token before; the next one is asked for"""


def _equal(document: Tensor) -> Tensor:
    return document.unsqueeze(-1) == document.unsqueeze(-2)


@mistake(computes=_with(mask=_equal))
def sees_later_tokens():
    """your tokens see later ones of their document; a token sees itself and those before it:
    `tril()`"""


@mistake(computes=_with(mask=lambda document: _equal(document).tril(-1)))
def does_not_see_itself():
    """your tokens do not see themselves, and so the first of a document sees nothing; the diagonal
    is True: `tril()`"""


@mistake(computes=_with(mask=lambda document: _equal(document).triu()))
def sees_later_tokens_alone():
    """your mask is transposed: a row is a query, and the keys that it sees do not come after it"""


def _let_marks_see_all(tokens: Tensor, end: int) -> Both:
    mask, targets = _both(tokens, end)
    return mask | ((tokens == end).unsqueeze(-1) & torch.ones_like(mask).tril()), targets


def _show_the_mark_before(tokens: Tensor, end: int) -> Both:
    """As if a mark opened the next document as well."""
    mask, targets = _both(tokens, end)
    is_end = tokens == end
    before = _marks_before(is_end)
    opens = before.unsqueeze(-1) == before.unsqueeze(-2) + 1
    return mask | (opens & is_end.unsqueeze(-2)), targets


@mistake(
    computes=_with(mask=lambda document: torch.ones_like(_equal(document)).tril()),
    also=(
        _with(mask=lambda d: (d.unsqueeze(-1) >= d.unsqueeze(-2)).tril()),
        _with(mask=lambda d: d.unsqueeze(-1) >= d.unsqueeze(-2)),
        _with(mask=lambda d: _same_and_earlier(d % 2)),
        _let_marks_see_all,
        _show_the_mark_before,
    ),
)
def sees_earlier_documents():
    """your tokens see those of earlier documents; query and key have to be in the **same** one"""


@mistake(computes=then(reference, lambda both: (~both[0], both[1])), right="your targets are right")
def turns_the_mask_round():
    """your mask is the opposite of what is asked: True where a token may look"""


@mistake(
    computes=then(reference, lambda both: (both[0].float(), both[1])),
    also=tuple(
        then(reference, lambda both, kind=kind: (both[0].to(kind), both[1]))
        for kind in (torch.int64, torch.int32, torch.float64)
    ),
    right="your numbers are right",
)
def returns_numbers_for_a_mask():
    """your mask holds numbers; it should hold truth values, as a comparison gives them"""


def _additive(both: Both) -> Both:
    mask, targets = both
    return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf), targets


@mistake(computes=then(reference, _additive))
def returns_what_is_added_to_scores():
    """your mask holds 0 and minus infinity, to be added to scores; it should be True where a token
    may look"""


@mistake(
    computes=then(reference, lambda both: (both[0].unsqueeze(1), both[1])),
    right="your numbers are right",
)
def leaves_room_for_heads():
    """your mask has an axis too many, as for heads; it is `(batch, length, length)`"""


@mistake(computes=then(reference, lambda both: both[::-1]))
def exchanges_mask_and_targets():
    """you return the targets before the mask; the order is `mask, targets`"""


@mistake(computes=then(reference, lambda both: both[0]))
def returns_the_mask_only():
    """you return the mask alone; the targets are asked for as well: `mask, targets`"""


def _shorten(both: Both) -> Both:
    mask, targets = both
    return mask[..., :-1, :-1], targets[..., :-1]


@mistake(
    computes=then(reference, lambda both: (both[0], both[1][..., :-1])),
    also=(then(reference, _shorten),),
)
def leaves_the_last_place_out():
    """the last place of a row is missing in your targets; nothing is asked for there, so -100
    stands there, and a row is as long as it came"""


@mistake(
    computes=_with(document=lambda is_end: is_end.cumsum(0) - is_end.long()),
    also=(
        _with(document=lambda is_end: is_end.flatten().cumsum(0).view_as(is_end) % 2),
        _with(document=lambda is_end: _marks_before(is_end[:1]).expand_as(is_end)),
    ),
)
def counts_marks_of_other_rows():
    """you count marks of other rows; each row has its own documents: `cumsum(-1)`"""


@mistake(computes=_with(document=lambda is_end: is_end.cumsum(-1).roll(1, -1)))
def rolls_the_count_round():
    """the first token of a row has the last count, which `roll` brings to the front; no mark
    stands before it, so its count is 0"""


def _marks_apart(is_end: Tensor) -> Tensor:
    return torch.where(is_end, -1 - is_end.cumsum(-1), is_end.cumsum(-1))


@mistake(computes=_with(document=_marks_apart), ending=_MARK)
def puts_marks_apart():
    """your marks belong to no document: each sees itself alone"""


def _blind(axis: int) -> Callable[..., Both]:
    """Marks that are not seen, or see nothing: an axis of the mask is False at them."""

    def answer(tokens: Tensor, end: int) -> Both:
        mask, targets = _both(tokens, end)
        return mask & (tokens != end).unsqueeze(axis), targets

    return answer


@mistake(computes=_blind(-2), also=(_blind(-1),))
def takes_marks_for_padding():
    """your marks are not seen, or see nothing, as if they were padding; they are tokens like the
    others"""


@mistake(
    points=2,
    computes=_with(marks=lambda is_end: is_end & ~pad(is_end[..., :-1], (1, 0))),
)
def joins_marks():
    """two marks one behind the other close one document in yours; the second one is a document of
    its own"""


@mistake(computes=_with(marks=lambda is_end: is_end & (is_end.cumsum(-1) == 1)))
def stops_at_the_first_mark():
    """you find the first mark of a row and no other; a row may hold many documents"""


def _without_what_is_cut_off(*, seen: bool, asked: bool) -> Callable[..., Both]:
    """A document without its mark is not seen, or nothing is asked for in it."""

    def answer(tokens: Tensor, end: int) -> Both:
        mask, targets = _both(tokens, end)
        closed = (tokens == end).flip(-1).cummax(-1).values.flip(-1)
        return (
            mask if seen else mask & closed.unsqueeze(-1),
            targets if asked else targets.where(closed, IGNORED),
        )

    return answer


@mistake(
    computes=_without_what_is_cut_off(seen=False, asked=False),
    also=(
        _without_what_is_cut_off(seen=True, asked=False),
        _without_what_is_cut_off(seen=False, asked=True),
    ),
)
def loses_what_is_cut_off():
    """you leave out the last document of a row where it is cut off, without its mark, be it in the
    mask, in the targets or in both; it goes on to the end of the row"""


EXERCISE = Exercise(
    function="mask_and_targets",
    reference=reference,
    title="find the slips: several documents in one row",
    minutes=15,
    axes={"batch": 17, "length": 43},
    contract=Contract(batch=("tokens",)),
    checks=(
        Check(
            "a token sees itself and what is before it in its own document; the next token is asked"
            " for within a document, its mark included",
            1.5,
            draw_documents,
            easier=True,
            sizes=(
                {"batch": 3, "length": 11, "end": 0},
                {"batch": 2, "length": 7, "end": 5},
            ),
            hidden_sizes=({"batch": 5, "length": 13, "end": 3},),
        ),
        Check(
            "likewise where a row begins with a mark, has one behind the other, none at all, or"
            " nothing else",
            1,
            draw_odd_documents,
            sizes=({"length": 9, "end": 0},),
            hidden_sizes=({"length": 11, "end": 7},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={"-1 -> 1": "there are two axes, and the second one is the last"},
)
