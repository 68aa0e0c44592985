"""Part C of problem set 03: encoder, vector and decoder put together, to say a sentence greedily.

The weights have the names that they have in the chapter's translator, so that it can lend its own.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal
from attn_bank.seq2seq import draw_sentences
from attn_course.seq2seq import BOS, EOS, PAD

Weights = dict[str, Tensor]
DECODER = "recurrent.network"
# The bias of what a model never says.
NEVER = -100.0
# The second-best word is at least so far behind: no rounding changes a word.
MARGIN = 1e-3
LIVELY = 3


class Step(NamedTuple):
    """A step of the decoder: the vector of the word before, `c`, the old state and the new one."""

    vector: Tensor
    context: Tensor
    before: Tensor
    state: Tensor


def _linear(inputs: Tensor, weights: Weights, name: str) -> Tensor:
    return functional.linear(inputs, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _gru(inputs: Tensor, state: Tensor, weights: Weights, name: str, end: str = "") -> Tensor:
    parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return torch.gru_cell(inputs, state, *(weights[f"{name}.{part}_l0{end}"] for part in parts))


def _read(source: Tensor, weights: Weights) -> Tensor:
    """The vector `c` of each sentence: what the encoder knows at either end."""
    vectors, is_word = weights["encoder.embedding.weight"][source], source != PAD
    finals = []
    for end, places in (("", range(source.shape[1])), ("_reverse", range(source.shape[1])[::-1])):
        width = weights[f"encoder.recurrent.weight_hh_l0{end}"].shape[1]
        state = vectors.new_zeros(len(source), width)
        for place in places:
            new = _gru(vectors[:, place], state, weights, "encoder.recurrent", end)
            state = torch.where(is_word[:, place, None], new, state)
        finals.append(state)
    return torch.cat(finals, -1)


def _bridge(context: Tensor, weights: Weights) -> Tensor:
    return _linear(context, weights, "bridge")


def _start(context: Tensor, weights: Weights) -> Tensor:
    return torch.tanh(_bridge(context, weights))


def _join(vector: Tensor, context: Tensor) -> Tensor:
    return torch.cat([vector, context], -1)


def _known(step: Step) -> Tensor:
    return torch.cat([step.state, step.vector, step.context], -1)


def _logits(
    source: Tensor,
    weights: Weights,
    max_len: int,
    *,
    see: Callable[[Tensor], Tensor] = lambda context: context,
    start: Callable[[Tensor, Weights], Tensor] = _start,
    hear: Callable[[int, Tensor], Tensor] = lambda number, context: context,
    join: Callable[[Tensor, Tensor], Tensor] = _join,
    keep: Callable[[Step], Tensor] = lambda step: step.state,
    known: Callable[[Step], Tensor] = _known,
    choose: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(-1),
    feed: Callable[[int, Tensor], Tensor] = lambda number, word: word,
    table: str = "embedding.weight",
) -> tuple[Tensor, Tensor]:
    """The words with their logits, behind an end too, in one of many ways: right by default."""
    context = see(_read(source, weights))
    state, word = start(context, weights), torch.full_like(source[:, 0], BOS)
    said, seen = [], []
    for number in range(max_len):
        vector, told = weights[table][feed(number, word)], hear(number, context)
        step = Step(vector, told, state, _gru(join(vector, told), state, weights, DECODER))
        hidden = torch.tanh(_linear(known(step), weights, "readout.0"))
        logits = _linear(hidden, weights, "readout.2")
        word, state = choose(logits), keep(step)
        said.append(word)
        seen.append(logits)
    return torch.stack(said, 1), torch.stack(seen, 1)


def _end(words: Tensor) -> Tensor:
    """The words up to the first EOS of each row, then PAD."""
    is_end = words == EOS
    return words.masked_fill(is_end.cumsum(1) > is_end.long(), PAD)


def _translate(inputs: Inputs, **ways: object) -> Tensor:
    return _end(_logits(**inputs, **ways)[0])


def reference(source: Tensor, weights: Weights, max_len: int) -> Tensor:
    return _end(_logits(source, weights, max_len)[0])


def _shapes(
    vocab_size: int, d_embedding: int, d_hidden: int, d_encoder: int
) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights of the chapter's translator, by their names."""
    d_context = 2 * d_encoder
    shapes = {
        "encoder.embedding": (vocab_size, d_embedding),
        "embedding": (vocab_size, d_embedding),
        "bridge": (d_hidden, d_context),
        "readout.0": (d_embedding, d_hidden + d_embedding + d_context),
        "readout.2": (vocab_size, d_embedding),
    }
    named: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        named[f"{name}.weight"] = shape
        if "embedding" not in name:
            named[f"{name}.bias"] = shape[:1]
    networks = {
        ("encoder.recurrent", ""): (d_embedding, d_encoder),
        ("encoder.recurrent", "_reverse"): (d_embedding, d_encoder),
        (DECODER, ""): (d_embedding + d_context, d_hidden),
    }
    for (name, end), (d_input, d_state) in networks.items():
        named[f"{name}.weight_ih_l0{end}"] = 3 * d_state, d_input
        named[f"{name}.weight_hh_l0{end}"] = 3 * d_state, d_state
        named[f"{name}.bias_ih_l0{end}"] = named[f"{name}.bias_hh_l0{end}"] = (3 * d_state,)
    return named


