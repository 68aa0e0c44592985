"""Part D of problem set 04: a translator that is trained, judged by sentences it has not seen."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Invariant, Mistakes, Plain, given
from torch import Generator, Tensor

from attn_bank.translations import Fault, Row, common_fault, form_fault, low_bleu, words_of
from attn_course.bahdanau import BahdanauTranslator
from attn_course.data.institutions import institution_pairs
from attn_course.data.tokens import Vocabulary, batches, pad
from attn_course.data.translation import SentencePair
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import (
    BOS,
    EOS,
    PAD,
    Encoder,
    FixedVectorTranslator,
    Translator,
    sequence_loss,
)

Batches = list[tuple[Tensor, Tensor]]
WIDTH = 64
ADAM = {"lr": 0.01, "betas": (0.9, 0.98)}
LONGEST_GRADIENT = 1.0  # without a limit the loss jumps now and then


@cache
def vocabulary() -> Vocabulary:
    """The words of both languages, in alphabetical order."""
    pairs = list(islice(institution_pairs(seed=0, names=(8, 8)), 500))
    return Vocabulary.of([words for pair in pairs for words in (pair.source, pair.target)])


def renumbered(order: Tensor) -> Vocabulary:
    """The same words in another order, so that rows of another numbering teach nothing."""
    return Vocabulary(vocabulary().words[number] for number in order.tolist())


def draw_rows(
    generator: Generator, names: int, num_batches: int, batch_size: int, num_unseen: int
) -> Inputs:
    """Rows of up to so many names to learn from, and others, with the truth about them."""
    seed = int(torch.randint(2**31, (), generator=generator))
    stream = institution_pairs(seed, (1, names))
    unseen = list(islice(stream, num_unseen))
    known = {pair.source for pair in unseen}
    order = torch.randperm(len(vocabulary().words), generator=generator)
    words = renumbered(order)
    others = _encode(words, (pair for pair in stream if pair.source not in known))
    learned = list(islice(others, num_batches * batch_size))
    source, target = zip(*_encode(words, unseen), strict=True)
    return {
        "batches": [
            (batch.source, batch.target_output)
            for batch in islice(batches(learned, batch_size, seed), num_batches)
        ],
        "unseen": pad(source),
        "vocab_size": len(vocabulary()),
        "max_len": 5 * names + 5,
        "truth": pad(target),
        "order": order,
    }


def _encode(words: Vocabulary, pairs: Iterable[SentencePair]) -> Iterator[tuple[Row, Row]]:
    return ((words.encode(pair.source), words.encode(pair.target)) for pair in pairs)


def reaches(bleu: float) -> Invariant:
    """The law that the translations of rows not seen are sound, and reach this BLEU."""

    def judge(call: Callable[[Inputs], Plain], inputs: Inputs) -> Fault | None:
        output = call(inputs)
        if fault := form_fault(output, len(inputs["unseen"])):
            return fault
        ours, truth = output.tolist(), inputs["truth"].tolist()
        learned = [row for _, target in inputs["batches"] for row in target.tolist()]
        show = partial(_show, renumbered(inputs["order"]))
        return common_fault(ours, truth, learned, show) or low_bleu(ours, truth, bleu, show)

    return judge


def _show(words: Vocabulary, row: Row) -> str:
    return f"“{' '.join(words.decode(words_of(row)))}”"


def _attentive(vocab_size: int) -> Translator:
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    return BahdanauTranslator(encoder, vocab_size, WIDTH, WIDTH, WIDTH)


def _shifted(target: Tensor) -> Tensor:
    return torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], 1)


def _learn(
    model: Translator,
    batches: Batches,
    target_input: Callable[[Tensor], Tensor] = _shifted,
    target_output: Callable[[Tensor], Tensor] = lambda target: target,
    clear: bool = True,
    update: bool = True,
) -> Translator:
    optimiser = torch.optim.Adam(model.parameters(), **ADAM)
    for source, target in batches:
        if clear:
            optimiser.zero_grad()
        loss = sequence_loss(model(source, target_input(target)), target_output(target))
        loss.backward()
        if clear:
            torch.nn.utils.clip_grad_norm_(model.parameters(), LONGEST_GRADIENT)
        if update:
            optimiser.step()
    return model


def reference(batches: Batches, unseen: Tensor, vocab_size: int, max_len: int) -> Tensor:
    return greedy_decode(_learn(_attentive(vocab_size), batches), unseen, max_len)


mistake = Mistakes()


@mistake(points=2, evidence="short only")
def squeezes_through_one_vector(batches, unseen, vocab_size, max_len):
    """short rows come out right and long ones do not. First look whether `zero_grad` is called for
    every batch. If it is, does the translator squeeze the source through one vector, like the one
    in chapter 03? Let the decoder look back, with `BahdanauTranslator`"""
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    model = FixedVectorTranslator(encoder, vocab_size, WIDTH, WIDTH)
    return greedy_decode(_learn(model, batches), unseen, max_len)


@mistake(evidence="untrained")
def never_updates(batches, unseen, vocab_size, max_len):
    """words in no order are what a translator says that has learned nothing, or next to nothing,
    from `batches`; call `backward` and `step` for every batch, and `return` after
    the last of them. If you do, are they the argument `batches`? The `rows` of the notebook, for
    one, number the words otherwise"""
    model = _learn(_attentive(vocab_size), batches, update=False)
    return greedy_decode(model, unseen, max_len)


@mistake(evidence="below 25")
def forgets_to_clear_the_gradients(batches, unseen, vocab_size, max_len):
    """the words are French and have little to do with the source. If the gradients are never
    cleared, each `backward` adds to all those before: call `zero_grad` for every batch. If they
    are, is the model made once, before the loop, and given `source`, then what is fed? Else the
    steps may be too small, too few or too large, or the loss may be given something else than the
    logits"""
    model = _learn(_attentive(vocab_size), batches, clear=False)
    return greedy_decode(model, unseen, max_len)


@mistake(evidence="other language")
def translates_the_other_way(batches, unseen, vocab_size, max_len):
    """you learn to translate the targets into the sources; of each pair in `batches` the source
    comes first"""
    turned = [(target, source) for source, target in batches]
    return greedy_decode(_learn(_attentive(vocab_size), turned), unseen, max_len)


@mistake(evidence="one word")
def feeds_the_answer(batches, unseen, vocab_size, max_len):
    """one word over and over is what a decoder says that has learned to repeat what it is fed, or
    that is fed the same word at every place. In training feed it the target shifted by one place,
    behind a BOS, and compare what it says with the target itself; then let it feed itself, with
    `greedy_decode`"""
    model = _learn(_attentive(vocab_size), batches, target_input=lambda target: target)
    return greedy_decode(model, unseen, max_len)


@mistake(evidence="no beginning")
def never_says_where_to_begin(batches, unseen, vocab_size, max_len):
    """your decoder has not learned what to say after BOS, the word that decoding begins with. Is it
    fed a BOS in training, and then the target without its last column? If it is, call `zero_grad`
    for every batch, and clip the gradients before the step"""
    model = _learn(
        _attentive(vocab_size), batches, lambda target: target[:, :-1], lambda target: target[:, 1:]
    )
    return greedy_decode(model, unseen, max_len)


@mistake
def feeds_a_word_too_many(batches, unseen, vocab_size, max_len):
    """what you feed has a column more than the target that it is compared with; behind the BOS
    leave out the last column of the target"""
    model = _learn(
        _attentive(vocab_size),
        batches,
        lambda target: torch.nn.functional.pad(target, (1, 0), value=BOS),
    )
    return greedy_decode(model, unseen, max_len)


@mistake(evidence="no end")
def never_learns_to_end(batches, unseen, vocab_size, max_len):
    """your translator has not learned to say EOS; the EOS at the end of each target belongs into
    the loss like any word"""
    model = _learn(
        _attentive(vocab_size),
        batches,
        target_output=lambda target: target.masked_fill(target == EOS, PAD),
    )
    return greedy_decode(model, unseen, max_len)


@mistake(evidence="cut off", computes=given(reference, max_len=4))
def cuts_off():
    """your translations stop before their end; `max_len` is long enough for all of them"""


@mistake(evidence="BOS")
def begins_with_bos(batches, unseen, vocab_size, max_len):
    """BOS asks the decoder for the first word and is none itself; leave it out of what you
    return"""
    translations = reference(batches[:1], unseen, vocab_size, max_len)
    return torch.nn.functional.pad(translations, (1, 0), value=BOS)


@mistake(evidence="other rows")
def translates_what_it_has_seen(batches, unseen, vocab_size, max_len):
    """you return translations of other rows; translate `unseen`"""
    return reference(batches[:1], batches[0][0], vocab_size, max_len)


@mistake(evidence="no tensor")
def returns_lists(batches, unseen, vocab_size, max_len):
    """what you return is no tensor; return what `greedy_decode` returns, a tensor with one row for
    each source"""
    return reference(batches[:1], unseen, vocab_size, max_len).tolist()


@mistake(evidence="no tokens")
def returns_the_logits(batches, unseen, vocab_size, max_len):
    """you return a tensor that is not rows of token numbers, such as what the model thinks of each
    word; return what `greedy_decode` makes of the model, whole numbers in two axes"""
    model = _learn(_attentive(vocab_size), batches[:1])
    begin = torch.full_like(unseen[:, :1], BOS)
    return model(unseen, begin.expand(-1, max_len))


EXERCISE = Exercise(
    function="train_and_translate",
    reference=reference,
    title="train a translator, within two minutes",
    minutes=35,
    may_use=None,
    axes={},  # it trains on a text that is given
    equivalent_mutants={
        "nn.utils.clip_grad_norm_(model.parameters(), longest) -> (dropped)": (
            "on most draws no batch has a gradient that throws the translator back"
        ),
    },
    contract=Contract(points=0),
    checks=(
        Check(
            "from 100 batches of rows with one or two names it learns to translate such rows that"
            " it has not seen: BLEU is at least 25",
            2,
            draw_rows,
            sizes=({"names": 2, "num_batches": 100, "batch_size": 32, "num_unseen": 50},),
            invariant=reaches(25),
            withheld=("truth", "order"),
            seconds=120,
        ),
        Check(
            "from 250 batches of rows with up to three names it learns to translate such rows that"
            " it has not seen, within two minutes: BLEU is at least 75",
            4,
            draw_rows,
            sizes=({"names": 3, "num_batches": 250, "batch_size": 32, "num_unseen": 60},),
            invariant=reaches(75),
            withheld=("truth", "order"),
            seconds=120,
        ),
    ),
    mistakes=mistake.collected,
)
