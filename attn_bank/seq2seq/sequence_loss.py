"""Part A of problem set 03: the mean loss of a word, where padding is no word."""

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor, nn

from attn_bank.draws import draw_normal
from attn_bank.seq2seq import draw_sentences, draw_words, end_and_pad
from attn_course.seq2seq import EOS, PAD


def reference(logits: Tensor, target_output: Tensor) -> Tensor:
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), target_output.flatten(), ignore_index=PAD
    )


def draw_batch(generator: Generator, batch: int, target_len: int, vocab_size: int) -> Inputs:
    """Sentences of different lengths."""
    target_output = draw_sentences(generator, batch, target_len, vocab_size)
    return _with_logits(generator, target_output, vocab_size)


def draw_full(
    generator: Generator, batch: int, target_len: int, vocab_size: int, spread: float = 1.0
) -> Inputs:
    """Sentences without padding, and logits that are `spread` wide."""
    words = draw_words(generator, batch, target_len, vocab_size=vocab_size)
    length = torch.full((batch,), target_len - 1)
    return _with_logits(generator, end_and_pad(words, length), vocab_size, spread)


def draw_nonsense_at_padding(
    generator: Generator, batch: int, target_len: int, vocab_size: int
) -> Inputs:
    """Sentences of one length, and behind them logits that are infinite or no numbers at all."""
    words = draw_words(generator, batch, target_len, vocab_size=vocab_size)
    target_output = end_and_pad(words, torch.full((batch,), target_len - 3))
    inputs = _with_logits(generator, target_output, vocab_size)
    inputs["logits"][:, -2] = torch.inf
    inputs["logits"][:, -1] = torch.nan
    return inputs


def _with_logits(
    generator: Generator, target_output: Tensor, vocab_size: int, spread: float = 1.0
) -> Inputs:
    logits = spread * draw_normal(generator, *target_output.shape, vocab_size)
    return {"logits": logits, "target_output": target_output}


def _losses(logits: Tensor, target_output: Tensor) -> Tensor:
    """The loss of each place, the padded ones too."""
    return -logits.log_softmax(-1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)


def _mean_over(words: Tensor, losses: Tensor) -> Tensor:
    return losses[words].mean()


mistake = Mistakes()


@mistake(points=1)
def averages_over_padding_as_well(logits, target_output):
    """you add up the words only, but divide by all places, the padded ones too: the longer the
    longest sentence of a batch, the smaller your loss; divide by the number of words"""
    return _losses(logits, target_output).masked_fill(target_output == PAD, 0).mean()


@mistake
def averages_sentences_over_padding_as_well(logits, target_output):
    """you take the mean along each sentence over its padding as well, and add the sentences up; add
    up the words of all sentences and divide once, by the number of words"""
    losses = _losses(logits, target_output).masked_fill(target_output == PAD, 0)
    return losses.mean(1).sum()


@mistake(points=1.5)
def averages_sentences(logits, target_output):
    """you take the mean of each sentence and then the mean of those, so a word of a short sentence
    counts more than a word of a long one; here all words count alike"""
    words = target_output != PAD
    losses = _losses(logits, target_output).masked_fill(~words, 0)
    return (losses.sum(1) / words.sum(1)).mean()


@mistake
def divides_by_the_number_of_sentences(logits, target_output):
    """you divide the sum by the number of sentences, so long sentences look worse than short ones;
    divide by the number of words"""
    losses = _losses(logits, target_output).masked_fill(target_output == PAD, 0)
    return losses.sum() / len(losses)


@mistake
def sums(logits, target_output):
    """you return the sum; divide it by the number of words, so that a loss does not grow with the
    batch"""
    return _losses(logits, target_output)[target_output != PAD].sum()


@mistake(points=1)
def forgets_the_mask(logits, target_output):
    """you count the padding: the model is asked to predict `PAD` there, and learns that instead of
    words; leave out the places where the target is `PAD`"""
    return _losses(logits, target_output).mean()


@mistake(points=3.5)
def multiplies_by_the_mask(logits, target_output):
    """you multiply by a mask, and 0 times infinity is `nan`; choose the places where there are
    words, as in `logits[words]`, instead of erasing the others afterwards"""
    words = target_output != PAD
    return (_losses(logits, target_output) * words).sum() / words.sum()


@mistake
def leaves_the_ends_out(logits, target_output):
    """you leave out `EOS`, but the end of a sentence has to be predicted too, or the model never
    learns to stop; only `PAD` is left out"""
    words = (target_output != PAD) & (target_output != EOS)
    return _mean_over(words, _losses(logits, target_output))