def _draw(
    generator: Generator,
    batch: int,
    source_len: int,
    max_len: int,
    vocab_size: int,
    d_embedding: int,
    d_hidden: int,
    d_encoder: int,
) -> Inputs:
    """A translator as if learned, whose states swing, that never says EOS."""
    weights = {
        name: _draw_weight(generator, name, shape)
        for name, shape in _shapes(vocab_size, d_embedding, d_hidden, d_encoder).items()
    }
    for name, d_rest in (
        (f"{DECODER}.weight_ih_l0", d_embedding),
        ("readout.0.weight", -2 * d_encoder),
    ):
        weights[name][:, d_rest:] /= 2  # what is the same at every step does not drown the rest
    weights["readout.2.bias"][[PAD, BOS, EOS]] = NEVER
    source = draw_sentences(generator, batch, source_len, vocab_size)
    return {"source": source, "weights": weights, "max_len": max_len}


def _draw_weight(generator: Generator, name: str, shape: tuple[int, ...]) -> Tensor:
    drawn = draw_normal(generator, *shape)
    if len(shape) == 1:
        return drawn / 4
    return 1.5 * drawn if "embedding" in name else 2 * drawn / shape[1] ** 0.5


def _is_clear(logits: Tensor) -> bool:
    best, second = logits.topk(2, -1).values.unbind(-1)
    return bool((best - second > MARGIN).all())


def draw_endless(generator: Generator, **sizes: int) -> Inputs:
    """No sentence ends, and what is easily overlooked changes some word."""
    while True:
        inputs = _draw(generator, **sizes)
        words, logits = _logits(**inputs)
        if _is_clear(logits) and _is_lively(words) and _tells_apart(inputs):
            return inputs


def draw_ending(generator: Generator, **sizes: int) -> Inputs:
    """All sentences end before the last step, at several places."""
    while True:
        inputs = _draw(generator, **sizes)
        words, logits = _logits(**inputs)
        word = _ends_all(words) if _is_clear(logits) else None
        if word is not None:
            for name in ("weight", "bias"):
                kept = inputs["weights"][f"readout.2.{name}"]
                kept[[word, EOS]] = kept[[EOS, word]]
            if _talks_on(_logits(**inputs)[0]) and _tells_apart(inputs):
                return inputs


def _ends_all(words: Tensor) -> int | None:
    """A word with which all sentences could end before the last step, at several places."""
    for word in words.unique().tolist():
        is_end = words == word
        places = is_end.long().argmax(1)
        several = is_end.any(1).all() and len(places.unique()) > 1
        if several and 2 < places.max() < words.shape[1] - 1:
            return int(word)
    return None


def _is_lively(words: Tensor) -> bool:
    """True if the sentences say three words or more, on average: a model likes to repeat itself."""
    return sum(len(set(row)) for row in words.tolist()) >= LIVELY * len(words)


