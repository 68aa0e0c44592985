"""Faults of translations, told from what most of them look like.

Two translators that erred alike do not give the same words, for their first weights differ. But
both may say one word over and over, or never come to an end. By this a mistake in training is
recognised; it is the second part of every fault that is found here.
"""

from collections.abc import Callable, Iterable, Sequence

from hintgrader.exercise import Plain, name_kind
from torch import Tensor

from attn_course.metrics import corpus_bleu
from attn_course.seq2seq import BOS, EOS

Row = Sequence[int]
Show = Callable[[Row], str]
Fault = tuple[str, str]  # what the student reads, and what it is recognised by
# Of 40 translators that have learned nothing four spoke one language, by chance.
UNTRAINED = ("no order", "both languages")


def form_fault(output: Plain, rows: int) -> Fault | None:
    """The fault of an output that is not even so many rows of token numbers; None without one."""
    if not isinstance(output, Tensor):
        return f"it is {name_kind(output)}; expected rows of token numbers", "no tensor"
    if output.is_floating_point() or output.ndim != 2:
        kind = f"{name_kind(output)} and {output.dtype}"
        return f"it is {kind}; expected rows of token numbers", "no tokens"
    if len(output) != rows:
        return f"it has {len(output)} rows; expected {rows}, one for each source", "other rows"
    return None


def common_fault(
    ours: Sequence[Row], truth: Sequence[Row], learned: Sequence[Row], show: Show
) -> Fault | None:
    """The fault that most translations have in common; None without one.

    Args:
        ours: The translations.
        truth: What they should be.
        learned: Translations that were there to learn from.
        show: Writes a row in words.
    """
    said = {
        "BOS": "begin with BOS, which is no word",
        "one word": "are empty, or say one word over and over",
        "no order": "begin as no target does, and never end",
        "other language": "are in the language of the sources",
        "both languages": "mix words of both languages",
        "cut off": "are cut off",
        "no end": "go on where they should end",
        "no beginning": "begin as no target does",
    }
    for evidence, found in _common_faults(ours, truth, learned).items():
        if found:
            example = f"{show(ours[0])} for {show(truth[0])}"
            reason = f"most of your translations {said[evidence]}; you say {example}"
            return reason, "untrained" if evidence in UNTRAINED else evidence
    return None


def _common_faults(
    ours: Sequence[Row], truth: Sequence[Row], learned: Sequence[Row]
) -> dict[str, bool]:
    """Each fault, and whether it is found; if several are, the first tells most."""
    rows = list(map(words_of, ours))
    vocabulary, heads = {word for row in learned for word in row}, {row[0] for row in learned}
    strange = [sum(word not in vocabulary for word in row) / max(1, len(row)) for row in rows]
    unended = _most(EOS not in row for row in ours)
    headless = _most(row[0] not in heads for row in ours)
    pairs = list(zip(rows, map(words_of, truth), strict=True))
    return {
        "BOS": _most(row[0] == BOS for row in ours),
        "one word": _most(_says_one_word(row) for row in rows),
        "no order": unended and headless,
        "other language": _most(share > 2 / 3 for share in strange),
        "both languages": _most(share > 0 for share in strange),
        "cut off": unended and _most(row == right[: len(row)] for row, right in pairs),
        "no end": unended and _most(row[: len(right)] == right for row, right in pairs),
        "no beginning": headless,
    }


def low_bleu(ours: Sequence[Row], truth: Sequence[Row], bleu: float, show: Show) -> Fault | None:
    """The fault of a BLEU below what is asked, and whether short rows do well all the same."""
    pairs = [(words_of(row), words_of(right)) for row, right in zip(ours, truth, strict=True)]
    found = corpus_bleu(*zip(*((_strings(a), _strings(b)) for a, b in pairs), strict=True))
    if found >= bleu:
        return None
    pairs.sort(key=lambda pair: len(pair[1]))
    third = len(pairs) // 3
    short, long = (sum(a == b for a, b in part) for part in (pairs[:third], pairs[-third:]))
    wrong, right = next((a, b) for a, b in reversed(pairs) if a != b)
    reason = (
        f"BLEU is {found:.0f}; at least {bleu:.0f} is asked. Of the {third} shortest rows {short}"
        f" are right, of the {third} longest {long}; you say {show(wrong)} for {show(right)}"
    )
    short_only = short > third / 2 and long < third / 4
    return reason, "short only" if short_only else f"below {bleu:.0f}"


def words_of(row: Row) -> Row:
    """The tokens up to the first EOS."""
    return row[: row.index(EOS)] if EOS in row else row


def _strings(row: Row) -> tuple[str, ...]:
    return tuple(map(str, row))


def _most(conditions: Iterable[bool]) -> bool:
    listed = list(conditions)
    return sum(listed) > len(listed) / 2


def _says_one_word(row: Row) -> bool:
    return len(row) != 1 and len(set(row)) <= 1
