"""Part B of problem set 05: an unknown word is looked up where the decoder looks."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, mistaking
from torch import Generator, Tensor

from attn_bank.draws import draw_uniform
from attn_course.data.tokens import UNK
from attn_course.seq2seq import EOS, PAD

FIRST_WORD = UNK + 1


def reference(target: Tensor, source: Tensor, weights: Tensor, dictionary: Tensor) -> Tensor:
    return _replace(target, _lookup(_copied(source, weights), dictionary))


def _is_word(source: Tensor) -> Tensor:
    return (source != PAD) & (source != EOS)


def _place(source: Tensor, weights: Tensor) -> Tensor:
    """The place of the word that each step looks at most."""
    return weights.masked_fill(~_is_word(source).unsqueeze(1), -1).argmax(-1)


def _copied(source: Tensor, weights: Tensor) -> Tensor:
    return source.gather(1, _place(source, weights))


def _lookup(words: Tensor, dictionary: Tensor) -> Tensor:
    """The translations of words; a word without one stays."""
    found = dictionary[words]
    return torch.where(found != PAD, found, words)


def _replace(target: Tensor, words: Tensor) -> Tensor:
    return torch.where(target == UNK, words, target)


def draw_sentences(
    generator: Generator, batch: int, target_len: int, source_len: int, vocab_size: int
) -> Inputs:
    """Sentences that fill their rows. Half of the words have an entry; ends have little weight."""
    inputs = _draw(generator, batch, target_len, source_len, vocab_size)
    order = torch.randperm(vocab_size, generator=generator)
    inputs["dictionary"][order[: vocab_size // 2]] = PAD
    inputs["weights"][..., -1] /= 100
    return inputs


def draw_padded(
    generator: Generator, batch: int, target_len: int, source_len: int, vocab_size: int
) -> Inputs:
    """Shorter sentences too. Each step gives the end of its source, or padding, the most weight."""
    inputs = _draw(generator, batch, target_len, source_len, vocab_size)
    for name, least in (("target", 2), ("source", 1)):
        length = _draw_lengths(generator, batch, inputs[name].shape[1] - 1, least)
        inputs[name] = _end(inputs[name], length)
    forbidden = ~_is_word(inputs["source"]).unsqueeze(1).expand_as(inputs["weights"])
    odd = torch.arange(target_len).unsqueeze(-1) % 2 == 1  # it is the end, at others the padding
    is_end = (inputs["source"] == EOS).unsqueeze(1)
    inputs["weights"][forbidden & (is_end == odd)] += 1
    return inputs


def _draw_lengths(generator: Generator, batch: int, most: int, least: int) -> Tensor:
    length = torch.randint(least, most, (batch,), generator=generator)
    length[0], length[-1] = most, least
    return length


def _end(words: Tensor, length: Tensor) -> Tensor:
    place, end = torch.arange(words.shape[1]), length.unsqueeze(-1)
    return words.masked_fill(place == end, EOS).masked_fill(place > end, PAD)


def _draw(
    generator: Generator, batch: int, target_len: int, source_len: int, vocab_size: int
) -> Inputs:
    """No source has a word twice, and every other word of a target is unknown."""
    source = torch.stack(
        [
            FIRST_WORD + torch.randperm(vocab_size - FIRST_WORD, generator=generator)[:source_len]
            for _ in range(batch)
        ]
    )
    target = torch.randint(FIRST_WORD, vocab_size, (batch, target_len), generator=generator)
    known = torch.arange(target_len).unsqueeze(0) % 2 == torch.arange(batch).unsqueeze(1) % 2
    target[:, -1] = source[:, -1] = EOS
    dictionary = torch.randint(FIRST_WORD, vocab_size, (vocab_size,), generator=generator)
    dictionary[:FIRST_WORD] = PAD
    return {
        "target": target.masked_fill(~known & (target != EOS), UNK),
        "source": source,
        "weights": draw_uniform(generator, batch, target_len, source_len) + 0.1,
        "dictionary": dictionary,
    }


mistake = Mistakes()


def _by_place(place: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """Look up the word at another place."""

    def answer(target: Tensor, source: Tensor, weights: Tensor, dictionary: Tensor) -> Tensor:
        words = source.gather(1, place(source, weights))
        return _replace(target, _lookup(words, dictionary))

    return answer


@mistake(points=2.5, computes=_by_place(lambda source, weights: weights.argmax(-1)))
def copies_ends_and_padding():
    """you look at all places of the source, and `EOS` or `PAD` may have the most weight; neither is
    a word, so look for the most weight among the words"""


@mistake(
    points=2.5,
    computes=_by_place(
        lambda source, weights: weights.masked_fill((source == PAD).unsqueeze(1), -1).argmax(-1)
    ),
)
def copies_ends():
    """you pass over `PAD`, but a step that gives `EOS` the most weight ends the sentence in its
    middle; pass over both"""


@mistake(
    points=2.5,
    computes=_by_place(
        lambda source, weights: weights.masked_fill((source == EOS).unsqueeze(1), -1).argmax(-1)
    ),
    also=(_by_place(lambda source, weights: weights[..., :-1].argmax(-1)),),
)
def copies_padding():
    """you pass over the ends, but padding behind a shorter source may have the most weight; pass
    over both"""


@mistake(points=2.5)
def leaves_it_unknown_at_an_end(target, source, weights, dictionary):
    """where the most weight is at `EOS` or `PAD` you leave the word unknown; take the word of the
    source that has the most weight among the words"""
    words = source.gather(1, weights.argmax(-1))
    return torch.where(_is_word(words), _replace(target, _lookup(words, dictionary)), target)


@mistake(computes=_by_place(lambda source, weights: _place(source, -weights + 100)))
def takes_the_least_weight():
    """you take the word with the least weight; take the one with the most"""


@mistake(
    computes=_by_place(lambda source, weights: _place(source, weights.roll(1, 1))),
)
def looks_one_step_back():
    """you take the weights of the step before; row `t` of `weights` belongs to word `t` of
    `target`"""


@mistake(
    computes=_by_place(lambda source, weights: _place(source, weights.roll(-1, 1))),
)
def looks_one_step_ahead():
    """you take the weights of the step after; row `t` of `weights` belongs to word `t` of
    `target`"""


def _whole_sentence(source: Tensor, weights: Tensor) -> Tensor:
    return _place(source, weights.sum(1, keepdim=True).expand_as(weights))


@mistake(
    computes=_by_place(_whole_sentence),
    also=(
        _by_place(
            lambda source, weights: _place(source, weights.amax(1, keepdim=True).expand_as(weights))
        ),
    ),
)
def takes_one_word_for_the_sentence():
    """all unknown words of a sentence become the same; each step has weights of its own"""


def _same_place(source: Tensor, weights: Tensor) -> Tensor:
    place = torch.arange(weights.shape[1]).clamp(max=source.shape[1] - 1)
    return place.expand(len(source), -1)


@mistake(computes=_by_place(_same_place))
def takes_the_word_in_the_same_place():
    """you take word `t` of the source for word `t` of the target, whatever the weights are; take
    the one that step `t` looks at most"""


def _mean_place(source: Tensor, weights: Tensor) -> Tensor:
    held = weights * _is_word(source).unsqueeze(1)
    place = torch.arange(source.shape[1]).to(weights)
    return ((held @ place) / held.sum(-1)).round().long()


@mistake(computes=_by_place(_mean_place))
def takes_the_mean_place():
    """you take the mean of the places, weighed; take the place with the most weight"""


@mistake(
    computes=_by_place(lambda source, weights: (_place(source, weights) + 1) % source.shape[1])
)
def takes_the_next_word():
    """you take the word to the right of the one with the most weight"""


@mistake(
    computes=given(
        reference,
        source=lambda source: source[:1].expand_as(source),
    )
)
def copies_from_the_first_source():
    """every sentence of the batch gets words from the first source; each has its own"""


@mistake
def returns_the_place(target, source, weights, dictionary):
    """you put in the place of a word of the source; its number is `source` at that place"""
    return _replace(target, _place(source, weights))


@mistake
def looks_the_place_up(target, source, weights, dictionary):
    """you look the place of the word up in the dictionary; look up the word that is there"""
    return _replace(target, _lookup(_place(source, weights), dictionary))


@mistake
def copies_without_the_dictionary(target, source, weights, dictionary):
    """you copy the word of the source as it is; take its translation, where the dictionary has
    one"""
    return _replace(target, _copied(source, weights))


@mistake(points=1.5)
def leaves_holes(target, source, weights, dictionary):
    """where the dictionary has no entry your word is `PAD`; copy the word of the source as it
    is"""
    return _replace(target, dictionary[_copied(source, weights)])


@mistake(points=1.5)
def leaves_it_unknown_without_an_entry(target, source, weights, dictionary):
    """where the dictionary has no entry your word stays `UNK`; copy the word of the source as it
    is"""
    found = dictionary[_copied(source, weights)]
    return torch.where((target == UNK) & (found != PAD), found, target)


def _take_another(source: Tensor, weights: Tensor, dictionary: Tensor) -> Tensor:
    has_entry = _is_word(source) & (dictionary[source] != PAD)
    return weights.masked_fill(~has_entry.unsqueeze(1), -1).argmax(-1)


@mistake(points=1.5)
def looks_only_at_words_with_an_entry(target, source, weights, dictionary):
    """where the word with the most weight has no entry you take another that has one; copy the word
    itself"""
    place = _take_another(source, weights, dictionary)
    return _replace(target, _lookup(source.gather(1, place), dictionary))


@mistake
def turns_the_dictionary_round(target, source, weights, dictionary):
    """you keep the word where the dictionary has an entry, and look it up where it has none; it is
    the other way round"""
    words = _copied(source, weights)
    found = dictionary[words]
    return _replace(target, torch.where(found != PAD, words, found))


@mistake
def replaces_every_word(target, source, weights, dictionary):
    """you replace every word of the target, `EOS` and `PAD` too; only where `UNK` is anything is to
    be replaced"""
    return _lookup(_copied(source, weights), dictionary)


@mistake
def replaces_every_word_but_the_ends(target, source, weights, dictionary):
    """you replace the words that the translator knows as well; they stay, and only `UNK` is
    replaced"""
    words = _lookup(_copied(source, weights), dictionary)
    return torch.where(_is_word(target), words, target)


@mistake
def replaces_what_is_known(target, source, weights, dictionary):
    """you replace the known words and leave the unknown ones; replace where `target` is `UNK`"""
    words = _lookup(_copied(source, weights), dictionary)
    return torch.where(target == UNK, target, words)


@mistake
def replaces_ends_too(target, source, weights, dictionary):
    """you replace `EOS` and `PAD` of the target too; only `UNK` is to be replaced"""
    words = _lookup(_copied(source, weights), dictionary)
    return torch.where(target <= UNK, words, target)


@mistake
def replaces_the_first_alone(target, source, weights, dictionary):
    """only the first unknown word of a sentence is replaced; replace all"""
    first = (target == UNK) & ((target == UNK).cumsum(1) == 1)
    return torch.where(first, reference(target, source, weights, dictionary), target)


def _look_the_result_up(target: Tensor, source: Tensor, **inputs: Tensor) -> Tensor:
    """Likewise, once each."""
    words = _replace(target, _copied(source, inputs["weights"]))
    return _lookup(words, inputs["dictionary"])


@mistake(also=(_look_the_result_up,))
def looks_known_words_up_too(target, source, weights, dictionary):
    """you look words of the target up in the dictionary; it has words of the source, and only what
    is copied is looked up"""
    return _lookup(reference(target, source, weights, dictionary), dictionary)


def _forbid_words(source: Tensor, weights: Tensor) -> Tensor:
    return weights.masked_fill(_is_word(source).unsqueeze(1), -1).argmax(-1)


@mistake(computes=_by_place(_forbid_words))
def looks_at_ends_and_padding_alone():
    """you pass over the words and take `EOS` or `PAD`; your mask has to be turned round"""


def _mean_weights(source: Tensor, weights: Tensor) -> Tensor:
    return _place(source, weights.mean(0, keepdim=True).expand_as(weights))


@mistake(computes=_by_place(_mean_weights))
def takes_the_weights_of_the_batch():
    """all sentences of your batch look at the same place in the same step, as after a mean over the
    batch; each has weights of its own"""


@mistake(computes=mistaking(reference, source="target"))
def copies_from_the_target():
    """you copy words of the target; the unknown word is in the source"""


EXERCISE = Exercise(
    function="replace_unknown",
    reference=reference,
    title="look the unknown word up where the model looks",
    minutes=20,
    axes={"batch": 17, "target_len": 43, "source_len": 43},
    contract=Contract(batch=("target", "source", "weights")),
    checks=(
        Check(
            "an unknown word becomes what the dictionary has for the word of the source with the"
            " most weight, or that word itself; all other words stay",
            2,
            draw_sentences,
            sizes=(
                {"batch": 3, "target_len": 7, "source_len": 5, "vocab_size": 61},
                {"batch": 2, "target_len": 5, "source_len": 7, "vocab_size": 53},
            ),
            hidden_sizes=({"batch": 5, "target_len": 11, "source_len": 7, "vocab_size": 71},),
        ),
        Check(
            "no end of a source and no padding is put in, however much weight it has",
            1.5,
            draw_padded,
            sizes=({"batch": 3, "target_len": 7, "source_len": 6, "vocab_size": 59},),
            hidden_sizes=({"batch": 5, "target_len": 5, "source_len": 11, "vocab_size": 67},),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "1 -> 2 (2)": "any number below all weights makes a place lose",
        "1 -> 0 (2)": "so does 0, as all weights are positive",
    },
)
