"""Part D of problem set 05: the decoder that hears at each step what it saw at the step before."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, given, then
from torch import Generator, Tensor

from attn_bank.draws import draw_normal, draw_weight
from attn_bank.luong import draw_mask
from attn_course.retrieval import masked_softmax


class Step(NamedTuple):
    """A step before the decoder looks: its state, and what it has been fed."""

    before: Tensor
    fed: Tensor
    state: Tensor


class Seen(NamedTuple):
    """A step after it has looked."""

    state: Tensor
    context: Tensor
    attentional: Tensor


def reference(**inputs: Tensor) -> Tensor:
    return _attentional(_decode(inputs))


def _decode(
    inputs: dict[str, Tensor],
    *,
    first: Callable[[Tensor], Tensor] = torch.zeros_like,
    ask: Callable[[Step], Tensor] = lambda step: step.state,
    feed: Callable[[Seen], Tensor] = lambda seen: seen.attentional,
    keep: Callable[[Seen], Tensor] = lambda seen: seen.state,
    cell: Callable[[Tensor], Tensor] = torch.tanh,
    squash: Callable[[Tensor], Tensor] = torch.tanh,
    weigh: Callable[[Tensor, Tensor], Tensor] = masked_softmax,
    drop: Callable[[Tensor], Tensor] = lambda one: one.squeeze(1),
    join: Callable[[Step], Tensor] = lambda step: step.state,
) -> list[Seen]:
    """All steps, in one of many ways: right is what the arguments are if nobody says otherwise."""
    words, annotations, mask, state, w_input, w_state, w_combine = inputs.values()
    fed, steps = first(state), []
    for word in words.unbind(1):
        before = state
        state = cell(torch.cat([word, fed], -1) @ w_input.mT + before @ w_state.mT)
        step = Step(before, fed, state)
        scores = ask(step).unsqueeze(1) @ annotations.mT
        context = drop(weigh(scores, mask.unsqueeze(1)) @ annotations)
        attentional = squash(torch.cat([context, join(step)], -1) @ w_combine.mT)
        steps.append(Seen(state, context, attentional))
        fed, state = feed(steps[-1]), keep(steps[-1])
    return steps


def _attentional(steps: list[Seen]) -> Tensor:
    return torch.stack([seen.attentional for seen in steps], 1)


def draw_sentences(
    generator: Generator,
    batch: int,
    target_len: int,
    source_len: int,
    d_embedding: int,
    d_hidden: int,
) -> Inputs:
    """Without padding; the first state of the decoder is not zero."""
    return {
        "words": draw_normal(generator, batch, target_len, d_embedding),
        "annotations": draw_normal(generator, batch, source_len, d_hidden),
        "mask": torch.ones(batch, source_len, dtype=torch.bool),
        "state": torch.tanh(draw_normal(generator, batch, d_hidden)),
        "w_input": draw_weight(generator, d_hidden, d_embedding + d_hidden),
        "w_state": draw_weight(generator, d_hidden, d_hidden),
        "w_combine": draw_weight(generator, d_hidden, 2 * d_hidden),
    }


def draw_padded_sentences(generator: Generator, **sizes: int) -> Inputs:
    inputs = draw_sentences(generator, **sizes)
    return inputs | {"mask": draw_mask(generator, sizes["batch"], sizes["source_len"])}


_FEED = "; what the next step is fed is `tanh(W_c [c; s])`, the attentional state"

mistake = Mistakes()


@mistake(ending=_FEED)
def feeds_the_state(**inputs):
    """you feed the state, as the published sentence says, but the cell has that already"""
    return _attentional(_decode(inputs, first=lambda state: state, feed=lambda seen: seen.state))


@mistake(ending=_FEED)
def feeds_the_state_after_the_first_step(**inputs):
    """the first step is fed zeros, as it should be, and the others the state, which the cell has
    already"""
    return _attentional(_decode(inputs, feed=lambda seen: seen.state))


@mistake(ending=_FEED)
def feeds_the_context(**inputs):
    """you feed the context alone"""
    return _attentional(_decode(inputs, feed=lambda seen: seen.context))


@mistake(ending=_FEED)
def feeds_what_comes_before_the_tanh(**inputs):
    """you feed `W_c [c; s]` as it is, without the `tanh` that is around what you return"""
    return _attentional(_decode(inputs, feed=lambda seen: torch.atanh(seen.attentional)))


@mistake(ending=_FEED)
def feeds_nothing(**inputs):
    """every step is fed zeros, so no step hears what the one before has seen"""
    return _attentional(_decode(inputs, feed=lambda seen: torch.zeros_like(seen.state)))


@mistake
def begins_with_the_first_state(**inputs):
    """the first step is fed the first state of the decoder; nothing has been seen yet, so it should
    be fed zeros"""
    return _attentional(_decode(inputs, first=lambda state: state))


def _begin_with_zeros_too(**inputs: Tensor) -> Tensor:
    return replaces_the_state(**inputs | {"state": torch.zeros_like(inputs["state"])})


@mistake(also=(_begin_with_zeros_too,))
def replaces_the_state(**inputs):
    """you put the attentional state in the place of the cell's state; the cell goes on from its own
    `s`, first the one that is given, and the attentional state comes in beside the word"""
    return _attentional(_decode(inputs, keep=lambda seen: seen.attentional))


@mistake
def keeps_the_first_state(**inputs):
    """every step starts from the first state; the cell goes on from the state of the step before"""
    return _attentional(_decode(inputs, keep=lambda seen: inputs["state"]))


@mistake
def asks_with_the_state_before(**inputs):
    """you look with the state from before the step, as Bahdanau's decoder does; here the cell steps
    first, and its new state asks"""
    return _attentional(_decode(inputs, ask=lambda step: step.before))


@mistake
def joins_the_state_before(**inputs):
    """you join the context with the state from before the step; its new state is wanted, the one
    that asked"""
    return _attentional(_decode(inputs, join=lambda step: step.before))


@mistake
def asks_with_what_is_fed(**inputs):
    """you look with the attentional state of the step before; here the new state of the cell
    asks"""
    return _attentional(_decode(inputs, ask=lambda step: step.fed))


@mistake(computes=given(reference, w_combine=lambda w: w.roll(w.shape[-1] // 2, -1)))
def puts_the_state_before_the_context():
    """you join `[s; c]`; the columns of `w_combine` want the context first, `[c; s]`"""


@mistake(computes=given(reference, w_input=lambda w: w.roll(-w.shape[0], -1)))
def puts_what_is_fed_before_the_word():
    """you put what is fed before the word; the columns of `w_input` want the word first"""


@mistake(
    computes=given(reference, w_input=lambda w: w.mT),
    also=(given(reference, w_combine=lambda w: w.mT), given(reference, w_state=lambda w: w.mT)),
)
def leaves_a_matrix_untransposed():
    """you multiply by a matrix as it is: with the batch in front, `W` times `x` is
    `x @ W.mT`"""


@mistake
def leaves_the_tanh_of_the_cell_out(**inputs):
    """the `tanh` of the cell is missing: the new state is the `tanh` of the sum"""
    return _attentional(_decode(inputs, cell=lambda total: total))


@mistake
def leaves_the_last_tanh_out(**inputs):
    """the `tanh` around `W_c [c; s]` is missing"""
    return _attentional(_decode(inputs, squash=lambda total: total))


@mistake
def returns_the_states(**inputs):
    """you feed what you should, but return the states of the cell; the attentional states are
    wanted, from which the words are read"""
    return torch.stack([seen.state for seen in _decode(inputs)], 1)


@mistake
def returns_the_contexts(**inputs):
    """you feed what you should, but return the contexts; the attentional states are wanted, from
    which the words are read"""
    return torch.stack([seen.context for seen in _decode(inputs)], 1)


@mistake
def returns_what_comes_before_the_tanh(**inputs):
    """what you feed is right, but what you return has no `tanh` around it; one and the same
    attentional state is fed and returned"""
    return torch.atanh(reference(**inputs))


@mistake(computes=then(reference, lambda output: output[:, -1]))
def returns_the_last_step():
    """you return the last step only; collect all of them, `(batch, target_len, d_hidden)`"""


@mistake(computes=then(reference, lambda made: torch.cat([0 * made[:, :1], made[:, :-1]], 1)))
def lags_one_step_behind():
    """your output is one step late: it begins with the zeros that are fed first, and the last step
    is missing; note each attentional state once it is made"""


@mistake(computes=then(reference, lambda output: output.transpose(0, 1)))
def stacks_on_the_first_axis():
    """you stack the steps on the first axis; the batch comes first: `torch.stack(..., 1)`"""


@mistake
def scales_the_scores(**inputs):
    """you divide the scores by the root of the width, as a later chapter will; the dot score is the
    dot product as it is"""
    return _attentional(_decode(inputs, ask=lambda step: step.state / step.state.shape[-1] ** 0.5))


def _divide_among_one(**inputs: Tensor) -> Tensor:
    def weigh(scores: Tensor, mask: Tensor) -> Tensor:
        return scores.masked_fill(~mask, -torch.inf).unsqueeze(-1).softmax(-1).squeeze(-1)

    return _attentional(_decode(inputs, weigh=weigh))


@mistake(also=(_divide_among_one,))
def weighs_every_word_with_one(**inputs):
    """each word weighs 1 in your context, as after a softmax over an axis of length 1, such as the
    last of `(batch, source_len, 1)`; it runs over the words of the source"""
    return _attentional(_decode(inputs, weigh=lambda scores, mask: torch.ones_like(scores)))


@mistake(points=4, computes=given(reference, mask=torch.ones_like))
def sees_padding():
    """some weight goes to padding: fill the scores with minus infinity where `mask` is False,
    before the softmax"""


def _take_true_for_padding(**inputs: Tensor) -> Tensor:
    return _attentional(
        _decode(
            inputs, weigh=lambda scores, mask: torch.softmax(scores.where(~mask, -torch.inf), -1)
        )
    )


@mistake(computes=given(reference, mask=torch.logical_not), also=(_take_true_for_padding,))
def takes_true_for_padding():
    """you forbid the words and allow the padding: in this course True means that the decoder may
    look there"""


@mistake(points=4)
def cuts_padding_after_the_softmax(**inputs):
    """you mask after the softmax, so the weights of the words sum to less than 1; mask the scores
    before it"""
    return _attentional(
        _decode(inputs, weigh=lambda scores, mask: torch.softmax(scores, -1) * mask)
    )


@mistake(points=4)
def takes_the_state_for_a_constant(**inputs):
    """you cut off the state of the cell from the graph; the weights should also learn from what a
    step hands on to the next one, so drop `detach` and `data`"""
    return _attentional(_decode(inputs, keep=lambda seen: seen.state.detach()))


@mistake(points=4)
def takes_what_is_fed_for_a_constant(**inputs):
    """you cut off what is fed from the graph; the weights should also learn from what a step tells
    the next one, so drop `detach` and `data`"""
    return _attentional(_decode(inputs, feed=lambda seen: seen.attentional.detach()))


def _squeeze_scores_too(**inputs: Tensor) -> Tensor:
    def weigh(scores: Tensor, mask: Tensor) -> Tensor:
        weights = scores.mT.squeeze().masked_fill(~mask.squeeze(1), -torch.inf).softmax(1)
        torch.bmm(weights.unsqueeze(1), inputs["annotations"])
        return weights.unsqueeze(1)

    return _attentional(_decode(inputs, drop=torch.squeeze, weigh=weigh))


@mistake(points=2, also=(_squeeze_scores_too,))
def squeezes_the_context(**inputs):
    """`squeeze` without an axis takes the axis of a batch of one away too, and the vectors no
    longer fit together; name the axis that you mean: `squeeze(1)`"""
    return _attentional(_decode(inputs, drop=torch.squeeze))


EXERCISE = Exercise(
    function="attentional_states",
    reference=reference,
    title="find the slip: input feeding",
    minutes=25,
    axes={"batch": 13, "source_len": 43, "target_len": 17, "d_embedding": 17, "d_hidden": 17},
    avoid=("recurrence", "attention"),
    goes_on=("state",),
    contract=Contract(
        batch=("words", "annotations", "mask", "state"),
        exempts={
            "cuts off": "gradients are asked of the three weights alone",
            "fills with": "scores of states that `tanh` made stay small",
        },
    ),
    checks=(
        Check(
            "the attentional state of every step, fed to the step after it; the first is fed zeros",
            2.5,
            draw_sentences,
            sizes=(
                {"batch": 3, "target_len": 5, "source_len": 7, "d_embedding": 2, "d_hidden": 5},
                {"batch": 1, "target_len": 2, "source_len": 3, "d_embedding": 3, "d_hidden": 5},
                {"batch": 2, "target_len": 3, "source_len": 1, "d_embedding": 5, "d_hidden": 7},
            ),
            hidden_sizes=(
                {"batch": 2, "target_len": 5, "source_len": 1, "d_embedding": 5, "d_hidden": 3},
                {"batch": 5, "target_len": 1, "source_len": 2, "d_embedding": 3, "d_hidden": 7},
            ),
        ),
        Check(
            "padding behind a source sentence gets no weight",
            1,
            draw_padded_sentences,
            sizes=(
                {"batch": 2, "target_len": 3, "source_len": 5, "d_embedding": 2, "d_hidden": 7},
            ),
            hidden_sizes=(
                {"batch": 3, "target_len": 2, "source_len": 7, "d_embedding": 5, "d_hidden": 3},
            ),
        ),
        Check(
            "the right gradient reaches the three weights, even through what is fed",
            1,
            draw_sentences,
            sizes=(
                {"batch": 2, "target_len": 3, "source_len": 5, "d_embedding": 2, "d_hidden": 3},
            ),
            hidden_sizes=(
                {"batch": 3, "target_len": 5, "source_len": 2, "d_embedding": 3, "d_hidden": 2},
            ),
            gradient=("w_input", "w_state", "w_combine"),
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "-1 -> 1": "a word and what is fed have two axes, batch and features",
        "-1 -> 1 (4)": "the scores of one step have two axes, batch and words of the source",
        "-1 -> 1 (5)": "the context and the state of one step have two axes, batch and features",
    },
)
