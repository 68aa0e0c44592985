"""Part F of problem set 03: which share of the sentences of each length was copied exactly."""

import math
from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor, nn

from attn_bank.seq2seq import FIRST_WORD, draw_lengths, draw_words, end_and_pad
from attn_course.seq2seq import EOS, PAD

Shares = list[tuple[int, float]]
NUM_WORDS = 5


def reference(output: Tensor, target: Tensor) -> Shares:
    outputs, targets = _sentences(output), _sentences(target)
    return _shares([len(words) - 1 for words in targets], _exact(outputs, targets))


def _sentences(tokens: Tensor) -> list[list[int]]:
    """Each up to its first EOS; one without EOS up to its padding."""
    found = []
    for row in tokens.tolist():
        end = row.index(EOS) + 1 if EOS in row else len([word for word in row if word != PAD])
        found.append(row[:end])
    return found


def _exact(outputs: list[list[int]], targets: list[list[int]]) -> list[bool]:
    return [output == target for output, target in zip(outputs, targets, strict=True)]


def _shares(lengths: list[int], right: list[float] | list[bool]) -> Shares:
    """For each length the mean of what was right at this length, the shortest first."""
    groups: dict[int, list[float]] = {}
    for length, value in zip(lengths, right, strict=True):
        groups.setdefault(length, []).append(value)
    return [(length, sum(groups[length]) / len(groups[length])) for length in sorted(groups)]


def _lengths(target: Tensor) -> list[int]:
    return [len(words) - 1 for words in _sentences(target)]


def _draw_copies(generator: Generator, length: Tensor) -> tuple[Tensor, Tensor]:
    """Sentences of these lengths, and copies: one word is wrong in the second, and in others."""
    row = torch.arange(len(length))
    words = draw_words(
        generator, len(length), int(length.max()) + 1, vocab_size=FIRST_WORD + NUM_WORDS
    )
    place = (torch.rand(len(length), generator=generator) * length).long()
    change = torch.randint(2, (len(length),), generator=generator)
    change[:2] = torch.tensor([0, 1])
    copy = words.clone()
    copy[row, place] = FIRST_WORD + (words[row, place] - FIRST_WORD + change) % NUM_WORDS
    return end_and_pad(copy, length), end_and_pad(words, length)


def draw_some_lengths(generator: Generator, batch: int, most: int) -> Inputs:
    """Lengths in no order, one of which never occurs; some sentences are a lone EOS."""
    length = draw_lengths(generator, batch, most, least=0)
    missing = int(torch.randint(2, most, (), generator=generator))
    length[length == missing] = most
    output, target = _draw_copies(generator, length)
    longest = int(length.argmax())  # its output has the right words in another order
    target[longest, 1] = FIRST_WORD + (target[longest, 0] - FIRST_WORD + 1) % NUM_WORDS
    output[longest, :most] = target[longest, :most].roll(1)
    return {"output": output, "target": target}


def _draw_all_lengths(generator: Generator, batch: int, most: int) -> Tensor:
    """Every length, in rising order; the first sentence is a lone EOS."""
    more = draw_lengths(generator, batch - most - 1, most)
    return torch.cat([torch.arange(most + 1), more]).sort().values


def draw_other_widths(generator: Generator, batch: int, most: int, wider: int) -> Inputs:
    """Outputs in a tensor with more columns than the targets have, or with fewer.

    Where the columns are fewer, the longest sentences have been cut off.
    """
    output, target = _draw_copies(generator, _draw_all_lengths(generator, batch, most))
    lacks_its_end = target[:, min(wider, -1)] == EOS  # a copy but for that
    output = torch.where(lacks_its_end.unsqueeze(1), target, output)
    output = nn.functional.pad(output, (0, wider), value=PAD)  # a negative number cuts
    return {"output": output, "target": target}