@mistake
def believes_the_prediction_where_padding_is(logits, target_output):
    """your mask asks where the model predicts `PAD`; ask where the target is `PAD`"""
    return _mean_over(logits.argmax(-1) != PAD, _losses(logits, target_output))


def _normalise_over_the_words(logits: Tensor, target_output: Tensor) -> Tensor:
    words = target_output != PAD
    log_p = logits[words].log_softmax(0).gather(-1, target_output[words].unsqueeze(-1))
    return -log_p.mean()


@mistake(also=(_normalise_over_the_words,))
def normalises_over_time(logits, target_output):
    """your softmax runs over the places of the sentences; at each place it should run over the
    words, on the last axis"""
    log_p = logits.log_softmax(1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -log_p)


@mistake
def shifts_once_more(logits, target_output):
    """you compare each prediction with the word after the next; `target_output` is already shifted
    against `target_input`, so place `t` belongs to place `t`"""
    later = target_output[:, 1:]
    return _mean_over(later != PAD, _losses(logits[:, :-1], later))


@mistake(points=3.5)
def takes_the_logarithm_of_a_softmax(logits, target_output):
    """where the softmax underflows to 0 your logarithm is minus infinity; `log_softmax` does both
    at once, and neither overflows"""
    p = logits.softmax(-1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -p.log())


def _clamp(logits: Tensor, target_output: Tensor) -> Tensor:
    p = logits.softmax(-1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -p.clamp_min(1e-9).log())


@mistake(points=3, also=(_clamp,))
def adds_a_small_number_to_the_probability(logits, target_output):
    """you add a small number or `clamp` so that the logarithm stays finite, which bounds the loss
    of a word however wrong it is; `log_softmax` needs no such number"""
    p = logits.softmax(-1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -(p + 1e-9).log())


@mistake
def takes_the_likeliest_word(logits, target_output):
    """you take the logarithm of the largest probability, whichever word has it; take the logarithm
    for the right word"""
    losses = -logits.log_softmax(-1).amax(-1)
    return _mean_over(target_output != PAD, losses)


@mistake
def averages_over_the_vocabulary(logits, target_output):
    """you average over all words of the vocabulary; of each place only the word that is right
    counts, which `gather` picks"""
    losses = -logits.log_softmax(-1).mean(-1)
    return _mean_over(target_output != PAD, losses)


@mistake
def does_not_count_the_ends(logits, target_output):
    """your sum holds the loss of each `EOS`, but you divide by the words without the ends; an end
    counts as a word"""
    losses = _losses(logits, target_output)[target_output != PAD]
    return losses.sum() / ((target_output != PAD).sum() - len(logits))


@mistake(points=1.5)
def averages_places(logits, target_output):
    """you take the mean of each place over the sentences and then the mean of those, so a word at a
    late place counts more; here all words count alike"""
    words = target_output != PAD
    number = words.sum(0)
    losses = _losses(logits, target_output).masked_fill(~words, 0).sum(0)
    return (losses[number > 0] / number[number > 0]).mean()


@mistake
def takes_the_softmax_twice(logits, target_output):
    """you take the softmax of probabilities; `log_softmax` wants the logits themselves"""
    return _mean_over(target_output != PAD, _losses(logits.softmax(-1), target_output))


@mistake
def takes_logits_for_logarithms(logits, target_output):
    """you read the logits as if they were logarithms of probabilities; they have to be normalised
    first, by `log_softmax`"""
    chosen = logits.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -chosen)


def _average_the_probabilities(logits: Tensor, target_output: Tensor) -> Tensor:
    return _mean_over(target_output != PAD, torch.exp(-_losses(logits, target_output)))


_MINUS_THEIR_MEAN = then(_average_the_probabilities, torch.neg)


@mistake(also=(_average_the_probabilities, _MINUS_THEIR_MEAN))
def forgets_the_logarithm(logits, target_output):
    """you average the probabilities; the loss of a word is minus the logarithm of its
    probability"""
    return _mean_over(target_output != PAD, 1 - torch.exp(-_losses(logits, target_output)))


@mistake
def forgets_the_sign(logits, target_output):
    """your loss is negative, and falls when the model gets worse; the sign is wrong"""
    return _mean_over(target_output != PAD, -_losses(logits, target_output))


@mistake(computes=then(reference, Tensor.item))
def returns_a_number_of_python():
    """your loss is a number of Python, as `.item()` makes it, and no gradient reaches `logits`
    through it; return a tensor"""


