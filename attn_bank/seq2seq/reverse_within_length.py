"""Part D of problem set 03: reversing sentences while their padding stays behind them."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal
from attn_bank.seq2seq import draw_lengths, draw_sentences
from attn_course import seq2seq
from attn_course.seq2seq import PAD


def reference(sequence: Tensor, mask: Tensor) -> Tensor:
    return seq2seq.reverse_within_length(sequence, mask)


def draw_tokens(generator: Generator, batch: int, length: int) -> Inputs:
    """Numbers of words; the padding is PAD."""
    sequence = draw_sentences(generator, batch, length, vocab_size=97)
    return {"sequence": sequence, "mask": sequence != PAD}


def draw_vectors(generator: Generator, batch: int, length: int, d_annotation: int) -> Inputs:
    """Vectors, even at the padding; one row is full, one is nothing but padding."""
    number = draw_lengths(generator, batch, length, least=0)
    mask = torch.arange(length) < number.unsqueeze(1)
    return {"sequence": draw_normal(generator, batch, length, d_annotation), "mask": mask}


def draw_annotations(generator: Generator, batch: int, length: int, d_annotation: int) -> Inputs:
    """Vectors that are 0 at the padding, as an encoder's are."""
    inputs = draw_vectors(generator, batch, length, d_annotation)
    inputs["sequence"][~inputs["mask"]] = 0
    return inputs


def draw_full(generator: Generator, batch: int, length: int, d_annotation: int) -> Inputs:
    sequence = draw_normal(generator, batch, length, d_annotation)
    return {"sequence": sequence, "mask": torch.ones(batch, length, dtype=torch.bool)}