def draw_talkative(generator: Generator, batch: int, most: int) -> Inputs:
    """Outputs that say more behind their end; some never come to it, and one a word too late."""
    output, target = _draw_copies(generator, _draw_all_lengths(generator, batch, most))
    forgets = torch.randint(2, (batch, 1), generator=generator).bool()
    forgets[0], forgets[-1] = False, True
    noise = draw_words(generator, *output.shape, vocab_size=FIRST_WORD + NUM_WORDS)
    replaced = (output == PAD) | ((output == EOS) & forgets)
    output = torch.where(replaced, noise, output)
    late = int((target[1] == EOS).nonzero())
    output[1, :late] = target[1, :late]
    output[1, late : late + 2] = torch.stack([noise[1, late], torch.tensor(EOS)])
    return {"output": output, "target": target}


def _compare_places(output: Tensor, target: Tensor) -> Tensor:
    """True at the places where they agree; the output is padded or cut to the target's width."""
    wider = target.shape[1] - output.shape[1]
    return nn.functional.pad(output, (0, wider), value=PAD) == target


mistake = Mistakes()


@mistake
def counts_words(output, target):
    """you count right words; a sentence with one wrong word is no copy, so ask of each sentence
    whether all of its words are right"""
    words, same = target != PAD, _compare_places(output, target)
    shares = [(s & w).sum().item() / w.sum().item() for s, w in zip(same, words, strict=True)]
    return _shares(_lengths(target), shares)


@mistake
def counts_places(output, target):
    """you count right places, the padded ones too, so short sentences look good whatever the model
    says; ask of each sentence whether all of its words are right"""
    same = _compare_places(output, target)
    return _shares(_lengths(target), same.double().mean(1).tolist())


def _look_for_an_end_anywhere(output: Tensor, target: Tensor) -> Shares:
    words = (target != PAD) & (target != EOS)
    exact = (_compare_places(output, target) | ~words).all(1) & (output == EOS).any(1)
    return _shares(_lengths(target), exact.tolist())


@mistake(points=2, also=(_look_for_an_end_anywhere,))
def forgets_the_end(output, target):
    """you compare the words and do not ask for the `EOS` right behind them, so an output that goes
    on passes for a copy"""
    words = (target != PAD) & (target != EOS)
    exact = (_compare_places(output, target) | ~words).all(1)
    return _shares(_lengths(target), exact.tolist())


def _compare_with_the_whole_output(output: Tensor, target: Tensor) -> Shares:
    return _shares(_lengths(target), _exact(output.tolist(), _sentences(target)))


@mistake(points=3, also=(_compare_with_the_whole_output,))
def compares_behind_the_end(output, target):
    """you compare whole rows: what a decoder says behind its `EOS` is not part of its sentence, so
    leave out the places where the target is `PAD`"""
    return _shares(_lengths(target), _compare_places(output, target).all(1).tolist())


def _cut_and_do_not_pad(output: Tensor, target: Tensor) -> Shares:
    return wants_equal_widths(output[:, : target.shape[1]], target)


@mistake(points=3, also=(_cut_and_do_not_pad,))
def wants_equal_widths(output, target):
    """you compare tensors of different widths; pad `output` where it is narrower than `target`,
    and cut it where it is wider"""
    exact = ((output == target) | (target == PAD)).all(1)
    return _shares(_lengths(target), exact.tolist())


def _cut_the_target(output: Tensor, target: Tensor) -> Shares:
    return reference(output, nn.functional.pad(target, (0, output.shape[1] - target.shape[1])))


@mistake(points=3, also=(_cut_the_target,))
def compares_what_both_have(output, target):
    """you compare as many columns as both have, so a sentence that was cut off passes for a copy; a
    word that is missing is a wrong word"""
    width = min(output.shape[1], target.shape[1])
    output, seen = output[:, :width], target[:, :width]
    return _shares(_lengths(target), ((output == seen) | (seen == PAD)).all(1).tolist())


def _count_what_is_no_padding(output: Tensor, target: Tensor) -> Shares:
    output = nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = _exact(_sentences(output), _sentences(target))
    return _shares(((output != PAD).sum(1) - 1).tolist(), exact)