def _tells_apart(inputs: Inputs) -> bool:
    words = reference(**inputs)
    return all((answer(**inputs) != words).any() for answer in SUBTLE)


def _talks_on(words: Tensor) -> bool:
    """True if no sentence says EOS again, right behind its end."""
    is_end = words == EOS
    return not (is_end[:, 1:] & is_end[:, :-1]).any()


mistake = Mistakes()


@mistake
def forgets_the_state(**inputs):
    """every step of yours goes out from the first state, so that no step knows more than the word
    before it; hand the new state on to the next step"""
    return _translate(inputs, keep=lambda step: _start(step.context, inputs["weights"]))


@mistake
def feeds_the_beginning_always(**inputs):
    """every step of yours is told `BOS`; from the second on it is told the word that was just
    said"""
    return _translate(inputs, feed=lambda number, word: torch.full_like(word, BOS))


@mistake
def feeds_the_source(**inputs):
    """your decoder is told the words of the source; it is told the word that it has just said,
    and `BOS` at the first step"""
    source = inputs["source"]
    return _translate(
        inputs,
        feed=lambda number, word: source[:, min(number, source.shape[1] - 1)],
    )


def _begin_with_padding(**inputs: Tensor) -> Tensor:
    return _translate(inputs, feed=lambda n, word: word if n else torch.full_like(word, PAD))


@mistake(also=(_begin_with_padding,))
def begins_with_the_end(**inputs):
    """your first step is told another word than `BOS`, such as `EOS` or `PAD`; nothing else begins
    a sentence"""
    return _translate(inputs, feed=lambda n, word: word if n else torch.full_like(word, EOS))


@mistake
def begins_from_zeros(**inputs):
    """your decoder starts from zeros; its first state is the `tanh` of the bridge, applied to
    `c`"""
    return _translate(inputs, start=lambda context, w: torch.zeros_like(_start(context, w)))


@mistake
def leaves_the_tanh_of_the_bridge_out(**inputs):
    """your first state is what the bridge makes of `c`, without the `tanh` around it"""
    return _translate(inputs, start=_bridge)


@mistake
def starts_from_the_vector_itself(**inputs):
    """your first state is `c` itself, which need not have the width of a state: it goes through the
    bridge, and a `tanh`"""
    return _translate(inputs, start=lambda context, w: context)


@mistake
def hears_the_vector_once(**inputs):
    """only your first step sees `c`; the same `c` is joined to the word at every step"""
    return _translate(inputs, hear=lambda number, c: c if number == 0 else torch.zeros_like(c))


@mistake
def hides_the_vector_from_the_cell(**inputs):
    """the cell of your decoder sees zeros where `c` should be; `c` is joined to the word at every
    step"""
    return _translate(inputs, join=lambda vector, context: _join(vector, torch.zeros_like(context)))


@mistake
def hides_the_vector_from_the_readout(**inputs):
    """your readout sees zeros where `c` should be; it takes the new state, the word and `c`"""
    return _translate(
        inputs, known=lambda step: _known(step._replace(context=torch.zeros_like(step.context)))
    )


@mistake
def puts_the_vector_before_the_word(**inputs):
    """you put `c` before the word where the cell takes them; the word comes first"""
    return _translate(inputs, join=lambda vector, context: _join(context, vector))


def _read_out(*order: str) -> Callable[..., Tensor]:
    def answer(**inputs: Tensor) -> Tensor:
        return _translate(
            inputs, known=lambda step: torch.cat([getattr(step, name) for name in order], -1)
        )

    return answer


@mistake(
    computes=_read_out("state", "context", "vector"),
    also=(
        _read_out("vector", "state", "context"),
        _read_out("vector", "context", "state"),
        _read_out("context", "state", "vector"),
        _read_out("context", "vector", "state"),
    ),
)
def joins_the_readout_in_another_order():
    """your readout takes its three parts in another order; first the new state, then the word, then
    `c`"""


@mistake
def reads_out_the_old_state(**inputs):
    """your readout is given the state from before the step; it takes the new one"""
    return _translate(inputs, known=lambda step: _known(step._replace(state=step.before)))