def _places(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each place, and of its mirror image within the sentence."""
    place = torch.arange(mask.shape[1], device=mask.device)
    return place, mask.sum(1, keepdim=True) - 1 - place


def _take(sequence: Tensor, index: Tensor) -> Tensor:
    rows = zip(sequence, index.clamp(0, sequence.shape[1] - 1), strict=True)
    return torch.stack([row[numbers] for row, numbers in rows])


def _index(sequence: Tensor, index: Tensor) -> Tensor:
    """Likewise, where an index of -1 means the last, and one that is too large an exception."""
    return sequence[torch.arange(len(sequence)).unsqueeze(1), index]


def _erase_padding(sequence: Tensor, mask: Tensor) -> Tensor:
    return sequence.masked_fill(~mask.reshape(*mask.shape, *[1] * (sequence.ndim - 2)), 0)


mistake = Mistakes()


def _keep_the_padding_in_front(sequence: Tensor, mask: Tensor) -> Tensor:
    rows = zip(sequence, mask, strict=True)
    return torch.stack([torch.cat([row[~words], row[words].flip(0)]) for row, words in rows])


@mistake(points=0.5, also=(_keep_the_padding_in_front,))
def turns_the_padding_to_the_front(sequence, mask):
    """the padding comes first in yours, as when the whole row is reversed, and the encoder begins
    with it; reverse the first `n` places of each row only, where `n` is its number of words"""
    return sequence.flip(1)


@mistake(points=0.5)
def turns_to_the_longest_length(sequence, mask):
    """you reverse every row up to the longest length of the batch, its padding included; reverse
    the first `n` places of each row only, where `n` is its number of words"""
    longest = int(mask.sum(1).max())
    return torch.cat([sequence[:, :longest].flip(1), sequence[:, longest:]], 1)


@mistake
def turns_the_batch_round(sequence, mask):
    """you put the last sentence first; the sentences keep their order, their words do not"""
    return sequence.flip(0)


@mistake(
    computes=then(reference, lambda output: output.flip(-1) if output.ndim > 2 else output),
    points=1.5,
)
def turns_the_features_round_too():
    """you turn the numbers of each vector round as well; only the words change places, on axis 1"""


@mistake
def turns_the_words_of_all_sentences_round(sequence, mask):
    """`sequence[mask]` is one list of the words of all sentences, and you turn that round, so words
    go from sentence to sentence; reverse each sentence on its own"""
    turned = sequence.clone()
    turned[mask] = sequence[mask].flip(0)
    return turned


@mistake(points=2)
def leaves_out_sentences_of_padding(sequence, mask):
    """you leave out the rows that are all padding; they stay as they are"""
    return reference(sequence, mask)[mask.any(1)]


@mistake(points=1.5)
def takes_one_number_of_each_vector(sequence, mask):
    """`gather` returns as much as its index holds: with an axis of length 1 that is one number of
    each vector; expand the index, or index by row and place"""
    place, mirrored = _places(mask)
    index = torch.where(mask, mirrored, place)
    return sequence.gather(1, index.unsqueeze(-1) if sequence.ndim > 2 else index)


def _count_backwards(sequence: Tensor, mask: Tensor) -> Tensor:
    return _take(sequence, _places(mask)[1].abs())


@mistake(points=0.5, also=(_count_backwards,))
def puts_words_at_the_padding(sequence, mask):
    """at the padding you put words of the sentence once more; what stands there stays as it is"""
    return _take(sequence, _places(mask)[1].clamp_min(0))


@mistake
def turns_the_last_axis_round(sequence, mask):
    """you turn the last axis round, with the padding, and for vectors that axis holds the numbers
    of one word; the words are on axis 1"""
    return sequence.flip(-1)


@mistake
def does_nothing(sequence, mask):
    """your sentences come out as they went in; turning twice would do that"""
    return sequence.clone()


def _leave_the_row(sequence: Tensor, mask: Tensor) -> Tensor:
    place, mirrored = _places(mask)
    return _index(sequence, torch.where(mask, mirrored + 1, place))


def _leave_the_row_in_a_loop(sequence: Tensor, mask: Tensor) -> Tensor:
    out = sequence.clone()
    for row, number in enumerate(mask.sum(1)):
        for place in range(number):
            out[row, place] = sequence[row, number - place]
    return out


@mistake(slip=True, also=(_leave_the_row, _leave_the_row_in_a_loop))
def starts_behind_the_end(sequence, mask):
    """you begin one place behind the last word: the places of n words are 0 to n - 1, so place `t`
    goes to n - 1 - t"""
    place, mirrored = _places(mask)
    return _take(sequence, torch.where(mask, mirrored + 1, place))


@mistake(points=0.5)
def takes_the_longest_length_for_all(sequence, mask):
    """you turn every sentence by the length of the longest; take the sum of each row of the mask,
    with `keepdim=True`"""
    place, _ = _places(mask)
    return _take(sequence, torch.where(mask, mask.sum(1).max() - 1 - place, place))


def _choose_by_the_mask_alone(sequence: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask, sequence.flip(1), sequence)


@mistake(points=0.5, also=(_choose_by_the_mask_alone,))
def turns_within_the_width_of_the_table(sequence, mask):
    """you turn every sentence by the length of the whole row, so the padding comes to its words;
    each has a length of its own, the sum of its row of the mask"""
    place, _ = _places(mask)
    return _take(sequence, torch.where(mask, mask.shape[1] - 1 - place, place))


@mistake(points=0.5)
def takes_the_length_of_the_first(sequence, mask):
    """you turn every sentence by the length of the first; each has its own"""
    place, mirrored = _places(mask)
    return _take(sequence, torch.where(mask, mirrored[:1], place))


@mistake
def leaves_the_last_word_where_it_is(sequence, mask):
    """you leave the last token of each sentence where it is; here all tokens that the mask marks
    are turned round, `EOS` too"""
    place, mirrored = _places(mask)
    return _take(sequence, torch.where(mask & (mirrored > 0), mirrored - 1, place))


def _take_from_the_end_too(sequence: Tensor, mask: Tensor) -> Tensor:
    place, mirrored = _places(mask)
    return _index(sequence, torch.where(mask, mirrored - 1, place))


@mistake(slip=True, also=(_take_from_the_end_too,))
def starts_before_the_last_word(sequence, mask):
    """you begin with the last word but one: place `t` goes to n - 1 - t if the first place is 0, to
    n - t if it is 1"""
    place, mirrored = _places(mask)
    return _take(sequence, torch.where(mask, mirrored - 1, place))


@mistake
def takes_the_places_of_all_rows(sequence, mask):
    """`sequence[:, index]` takes the places of all rows from each row; a second index has to say
    which row a place is in"""
    place, mirrored = _places(mask)
    return sequence[:, torch.where(mask, mirrored, place)]


def _reverse_in_place(out: Tensor, mask: Tensor) -> Tensor:
    for row, number in enumerate(mask.sum(1)):
        for place in range(number):
            out[row, place] = out[row, number - 1 - place]
    return out


@mistake(also=(lambda sequence, mask: _reverse_in_place(sequence.clone(), mask),))
def reads_what_it_has_overwritten(sequence, mask):
    """you read words from the tensor that you write into, some after they have been overwritten;
    `out = sequence` makes no copy: read from `sequence`, and write into its `clone()`"""
    return _reverse_in_place(sequence, mask)


@mistake(points=1.5)
def turns_the_features_of_each_sentence_round(sequence, mask):
    """in each sentence you reverse the last axis, which for vectors holds the numbers of one word;
    its words are on the first axis of a row"""
    out = sequence.clone()
    for row, number in enumerate(mask.sum(1)):
        out[row, :number] = sequence[row, :number].flip(-1)
    return out


@mistake
def swaps_first_and_last(sequence, mask):
    """you swap the first word with the last and leave those between them as they are"""
    place, mirrored = _places(mask)
    outer = mask & ((place == 0) | (mirrored == 0))
    return _take(sequence, torch.where(outer, mirrored, place))


def _rolled(number: Callable[[Tensor], Tensor], sign: int = 1) -> Answer:
    """All rows flipped, and moved by the padding of a sentence with this number of words."""

    def answer(sequence: Tensor, mask: Tensor) -> Tensor:
        padding = mask.shape[1] - int(number(mask.sum(1)))
        return sequence.flip(1).roll(-sign * padding, 1)

    return answer


def _first(lengths: Tensor) -> Tensor:
    return lengths[0]


@mistake(
    points=0.5,
    computes=_rolled(_first),
    also=(_rolled(_first, -1), *(_rolled(n, s) for n in (torch.max, torch.min) for s in (1, -1))),
)
def rolls_all_by_one_amount():
    """after `flip` you move all rows by the same number of places; each row has a padding of its
    own"""


@mistake(points=2)
def erases_the_padding(sequence, mask):
    """you overwrite the padding with 0; what stands there stays as it is"""
    return _erase_padding(reference(sequence, mask), mask)


@mistake(points=2)
def turns_the_padding_round_too(sequence, mask):
    """you turn the padding round within itself, which shows when it is not all the same; what
    stands there stays as it is"""
    _, mirrored = _places(mask)
    return _take(sequence, mirrored % mask.shape[1])


def _look_for_zero_numbers(take: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def reverse(sequence: Tensor, mask: Tensor) -> Tensor:
        words, place = sequence != 0, torch.arange(mask.shape[1])
        mirrored = words.sum(1, keepdim=True) - 1 - place
        return take(sequence, torch.where(words, mirrored, place))

    return reverse


_BY_ZEROS = (_look_for_zero_numbers(_index), _look_for_zero_numbers(lambda x, i: x.gather(1, i)))


@mistake(points=2, also=_BY_ZEROS)
def looks_for_zeros_instead_of_the_mask(sequence, mask):
    """you look for zeros in `sequence` and not at `mask`; of vectors nobody can tell by looking
    which are padding"""
    words = sequence != 0
    return reference(sequence, words if words.ndim == 2 else words.any(-1))


@mistake(points=2)
def multiplies_by_a_permutation(sequence, mask):
    """a permutation matrix turns floats round, but refuses whole numbers, which words are; choose
    by index instead"""
    place, mirrored = _places(mask)
    index = torch.where(mask, mirrored, place)
    return (index.unsqueeze(-1) == place).to(torch.get_default_dtype()) @ sequence


@mistake(points=1.5)
def turns_numbers_only(sequence, mask):
    """`gather` wants an index with as many axes as `sequence`, so vectors fail; give it the missing
    axis, or index by row and place"""
    place, mirrored = _places(mask)
    return sequence.gather(1, torch.where(mask, mirrored, place))


@mistake(points=2.5)
def turns_vectors_only(sequence, mask):
    """your index has three axes always, so the numbers of words, which have two, fail"""
    place, mirrored = _places(mask)
    return sequence.take_along_dim(torch.where(mask, mirrored, place).unsqueeze(-1), 1)


@mistake(points=3.5)
def cuts_off_sequence(sequence, mask):
    """you copy the numbers into a new tensor outside of the graph, so no gradient reaches
    `sequence`; choose from `sequence` by an index"""
    return torch.zeros_like(sequence).copy_(reference(sequence.detach(), mask))


@mistake(slip=True, points=0.5)
def turns_one_place_too_many(sequence, mask):
    """you turn one place of padding in with the words: a sentence of `n` words has the last one at
    `n - 1`, and a slice up to it ends at `n`"""
    place, mirrored = _places(mask)
    padded = mask.sum(1, keepdim=True) < mask.shape[1]
    return _take(sequence, torch.where(mirrored + padded >= 0, mirrored + padded, place))


@mistake(points=0.5)
def reverses_all_within_the_first(sequence, mask):
    """you take the length of the first sentence for all; reverse each row within its own, the
    sum of its `mask`"""
    length = int(mask[0].sum())
    return torch.cat([sequence[:, :length].flip(1), sequence[:, length:]], 1)


def _roll(sequence: Tensor, mask: Tensor) -> Tensor:
    """Flipped rows, moved to the right by as many places as they have padding."""
    rows = zip(sequence.flip(1), (~mask).sum(1).tolist(), strict=True)
    return torch.stack([row.roll(number, 0) for row, number in rows])


@mistake(points=0.5, also=(_roll,))
def rolls_the_wrong_way(sequence, mask):
    """after `flip` the padding stands in front, and you roll the rows further to the right; roll
    them to the left by their padding, or to the right by their words"""
    where = mask.reshape(*mask.shape, *[1] * (sequence.ndim - 2))
    return torch.where(where, _roll(sequence, mask), sequence)


EXERCISE = Exercise(
    function="reverse_within_length",
    reference=reference,
    title="reverse sentences, and leave their padding",
    minutes=15,
    axes={"batch": 17, "length": 97, "d_annotation": 31},
    contract=Contract(batch=("sequence", "mask"), like=1),
    checks=(
        Check(
            "the words of each sentence are turned round, and the padding stays behind them",
            1.5,
            draw_tokens,
            sizes=({"batch": 3, "length": 7}, {"batch": 5, "length": 5}),
            hidden_sizes=({"batch": 11, "length": 13}, {"batch": 2, "length": 2}),
        ),
        Check(
            "vectors are turned round as well, and whatever stands at the padding stays there",
            1.5,
            draw_vectors,
            sizes=(
                {"batch": 3, "length": 5, "d_annotation": 2},
                {"batch": 4, "length": 4, "d_annotation": 4},
            ),
            hidden_sizes=({"batch": 7, "length": 11, "d_annotation": 3},),
        ),
        Check(
            "gradients find their way back to the words",
            0.5,
            draw_full,
            sizes=({"batch": 3, "length": 5, "d_annotation": 2},),
            hidden_sizes=({"batch": 5, "length": 7, "d_annotation": 3},),
            gradient=("sequence",),
        ),
    ),
    mistakes=mistake.collected,
)