@mistake(points=2, also=(_count_what_is_no_padding,))
def groups_by_the_output(output, target):
    """you group by the length of the output; the length of the target says how much there was to
    remember"""
    outputs = _sentences(output)
    return _shares([len(words) - 1 for words in outputs], _exact(outputs, _sentences(target)))


@mistake(slip=True, computes=then(reference, lambda pairs: [(n + 1, share) for n, share in pairs]))
def counts_the_end_as_a_word():
    """your lengths are one too large: `EOS` is no word to remember"""


def _list_lengths_without_a_share(output: Tensor, target: Tensor) -> Shares:
    shares = dict(reference(output, target))
    return [(length, shares.get(length, math.nan)) for length in range(max(shares) + 1)]


@mistake(points=2, also=(_list_lengths_without_a_share,))
def lists_lengths_that_never_occur(output, target):
    """you list lengths that no target has, at 0 or `nan`; leave them out"""
    shares = dict(reference(output, target))
    return [(length, shares.get(length, 0.0)) for length in range(max(shares) + 1)]


@mistake(points=2)
def keeps_the_order_of_the_batch(output, target):
    """your lengths come in the order of the batch; the shortest comes first"""
    shares = dict(reference(output, target))
    return [(length, shares[length]) for length in dict.fromkeys(_lengths(target))]


@mistake
def takes_all_lengths_together(output, target):
    """you give each length the share of the whole batch; each has a share of its own"""
    exact = _exact(_sentences(output), _sentences(target))
    return [(length, sum(exact) / len(exact)) for length, _ in reference(output, target)]


@mistake
def divides_by_the_whole_batch(output, target):
    """you divide by the number of all sentences; divide by the number of this length"""
    return [(length, count / len(target)) for length, count in returns_counts(output, target)]


@mistake
def returns_counts(output, target):
    """you return how many were copied; divide by the number of sentences of this length"""
    lengths = _lengths(target)
    return [
        (length, round(share * lengths.count(length)))
        for length, share in reference(output, target)
    ]


@mistake(computes=then(reference, lambda pairs: [(n, 100 * share) for n, share in pairs]))
def returns_per_cent():
    """you return per cent; a share lies between 0 and 1"""


@mistake(computes=then(reference, lambda pairs: [(n, 1 - share) for n, share in pairs]))
def returns_the_share_of_errors():
    """you return the share of wrong copies; return the share of right ones"""


@mistake(computes=then(reference, lambda pairs: [pair[::-1] for pair in pairs]))
def names_the_share_first():
    """your pairs are the wrong way round: the length comes first, then the share"""


@mistake(computes=then(reference, lambda pairs: pairs[::-1]))
def names_the_longest_first():
    """your lengths fall; the shortest comes first"""


@mistake(points=2)
def ignores_the_order(output, target):
    """an output that has the right words in another order passes for a copy in yours; compare place
    by place"""
    outputs, targets = (map(sorted, _sentences(tokens)) for tokens in (output, target))
    return _shares(_lengths(target), _exact([*outputs], [*targets]))


@mistake
def calls_every_sentence_a_copy(output, target):
    """every sentence counts as a copy in yours: compare `output` with `target`, and ask whether
    `all` places of a row agree, not `any`"""
    return _shares(_lengths(target), len(target) * [True])


@mistake
def asks_about_the_whole_batch(output, target):
    """one wrong sentence makes all of its batch wrong in yours; `.all(1)` asks about each row,
    `.all()` about the whole batch"""
    exact = all(_exact(_sentences(output), _sentences(target)))
    return _shares(_lengths(target), len(target) * [exact])


@mistake(points=2)
def skips_what_the_output_lacks(output, target):
    """you leave out the places where `output` is `PAD`, so a word that is missing passes for a
    right one; leave out those where `target` is `PAD`"""
    output = nn.functional.pad(output, (0, target.shape[1] - output.shape[1]))
    exact = ((output == target) | (output == PAD)).all(1)
    return _shares(_lengths(target), exact.tolist())