def _tell_all_the_mean(**inputs: Tensor) -> Tensor:
    return _translate(inputs, see=lambda context: context.mean(0, keepdim=True).expand_as(context))


@mistake(also=(_tell_all_the_mean,))
def tells_all_the_same_vector(**inputs):
    """all sentences of a batch are told one and the same `c`, that of the first or the mean; each
    has its own row"""
    return _translate(inputs, see=lambda context: context[:1].expand_as(context))


@mistake
def tells_the_state_for_the_vector(**inputs):
    """from the second step on the state stands where `c` should; `c` is the same at every step"""
    state = []

    def keep(step):
        state[:] = [step.state]
        return step.state

    return _translate(inputs, keep=keep, hear=lambda number, c: state[0] if number else c)


@mistake
def tells_the_word_before_the_last(**inputs):
    """each step is told a word too old, the one that was said before the last; tell it the last"""
    told = []

    def feed(number, word):
        told.append(word)
        return told[max(0, number - 1)]

    return _translate(inputs, feed=feed)


@mistake
def says_as_many_words_as_the_source(**inputs):
    """your sentences are no longer than the row of the source; a translation may have up to
    `max_len` words"""
    words = reference(**inputs)
    place = torch.arange(words.shape[1], device=words.device)
    return words.masked_fill(place >= inputs["source"].shape[1], PAD)


@mistake
def looks_words_up_in_the_source_language(**inputs):
    """you look the words that were said up in the encoder's embedding; the decoder has its own,
    `embedding.weight`"""
    return _translate(inputs, table="encoder.embedding.weight")


def _compare_with_what_has_ended(**inputs: Tensor) -> Tensor:
    """Likewise, where a sentence that has ended is told `PAD`."""
    over = torch.zeros_like(inputs["source"][:, 0], dtype=torch.bool)

    def choose(logits):
        word = logits.softmax(0).argmax(-1).masked_fill(over, PAD)
        over.logical_or_(word == EOS)
        return word

    return _translate(inputs, choose=choose)


@mistake(also=(_compare_with_what_has_ended,))
def takes_the_softmax_over_the_batch(**inputs):
    """you compare the sentences of the batch, by a softmax over the first axis; it is the words of
    one sentence that compete, on the last axis"""
    return _translate(inputs, choose=lambda logits: logits.softmax(0).argmax(-1))


@mistake
def takes_the_least_probable(**inputs):
    """you take the word with the lowest logit; take the highest"""
    return _translate(inputs, choose=lambda logits: logits.argmin(-1))


def _lead_and_cut(words: Tensor) -> Tensor:
    return torch.cat([torch.full_like(words[:, :1], BOS), words[:, :-1]], 1)


@mistake(
    computes=then(
        reference, lambda words: torch.cat([torch.full_like(words[:, :1], BOS), words], 1)
    ),
    also=(then(reference, _lead_and_cut),),
    slip=True,
)
def returns_the_beginning_as_well():
    """your sentences begin with `BOS`; return what has been said, from the first word on"""


@mistake(points=2.5)
def talks_on_behind_the_end(**inputs):
    """your sentences go on behind their `EOS`; only `PAD` may follow it"""
    return _logits(**inputs)[0]


def _cut_all_at_the_first_end(words: Tensor) -> Tensor:
    over = (words == EOS).any(0).cumsum(0) > (words == EOS).any(0)
    return words.masked_fill(over, PAD)


@mistake(
    points=2.5,
    computes=then(reference, _cut_all_at_the_first_end),
    also=(then(reference, lambda words: words[:, : _first_end(words) + 1]),),
)
def stops_all_when_one_has_ended():
    """you stop the whole batch as soon as one sentence has ended; the others go on, up to their own
    `EOS` or to `max_len` words"""


def _first_end(words: Tensor) -> int:
    is_end = (words == EOS).any(0)
    return int(is_end.long().argmax()) if is_end.any() else words.shape[1]


@mistake(points=2.5, computes=then(reference, lambda words: words.masked_fill(words == EOS, PAD)))
def drops_the_end():
    """you take the `EOS` away as well; it belongs to the sentence, and `PAD` begins behind it"""