@mistake
def picks_the_words_of_all_places(logits, target_output):
    """you pick the words of all places at each place; each has one right word, which `gather`
    picks"""
    words = target_output != PAD
    return -logits[words].log_softmax(-1)[:, target_output[words]].mean()


@mistake(computes=then(reference, lambda output: output / torch.log(torch.tensor(2.0))))
def counts_bits():
    """you count in bits; take the natural logarithm"""


@mistake(points=3.5, right="your loss is right")
def cuts_the_gradient_of_the_denominator(logits, target_output):
    """the gradient of your loss lacks a part: no gradient comes through the denominator of the
    softmax, so that the logits of wrong words are never pushed down; `detach` nothing"""
    log_p = logits - logits.logsumexp(-1, keepdim=True).detach()
    log_p = log_p.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -log_p)


@mistake
def divides_by_the_sentences_again(logits, target_output):
    """your mean over the words is right, and then you divide it by the number of sentences; the
    mean is the loss"""
    return reference(logits, target_output) / len(logits)


@mistake
def averages_over_all_places_and_sentences(logits, target_output):
    """you divide the sum of the words by all places and once more by the sentences; divide once, by
    the number of words"""
    losses = _losses(logits, target_output).masked_fill(target_output == PAD, 0)
    return losses.mean() / len(losses)


@mistake
def takes_logits_for_probabilities(logits, target_output):
    """you take the logarithm of the logits, as if they were probabilities; half of them may be
    below 0. `log_softmax` makes logarithms of probabilities of them"""
    picked = logits.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_over(target_output != PAD, -picked.log())


def _mean_of_steps(losses: Tensor, target_output: Tensor) -> Tensor:
    words = target_output != PAD
    steps = zip(losses.unbind(1), words.unbind(1), strict=True)
    return torch.stack([loss[word].mean() for loss, word in steps if word.any()]).sum()


def _mean_of_steps_of_softmax(logits: Tensor, target_output: Tensor) -> Tensor:
    picked = logits.softmax(-1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return _mean_of_steps(-picked.log(), target_output)


@mistake
def averages_before_the_logarithm(logits, target_output):
    """you take the mean of the probabilities, and then its logarithm; each word has a loss, -log p
    of its own, and the mean is taken of these"""
    p = torch.softmax(logits, -1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return -_mean_over(target_output != PAD, p).log()


@mistake(also=(_mean_of_steps_of_softmax,))
def adds_up_the_steps(logits, target_output):
    """you take the mean of each step over the sentences, and add the steps up, so that long
    sentences look worse; add up the losses of all words and divide once, by their number"""
    return _mean_of_steps(_losses(logits, target_output), target_output)


EXERCISE = Exercise(
    function="sequence_loss",
    reference=reference,
    title="find the slip: the loss of a padded batch",
    minutes=15,
    axes={"batch": 17, "target_len": 43, "vocab_size": 97},
    avoid=("cross entropy",),
    contract=Contract(batch=("logits", "target_output")),
    checks=(
        Check(
            "it is the mean of `-log p` over all words of the batch, the ends counted as words"
            " and the padding not",
            2,
            draw_batch,
            sizes=(
                {"batch": 3, "target_len": 7, "vocab_size": 11},
                {"batch": 2, "target_len": 5, "vocab_size": 5},
            ),
            hidden_sizes=(
                {"batch": 5, "target_len": 3, "vocab_size": 13},
                {"batch": 7, "target_len": 11, "vocab_size": 7},
            ),
        ),
        Check(
            "logits in the thousands give no infinite loss",
            0.5,
            draw_full,
            sizes=({"batch": 3, "target_len": 7, "vocab_size": 5, "spread": 1000},),
            hidden_sizes=({"batch": 2, "target_len": 5, "vocab_size": 11, "spread": 2000},),
        ),
        Check(
            "what stands in `logits` at the padding does not count, be it infinite or `nan`",
            0.5,
            draw_nonsense_at_padding,
            sizes=({"batch": 3, "target_len": 7, "vocab_size": 5},),
            hidden_sizes=({"batch": 5, "target_len": 11, "vocab_size": 7},),
        ),
        Check(
            "the right gradient reaches `logits`",
            0.5,
            draw_full,
            sizes=({"batch": 3, "target_len": 5, "vocab_size": 7},),
            hidden_sizes=({"batch": 2, "target_len": 7, "vocab_size": 5},),
            gradient=("logits",),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "-1 -> 1": "what the mask has chosen of the logits has two axes: a softmax over the last",
        "-1 -> 1 (2)": "the log probabilities have the same two axes: words gathered from the last",
        "-1 -> 1 (3)": "what the mask has chosen of the target has one axis; the new one is last",
    },
)