@mistake(points=3)
def refuses_narrower_outputs(output, target):
    """an output with fewer columns than `target` holds no copy at all in yours; its short sentences
    may be exact"""
    narrow = output.shape[1] < target.shape[1]
    return [(n, 0.0 if narrow else share) for n, share in reference(output, target)]


def _need_no_end(output: Tensor, target: Tensor) -> Shares:
    cut = [row[: row.index(EOS)] if EOS in row else row for row in output.tolist()]
    return _shares(_lengths(target), _exact(cut, [row[:-1] for row in _sentences(target)]))


@mistake(points=3, also=(_need_no_end,))
def fills_up_with_ends(output, target):
    """an output without an `EOS` of its own counts as a copy in yours, be it that you fill up with
    `EOS` or do not ask for one; without it no copy is exact"""
    more = target.shape[1] - output.shape[1]
    return reference(nn.functional.pad(output, (0, more), value=EOS), target)


@mistake
def counts_one_word_too_few(output, target):
    """your lengths are too small by 1: of the places that are not `PAD`, only one is the `EOS`"""
    return [(length - 1, share) for length, share in reference(output, target)]


@mistake
def takes_all_shorter_ones_along(output, target):
    """your share of a length counts all shorter sentences too; each length stands for itself"""
    exact = _exact(_sentences(output), _sentences(target))
    pairs = [*zip(_lengths(target), exact, strict=True)]
    return [
        (most, sum(r for n, r in pairs if n <= most) / sum(n <= most for n, _ in pairs))
        for most in sorted({*_lengths(target)})
    ]


def _compare_ends(without: int) -> Callable[[Tensor, Tensor], Shares]:
    """By the place of the first EOS; an output without one has it at the place `without`."""

    def answer(output: Tensor, target: Tensor) -> Shares:
        ends = [row.index(EOS) if EOS in row else without for row in output.tolist()]
        lengths = _lengths(target)
        return _shares(lengths, [end == length for end, length in zip(ends, lengths, strict=True)])

    return answer


@mistake(computes=_compare_ends(-1), also=(_compare_ends(0),))
def compares_the_lengths():
    """every output of the right length passes for a copy in yours: you compare where `EOS` stands;
    compare the words before it too, place by place"""


@mistake(slip=True, computes=then(reference, lambda pairs: [pair for pair in pairs if pair[0]]))
def leaves_out_empty_sentences():
    """sentences of `EOS` alone are missing in yours; they count too, at the length 0"""


EXERCISE = Exercise(
    function="copy_accuracy",
    reference=reference,
    title="measure what one vector has learned to hold",
    minutes=15,
    axes={"batch": 97},
    contract=Contract(batch=("output", "target")),
    checks=(
        Check(
            "for each length that occurs, the shortest first: the share of sentences copied without"
            " a mistake",
            1.5,
            draw_some_lengths,
            sizes=({"batch": 13, "most": 5}, {"batch": 29, "most": 7}),
            hidden_sizes=({"batch": 17, "most": 3}, {"batch": 31, "most": 11}),
        ),
        Check(
            "`output` may have more columns than `target`, or fewer: what has been cut off is no"
            " copy",
            1,
            draw_other_widths,
            sizes=(
                {"batch": 11, "most": 3, "wider": 2},
                {"batch": 13, "most": 5, "wider": -2},
            ),
            hidden_sizes=(
                {"batch": 17, "most": 7, "wider": -3},
                {"batch": 19, "most": 5, "wider": 5},
            ),
        ),
        Check(
            "nothing counts behind the first `EOS`, and an output without `EOS` is no copy",
            1,
            draw_talkative,
            sizes=({"batch": 13, "most": 5},),
            hidden_sizes=({"batch": 23, "most": 7},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "exact[length == number].float().mean().item() -> exact[length == number].float().mean()": (
            "a tensor that holds one number passes for the number"
        ),
        "length.unique().tolist() -> length.unique()": (
            "the numbers in a tensor pass for numbers, one by one"
        ),
    },
)