@mistake(points=2.5, computes=then(reference, lambda words: words.masked_fill(words == PAD, EOS)))
def fills_up_with_ends():
    """you fill up with `EOS`; a sentence has one, and behind it stands `PAD`"""


@mistake(points=2.5)
def says_one_word_behind_the_end(**inputs):
    """one more word follows your `EOS` before the `PAD`; from the very next step on there is `PAD`
    alone"""
    words = _logits(**inputs)[0]
    late = _end(words)
    one_more = torch.cat([torch.zeros_like(words[:, :1]), late[:, :-1]], 1) == EOS
    return torch.where(one_more, words, late)


@mistake(computes=then(reference, lambda words: words.mT))
def stacks_on_the_first_axis():
    """you stack the words on the first axis; the batch comes first: `torch.stack(words, 1)`"""


@mistake(computes=given(reference, max_len=lambda number: number - 1), points=0)
def says_one_word_too_few():
    """your sentences are one word shorter than `max_len`; a sentence may have `max_len` words, and
    every row has so many columns"""


def _end_what_is_cut_off(words: Tensor) -> Tensor:
    last = torch.where((words == EOS).any(1), words[:, -1], EOS)
    return torch.cat([words[:, :-1], last.unsqueeze(1)], 1)


@mistake(computes=then(reference, _end_what_is_cut_off), points=1.5)
def ends_what_is_cut_off():
    """you write an `EOS` in the last place of a sentence that has not ended; it was cut off, and
    has none"""


def _cut_behind_the_last_end(words: Tensor) -> Tensor:
    return words[:, : int((words != PAD).sum(1).max())]


@mistake(computes=then(reference, _cut_behind_the_last_end), points=2.5)
def stops_when_all_have_ended():
    """your words have fewer columns than `max_len` where all sentences have ended before; `PAD`
    fills up the rest"""


SUBTLE = (
    leaves_the_tanh_of_the_bridge_out,
    begins_from_zeros,
    forgets_the_state,
    begins_with_the_end,
    _begin_with_padding,
    hears_the_vector_once,
    hides_the_vector_from_the_cell,
    hides_the_vector_from_the_readout,
    reads_out_the_old_state,
)


EXERCISE = Exercise(
    function="translate",
    reference=reference,
    title="encoder, vector, decoder: put them together",
    minutes=25,
    axes={"batch": 17, "source_len": 23, "vocab_size": 53},
    contract=Contract(batch=("source",)),
    checks=(
        Check(
            "each step is told the word before it, `c` and the state before it, and says its most"
            " probable word; the first is told `BOS`",
            2,
            draw_endless,
            sizes=(
                {
                    **{"batch": 3, "source_len": 5, "max_len": 7, "vocab_size": 13},
                    **{"d_embedding": 5, "d_hidden": 6, "d_encoder": 3},
                },
                {
                    **{"batch": 2, "source_len": 3, "max_len": 5, "vocab_size": 11},
                    **{"d_embedding": 7, "d_hidden": 11, "d_encoder": 4},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 5, "source_len": 4, "max_len": 6, "vocab_size": 17},
                    **{"d_embedding": 3, "d_hidden": 7, "d_encoder": 5},
                },
            ),
        ),
        Check(
            "a sentence ends with its first `EOS`, and `PAD` fills up to `max_len`; the others of"
            " the batch go on",
            1.5,
            draw_ending,
            sizes=(
                {
                    **{"batch": 4, "source_len": 5, "max_len": 8, "vocab_size": 7},
                    **{"d_embedding": 5, "d_hidden": 7, "d_encoder": 3},
                },
            ),
            hidden_sizes=(
                {
                    **{"batch": 3, "source_len": 3, "max_len": 9, "vocab_size": 7},
                    **{"d_embedding": 3, "d_hidden": 11, "d_encoder": 5},
                },
            ),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "0 -> 1": "any column of the source has the shape of a word for each sentence",
        "0 -> -1": "the same: the numbers in it are overwritten",
        "-1 -> 1": "the vectors of a step have two axes, batch and features",
        "-1 -> 1 (2)": "the same three parts, joined for the readout",
        "-1 -> 1 (3)": "the logits of a step have two axes, batch and words",
    },
)
